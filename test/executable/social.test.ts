/** Social login in the executable: the provider's client, its keys and the flow work compiled. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { createSocialBrowser, newPkce, socialSettings } from '../helpers/social.ts'

setDefaultTimeout(20_000)

let provider: PretendProvider
let service: Executable
beforeAll(async () => {
  provider = await startPretendProvider()
  service = await startExecutable({ shape: 'embedded', settings: socialSettings(provider.issuer) })
}, 180_000)
afterAll(async () => {
  await service?.close()
  await provider?.stop()
})

test('signs in through a browser and natively, refuses a forged token, and survives the provider', async () => {
  const browser = createSocialBrowser(service)
  const email = newEmail()
  provider.present(newPerson({ email, email_verified: true }))
  const { status, body } = await browser.signIn()
  expect([status, body.account.email]).toEqual([200, email])
  const id_token = await provider.idToken('n')
  const native = await service.post('social/p1/token', { id_token, nonce: 'n' })
  expect(native.body.account.id).toBe(body.account.id)

  provider.lie({ claims: (claims) => ({ ...claims, aud: 'somebody-else' }) })
  const refused = await browser.walk('p1', newPkce())
  expect(Object.fromEntries(refused.searchParams)).toEqual({ error: 'invalid_token' })
  provider.lie({})

  const later = await provider.idToken('later')
  await provider.stop()
  const away = await browser.begin('p1', newPkce())
  expect(away.location.origin).toBe(new URL(provider.issuer).origin)
  expect((await service.post('social/p1/token', { id_token: later, nonce: 'later' })).status).toBe(200)
  const failures = service.log().filter(({ provider }) => provider === 'p1')
  expect(failures.map(({ reason }) => reason)).toEqual(['invalid_token'])
})
