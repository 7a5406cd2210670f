/**
 * PostgreSQL (beside Redis, and alone) and Redis go away in every way there is, under a load of registrations, on the
 * executable. The service answers 503 in shape within 5 s while one is away, /readyz 503, /healthz 200. Afterwards: the
 * same process serves within 5 s, and every acknowledged account is there.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import Redis from 'ioredis'
import postgres from 'postgres'
import { newEmail, type Person, registration } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import {
  createDatabase,
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
} from '../helpers/servers.ts'
import type { Settings } from '../helpers/service.ts'
import { longDescribe, longTest, reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(reduced(60_000, 180_000))

/** Longer than a request waits for Redis, 2.5 s. */
const AWAY_MS = reduced(3000, 20_000)
const POOL = 10
/** Under such a load it goes up and down between 130 and 185 MB. */
const MEMORY_BYTES = 250e6
/** Codes a day, so that a budget is soon spent. */
const WRONG_A_DAY = 6

let postgresServer: PostgresServer
let redisServer: RedisServer
let databaseUrl: string
let service: Executable

beforeAll(async () => {
  ;[postgresServer, redisServer] = await Promise.all([startPostgres(), startRedis()])
  databaseUrl = (await createDatabase({ server: postgresServer })).url
  await startService({ redis: { url: redisServer.url } })
})
afterAll(async () => {
  await service?.close()
  await Promise.all([postgresServer?.stop(), redisServer?.stop()])
})

async function startService(codesAndCounters: Settings) {
  service = await startExecutable({
    measures: true,
    storage: {
      server: { secret: 'ab'.repeat(32) },
      database: { url: databaseUrl, pool_size: POOL },
      ...codesAndCounters,
    },
    // Limits as in production, where they are asked first, but wide enough for the load.
    settings: {
      codes: { attempts_per_day: WRONG_A_DAY },
      limits: {
        enabled: true,
        registrations_burst: 1_000_000,
        registrations_per_hour: 1_000_000,
        code_requests_burst: 1_000_000,
        code_requests_per_hour: 1_000_000,
        logins_per_minute: 1_000_000,
        verifications: 1_000_000,
      },
    },
  })
  // Warm, so that what its memory grows by is what the trouble took.
  const finish = putUnderLoad()
  await Bun.sleep(2000)
  await finish()
}

