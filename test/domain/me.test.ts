/** The own account, seen and erased, through HTTP. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { fr } from '../../src/texts/fr.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { countRows, dumpTables } from '../helpers/database.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, startService, testsOn } from '../helpers/service.ts'
import { useLimited, useService } from '../helpers/use-service.ts'

setDefaultTimeout(20_000)

describe.each(racingShapes)('the own account on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape })

  const erase = (bearer: string, password: unknown = PASSWORD, at = service) =>
    at.call('DELETE', '/api/v1/auth/me', { password }, { bearer })

  test('is shown as login shows it, as it stands now', async () => {
    const { person, account, bearer } = await service.signedIn()
    const answer = await service.get('me', { bearer })
    const { account: _, ...beside } = answer.body
    expect(Object.keys(answer.body).slice(0, 2)).toEqual(['status', 'account'])
    expect(beside).toEqual({
      ...{ status: 200, email_verified: true, phone_verified: null },
      ...{ profile: {}, username: null, groups: [], role: expect.any(String) },
    })
    expect(answer.body.account).toEqual(account)
    await service.logIn(person)
    const { body } = await service.get('me', { bearer })
    expect([body.account.sign_in_count, Object.keys(body.account)]).toEqual([2, Object.keys(account)])
  })

  test('says since when a contact is verified', async () => {
    const { bearer } = await service.signedIn()
    const { body } = await service.get('me/security', { bearer })
    expect([body.email_verified_at, body.phone_verified_at]).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      null,
    ])
  })

  test('is erased with its password: its sessions are dead, its identifier is free', async () => {
    const { person, account, bearer: access_token, refresh_token } = await service.signedIn()
    const other = await service.logIn(person)
    const answer = await erase(access_token)
    expect(answer.body).toEqual({ status: 200, message: fr.sentences.account_erased })
    for (const bearer of [access_token, other.access_token]) {
      expect((await service.get('me', { bearer })).body.code).toBe('invalid_token')
    }
    expect((await service.post('refresh', { refresh_token })).body.code).toBe('invalid_token')
    expect((await service.post('login', person)).body.code).toBe('invalid_credentials')
    const again = await service.signUp(person.identifier, 'another good password')
    const { account: reborn } = await service.logIn(again)
    expect(reborn.id).not.toBe(account.id)
    expect(reborn.uuid).not.toBe(account.uuid)
    expect(reborn.sign_in_count).toBe(1)
  })

  test('leaves nothing that names the person, and one notice goes out', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    const { account, bearer } = await service.signedIn(phone)
    await service.post('login', {
      identifier: account.phone,
      password: PASSWORD,
      device_fingerprint: 'my-own-device',
    })
    for (const contact of [email, newEmail()]) {
      await service.post('email/change', { email: contact, password: PASSWORD }, { bearer })
      const otp = await service.inbox.nextCode(contact)
      await service.post('email/confirm', { otp }, { bearer })
    }
    await service.post('register', registration(phone, 'the password of somebody else'))
    await service.post('password/forgot', { identifier: phone })
    await service.delivered()
    await erase(bearer)
    await service.delivered()
    expect(service.inbox.textsTo(phone).at(-1)).toMatch(/compte a .t. supprim/)
    const rows = (await dumpTables(service)).split('\n')
    const named = [phone, phone.slice(1), email, 'my-own-device']
    expect(rows.filter((row) => named.some((name) => row.toLowerCase().includes(name)))).toEqual([])
  })

  rule('is not erased without its password, and the failure counts as one of a login', async () => {
    const { person, bearer } = await service.signedIn()
    const wrong = await erase(bearer, 'not the password')
    expect([wrong.status, wrong.body.errors[0]]).toMatchObject([
      422,
      { field: 'password', code: 'wrong_password' },
    ])
    for (const body of [{}, { password: null }, { password: 1 }]) {
      const answer = await service.call('DELETE', '/api/v1/auth/me', body, { bearer })
      expect(answer.status).toBe(422)
    }
    const { body } = await service.get('me', { bearer })
    expect(body.account.failed_attempts).toBe(1)
    expect((await service.post('login', person)).status).toBe(200)
  })

  raced('is erased once by 32 callers', async () => {
    const { bearer } = await service.signedIn()
    const before = await countRows(service, 'accounts')
    const answers = await Promise.all(Array.from({ length: 32 }, () => erase(bearer)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.every(({ status }) => status === 200 || status === 401)).toBe(true)
    expect(await countRows(service, 'accounts')).toBe(before - 1)
  })

  rule('takes the codes on their way with it', async () => {
    const { person, bearer } = await service.signedIn()
    const otp = await service.askCode('2fa/request-otp', person.identifier)
    await erase(bearer)
    const dead = await service.post('2fa/verify', { identifier: person.identifier, otp })
    expect(dead.body.code).toBe('invalid_code')
    await service.post('register', registration(person.identifier))
    const old = await service.post('verify-account', { identifier: person.identifier, otp })
    expect(old.body.code).toBe('invalid_code')
  })
})

describe('changes without a proof', () => {
  const service = useLimited()
  const change = (language: string, bearer: string) =>
    service.call('PATCH', '/api/v1/auth/me', { language }, { bearer })

  test('are 120 an hour for each account, whatever its session', async () => {
    const [one, other] = [await service.signedIn(), await service.signedIn()]
    const second = (await service.logIn(one.person)).access_token
    for (let count = 0; count < 120; count++) {
      const { status } = await change(count % 2 ? 'fr' : 'en', count % 3 ? one.bearer : second)
      expect([count, status]).toEqual([count, 200])
    }
    const refused = await change('es', second)
    expectRefusal(refused, 'too_many_requests')
    expect((await change('es', other.bearer)).status).toBe(200)
    service.clock.advance(Number(refused.headers.get('retry-after')) * 1000)
    const { access_token } = await service.logIn(one.person)
    expect((await change('es', access_token)).status).toBe(200)
  })
})

test('wrong passwords in a session refuse that session, and no login', async () => {
  await using service = await startService({ shape: 'redis', settings: { limits: { enabled: true } } })
  const { person, bearer } = await service.signedIn()
  const erase = (password: string) => service.call('DELETE', '/api/v1/auth/me', { password }, { bearer })
  for (let tries = 0; tries < 10; tries++) expectRefusal(await erase('wrong'), 'validation_failed')
  const refused = await erase(person.password)
  expectRefusal(refused, 'too_many_requests')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const other = await service.logIn(person)
  expect((await service.get('me', { bearer: other.access_token })).status).toBe(200)
}, 30_000)
