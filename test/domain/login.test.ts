/** Login by password through HTTP. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { racingShapes, startService, testsOn } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

setDefaultTimeout(20_000)

const accountFields = [
  'failed_attempts',
  'id',
  'uuid',
  'email',
  'phone',
  'password_digest',
  'accountable_type',
  'accountable_id',
  'role_id',
  'remember_created_at',
  'sign_in_count',
  'current_sign_in_at',
  'last_sign_in_at',
  'current_sign_in_ip',
  'last_sign_in_ip',
  'account_confirmed_at',
  'account_confirmed',
  'unlock_token',
  'locked_at',
  'two_factor_enabled',
  'provider',
  'provider_uid',
  'created_at',
  'updated_at',
]

describe.each(racingShapes)('login on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape })

  rule('answers with exactly the specified fields, in their order', async () => {
    const person = await service.signUp(newEmail())
    const body = await service.logIn(person)
    expect(Object.keys(body)).toEqual(['status', 'access_token', 'refresh_token', 'account'])
    expect(Object.keys(body.account)).toEqual(accountFields)
    expect(body.status).toBe(200)
    expect(body.refresh_token).toMatch(/^[0-9a-f]{64}$/)
    const { account } = body
    expect(account.accountable_id).toBe(account.id)
    expect([account.accountable_type, account.role_id, account.provider]).toEqual(['User', 1, 'local'])
    expect(account.password_digest).toStartWith('$argon2id$v=19$m=8,t=1,p=1$')
    expect(account.password_digest.length).toBeLessThan(40)
    for (const field of ['account_confirmed_at', 'current_sign_in_at', 'created_at', 'updated_at']) {
      expect(account[field]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
  })

  rule('the access token verifies against the published keys and says who, how and when', async () => {
    const { bearer, account } = await service.signedIn()
    const jwks = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`))
    const { payload, protectedHeader } = await jwtVerify(bearer, jwks, {
      algorithms: ['ES256'],
      typ: 'at+jwt',
      issuer: 'http://auth.internal',
      audience: 'http://auth.internal',
      requiredClaims: ['sub', 'sid', 'jti', 'iat', 'exp', 'auth_time', 'amr', 'role_id'],
    })
    expect(protectedHeader.kid).toBeString()
    expect(payload.sub).toBe(account.uuid)
    expect(payload.amr).toEqual(['pwd'])
    expect(payload.role_id).toBe(1)
    expect(payload.exp! - payload.iat!).toBe(900)
  })

  test('counts sign-ins and failures as Devise does', async () => {
    const person = await service.signUp(newEmail())
    const first = (await service.logIn(person)).account
    expect([first.sign_in_count, first.failed_attempts]).toEqual([1, 0])
    expect(first.last_sign_in_at).toBe(first.current_sign_in_at)
    for (let i = 0; i < 3; i++) await service.post('login', { ...person, password: 'not this one' })
    service.clock.advance(5000)
    const second = (await service.logIn(person)).account
    expect([second.sign_in_count, second.failed_attempts]).toEqual([2, 0])
    expect(second.last_sign_in_at).toBe(first.current_sign_in_at)
    expect(second.current_sign_in_at > second.last_sign_in_at).toBe(true)
    expect(second.current_sign_in_ip).toBe('127.0.0.1')
  })

  raced('32 parallel logins are 32 sign-ins', async () => {
    const person = await service.signUp(newEmail())
    await Promise.all(Array.from({ length: 32 }, () => service.logIn(person)))
    expect((await service.logIn(person)).account.sign_in_count).toBe(33)
  })

  rule('the device is one of three kinds, and any other text is no kind', async () => {
    const person = await service.signUp(newEmail())
    for (const device_type of ['Mobile', 'Tablette', 'Navigateur']) {
      await service.logIn(person, {
        device_type,
        device_name: 'Pixel',
        device_os: 'Android',
        device_fingerprint: 'f',
      })
    }
    const unsaid = { device_type: null, device_name: null, device_os: null, device_fingerprint: null }
    expect((await service.post('login', { ...person, ...unsaid })).status).toBe(200)
    const listed = async (device_type: unknown) => {
      const answer = await service.post('login', { ...person, device_type })
      if (answer.status !== 200) return [answer.status, answer.body.errors[0].field]
      const { body } = await service.get('sessions', { bearer: answer.body.access_token })
      return [200, body.sessions.find(({ current }: { current: boolean }) => current).device_type]
    }
    expect(await listed('Mobile')).toEqual([200, 'Mobile'])
    for (const unknown of ['Toaster', 'mobile', '', 'x'.repeat(256)])
      expect(await listed(unknown)).toEqual([200, null])
    expect(await listed(5)).toEqual([422, 'device_type'])
  })
})

test('what only describes the device is cut at the end of a character, and refuses no sign-in', async () => {
  await using service = await startService()
  const person = await service.signUp(newEmail())
  const describe = async (text: string) => {
    const device = { device_name: text, device_os: text, device_type: text }
    const answer = await service.post('login', { ...person, ...device, device_fingerprint: 'x'.repeat(600) })
    expect([text, answer.status]).toEqual([text, 200])
    const { body } = await service.get('sessions', { bearer: answer.body.access_token })
    const { device_name, device_os } = body.sessions.find(({ current }: { current: boolean }) => current)
    expect(device_os).toBe(device_name)
    return device_name
  }
  expect(await describe('x'.repeat(256))).toBe('x'.repeat(255))
  expect(await describe('🦊'.repeat(300))).toBe('🦊'.repeat(255))
  expect(await describe('Zoë\ud83d')).toBe('Zoë')
  expect(await describe('\udc00a\0b\ud83d\ud83e\udd8a')).toBe('ab🦊')
  expect(await describe(`Mozilla/5.0 ${'[FBAN/FBIOS;] '.repeat(60)}`)).toHaveLength(255)
})

test('with password_digest = "full" the record holds the true digest', async () => {
  await using service = await startService({ settings: { accounts: { password_digest: 'full' } } })
  const { account } = await service.signedIn()
  expect(await Bun.password.verify(PASSWORD, account.password_digest)).toBe(true)
})
