/** Limits by client address, whose address counts, the hash queue, replicas, and a store that is away. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, PASSWORD, registration } from '../helpers/api-client.ts'
import { createFrozenClock, from, newClient, noon, seen, startLimited } from '../helpers/limited-service.ts'
import { startRedis } from '../helpers/servers.ts'
import { createStorage, limitingShapes, startService, type TestService } from '../helpers/service.ts'
import { longTest, reduced } from '../helpers/soak.ts'
import { useLimited } from '../helpers/use-service.ts'

setDefaultTimeout(60_000)

const SECOND = 1000
interface Operation {
  path: string
  body: () => Record<string, unknown>
  /** The status of a call that no limit stops. */
  allowed: number
}

const register: Operation = { path: 'register', body: () => registration(newEmail()), allowed: 201 }
const login: Operation = {
  path: 'login',
  body: () => ({ identifier: newEmail(), password: PASSWORD }),
  allowed: 401,
}
const verify: Operation = {
  path: 'verify-account',
  body: () => ({ identifier: newEmail(), otp: '000000' }),
  allowed: 422,
}
const verifyTwoFactors: Operation = { ...verify, path: '2fa/verify' }

describe.each(limitingShapes)('by client address, on %s', (shape) => {
  const service = useLimited({ shape })

  const callOf = (operation: Operation, client: ReturnType<typeof from>) => () =>
    service.post(operation.path, operation.body(), client)

  async function passing(call: () => ReturnType<TestService['post']>, allowed: number) {
    for (let passed = 0; passed < 150; passed++) {
      const answer = await call()
      if (answer.status === 429) return { passed, answer, wait: answer.body.retry_after }
      expect(answer.status).toBe(allowed)
    }
    throw new Error('never refused')
  }

  test.each([
    { ...login, count: 60, waitSeconds: 60 },
    ...reduced([], [{ ...verify, count: 60, waitSeconds: 300 }]),
    { ...verifyTwoFactors, count: 60, waitSeconds: 300 },
    { ...register, count: 30, waitSeconds: 30 },
  ])('$path: $count, then the wait that is told', async ({ count, waitSeconds, ...operation }) => {
    const call = callOf(operation, newClient())
    const { passed, wait, answer } = await passing(call, operation.allowed)
    expect([passed, wait, answer.body.code]).toEqual([count, waitSeconds, 'too_many_requests'])
    service.clock.advance((waitSeconds - 1) * SECOND)
    expect((await call()).body.retry_after).toBe(1)
    service.clock.advance(SECOND)
    expect((await call()).status).toBe(operation.allowed)
    expect((await callOf(operation, newClient())()).status).toBe(operation.allowed)
  })

  longTest('register: 120 an hour after the burst', async () => {
    const call = callOf(register, newClient())
    let registered = 0
    for (let waited = 0; waited < 3600 && registered < 121; ) {
      const { status, body } = await call()
      if (status === 201) registered++
      else {
        waited += body.retry_after
        if (waited < 3600) service.clock.advance(body.retry_after * SECOND)
      }
    }
    expect(registered).toBe(120)
  })

  test('both verifications share their number', async () => {
    const client = newClient()
    for (let i = 0; i < 30; i++) await callOf(verify, client)()
    expect((await passing(callOf(verifyTwoFactors, client), 422)).passed).toBe(30)
  })
})

describe('whose address', () => {
  const limits = { logins_per_minute: 2 }
  const statuses = async (service: TestService, forwarded: (string | null)[]) => {
    const answers: number[] = []
    for (const value of forwarded) {
      const client = value === null ? {} : from(value)
      answers.push((await service.post(login.path, login.body(), client)).status)
    }
    return answers
  }

  test('behind a trusted proxy it is the right-most hop that is not one; IPv6 counts by /64; mapped IPv4 is IPv4', async () => {
    const trusted_proxies = ['127.0.0.1', '192.0.2.0/24']
    await using service = await startLimited({ settings: { limits, server: { trusted_proxies } } })
    const groups = [
      ['198.51.100.1', '1.1.1.1, 198.51.100.1', '198.51.100.1, 192.0.2.7', '::ffff:198.51.100.1'],
      ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:DB8:1:2:aaaa:bbbb:cccc:dddd'],
      ['2001:db8:2:3::1', '2001:db8:2:3::2', '2001:db8:2:3::3'],
      ['garbage', null, 'garbage, more'],
    ]
    for (const group of groups) {
      expect(await statuses(service, group)).toEqual([401, 401, ...Array(group.length - 2).fill(429)])
    }
  })

  test('without a trusted proxy it is the peer, whatever it writes, and the log names the key to set', async () => {
    await using service = await startLimited({ settings: { limits, server: { trusted_proxies: [] } } })
    expect(await statuses(service, ['1.1.1.1', '2.2.2.2', '3.3.3.3', null])).toEqual([401, 401, 429, 429])
    const lines = service.log.filter((line) => line.includes('server.trusted_proxies'))
    expect(lines).toHaveLength(1)
  })
})

test('the numbers by address are configuration', async () => {
  const limits = {
    logins_per_minute: 1,
    registrations_burst: 2,
    registrations_per_hour: 3,
    verifications: 2,
    verifications_window: '10s',
  }
  await using service = await startLimited({ settings: { limits } })
  const client = newClient()
  const waitsOf = async ({ path, body }: Operation, calls: number) => {
    const waits: number[] = []
    for (let i = 0; i < calls; i++)
      waits.push((await service.post(path, body(), client)).body.retry_after ?? 0)
    return waits
  }
  expect(await waitsOf(login, 2)).toEqual([0, 60])
  expect(await waitsOf(verify, 3)).toEqual([0, 0, 10])
  expect(await waitsOf(register, 3)).toEqual([0, 0, 1200])
  service.clock.advance(1200 * SECOND)
  expect(await waitsOf(register, 2)).toEqual([0, 2400])
})

