/**
 * The calls of anonymous callers must cost owners nothing: neither their codes, nor their tries, nor their way in. Each
 * test lets strangers fill a counter until it refuses them, and then lets the owner come.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { Redis } from 'ioredis'
import { type CallOptions, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { appCode, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { countRows } from '../helpers/database.ts'
import { from, newClient, startLimited } from '../helpers/limited-service.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { deliverySettings, limitingShapes, ruleOn, type TestService } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const WRONG = '000000'
const WRONG_CODES_A_DAY = 20
const WRONG_CODES_IN_A_ROW = 100
const CODES_A_DAY = 12
const LOGIN_FAILURES_OF_ALL_ADDRESSES = 100
const NEW_PASSWORD = 'another good one'
const newPassword = { password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD }

/** Nobody is behind this address but who is meant, and no account signed in from it. */
const HERE = from('198.51.100.1')

/** So many calls one after the other, each from another address. */
async function crowd(service: TestService, calls: number, operation: string, body: object) {
  const statuses: number[] = []
  for (let n = 0; n < calls; n++) statuses.push((await service.post(operation, body, newClient())).status)
  return statuses
}

/** Wrong codes of strangers until the day is used up, which the last answer shows. */
async function useUpDay(service: TestService, operation: string, body: object) {
  const statuses = await crowd(service, WRONG_CODES_A_DAY + 1, operation, { ...body, otp: WRONG })
  expect(statuses).toEqual([...Array(WRONG_CODES_A_DAY).fill(422), 429])
}

/** Noon of the next day, so that a budget begins anew and lasts for the test. */
function passDay({ clock }: TestService) {
  const sinceNoonMs = (clock.now().getTime() + DAY / 2) % DAY
  clock.advance(DAY - sinceNoonMs)
}

/** It tries as many wrong ones as are compared without a right one between them. */
async function useUpRow(service: TestService, operation: string, body: object) {
  for (let day = 0; day < WRONG_CODES_IN_A_ROW / WRONG_CODES_A_DAY; day++) {
    passDay(service)
    await useUpDay(service, operation, body)
  }
  passDay(service)
}

/** Strangers ask for codes in every way until the destination gets none for the rest of the day. */
async function useUpCodes(service: TestService, identifier: string) {
  // Messages that were sent to the owner so far do not count any more.
  passDay(service)
  for (let codes = 0; codes < CODES_A_DAY; codes += 6) {
    expect(await crowd(service, 4, 'password/forgot', { identifier })).toEqual([201, 201, 201, 429])
    expect(await crowd(service, 4, '2fa/request-otp', { identifier })).toEqual([201, 201, 201, 429])
    service.clock.advance(HOUR)
  }
  for (const operation of ['password/forgot', '2fa/request-otp', 'resend-verification'])
    expect(await crowd(service, 1, operation, { identifier })).toEqual([429])
  expect(await crowd(service, 1, 'register', registration(identifier))).toEqual([429])
  await service.delivered()
}

/** Signs in with two factors, by an unknown device at an unknown address; a second code comes on demand. */
async function signsInWithTwoFactors(service: TestService, identifier: string, method: 'email' | 'sms') {
  const client = newClient()
  const login = await service.post('login', { identifier, password: PASSWORD }, client)
  expect([login.status, login.body.two_factor?.methods]).toEqual([202, [method, 'recovery_code']])
  const { login_token } = login.body.two_factor
  const first = await service.newestCode(identifier)
  const again = await service.post('2fa/request-otp', { identifier, login_token }, client)
  const otp = await service.newestCode(identifier)
  expect([again.status, otp === first]).toEqual([201, false])
  expect((await service.post('2fa/verify', { identifier, login_token, otp }, client)).status).toBe(200)
}

