/** The secrets that a stolen copy of the database, or the log, does not hold. */
import { describe, expect, test } from 'bun:test'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { dumpTables } from '../helpers/database.ts'
import { createPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import type { Shape } from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'

/** The embedded database has the same tables, and the same statements write them. */
describe.each(reduced<Shape[]>(['postgres'], ['embedded', 'postgres']))('at rest on %s', (shape) => {
  const settings = { passkeys: { rp_id: 'example.com' } }
  const service = useService({ shape, settings })

  test('no token, no part of one and no password stands in any table or line', async () => {
    const person = await service.signUp(newEmail(), 'a password to look for')
    const first = await service.logIn(person)
    const { body: second } = await service.post('refresh', { refresh_token: first.refresh_token })
    const { body: third } = await service.post('refresh', { refresh_token: second.refresh_token })
    const everything = [await dumpTables(service), ...service.log].join('\n')
    expect(everything).toContain(person.identifier)
    for (const { access_token, refresh_token } of [first, second, third]) {
      expect(everything).not.toContain(access_token.split('.')[2])
      const bytes = Buffer.from(refresh_token, 'hex')
      for (const part of [bytes.subarray(0, 12), bytes.subarray(12), bytes]) {
        for (const encoding of ['hex', 'base64', 'base64url'] as const) {
          expect(everything).not.toContain(part.toString(encoding))
        }
      }
    }
    expect(everything).not.toContain('a password to look for')
  })

  test('no challenge of a passkey, no signature and no private part stands in any table or line', async () => {
    const bearer = (await service.signedIn()).bearer
    const origin = 'https://example.com'
    const asked = (await service.post('passkeys/registration/options', { password: PASSWORD }, { bearer }))
      .body.options
    const { passkey, credential } = createPasskey(asked, origin)
    await service.post('passkeys/registration', { credential }, { bearer })
    const { options } = (await service.post('passkeys/login/options', {})).body
    const signed = signWithPasskey(passkey, options, origin)
    expect((await service.post('passkeys/login', { credential: signed })).status).toBe(200)
    const everything = [await dumpTables(service), ...service.log].join('\n')
    expect(everything).toContain(passkey.id)
    const { d } = passkey.privateKey.export({ format: 'jwk' }) as { d: string }
    for (const secret of [asked.challenge, options.challenge, signed.response.signature, d]) {
      const bytes = Buffer.from(secret, 'base64url')
      for (const encoding of ['hex', 'base64', 'base64url'] as const)
        expect(everything).not.toContain(bytes.toString(encoding))
    }
  })
})
