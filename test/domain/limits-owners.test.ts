/**
 * The counters that an owner pays with, and the time for which a device or an address is known. The strangers' part is
 * in attacks/.
 */
import { describe, expect, test } from 'bun:test'
import { asOperator } from '../helpers/administration.ts'
import {
  type Answer,
  newEmail,
  newPhone,
  PASSWORD,
  type Person,
  registration,
} from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { from, newClient } from '../helpers/limited-service.ts'
import { longTest } from '../helpers/soak.ts'
import { useLimited, useService } from '../helpers/use-service.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const WRONG = '000000'
const on = (device_fingerprint: string) => ({ device_fingerprint })

describe('an owner', () => {
  const sms = { allowed_countries: ['FR'], daily_budget: 40 }
  const service = useLimited({ settings: { sms } })

  const statusOf = async (call: Promise<Answer>) => (await call).status
  const logIn = (person: Person, fields: object = {}, client = newClient()) =>
    statusOf(service.post('login', { ...person, ...fields }, client))
  const verify = (body: object, client = newClient()) => statusOf(service.post('2fa/verify', body, client))
  const repeat = async (times: number, call: () => Promise<number>) => {
    const statuses = new Map<number, number>()
    for (let n = 0; n < times; n++) {
      const status = await call()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    return Object.fromEntries(statuses)
  }
  /** Noon of the next day: what counts by the day begins anew, and lasts for the test. */
  const passDay = () => service.clock.advance(DAY - ((service.clock.now().getTime() + DAY / 2) % DAY))

  test('asks for ten codes an hour and thirty a day on known devices, three at once and then one a minute', async () => {
    const person = await service.signUp(newEmail())
    for (const device of ['laptop', 'phone']) await logIn(person, on(device))
    passDay()
    const sent: number[] = []
    const ask = (n: number) =>
      service.post(
        'password/forgot',
        { identifier: person.identifier, ...on(n % 2 ? 'laptop' : 'phone') },
        newClient(),
      )
    const first = []
    for (let n = 0; n < 4; n++) first.push(await ask(n))
    expect(first.map(({ status }) => status)).toEqual([201, 201, 201, 429])
    expect(first[3]?.body.retry_after).toBe(60)
    for (let hour = 0; hour < 4; hour++) {
      let passed = hour === 0 ? 3 : 0
      for (let minute = 1; minute < 15; minute++) {
        service.clock.advance(MINUTE)
        if ((await ask(minute)).status === 201) passed++
      }
      service.clock.advance(46 * MINUTE)
      sent.push(passed)
    }
    expect(sent).toEqual([10, 10, 10, 0])
  })

  longTest('is sent codes in sessions and on an own device while another asks for all it gets', async () => {
    const person = await service.signUp(newEmail())
    const { identifier } = person
    await logIn(person, on('of an intruder'))
    await logIn(person, on('of the owner'))
    passDay()
    let bearer = ''
    const asks = (device: string) =>
      statusOf(service.post('password/forgot', { identifier, ...on(device) }, newClient()))
    const enables = () =>
      statusOf(service.post('2fa/enable', { password: PASSWORD }, { ...newClient(), bearer }))
    const sent = { intruder: 0, owner: 0, session: 0 }
    for (let minute = 0; minute < 4 * 60; minute++) {
      service.clock.advance(MINUTE)
      if ((await asks('of an intruder')) === 201) sent.intruder++
      if (minute % 60 < 12) continue
      if (minute % 60 === 12) bearer = (await service.logIn(person, on('of the owner'))).access_token
      if ((await asks('of the owner')) === 201) sent.owner++
      if (minute % 60 < 22 && (await enables()) === 201) sent.session++
    }
    // The owner's device gets three an hour and ten a day of its own; sessions thirty a day, and the fourth of them three more.
    expect([sent.owner, sent.session]).toEqual([10, 33])
    expect(sent.intruder).toBeLessThanOrEqual(30)
  })

  test('has 20 wrong codes a day on each known device, apart from the other ones', async () => {
    const person = await service.signUp(newEmail())
    const { identifier } = person
    for (const device of ['laptop', 'phone']) await logIn(person, on(device))
    passDay()
    const guess = () => verify({ identifier, otp: WRONG, ...on('laptop') })
    expect(await repeat(22, guess)).toEqual({ 422: 20, 429: 2 })
    await service.post('2fa/request-otp', { identifier, ...on('phone') }, newClient())
    const otp = await service.newestCode(identifier)
    expect(await verify({ identifier, otp, ...on('laptop') })).toBe(429)
    expect(await verify({ identifier, otp, ...on('phone') })).toBe(200)
  })

  test('tries 20 recovery codes an hour from one address, which closes nothing else', async () => {
    const { person, secret, recoveryCodes } = await protectByApp(service)
    const [client, next] = [newClient(), recoveryCodes[0]]
    const guess = () => verify({ ...person, otp: '0000-0000-0000-0000' }, client)
    expect(await repeat(22, guess)).toEqual({ 422: 20, 429: 2 })
    expect(await verify({ ...person, otp: next }, client)).toBe(429)
    expect(await verify({ ...person, otp: appCode(secret, service.clock.now(), 1) }, client)).toBe(200)
    expect(await verify({ ...person, otp: recoveryCodes[1] })).toBe(200)
    service.clock.advance(HOUR)
    expect(await verify({ ...person, otp: next }, client)).toBe(200)
  })

  test('opens the second step of today by a reset once a day', async () => {
    passDay()
    const { person, secret } = await protectByApp(service)
    const { identifier } = person
    const guess = () => verify({ ...person, otp: WRONG })
    const isOpen = () => {
      service.clock.advance(PERIOD_MS)
      return verify({ ...person, otp: appCode(secret, service.clock.now(), 1) })
    }
    for (const status of [200, 429]) {
      expect(await repeat(21, guess)).toEqual({ 422: 20, 429: 1 })
      expect((await service.post('password/forgot', { identifier }, newClient())).status).toBe(201)
      const otp = await service.newestCode(identifier)
      const reset = { identifier, otp, password: PASSWORD, password_confirmation: PASSWORD }
      expect(await statusOf(service.post('password/reset', reset, newClient()))).toBe(200)
      expect(await isOpen()).toBe(status)
    }
  })

  test('whose account was confirmed less than seven days ago gets SMS from what is for verified numbers that strangers name', async () => {
    const old = await protectBySentCodes(service, newPhone())
    service.clock.advance(8 * DAY)
    const young = await protectBySentCodes(service, newPhone())
    service.clock.advance(DAY)
    const register = () => statusOf(service.post('register', registration(newPhone()), newClient()))
    expect(await repeat(sms.daily_budget / 2 + 2, register)).toEqual({ 201: 20, 429: 2 })
    const methodsOf = async ({ person }: { person: Person }) =>
      (await service.post('login', { ...person }, newClient())).body.two_factor.methods
    expect([await methodsOf(old), await methodsOf(young)]).toEqual([
      ['sms', 'recovery_code'],
      ['sms', 'recovery_code'],
    ])
  })

  test('whose account is young gets SMS on a known device, whatever strangers of the same network ask for', async () => {
    passDay()
    const neighbour = '82.64.9.77'
    const { person } = await protectBySentCodes(service, newPhone(), on('laptop'))
    const { identifier } = person
    service.clock.advance(HOUR)
    const ask = (operation: string, body: object, client = from(neighbour)) =>
      statusOf(service.post(operation, body, client))
    const strangersAsk = () => ask('password/forgot', { identifier: newPhone() })
    expect(await repeat(10, strangersAsk)).toEqual({ 201: 2, 429: 8 })
    const near = from('82.64.9.1')
    expect(await ask('2fa/request-otp', { identifier, ...on('laptop') }, near)).toBe(201)
    service.clock.advance(MINUTE)
    const { access_token } = (
      await service.post(
        '2fa/verify',
        { ...person, ...on('laptop'), otp: await service.newestCode(identifier) },
        near,
      )
    ).body
    expect(await statusOf(service.post('2fa/request-otp', {}, { ...near, bearer: access_token }))).toBe(201)
  })

  longTest('is told by SMS although invitations used up the codes of the day', async () => {
    service.clock.advance(DAY)
    const person = await service.signUp(newPhone())
    service.clock.advance(DAY)
    const { access_token: bearer } = await service.logIn(person)
    const invite = () =>
      statusOf(asOperator(service, 'POST', 'accounts', { phone: newPhone(), invite: true }))
    expect(await repeat(sms.daily_budget, invite)).toEqual({ 201: 38, 429: 2 })
    const told = async () => {
      await service.delivered()
      return service.inbox.textsTo(person.identifier).length
    }
    const before = await told()
    const chosen = { password: 'another horse battery', password_confirmation: 'another horse battery' }
    const change = { current_password: PASSWORD, ...chosen }
    expect((await service.post('password/change', change, { bearer })).status).toBe(200)
    expect(await told()).toBe(before + 1)
  })

  test('keeps two factors where nobody could be told that somebody else turns them off', async () => {
    const person = { identifier: '+447400123456', password: PASSWORD }
    const made = { phone: person.identifier, password: PASSWORD, verified: true }
    const { uuid } = (await asOperator(service, 'POST', 'accounts', made)).body.account
    const { access_token: bearer } = await service.logIn(person)
    const { body: app } = await service.post('2fa/totp', { password: PASSWORD }, { bearer })
    const otp = appCode(app.secret, service.clock.now())
    expect(await statusOf(service.post('2fa/totp/confirm', { otp }, { bearer }))).toBe(200)
    const { accountFactors } = service.inside.services
    const removal = accountFactors.removeTwoFactor(uuid, { delayed: true })
    expect(await removal.catch(({ errorCode }) => errorCode)).toBe('channel_not_available')
    expect((await asOperator(service, 'GET', `accounts/${uuid}`)).body.account.two_factor_enabled).toBeTrue()
    expect(await statusOf(asOperator(service, 'DELETE', `accounts/${uuid}/two-factor`))).toBe(200)
  })

  /** Sends wrong passwords from so many addresses that the identifier is refused to unknown callers. */
  async function closeIdentifier({ identifier }: Person) {
    const wrong = { identifier, password: 'not this one' }
    const guesses = await repeat(101, () => statusOf(service.post('login', wrong, newClient())))
    expect(guesses).toEqual({ 401: 100, 429: 1 })
  }

  test('is known at login by a public address of the last ten sign-ins, and by no private one', async () => {
    const person = await service.signUp(newEmail())
    const [home, office] = [from('9.9.9.9'), from('192.168.1.9')]
    for (const place of [home, office]) expect(await logIn(person, {}, place)).toBe(200)
    expect(await logIn(person, on('phone'))).toBe(200)
    await closeIdentifier(person)
    expect([await logIn(person, {}, home), await logIn(person, {}, office)]).toEqual([200, 429])
    for (let n = 1; n <= 10; n++) expect(await logIn(person, on('phone'), from(`9.9.8.${n}`))).toBe(200)
    expect([await logIn(person, {}, home), await logIn(person, {}, from('9.9.8.1'))]).toEqual([429, 200])
  })

  test('is known by the 20 devices of the last sign-ins, each for 90 days', async () => {
    const person = await service.signUp(newEmail())
    for (let n = 0; n <= 20; n++) {
      expect(await logIn(person, on(`device ${n}`))).toBe(200)
      service.clock.advance(MINUTE)
    }
    await closeIdentifier(person)
    expect(await logIn(person, on('device 0'))).toBe(429)
    for (const known of ['device 1', 'device 20']) expect(await logIn(person, on(known))).toBe(200)
    service.clock.advance(90 * DAY - MINUTE)
    await closeIdentifier(person)
    expect(await logIn(person, on('device 2'))).toBe(429)
    expect(await logIn(person, on('device 20'))).toBe(200)
  })
})

describe('wrong passwords inside a session', () => {
  const service = useService()

  longTest('end it after a hundred in a row', async () => {
    const person = await service.signUp(newEmail())
    const [{ access_token: bearer }, other] = [await service.logIn(person), await service.logIn(person)]
    const erase = (password: string) => service.call('DELETE', '/api/v1/auth/me', { password }, { bearer })
    for (let n = 0; n < 50; n++) expect((await erase('not this one')).status).toBe(422)
    // The right one begins the row anew.
    const codes = { current_password: PASSWORD, password: PASSWORD, password_confirmation: PASSWORD }
    expect((await service.post('password/change', codes, { bearer })).status).toBe(200)
    const answers = []
    for (let n = 0; n < 100; n++) answers.push((await erase('not this one')).status)
    expect(answers).toEqual(Array(100).fill(422))
    expect((await service.get('me', { bearer })).status).toBe(401)
    expect((await service.get('me', { bearer: other.access_token })).status).toBe(401)
  })
})
