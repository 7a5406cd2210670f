/** A signing key that leaked, with the server secret it is sealed under, and how it is withdrawn. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { decodeJwt, decodeProtectedHeader, importJWK, SignJWT } from 'jose'
import postgres from 'postgres'
import { SEAL_LABEL } from '../../src/domain/sessions/tokens/key-rotation.ts'
import { createServerSecret } from '../../src/platform/secret.ts'
import { type Executable, newStorage, runExecutable, startExecutable } from '../helpers/executable.ts'
import { startGateway, type TestGateway } from '../helpers/gateway.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { startSmtp, type TestSmtp } from '../helpers/smtp.ts'
import { longTest } from '../helpers/soak.ts'

setDefaultTimeout(60_000)

const WITHIN_MS = 5_000

describe('two processes on one database', () => {
  let stores: Awaited<ReturnType<typeof newStorage>>
  let sql: postgres.Sql
  let smtp: TestSmtp
  let gateway: TestGateway
  let both: [Executable, Executable]
  beforeAll(async () => {
    stores = await newStorage('postgres')
    sql = postgres(stores.settings.database?.url as string, { max: 1 })
    smtp = await startSmtp({ security: 'none', auth: null })
    gateway = await startGateway()
    const settings = { server: { base_url: 'http://auth.internal' } }
    const start = () => startExecutable({ storage: stores.settings, settings, smtp, gateway })
    both = await Promise.all([start(), start()])
  })
  afterAll(async () => {
    await Promise.all((both ?? []).map((each) => each.close()))
    await sql?.end()
    await Promise.all([smtp?.stop(), gateway?.stop(), stores?.drop()])
  })

  const publishedBy = async ({ call }: Executable): Promise<string[]> =>
    (await call('GET', '/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid)

  /** Returns the key that somebody has who read the table and the server secret. */
  async function steal(kid: string) {
    const [row] = await sql`select sealed_private_jwk as sealed from signing_keys where kid = ${kid}`
    const secret = createServerSecret(Buffer.from(stores.settings.server?.secret as string, 'hex'))
    return importJWK(JSON.parse(secret.open(SEAL_LABEL, row?.sealed)), 'ES256')
  }

  async function forge(accessToken: string, changes: object) {
    const { kid } = decodeProtectedHeader(accessToken) as { kid: string }
    return new SignJWT({ ...decodeJwt(accessToken), ...changes })
      .setProtectedHeader({ alg: 'ES256', kid, typ: 'at+jwt' })
      .sign(await steal(kid))
  }

  async function elapsedUntil(holds: () => Promise<boolean>): Promise<number> {
    const startedAt = performance.now()
    while (!(await holds())) {
      if (performance.now() - startedAt > WITHIN_MS) break
      await Bun.sleep(50)
    }
    return performance.now() - startedAt
  }

  longTest(
    'what a leaked key signed is refused by both, and the key unpublished, within five seconds of `keys revoke`',
    async () => {
      const [one, other] = both
      const { person, bearer } = await one.signedIn()
      const { kid } = decodeProtectedHeader(bearer) as { kid: string }
      const forged = await forge(bearer, { role_id: 99, exp: Math.floor(Date.now() / 1000) + 900 })
      const accepts = async (each: Executable) => (await each.get('me', { bearer: forged })).status === 200
      expect(await Promise.all(both.map(accepts))).toEqual([true, true])

      const revoked = await runExecutable(['keys', 'revoke', kid, ...one.configArgs])
      expect([revoked.code, revoked.error]).toEqual([0, ''])
      const [, successor] = /^.+ is revoked\n(.{43}) signs from now on\n$/.exec(revoked.out) ?? []
      expect(revoked.out).toStartWith(`${kid} is revoked\n`)

      const isGone = async () => {
        const accepted = await Promise.all(both.map(accepts))
        const published = await Promise.all(both.map(publishedBy))
        return !accepted.includes(true) && published.every((kids) => kids.join() === successor)
      }
      expect(await elapsedUntil(isGone)).toBeLessThan(WITHIN_MS)
      for (const each of both) {
        expectRefusal(await each.get('me', { bearer: forged }), 'invalid_token')
      }
      const fresh = await other.logIn(person)
      expect(decodeProtectedHeader(fresh.access_token).kid).toBe(successor as string)
      expect((await one.get('me', { bearer: fresh.access_token })).status).toBe(200)

      const again = await runExecutable(['keys', 'revoke', kid, ...one.configArgs])
      expect([again.code, again.error]).toEqual([
        1,
        `there is no key ${kid}: \`poterne keys list\` prints their names\n`,
      ])
    },
  )

  test('a token that a key of ours signed for a year is refused, revoked or not', async () => {
    const [one] = both
    const { bearer } = await one.signedIn()
    const forged = await forge(bearer, { exp: Math.floor(Date.now() / 1000) + 365 * 86_400 })
    for (const each of both) {
      expectRefusal(await each.get('me', { bearer: forged }), 'invalid_token')
    }
  })

  test('copies of the published keys are kept for five minutes at most', async () => {
    const { headers } = await both[0].call('GET', '/.well-known/jwks.json')
    expect(headers.get('cache-control')).toBe('public, max-age=300')
  })
})
