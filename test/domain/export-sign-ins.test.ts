/** Whoever was exported signs in with what they have after the import: the password, an app, a passkey, a provider. */
import { describe, expect, test } from 'bun:test'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { createPasskey, type SoftPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { newPerson, startPretendProvider } from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { createSocialBrowser, socialSettings } from '../helpers/social.ts'
import { use } from '../helpers/use-service.ts'

const origin = 'https://app.example.com'
const passkeys = { rp_id: 'example.com', origins: [origin] }
const provider = use(startPretendProvider)
const settings = () => ({ ...socialSettings(provider.issuer), passkeys })
const before = use(() => startService({ settings: settings() }), provider)

async function signInWith(passkey: SoftPasskey, at: TestService, counter: number) {
  const { body } = await at.post('passkeys/login/options', {})
  return at.post('passkeys/login', {
    credential: signWithPasskey(passkey, body.options, origin, { counter }),
  })
}

async function addPasskey(bearer: string) {
  const { body } = await before.post('passkeys/registration/options', { password: PASSWORD }, { bearer })
  const { passkey, credential } = createPasskey(body.options, origin)
  expect((await before.post('passkeys/registration', { credential }, { bearer })).status).toBe(201)
  return passkey
}

async function addApp(bearer: string) {
  const { secret } = (await before.post('2fa/totp', { password: PASSWORD }, { bearer })).body
  const otp = appCode(secret, before.clock.now())
  expect((await before.post('2fa/totp/confirm', { otp }, { bearer })).status).toBe(200)
  return secret as string
}

/** Exports one page from `before` and imports it. */
async function move(to: TestService) {
  const { body } = await asOperator(before, 'GET', 'accounts/export')
  return asOperator(to, 'POST', 'accounts/import', { records: body.records })
}

describe.each(['embedded', 'postgres'] as const)('from servers to %s', (shape) => {
  const after = use(() => startService({ shape, settings: settings() }), provider)

  test('all four ways open the same account, and nobody is signed out', async () => {
    const { person, bearer, refresh_token, uuid } = await before.signedIn()
    const passkey = await addPasskey(bearer)
    expect((await signInWith(passkey, before, 7)).status).toBe(200)
    const withApp = await before.signedIn()
    const secret = await addApp(withApp.bearer)
    const byProvider = newPerson({ email: newEmail(), email_verified: true })
    provider.present(byProvider)
    const social = await createSocialBrowser(before).signIn()

    const { body } = await move(after)
    expect(new Set(body.results.map(({ outcome }: { outcome: string }) => outcome))).toEqual(
      new Set(['imported']),
    )
    expect((await after.post('login', person)).body.account.uuid).toBe(uuid)
    // The counter came along: an older one is a copy of the key.
    expectRefusal(await signInWith(passkey, after, 7), 'invalid_passkey')
    expect((await signInWith(passkey, after, 8)).body.account.uuid).toBe(uuid)
    const first = await after.post('login', withApp.person)
    const { login_token } = first.body.two_factor
    const otp = appCode(secret, after.clock.now())
    const identifier = withApp.person.identifier
    expect((await after.post('2fa/verify', { identifier, login_token, otp })).status).toBe(200)
    provider.present(byProvider)
    const again = await createSocialBrowser(after).signIn()
    expect(again.body.account.uuid).toBe(social.body.account.uuid)

    // Back into the service that it came from everybody is there, and stays signed in.
    const back = await move(before)
    expect(new Set(back.body.results.map(({ outcome }: { outcome: string }) => outcome))).toEqual(
      new Set(['present']),
    )
    expect((await before.post('refresh', { refresh_token })).status).toBe(200)
  })
})
