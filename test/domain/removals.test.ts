/** `POST …/remove`, for clients that send no body with DELETE. */
import { expect, test } from 'bun:test'
import { newPhone, PASSWORD } from '../helpers/api-client.ts'
import { createPasskey } from '../helpers/passkey-authenticator.ts'
import { newPerson } from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { createSocialBrowser, useSocial } from '../helpers/social.ts'

const ORIGIN = 'https://app.example.com'

const { provider, service } = useSocial({ passkeys: { rp_id: 'example.com', origins: [ORIGIN] } })

test('does what DELETE does, with the same proof of the owner', async () => {
  const { bearer } = await service.signedIn()
  const phone = newPhone()
  await service.post('phone/change', { phone, password: PASSWORD }, { bearer })
  await service.post('phone/confirm', { otp: await service.inbox.nextCode(phone) }, { bearer })
  provider.present(newPerson())
  const code = await createSocialBrowser(service).obtainCode()
  await service.post('identities/p1', { ...code, password: PASSWORD }, { bearer })
  const { body } = await service.post('passkeys/registration/options', { password: PASSWORD }, { bearer })
  const { credential } = createPasskey(body.options, ORIGIN)
  const { passkey } = (await service.post('passkeys/registration', { credential }, { bearer })).body

  const left = async () => {
    const { identities, passkeys } = (await service.get('me/security', { bearer })).body
    const { email, phone: number } = (await service.get('me', { bearer })).body.account
    return { email: email !== null, phone: number !== null, identities, passkeys }
  }
  const removals = [
    [`passkeys/${passkey.id}`, { email: true, phone: true, identities: 1, passkeys: 0 }],
    ['identities/p1', { email: true, phone: true, identities: 0, passkeys: 0 }],
    ['phone', { email: true, phone: false, identities: 0, passkeys: 0 }],
  ] as const
  for (const [path, after] of removals) {
    const before = await left()
    for (const wrong of [{}, { password: 'not this one' }]) {
      const refused = await service.post(`${path}/remove`, wrong, { bearer })
      expect([path, refused.status >= 400]).toEqual([path, true])
    }
    expect(await left()).toEqual(before)
    expect((await service.post(`${path}/remove`, { password: PASSWORD }, { bearer })).status).toBe(200)
    expect(await left()).toEqual(after)
  }
  expectRefusal(await service.post('email/remove', { password: PASSWORD }, { bearer }), 'last_sign_in_method')
  expect((await service.post('me/remove', { password: PASSWORD }, { bearer })).status).toBe(200)
  expect((await service.get('me', { bearer })).status).toBe(401)
  // Elysia changed the schemas of the routes that were called.
  expect((await service.call('GET', '/swagger/json')).status).toBe(200)
})

test('is there for every DELETE with a body, and described alike', async () => {
  const { paths } = await Bun.file(`${import.meta.dir}/../../docs/openapi.json`).json()
  const removals = Object.entries<Record<string, Record<string, unknown>>>(paths).filter(
    ([, operations]) => operations.delete?.requestBody,
  )
  expect(removals).toHaveLength(5)
  for (const [path, operations] of removals) {
    const { requestBody, responses, parameters, security } = operations.delete!
    // Some refusals have the name of their operation.
    const post = JSON.parse(JSON.stringify(paths[`${path}/remove`].post).replaceAll('ByPostError', 'Error'))
    expect(post).toMatchObject({ requestBody, responses, security })
    expect(post.parameters).toEqual(parameters)
  }
})