async function query<T>(work: (sql: postgres.Sql) => PromiseLike<T>): Promise<T> {
  const sql = postgres(databaseUrl, { max: 1, connection: { default_transaction_read_only: false } })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function onRedis<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(redisServer.url)
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

/** `waitEvent`: only those that wait for such a thing. */
const connections = (waitEvent: string | null = null) =>
  query(async (sql) => {
    const [row] = await sql`
      select count(*) from pg_stat_activity
       where application_name = 'poterne' and (${waitEvent}::text is null or wait_event_type = ${waitEvent})`
    return Number(row?.count)
  })

interface Seen {
  acknowledged: string[]
  slowestMs: number
  answers: Set<string>
}

/** Eight clients that register until told to stop. */
function putUnderLoad() {
  const seen: Seen = { acknowledged: [], slowestMs: 0, answers: new Set() }
  let stopped = false
  const client = async () => {
    while (!stopped) {
      const email = newEmail()
      const startedAt = performance.now()
      const { status, body } = await service.post('register', registration(email))
      seen.slowestMs = Math.max(seen.slowestMs, performance.now() - startedAt)
      seen.answers.add(`${status} ${body.code ?? ''}`.trim())
      if (status === 201) seen.acknowledged.push(email)
      // A database that takes no writes is not expected back at once: that answer has `retry_after`.
      else {
        const { retry_after: _, ...rest } = body
        expect(Object.keys(rest).sort()).toEqual(['code', 'message', 'request_id', 'status'])
      }
      await Bun.sleep(reduced(100, 20))
    }
  }
  const clients = Promise.all(Array.from({ length: 8 }, client))
  return async () => {
    stopped = true
    await clients
    return seen
  }
}

async function isAway() {
  const [health, ready, login] = await Promise.all([
    service.call('GET', '/healthz'),
    service.call('GET', '/readyz'),
    service.post('register', registration(newEmail())),
  ])
  expect(health.status).toBe(200)
  return ready.status === 503 && ready.body.code === 'unavailable' && login.status === 503
}

const isBack = async () =>
  (await service.call('GET', '/readyz')).status === 200 &&
  (await service.post('register', registration(newEmail()))).status === 201

/** `trouble` begins it, `end` ends it, whatever happens in between; what is away meanwhile is said by `isAway`. */
async function survive(trouble: () => unknown, end: () => unknown): Promise<Seen> {
  const { pid } = service.process()
  const finish = putUnderLoad()
  await Bun.sleep(500)
  try {
    await trouble()
    const awayAt = performance.now()
    await waitFor(isAway, { what: 'the trouble to show', timeoutMs: 6000 })
    await Bun.sleep(Math.max(0, AWAY_MS - (performance.now() - awayAt)))
  } finally {
    await end()
  }
  await waitFor(isBack, { what: 'it to be back', timeoutMs: 5000 })
  const seen = await finish()
  expect(service.process().pid).toBe(pid)
  expect([...seen.answers].sort()).toEqual(['201', '503 unavailable'])
  expect(seen.slowestMs).toBeLessThan(5000)
  expect(seen.acknowledged.length).toBeGreaterThan(0)
  const kept = await query((sql) => sql`select email from accounts where email = any(${seen.acknowledged})`)
  expect(kept).toHaveLength(seen.acknowledged.length)
  await waitFor(async () => (await connections()) <= POOL, { what: 'the connections to be the pool again' })
  expect(service.memory()).toBeLessThan(MEMORY_BYTES)
  return seen
}

function troublesOfPostgres(stopped: typeof test) {
  const readOnly = (state: 'on' | 'off') =>
    query(async (sql) => {
      await sql.unsafe(`alter system set default_transaction_read_only = ${state}`)
      await sql`select pg_reload_conf()`
    })

  stopped('is stopped and started', async () => {
    await survive(
      () => postgresServer.stop(),
      () => postgresServer.start(),
    )
  })

  longTest.each([
    ['hangs', () => postgresServer.pause(), () => postgresServer.resume()],
    ['only reads', () => readOnly('on'), () => readOnly('off')],
  ])('%s', async (_, trouble, end) => {
    await survive(trouble, end)
  })

  longTest(
    'is restarted: nobody waits long, and the messages of all who were acknowledged come',
    async () => {
      const finish = putUnderLoad()
      await Bun.sleep(500)
      await postgresServer.restart()
      await waitFor(isBack, { timeoutMs: 5000 })
      const { acknowledged, slowestMs } = await finish()
      expect(slowestMs).toBeLessThan(5000)
      await Promise.all(acknowledged.map((email) => service.smtp.waitForMailTo(email, 40_000)))
    },
  )
}

describe('PostgreSQL, with Redis beside it', () => troublesOfPostgres(test))

describe('Redis', () => {
  test.each([
    ['is stopped and started, empty', () => redisServer.stop(), () => redisServer.start()],
    ...reduced([], [['hangs', () => redisServer.pause(), () => redisServer.resume()] as const]),
  ])('%s', async (_, trouble, end) => {
    await survive(trouble, end)
  })

  test('is restarted or flushed in between: nobody is lost', async () => {
    const finish = putUnderLoad()
    await Bun.sleep(300)
    await redisServer.restart()
    await waitFor(isBack, { timeoutMs: 5000 })
    await onRedis((redis) => redis.flushall())
    await waitFor(isBack, { timeoutMs: 5000 })
    const { acknowledged } = await finish()
    await Promise.all(acknowledged.map((email) => service.smtp.waitForMailTo(email, 20_000)))
  })

  test('stopped while a password is changed: that is refused, and the old password works', async () => {
    const person = await service.signUp(newEmail())
    const { access_token: bearer } = await service.logIn(person)
    const password = 'a quite different sentence'
    const chosen = { current_password: person.password, password, password_confirmation: password }
    const { status, body } = await query((sql) =>
      sql.begin(async (holder) => {
        await holder`select from accounts where email = ${person.identifier} for update`
        const changing = service.post('password/change', chosen, { bearer })
        await waitFor(async () => (await connections('Lock')) > 0, { what: 'it to wait for the account' })
        await redisServer.stop()
        return { changing }
      }),
    )
      .then(({ changing }) => changing)
      .finally(async () => {
        await redisServer.start()
        await waitFor(isBack, { timeoutMs: 5000 })
      })
    expect([status, body.code]).toEqual([503, 'unavailable'])
    expect((await service.post('login', person)).status).toBe(200)
  })

  const newCode = async ({ identifier }: Person) => {
    await service.post('2fa/request-otp', { identifier })
    return service.inbox.nextCode(identifier)
  }

  test('flushed: a used code stays dead, and the next one works', async () => {
    const person = await service.signUp(newEmail())
    const otp = await newCode(person)
    expect((await service.post('2fa/verify', { ...person, otp })).status).toBe(200)
    await onRedis((redis) => redis.flushall())
    await Bun.sleep(1200)
    expect((await service.post('2fa/verify', { ...person, otp })).body.code).toBe('invalid_code')
    expect((await service.post('2fa/verify', { ...person, otp: await newCode(person) })).status).toBe(200)
  })

  test('flushed: the wrong codes of the day stay counted', async () => {
    // The day is the true one: shortly before its end, the test waits for the next.
    const toMidnightMs = 86_400_000 - (Date.now() % 86_400_000)
    if (toMidnightMs < 20_000) await Bun.sleep(toMidnightMs)
    const person = await service.signUp(newEmail())
    const otp = await newCode(person)
    const wrong = otp === '000000' ? '111111' : '000000'
    for (let i = 0; i < WRONG_A_DAY; i++) await service.post('2fa/verify', { ...person, otp: wrong })
    const isClosed = async (typed: string) =>
      (await service.post('2fa/verify', { ...person, otp: typed })).body.code === 'too_many_attempts'
    expect(await isClosed(wrong)).toBe(true)
    await onRedis((redis) => redis.flushall())
    expect(await isClosed(await newCode(person))).toBe(true)
  })

  test('flushed: a locked account stays locked', async () => {
    const person = await service.signUp(newEmail())
    await query((sql) => sql`update accounts set locked_at = now() where email = ${person.identifier}`)
    await onRedis((redis) => redis.flushall())
    expect((await service.post('login', person)).body.code).toBe('account_locked')
  })
})

const serviceIsUnharmed = () => {
  expect(service.log().filter(({ msg }) => msg === 'listening')).toHaveLength(1)
  expect(service.log().filter(({ level }) => level === 'error')).toEqual([])
  expect(service.process().stderr()).toBe('')
}

test('after all that, the process is the one that was started, and no error was logged', serviceIsUnharmed)

longDescribe('PostgreSQL alone, codes and counters in it too', () => {
  beforeAll(async () => {
    await service.close()
    await startService({})
  })

  troublesOfPostgres(test)

  test('after all that, the process is the one that was started, and no error was logged', serviceIsUnharmed)
})