test('limits.enabled = false turns all of this off, but neither the wrong-code budgets nor the hash queue', async () => {
  const settings = { limits: { enabled: false, hash_concurrency: 1, hash_queue: 2 } }
  await using service = await startService({ settings, clock: noon() })
  const email = newEmail()
  for (let i = 0; i < 15; i++)
    expect((await service.post('2fa/request-otp', { identifier: email })).status).toBe(201)
  const person = await service.signUp(email)
  for (let i = 0; i < 70; i++) {
    expect((await service.post('login', { ...person, password: 'wrong' })).status).toBe(401)
  }
  await service.logIn(person)
  const tries: number[] = []
  for (let i = 0; i < 21; i++)
    tries.push((await service.post('2fa/verify', { identifier: email, otp: '000000' })).status)
  expect(tries).toEqual([...Array(20).fill(422), 429])
})

test('the hash queue is bounded: 503 server_busy, come back in a second; and the refused cost nothing', async () => {
  const settings = {
    limits: { hash_concurrency: 1, hash_queue: 4 },
    // Slow enough that the queue is full while all of them come, also where they come slowly.
    password: { memory_kib: 65_536, iterations: 6 },
  }
  await using service = await startLimited({ settings })
  const call = (path: string, body: unknown) => service.post(path, body, newClient())
  const answers = await Promise.all([
    ...Array.from({ length: 20 }, () => call('login', login.body())),
    ...Array.from({ length: 20 }, () => call('register', registration(newEmail()))),
  ])
  const refused = answers.filter(({ status }) => status === 503)
  expect(refused.length).toBeGreaterThanOrEqual(30)
  expect(answers.length - refused.length).toBeGreaterThanOrEqual(5)
  for (const { headers, body } of refused) {
    expect([body.code, body.retry_after, headers.get('retry-after')]).toEqual(['server_busy', 1, '1'])
  }
})

/** Two processes on PostgreSQL count together in contract/limits.test.ts. */
const counted = reduced(['redis'] as const, ['postgres', 'redis'] as const)

describe.each(counted)('two replicas on %s', (shape) => {
  test('count together', async () => {
    const { settings: storage, drop } = await createStorage(shape)
    const clock = createFrozenClock()
    const replicas = [await startLimited({ storage, clock }), await startLimited({ storage, clock })]
    const allowed = async (call: (replica: TestService, i: number) => ReturnType<TestService['post']>) => {
      const answers = await Promise.all(
        Array.from({ length: 80 }, (_, i) => call(replicas[i % 2] as TestService, i)),
      )
      return answers.filter(({ status }) => status !== 429).length
    }
    try {
      const client = newClient()
      const email = newEmail()
      expect(await allowed((replica) => replica.post(login.path, login.body(), client))).toBe(60)
      expect(await allowed((replica) => replica.post(register.path, register.body(), client))).toBe(30)
      expect(await allowed((replica) => replica.post(verify.path, verify.body(), client))).toBe(60)
      const guesser = newClient()
      const guess = { identifier: email, password: 'wrong' }
      expect(await allowed((replica) => replica.post('login', guess, guesser))).toBe(10)
      const ask = (replica: TestService) =>
        replica.post('2fa/request-otp', { identifier: email }, newClient())
      expect(await allowed(ask)).toBe(3)
      const otp = { identifier: newEmail(), otp: '000000' }
      expect(await allowed((replica) => replica.post('2fa/verify', otp, newClient()))).toBe(20)
    } finally {
      for (const replica of replicas) await replica.close()
      await drop()
    }
  })
})

test('with the counter store away every limited call is 503, never unlimited; and it comes back by itself', async () => {
  const redis = await startRedis()
  const service = await startLimited({ settings: { redis: { url: redis.url } } })
  const calls = [
    login,
    register,
    verify,
    verifyTwoFactors,
    { path: '2fa/request-otp', body: () => ({ identifier: newEmail() }), allowed: 201 },
    { path: 'resend-verification', body: () => ({ identifier: newEmail() }), allowed: 201 },
  ]
  try {
    const person = await service.signUp(newEmail())
    await redis.stop()
    for (const { path, body } of [...calls, { path: 'login', body: () => person }]) {
      const answer = await service.post(path, body(), newClient())
      expect([path, answer.status, answer.body.code]).toEqual([path, 503, 'unavailable'])
    }
    await redis.start()
    const deadline = Date.now() + 5000
    while ((await service.post('login', person, newClient())).status !== 200) {
      expect(Date.now()).toBeLessThan(deadline)
      await Bun.sleep(50)
    }
    for (const { path, body, allowed } of calls) {
      expect((await service.post(path, body(), newClient())).status).toBe(allowed)
    }
  } finally {
    await service.close()
    await redis.stop()
  }
})

test('no answer carries RateLimit headers: what is left of a counter may tell of an account', async () => {
  await using service = await startLimited({})
  for (const { path, body } of [login, register, verify]) {
    const answer = await service.post(path, body(), newClient())
    expect(Object.keys(seen(answer).headers).filter((name) => /rate-?limit/.test(name))).toEqual([])
  }
})
