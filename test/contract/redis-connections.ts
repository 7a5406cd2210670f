/** Connections for the tests of Redis itself, and what a store must do while Redis is away and after. */
import { afterEach, expect } from 'bun:test'
import type { LimitStore } from '../../src/domain/foundation/limits/store.ts'
import { createRedisLimitStore } from '../../src/domain/foundation/limits/store-redis.ts'
import type { Config } from '../../src/platform/config/types.ts'
import { openRedis, type RedisConnection, type RedisListeners } from '../../src/platform/redis/connection.ts'
import { RedisUnavailable } from '../../src/platform/redis/failure.ts'
import { waitFor } from '../helpers/wait.ts'

/** The bound of issue and promise: an error by then, and served again by then. */
const LIMIT_MS = 5000
const now = new Date('2026-07-01T12:00:00.000Z')

export function redisConfig(urls: string[], other: Partial<Config['redis']> = {}): Config['redis'] {
  return { mode: 'single', urls, master: null, keyPrefix: 'test:', ...other }
}

/** Opens connections that are closed after each test. */
export function connectionsOfEachTest() {
  const connections: RedisConnection[] = []
  afterEach(async () => {
    for (const redis of connections.splice(0)) await redis.close()
  })
  return (config: Config['redis'], listeners: RedisListeners = {}) => {
    const redis = openRedis(config, listeners)
    connections.push(redis)
    return { redis, limits: createRedisLimitStore(redis) }
  }
}

export function take(limits: LimitStore): Promise<number> {
  const rule = { kind: 'bucket', burst: 1_000_000, intervalMs: 1 } as const
  return limits.charge([{ key: 'outage', rule }], now)
}

async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

/** Calls go on, several at once, for `forMs`: each one fails, in time, with the one error. */
export async function expectUnavailable(limits: LimitStore, forMs: number): Promise<void> {
  const endMs = performance.now() + forMs
  do {
    const took = await elapsedMs(async () => {
      for (const outcome of await Promise.allSettled([take(limits), take(limits), take(limits)])) {
        expect(outcome.status).toBe('rejected')
        expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(RedisUnavailable)
      }
    })
    expect(took).toBeLessThan(LIMIT_MS)
    await Bun.sleep(100)
  } while (performance.now() < endMs)
}

export async function expectBackInTime(limits: LimitStore): Promise<void> {
  const took = await elapsedMs(() =>
    waitFor(async () => (await take(limits)) === 0, { what: 'Redis to serve again', intervalMs: 50 }),
  )
  expect(took).toBeLessThan(LIMIT_MS)
}