describe.each(limitingShapes)('on %s', (shape) => {
  const rule = ruleOn(shape)
  const sms = { allowed_countries: ['FR'], daily_budget: 40 }
  const service = useLimited({ shape, settings: { sms } })
  const verify = (body: object, client: CallOptions = newClient()) => service.post('2fa/verify', body, client)

  test('strangers who ask for codes do not stop a login with two factors by e-mail', async () => {
    const { person } = await protectBySentCodes(service)
    await useUpCodes(service, person.identifier)
    await signsInWithTwoFactors(service, person.identifier, 'email')
  })

  rule('nor one by SMS, for which half of the SMS of the day are left', async () => {
    const { person } = await protectBySentCodes(service, newPhone())
    // An account of less than seven days pays for SMS with the strangers.
    service.clock.advance(8 * DAY)
    await useUpCodes(service, person.identifier)
    const others = []
    for (let n = 0; n < sms.daily_budget / 2 + 3; n++)
      others.push((await service.post('register', registration(newPhone()), newClient())).status)
    expect(others).toEqual([...Array(20).fill(201), 429, 429, 429])
    await signsInWithTwoFactors(service, person.identifier, 'sms')
  })

  rule(
    'guesses made while two factors were off close neither the second step nor recovery codes',
    async () => {
      const { identifier } = await service.signUp(newEmail())
      await useUpRow(service, '2fa/verify', { identifier })
      // The only one that is left of this day is taken, too.
      const left = await crowd(service, 2, '2fa/verify', { identifier, otp: WRONG })
      expect(left).toEqual([422, 429])
      const { access_token: bearer } = await service.logIn({ identifier, password: PASSWORD })
      const { secret } = (await service.post('2fa/totp', { password: PASSWORD }, { bearer })).body
      const app = (periods: number) => appCode(secret, service.clock.now(), periods)
      const confirmed = await service.post('2fa/totp/confirm', { otp: app(0) }, { bearer })
      const [recoveryCode] = confirmed.body.recovery_codes
      for (const otp of [app(1), recoveryCode])
        expect((await verify({ identifier, password: PASSWORD, otp })).status).toBe(200)
    },
  )

  test('a reset opens the second step that somebody with the password closed for the day', async () => {
    passDay(service)
    const { person, secret, recoveryCodes } = await protectByApp(service)
    const { identifier } = person
    await useUpDay(service, '2fa/verify', { identifier, password: PASSWORD })
    const app = () => appCode(secret, service.clock.now(), 1)
    const withCode = async (password: string, otp?: string) =>
      (await verify({ identifier, password, otp })).status
    expect(await withCode(PASSWORD, app())).toBe(429)
    expect(await withCode(PASSWORD, recoveryCodes[0])).toBe(200)

    expect((await service.post('password/forgot', { identifier }, newClient())).status).toBe(201)
    const otp = await service.newestCode(identifier)
    const reset = { identifier, otp, ...newPassword }
    expect((await service.post('password/reset', reset, newClient())).status).toBe(200)
    expect(await withCode(NEW_PASSWORD, app())).toBe(200)
  })

  test('while strangers guess everything, a known device gets in and a session changes the password', async () => {
    const { identifier } = await service.signUp(newEmail())
    await useUpCodes(service, identifier)
    const device = { device_fingerprint: crypto.randomUUID() }
    const { access_token: bearer } = await service.logIn({ identifier, password: PASSWORD }, device)
    const wrong = { identifier, password: 'not this one' }
    const guesses = await crowd(service, LOGIN_FAILURES_OF_ALL_ADDRESSES + 1, 'login', wrong)
    expect(guesses).toEqual([...Array(LOGIN_FAILURES_OF_ALL_ADDRESSES).fill(401), 429])
    await useUpDay(service, '2fa/verify', { identifier })
    await useUpDay(service, 'password/reset', { identifier, ...newPassword })

    const signsIn = async (password: string, fields = {}) =>
      (await service.post('login', { identifier, password, ...fields }, newClient())).status
    expect(await signsIn(PASSWORD)).toBe(429)
    expect(await signsIn(PASSWORD, device)).toBe(200)
    const change = { current_password: PASSWORD, ...newPassword }
    const changed = await service.post('password/change', change, { ...newClient(), bearer })
    expect(changed.status).toBe(200)
    expect(await signsIn(NEW_PASSWORD, device)).toBe(200)

    const uses = { '2fa/request-otp': '2fa/verify', 'password/forgot': 'password/reset' }
    for (const [ask, use] of Object.entries(uses)) {
      expect((await service.post(ask, { identifier, ...device }, newClient())).status).toBe(201)
      const otp = await service.newestCode(identifier)
      const body = { identifier, otp, ...device, ...(use === 'password/reset' && newPassword) }
      expect([use, (await service.post(use, body, newClient())).status]).toEqual([use, 200])
    }
  })

  rule(
    'who shares the owner’s address and has no password uses up none of the owner’s second-step tries',
    async () => {
      passDay(service)
      const { person } = await protectBySentCodes(service)
      const { identifier } = person
      for (const proof of ['login_token', 'password']) {
        service.clock.advance(10 * MINUTE)
        const { body } = await service.post('login', { ...person }, HERE)
        const otp = await service.newestCode(identifier)
        const guesses = []
        for (let n = 0; n <= WRONG_CODES_A_DAY; n++)
          guesses.push((await verify({ identifier, otp: WRONG }, HERE)).status)
        expect(guesses.at(-1)).toBe(429)
        const brought = proof === 'password' ? PASSWORD : body.two_factor.login_token
        expect([proof, (await verify({ identifier, otp, [proof]: brought }, HERE)).status]).toEqual([
          proof,
          200,
        ])
      }
    },
  )

  rule('nor any of the owner’s tries of recovery codes', async () => {
    const { person, recoveryCodes } = await protectBySentCodes(service)
    const { identifier } = person
    const { body } = await service.post('login', person, HERE)
    const guess = () => verify({ identifier, otp: 'AAAA-BBBB-CCCC-DDDD' }, HERE)
    const guesses = []
    for (let n = 0; n < 22; n++) guesses.push((await guess()).status)
    expect(guesses).toEqual([...Array(20).fill(422), 429, 429])
    const { login_token } = body.two_factor
    expect((await verify({ identifier, login_token, otp: recoveryCodes[0] }, HERE)).status).toBe(200)
  })

  rule('32 parallel calls with one right code use up nothing of the day', async () => {
    passDay(service)
    const [{ identifier }, guarded] = [await service.signUp(newEmail()), await protectBySentCodes(service)]
    service.clock.advance(MINUTE)
    const ways = [
      { ask: '2fa/request-otp', use: '2fa/verify', body: { identifier } },
      { ask: 'login', use: '2fa/verify', body: guarded.person },
      { ask: 'password/forgot', use: 'password/reset', body: { identifier, ...newPassword } },
    ]
    for (const { ask, use, body } of ways) {
      const asked = { ...(ask === 'login' ? body : { identifier }) }
      expect((await service.post(ask, asked, newClient())).status).toBeLessThan(300)
      const otp = await service.newestCode(body.identifier)
      onlySuccess(
        await race([service], (api) => api.post(use, { ...body, otp }, newClient())),
        'invalid_code',
      )
      await useUpDay(service, use, body)
    }
  })

  rule('wrong codes for a reset are compared 100 times in a row, then once a day', async () => {
    const { identifier } = await service.signUp(newEmail())
    await useUpRow(service, 'password/reset', { identifier, ...newPassword })
    const resets = async (code?: string) => {
      expect((await service.post('password/forgot', { identifier }, newClient())).status).toBe(201)
      const otp = code ?? (await service.newestCode(identifier))
      return (await service.post('password/reset', { identifier, otp, ...newPassword }, newClient())).status
    }
    expect([await resets(WRONG), await resets()]).toEqual([422, 429])
    passDay(service)
    expect(await resets()).toBe(200)
  })

  rule(
    'sign-in by a code alone can be turned off, also for a code that is on its way; two factors stay',
    async () => {
      const { storage, clock, smtp, gateway } = service
      passDay(service)
      const { identifier } = await service.signUp(newEmail())
      const guarded = await protectBySentCodes(service)
      clock.advance(MINUTE)
      await service.post('2fa/request-otp', { identifier }, newClient())
      const otp = await service.newestCode(identifier)
      const settings = { ...deliverySettings(smtp, gateway), codes: { login: false } }
      await using without = await startLimited({ storage, clock, settings })
      const sent = await service.delivered()
      expect((await without.post('2fa/verify', { identifier, otp }, newClient())).status).toBe(422)
      expect((await without.post('2fa/request-otp', { identifier }, newClient())).status).toBe(201)
      expect(await service.delivered()).toBe(sent)
      const { person } = guarded
      const login = await without.post('login', person, newClient())
      const body = { ...person, otp: await service.newestCode(person.identifier) }
      expect([login.status, (await without.post('2fa/verify', body, newClient())).status]).toEqual([202, 200])
    },
  )
})

