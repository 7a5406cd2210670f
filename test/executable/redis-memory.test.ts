/** A Redis that throws keys away, and one that takes no more. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import Redis from 'ioredis'
import { watchStores } from '../../src/compose/store-watch.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createLogger } from '../../src/platform/log/logging.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { openRedis } from '../../src/platform/redis/connection.ts'
import { type Executable, newStorage, runExecutable, startExecutable } from '../helpers/executable.ts'
import { type RedisServer, startRedis } from '../helpers/servers.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(30_000)

let server: RedisServer
let admin: Redis
let stores: Awaited<ReturnType<typeof newStorage>>
beforeAll(async () => {
  server = await startRedis()
  admin = new Redis(server.port, '127.0.0.1')
  stores = await newStorage('postgres')
})
afterAll(async () => {
  admin.disconnect()
  await Promise.all([server.stop(), stores.drop()])
})

const storage = () => ({ ...stores.settings, redis: { url: server.url } })
const policy = (name: string, maximum: string) =>
  Promise.all([admin.config('SET', 'maxmemory-policy', name), admin.config('SET', 'maxmemory', maximum)])

test('with volatile-lru and a bound on its memory the service does not start, and says what to set', async () => {
  await policy('volatile-lru', '100mb')
  const { server: secrets, database } = stores.settings
  const env = {
    POTERNE_SERVER_PORT: '0',
    POTERNE_SERVER_SECRET: String(secrets?.secret),
    POTERNE_DATABASE_URL: String(database?.url),
    POTERNE_REDIS_URL: server.url,
  }
  const { code, error } = await runExecutable(['serve', '--dev'], { env })
  expect({ code, error }).toEqual({
    code: 1,
    error:
      'poterne failed: redis: maxmemory-policy is volatile-lru, so a full Redis would forget limits and codes: set it to ' +
      'noeviction, or maxmemory to 0\n',
  })
})

describe('a service that runs', () => {
  let service: Executable
  beforeAll(async () => {
    // No bound: nothing is evicted, whatever the policy.
    await policy('volatile-lru', '0')
    service = await startExecutable({ storage: storage() })
  })
  afterAll(() => service.close())

  test('is not ready while Redis is full, and is ready again by itself', async () => {
    await policy('noeviction', '1mb')
    const { body } = await waitFor(
      async () => {
        const answer = await service.call('GET', '/readyz')
        return answer.status === 503 && answer
      },
      { what: 'readiness to end' },
    )
    expect([body.code, body.reason]).toEqual(['unavailable', 'Redis is full'])
    // The line is written after the answer, by another process.
    await waitFor(() => service.log().some(({ route, cause }) => route === '/readyz' && cause === 'OOM'), {
      what: 'the log to say why',
    })
    await policy('noeviction', '0')
    expect((await service.call('GET', '/readyz')).status).toBe(200)
  })
})

test('a policy that changes while the service runs is an error in the log, again and again', async () => {
  await policy('noeviction', '100mb')
  const errors: string[] = []
  const logger = createLogger({
    clock: systemClock,
    write: (line) => {
      if (line.includes('"level":"error"')) errors.push(line)
    },
  })
  const redis = openRedis({ mode: 'single', urls: [server.url], master: null, keyPrefix: 'watch:' })
  await redis.ready()
  const database = await connectServer({ url: String(stores.settings.database?.url), poolSize: 1 })
  const watch = await watchStores({
    database,
    redis,
    clock: systemClock,
    logger,
    version: '1.0.0',
    intervalMs: 20,
  })
  expect(errors).toEqual([])
  await policy('allkeys-lru', '100mb')
  await waitFor(() => errors.length >= 2, { what: 'two lines' })
  expect(JSON.parse(errors[0] as string)).toMatchObject({ policy: 'allkeys-lru' })
  watch.close()
  await Promise.all([redis.close(), database.close()])
})

test('a machine whose clock is ten seconds off is told so at the start', async () => {
  const warnings: string[] = []
  const database = await connectServer({ url: String(stores.settings.database?.url), poolSize: 1 })
  for (const offsetMs of [10_000, -10_000, 1000, 0]) {
    const clock = { now: () => new Date(Date.now() + offsetMs) }
    const logger = createLogger({ clock: systemClock, write: (line) => warnings.push(JSON.parse(line).msg) })
    const watch = await watchStores({ database, redis: null, clock, logger, version: '1.0.0' })
    watch.close()
  }
  await database.close()
  expect(warnings).toEqual([
    expect.stringMatching(/^the clock of this machine is (9\.\d|10) s ahead of that of the database/),
    expect.stringMatching(/^the clock of this machine is (9\.\d|10) s behind that of the database/),
  ])
})
