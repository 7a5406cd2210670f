/** The bounds for a guesser of passwords and codes, and the reset that lets the owner in again. */
import { describe, expect, test } from 'bun:test'
import { type Answer, newEmail, PASSWORD } from '../helpers/api-client.ts'
import { newClient } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { limitingShapes } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { useLimited, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const NEW_PASSWORD = 'a quite different sentence'
const DEVICE = { device_fingerprint: 'the one at home' }

const failure = ({ status, body }: Answer) => [status, body.code]
const resetBody = (identifier: string, otp: string) => ({
  identifier,
  otp,
  password: NEW_PASSWORD,
  password_confirmation: NEW_PASSWORD,
})

describe.each(limitingShapes)('limits of passwords on %s', (shape) => {
  const service = useLimited({ shape })

  const logIn = (identifier: string, password: string, device = {}) =>
    service.post('login', { identifier, password, ...device }, newClient())
  const forgot = (identifier: string) => service.post('password/forgot', { identifier }, newClient())
  const change = (bearer: string, current_password: string) =>
    service.post(
      'password/change',
      { current_password, password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD },
      { bearer, ...newClient() },
    )
  async function fail(times: number, attempt: () => Promise<Answer>) {
    const codes: unknown[] = []
    for (let i = 0; i < times; i++) codes.push((await attempt()).body.code)
    return codes
  }

  test('a reset lifts the lock of failed logins, where the caller is and on its known device', async () => {
    const { identifier } = await service.signUp(newEmail())
    const client = newClient()
    const at = (password: string, device = {}) =>
      service.post('login', { identifier, password, ...device }, client)
    expect((await at(PASSWORD, DEVICE)).status).toBe(200)
    await fail(10, () => at('wrong'))
    await fail(10, () => at('wrong', DEVICE))
    for (const device of [{}, DEVICE]) {
      expectRefusal(await at(PASSWORD, device), 'too_many_requests')
    }
    expect((await forgot(identifier)).status).toBe(201)
    const otp = await service.inbox.nextCode(identifier)
    const reset = { ...resetBody(identifier, otp), ...DEVICE }
    expect((await service.post('password/reset', reset, client)).status).toBe(200)
    for (const device of [{}, DEVICE]) expect((await at(NEW_PASSWORD, device)).status).toBe(200)
  })

  test('a wrong password in a change counts on its own session', async () => {
    const { identifier } = await service.signUp(newEmail())
    const here = (await logIn(identifier, PASSWORD)).body.access_token
    const atHome = (await logIn(identifier, PASSWORD, DEVICE)).body.access_token
    const codes = await fail(10, () => change(here, 'wrong'))
    expect(new Set(codes)).toEqual(new Set(['validation_failed']))
    expectRefusal(await change(here, PASSWORD), 'too_many_requests')
    expect((await logIn(identifier, PASSWORD)).status).toBe(200)
    expect((await change(atHome, PASSWORD)).status).toBe(200)
  })

  test('the owner is told of each change, but not by the hundred', async () => {
    const { identifier } = await service.signUp(newEmail())
    const bearer = (await logIn(identifier, PASSWORD)).body.access_token
    let current = PASSWORD
    for (let i = 0; i < 8; i++) {
      const password = `sentence number ${i} of many`
      const body = { current_password: current, password, password_confirmation: password }
      expect((await service.post('password/change', body, { bearer, ...newClient() })).status).toBe(200)
      current = password
    }
    const notices = () => service.inbox.textsTo(identifier).filter((text) => text.includes('a changé')).length
    await waitFor(() => notices() >= 6, { what: 'the notices' })
    await Bun.sleep(200)
    expect(notices()).toBe(6)
  })

  test('codes are tried 60 times in five minutes from one address', async () => {
    const client = newClient()
    const codes = await fail(61, () => service.post('password/reset', resetBody(newEmail(), 'no'), client))
    expect(new Set(codes.slice(0, 60))).toEqual(new Set(['invalid_code']))
    expect(codes[60]).toBe('too_many_requests')
  })
})

describe('a full queue of passwords to hash', () => {
  const service = useService({
    shape: 'postgres',
    settings: {
      password: { memory_kib: 19456, iterations: 12 },
      limits: { enabled: false, hash_concurrency: 1, hash_queue: 1 },
    },
  })

  test('refuses the reset before its code is taken, and the code serves a moment later', async () => {
    const { identifier } = await service.signUp(newEmail())
    const resetWhileFull = async () => {
      const otp = await service.askCode('password/forgot', identifier)
      const logins = Array.from({ length: 4 }, () => service.post('login', { identifier, password: 'wrong' }))
      await Promise.race(logins)
      const answer = await service.post('password/reset', resetBody(identifier, otp))
      await Promise.all(logins)
      return { answer, otp }
    }
    let { answer: busy, otp } = await resetWhileFull()
    // A place is free again where this process was stopped for the time of a hash.
    for (let round = 1; round < 5 && busy.status === 200; round++)
      ({ answer: busy, otp } = await resetWhileFull())
    expect([...failure(busy), busy.headers.get('retry-after')]).toEqual([503, 'server_busy', '1'])
    expect((await service.post('password/reset', resetBody(identifier, otp))).status).toBe(200)
  })

  longTest('lets those pass whose code was right already', async () => {
    const people = await Promise.all(Array.from({ length: 3 }, () => newEmail()).map(registerSlowly))
    const codes = await Promise.all(
      people.map(async (identifier) => {
        await service.post('password/forgot', { identifier })
        return service.inbox.nextCode(identifier)
      }),
    )
    const answers = await Promise.all(
      people.map((identifier, index) => service.post('password/reset', resetBody(identifier, codes[index]!))),
    )
    for (const [index, { status, body }] of answers.entries()) {
      if (status === 200) continue
      expect([status, body.code]).toEqual([503, 'server_busy'])
      const again = await service.post('password/reset', resetBody(people[index]!, codes[index]!))
      expect(again.status).toBe(200)
    }
  })

  /** The queue takes two at once here. */
  let turn = Promise.resolve()
  function registerSlowly(email: string): Promise<string> {
    const registered = turn.then(async () => (await service.signUp(email)).identifier)
    turn = registered.then(() => {})
    return registered
  }
})