/** Counts the rows and keys that a caller may add to. */
async function stored(service: TestService): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of ['accounts', 'codes', 'code_budgets', 'limits', 'messages'])
    counts[table] = await countRows(service, table)
  const { redis } = service.storage
  if (redis) {
    const client = new Redis(String(redis.url))
    counts.keys = (await client.keys(`${redis.key_prefix}*`)).length
    client.disconnect()
  }
  return counts
}

describe('calls by address', () => {
  const service = useLimited()

  test('one address asks for 30 codes at once and 120 an hour, and what is refused leaves no trace', async () => {
    const asking = [
      (identifier: string) => service.post('password/forgot', { identifier }, HERE),
      (identifier: string) => service.post('2fa/request-otp', { identifier }, HERE),
      (identifier: string) => service.post('resend-verification', { identifier }, HERE),
      (identifier: string) => service.post('register', registration(identifier), HERE),
    ]
    const ask = async (n: number) => (await asking[n % asking.length]!(newEmail())).status
    const askMany = async (count: number) => {
      const statuses = []
      for (let n = 0; n < count; n++) statuses.push(await ask(n))
      return statuses
    }
    expect(await askMany(30)).toEqual(Array(30).fill(201))
    await service.delivered()
    const unfinished = () => countRows(service, 'messages', sql`finished_at is null`)
    await waitFor(async () => (await unfinished()) === 0, { what: 'the messages to nobody to be removed' })
    const before = await stored(service)
    expect(await askMany(40)).toEqual(Array(40).fill(429))
    expect(await stored(service)).toEqual(before)

    for (let n = 30; n < 120; n++) {
      service.clock.advance(HOUR / 120)
      expect([n, await ask(n)]).toEqual([n, 201])
    }
    service.clock.advance(HOUR / 120)
    expect(await ask(0)).toBe(429)
    const { status } = await service.post('2fa/request-otp', { identifier: newEmail() }, newClient())
    expect(status).toBe(201)
  })
})

