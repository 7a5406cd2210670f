/** Changes inside a session: what they ask for while two factors are on, and of accounts without a password. */
import { describe, expect } from 'bun:test'
import { type CallOptions, newEmail, newPhone, PASSWORD } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { noon } from '../helpers/limited-service.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, testsOn } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

const NEW_PASSWORD = 'another horse battery'
const newPassword = { password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD }

type Call = [name: string, method: string, path: string, body: () => Record<string, unknown>]

const changes: Call[] = [
  ['a new app', 'POST', '2fa/totp', () => ({ password: PASSWORD })],
  ['new recovery codes', 'POST', '2fa/recovery-codes', () => ({ password: PASSWORD })],
  ['turning two factors off', 'POST', '2fa/disable', () => ({ password: PASSWORD })],
  ['a new e-mail address', 'POST', 'email/change', () => ({ email: newEmail(), password: PASSWORD })],
  ['a new phone number', 'POST', 'phone/change', () => ({ phone: newPhone(), password: PASSWORD })],
  ['a new password', 'POST', 'password/change', () => ({ current_password: PASSWORD, ...newPassword })],
  ['erasing the account', 'DELETE', 'me', () => ({ password: PASSWORD })],
]

describe.each(racingShapes)('a change inside a session on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape, clock: noon(), settings: { passkeys: { rp_id: 'example.com' } } })

  const call = (method: string, path: string, body: unknown, options: CallOptions) =>
    service.call(method, `/api/v1/auth/${path}`, body, options)

  test.each(changes)('%s takes the second factor besides the password', async (_name, method, path, body) => {
    const { bearer, recoveryCodes } = await protectByApp(service)
    const missing = await call(method, path, body(), { bearer, language: 'en' })
    expect(missing.body).toEqual({
      status: 403,
      code: 'two_factor_required',
      message: 'Please confirm this with your second factor.',
      two_factor: { methods: ['totp', 'recovery_code'] },
      request_id: expect.any(String),
    })
    const field = path === 'password/change' ? 'current_password' : 'password'
    const wrong = await call(method, path, { ...body(), [field]: 'not this one' }, { bearer })
    expect(wrong.body).toMatchObject({
      status: 422,
      code: 'validation_failed',
      errors: [{ field, code: 'wrong_password' }],
    })
    expectRefusal(await call(method, path, { ...body(), otp: '000000' }, { bearer }), 'invalid_code')
    const done = await call(method, path, { ...body(), otp: recoveryCodes[0] }, { bearer })
    expect(done.status).toBeLessThan(300)
    expect(done.body.status).toBe(done.status)
  })

  rule('what is not there costs no recovery code', async () => {
    const { bearer, recoveryCodes } = await protectByApp(service)
    const proof = { password: PASSWORD, otp: recoveryCodes[0] }
    for (const path of ['phone', 'identities/none', `passkeys/${crypto.randomUUID()}`]) {
      const { status } = await call('DELETE', path, proof, { bearer })
      expect([path, status]).toEqual([path, 404])
    }
    expectRefusal(await call('POST', '2fa/enable', proof, { bearer }), 'two_factor_already_enabled')
    const { two_factor } = (await service.get('me/security', { bearer })).body
    expect(two_factor.recovery_codes_left).toBe(10)
  })

  test('removing a contact takes the second factor besides the password', async () => {
    const { person, bearer, recoveryCodes } = await protectByApp(service)
    const phone = newPhone()
    const asked = { phone, password: PASSWORD, otp: recoveryCodes[0] }
    expect((await service.post('phone/change', asked, { bearer })).status).toBe(201)
    const confirmed = await service.post(
      'phone/confirm',
      { otp: await service.inbox.nextCode(phone) },
      { bearer },
    )
    expect(confirmed.body.account.phone).toBe(phone)
    const remove = (otp?: string) => call('DELETE', 'phone', { password: PASSWORD, otp }, { bearer })
    const missing = await remove()
    expectRefusal(missing, 'two_factor_required')
    expect(missing.body.two_factor).toEqual({ methods: ['totp', 'recovery_code'] })
    expectRefusal(await remove('000000'), 'invalid_code')
    const { status, body } = await remove(recoveryCodes[1])
    expect([status, body.account.phone, body.account.two_factor_enabled]).toEqual([200, null, true])
    expect((await service.post('login', { ...person, identifier: phone })).status).toBe(401)
  })

  raced('a code of the app serves too, and nothing of it serves twice', async () => {
    const { bearer, secret } = await protectByApp(service)
    const otp = appCode(secret, service.clock.now(), 1)
    const body = { password: PASSWORD, otp }
    const answers = await race([service], () => service.post('2fa/recovery-codes', body, { bearer }))
    onlySuccess(answers, 'invalid_code', 'too_many_attempts', 'validation_failed')
  })

  raced(
    'a code that was sent for the session serves once among 32 callers, and no other sent code serves',
    async () => {
      const email = newEmail()
      const { bearer, person } = await protectBySentCodes(service, email)
      await service.post('login', person)
      const ofLogin = await service.inbox.nextCode(email)
      const ofRequest = await service.askCode('2fa/request-otp', email)
      for (const otp of [ofLogin, ofRequest]) {
        const answer = await service.post('2fa/recovery-codes', { password: PASSWORD, otp }, { bearer })
        expectRefusal(answer, 'invalid_code')
      }
      const missing = await service.post('2fa/recovery-codes', { password: PASSWORD }, { bearer })
      expect(missing.body.two_factor).toEqual({ methods: ['email', 'recovery_code'] })
      expect((await service.post('2fa/request-otp', {}, { bearer })).status).toBe(201)
      const otp = await service.inbox.nextCode(email)
      const body = { password: PASSWORD, otp }
      expectRefusal(await service.post('2fa/verify', { ...person, otp }), 'invalid_code')
      const answers = await race([service], () => service.post('2fa/recovery-codes', body, { bearer }))
      onlySuccess(answers, 'invalid_code', 'too_many_attempts')
    },
  )

  rule('request-otp needs an identifier or a session with two factors', async () => {
    const without = await service.post('2fa/request-otp', {})
    expect(without.body.errors).toMatchObject([{ field: 'identifier', code: 'required' }])
    const { bearer } = await service.signedIn()
    expectRefusal(await service.post('2fa/request-otp', {}, { bearer }), 'two_factor_not_enabled')
    expectRefusal(await service.post('2fa/request-otp', {}, { bearer: 'x.y.z' }), 'invalid_token')
  })

  rule('the settings page is told what protects the account', async () => {
    const email = newEmail()
    const { person, bearer, recoveryCodes, secret } = await protectByApp(service, email)
    const security = async () => (await service.get('me/security', { bearer })).body
    expect(await security()).toEqual({
      status: 200,
      email_verified: true,
      email_verified_at: expect.any(String),
      phone_verified: null,
      phone_verified_at: null,
      has_password: true,
      language: 'fr',
      last_password_change_at: null,
      two_factor: { enabled: true, methods: ['totp', 'recovery_code'], recovery_codes_left: 10 },
      passkeys: 0,
      identities: 0,
      sessions: 1,
      trusted_devices: [],
    })
    service.clock.advance(PERIOD_MS)
    const otp = appCode(secret, service.clock.now())
    await service.post('2fa/verify', { ...person, otp: recoveryCodes[0] })
    await service.post('password/change', { current_password: PASSWORD, ...newPassword, otp }, { bearer })
    const after = await security()
    expect(after.two_factor.recovery_codes_left).toBe(9)
    expect(after.sessions).toBe(1)
    expect(Date.parse(after.last_password_change_at)).toBeLessThanOrEqual(service.clock.now().getTime())
    const other = await service.signedIn(newPhone())
    expect((await service.get('me/security', { bearer: other.bearer })).body).toMatchObject({
      email_verified: null,
      phone_verified: true,
      two_factor: { enabled: false, methods: [], recovery_codes_left: 0 },
    })
  })
})
