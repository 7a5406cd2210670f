/** The number of wrong passwords that are checked, for whom, and that nobody can lock an owner out. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, newPhone, PASSWORD } from '../helpers/api-client.ts'
import { newClient, startLimited } from '../helpers/limited-service.ts'
import { racingShapes, testsOn } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'

setDefaultTimeout(60_000)

const SECOND = 1000
const MINUTE = 60 * SECOND
const WRONG = 'not this one'

test('a refusal names the limit in the log, also without metrics', async () => {
  const service = await startLimited({ shape: 'redis' })
  const person = { identifier: newEmail(), password: WRONG }
  const statuses = []
  for (let i = 0; i < 11; i++) statuses.push((await service.post('login', person)).status)
  expect(statuses.at(-1)).toBe(429)
  expect(JSON.parse(service.log.at(-1)!)).toMatchObject({
    code: 'too_many_requests',
    cause: 'wrong_passwords',
  })
  await service.close()
})

describe.each(racingShapes)('failed logins on %s', (shape) => {
  const { test, raced } = testsOn(shape)
  const service = useLimited({ shape })

  /** The strangers of a test are there; the account never signed in from that address. */
  let address = newClient()
  beforeEach(() => {
    address = newClient()
  })
  const attempt = (identifier: string, password: string, device_fingerprint?: string) =>
    service.post('login', { identifier, password, device_fingerprint }, address)

  async function fail(identifier: string, times: number, fingerprint?: string) {
    const answers = []
    for (let i = 0; i < times; i++) answers.push(await attempt(identifier, WRONG, fingerprint))
    return answers.map(({ status }) => status)
  }

  test('ten are checked, then none for a minute, doubling to an hour, with the right password too', async () => {
    const { identifier } = await service.signUp(newEmail())
    expect(await fail(identifier, 10)).toEqual(Array(10).fill(401))
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      const refused = await attempt(identifier, PASSWORD)
      expect([refused.status, refused.body.retry_after]).toEqual([429, minutes * 60])
      service.clock.advance(minutes * MINUTE - SECOND)
      expect((await attempt(identifier, PASSWORD)).body.retry_after).toBe(1)
      service.clock.advance(SECOND)
      expect((await attempt(identifier, WRONG)).status).toBe(401)
    }
    service.clock.advance(60 * MINUTE)
    expect((await attempt(identifier, PASSWORD)).status).toBe(200)
  })

  test('a success forgets them', async () => {
    const person = await service.signUp(newEmail())
    for (let round = 0; round < 3; round++) {
      expect(await fail(person.identifier, 9)).toEqual(Array(9).fill(401))
      expect((await attempt(person.identifier, person.password)).status).toBe(200)
    }
  })

  test('failures older than 15 minutes do not count', async () => {
    const { identifier } = await service.signUp(newEmail())
    await fail(identifier, 9)
    service.clock.advance(15 * MINUTE)
    expect(await fail(identifier, 9)).toEqual(Array(9).fill(401))
  })

  test('one account has one counter, however its identifier is spelled', async () => {
    const email = newEmail()
    await service.signUp(email)
    for (let i = 0; i < 5; i++) await attempt(i % 2 ? email.toUpperCase() : ` ${email}`, WRONG)
    await fail(email, 5)
    expect((await attempt(email, PASSWORD)).status).toBe(429)
    const phone = newPhone()
    await service.signUp(phone)
    const spellings = [
      phone,
      phone.replace('+33', '0'),
      phone.replace('+', '00'),
      phone.replace('+33', '+33 (0)'),
    ]
    for (let i = 0; i < 10; i++) await attempt(spellings[i % 3] as string, WRONG)
    expect((await attempt(phone, PASSWORD)).status).toBe(429)
  })

  test('a stranger who is refused does not lock out a device that signed in before', async () => {
    const person = await service.signUp(newEmail())
    await service.logIn(person, { device_fingerprint: 'the owner’s phone' })
    await fail(person.identifier, 10)
    expect((await attempt(person.identifier, PASSWORD)).status).toBe(429)
    expect((await attempt(person.identifier, PASSWORD, 'another phone')).status).toBe(429)
    expect((await attempt(person.identifier, PASSWORD, 'the owner’s phone')).status).toBe(200)
    expect((await attempt(person.identifier, PASSWORD)).status).toBe(429)
  })

  test('who guesses the fingerprint gains ten more guesses, and no more', async () => {
    const person = await service.signUp(newEmail())
    await service.logIn(person, { device_fingerprint: 'guessable' })
    const statuses = [
      ...(await fail(person.identifier, 11, 'guessable')),
      ...(await fail(person.identifier, 11)),
      ...(await fail(person.identifier, 3, 'never seen')),
    ]
    expect(statuses.filter((status) => status === 401)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
  })

  test('a fingerprint of one account is nothing to another, nor to an unknown identifier', async () => {
    const owner = await service.signUp(newEmail())
    await service.logIn(owner, { device_fingerprint: 'mine' })
    for (const identifier of [(await service.signUp(newEmail())).identifier, newEmail()]) {
      await fail(identifier, 10)
      expect((await attempt(identifier, PASSWORD, 'mine')).status).toBe(429)
    }
  })

  raced('of 200 parallel guesses ten are checked', async () => {
    const { identifier } = await service.signUp(newEmail())
    const answers = await Promise.all(Array.from({ length: 200 }, () => attempt(identifier, WRONG)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    // The place in the queue comes before the count: where all are taken, nothing is counted.
    expect(statuses.filter((status) => status === 429 || status === 503)).toHaveLength(190)
    expect((await attempt(identifier, PASSWORD)).status).toBe(429)
  })

  raced('40 parallel logins with the right password all pass', async () => {
    const person = await service.signUp(newEmail())
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => attempt(person.identifier, person.password)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await fail(person.identifier, 10)).toEqual(Array(10).fill(401))
  })

  test('a wrong password in 2fa/verify counts like one in login', async () => {
    const { identifier } = await service.signUp(newEmail())
    for (let i = 0; i < 10; i++) {
      const body = { identifier, otp: '000000', password: WRONG }
      expect((await service.post('2fa/verify', body, address)).status).toBe(422)
    }
    expect((await attempt(identifier, PASSWORD)).status).toBe(429)
  })
})

test('each of these numbers is configuration', async () => {
  const limits = {
    login_failures: 2,
    login_failures_window: '1m',
    login_refusal: '10s',
    login_refusal_maximum: '15s',
  }
  await using service = await startLimited({ settings: { limits } })
  const identifier = newEmail()
  const client = newClient()
  const attempt = () => service.post('login', { identifier, password: WRONG }, client)
  const waits: number[] = []
  for (let i = 0; i < 7; i++) {
    const { body } = await attempt()
    if (body.retry_after === undefined) continue
    waits.push(body.retry_after)
    service.clock.advance(body.retry_after * SECOND)
  }
  expect(waits).toEqual([10, 15, 15])
  service.clock.advance(MINUTE + 15 * SECOND)
  expect([(await attempt()).status, (await attempt()).status, (await attempt()).status]).toEqual([
    401, 401, 429,
  ])
})