test('a /56 has four times the number of a /64, and a /48 sixteen times', async () => {
  const limits = { code_requests_burst: 2, logins_per_minute: 2 }
  await using service = await startLimited({ settings: { limits } })
  const networks = {
    64: (n: number) => `2001:db8:1:1::${n.toString(16)}`,
    56: (n: number) => `2001:db8:2:${n.toString(16)}::1`,
    48: (n: number) => `2001:db8:3:${n.toString(16)}00::1`,
  }
  const asking = {
    '2fa/request-otp': () => ({ identifier: newEmail() }),
    login: () => ({ identifier: newEmail(), password: PASSWORD }),
  }
  for (const [operation, body] of Object.entries(asking)) {
    const passed: Record<string, number> = {}
    for (const [bits, address] of Object.entries(networks)) {
      const statuses = []
      for (let n = 1; n <= 40; n++)
        statuses.push((await service.post(operation, body(), from(address(n)))).status)
      passed[bits] = statuses.filter((status) => status !== 429).length
    }
    expect([operation, passed]).toEqual([operation, { 64: 2, 56: 8, 48: 32 }])
  }
})

test('a try that a full hash queue refuses is no failure', async () => {
  const settings = {
    limits: { hash_concurrency: 1, hash_queue: 1 },
    password: { memory_kib: 65_536, iterations: 3 },
  }
  await using service = await startLimited({ settings })
  const { identifier } = await service.signUp(newEmail())
  const guess = async () =>
    (await service.post('login', { identifier, password: 'not this one' }, HERE)).status
  const statuses = await Promise.all(Array.from({ length: 30 }, guess))
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(10)
  // A 503 is not counted on the address either, so that none of these is refused for it.
  while (statuses.at(-1) !== 429 && statuses.length < 60) statuses.push(await guess())
  expect(statuses.filter((status) => status === 401)).toHaveLength(10)
})
