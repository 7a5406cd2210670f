/** Calls that are refused with 409 use up neither a recovery code nor what a provider gave. */
import { expect, test } from 'bun:test'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode, protectByApp } from '../helpers/authenticator.ts'
import { newPerson } from '../helpers/pretend-provider.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { createSocialBrowser, useSocial } from '../helpers/social.ts'

const { provider, service } = useSocial()
const browser = createSocialBrowser(service)

const password = PASSWORD
const link = (bearer: string, body: object) => service.post('identities/p1', body, { bearer })
const remove = (path: string, body: object, bearer: string) =>
  service.call('DELETE', `/api/v1/auth/${path}`, body, { bearer })
async function newIdentity() {
  const person = newPerson()
  provider.present(person)
  return { person, code: await browser.obtainCode() }
}

test('an identity of somebody else, the last contact and what is on already cost no recovery code', async () => {
  const first = await service.signUp(newEmail())
  const { person, code } = await newIdentity()
  const owner = (await service.logIn(first)).access_token
  expect((await link(owner, { ...code, password })).status).toBe(201)

  const { bearer, recoveryCodes } = await protectByApp(service)
  const otp = recoveryCodes[0]
  provider.present(person)
  const taken = await browser.obtainCode()
  expectRefusal(await link(bearer, { ...taken, password, otp }), 'identity_taken')
  expectRefusal(await link(bearer, { ...taken, password, otp }), 'identity_taken')
  expectRefusal(await remove('email', { password, otp }, bearer), 'last_sign_in_method')
  expectRefusal(await service.post('2fa/enable', { password, otp }, { bearer }), 'two_factor_already_enabled')
  const { two_factor } = (await service.get('me/security', { bearer })).body
  expect(two_factor.recovery_codes_left).toBe(10)
  const { code: own } = await newIdentity()
  expect((await link(bearer, { ...own, password, otp })).status).toBe(201)
  expect((await service.get('me/security', { bearer })).body.two_factor.recovery_codes_left).toBe(9)
})

test('the last way in of an account without a password costs no recovery code', async () => {
  await newIdentity()
  const { body } = await browser.signIn()
  const { access_token: bearer, refresh_token } = body
  const app = await service.post('2fa/totp', { refresh_token }, { bearer })
  expect(app.status).toBe(200)
  const confirmed = await service.post(
    '2fa/totp/confirm',
    { otp: appCode(app.body.secret, service.clock.now()) },
    { bearer },
  )
  expect(confirmed.status).toBe(200)
  const otp = confirmed.body.recovery_codes[0]
  const proof = { otp, refresh_token }
  expectRefusal(await remove('identities/p1', proof, bearer), 'last_sign_in_method')
  expect((await service.get('me/security', { bearer })).body.two_factor.recovery_codes_left).toBe(10)
})

test('an account has ten identities, also of many calls at once, and the refused code stays good', async () => {
  const { bearer } = await service.signedIn()
  for (let count = 1; count <= 9; count++) {
    const { code } = await newIdentity()
    expect((await link(bearer, { ...code, password })).status).toBe(201)
  }
  const codes: object[] = []
  for (let count = 0; count < 32; count++) codes.push((await newIdentity()).code)
  const waiting = [...codes]
  const answers = await race([service], () => link(bearer, { ...waiting.pop(), password }))
  onlySuccess(answers, 'identity_limit')
  const { code } = await newIdentity()
  expectRefusal(await link(bearer, { ...code, password }), 'identity_limit')
  expect((await service.get('identities', { bearer })).body.identities).toHaveLength(10)
  expect((await remove('identities/p1', { password }, bearer)).status).toBe(200)
  expect((await link(bearer, { ...code, password })).status).toBe(201)
})
