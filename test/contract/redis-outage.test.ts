/**
 * Redis goes away and comes back, on servers of our own. There is an error within 5 s, never a hang; it works again
 * within 5 s of its return, without a restart; nothing is unlimited meanwhile.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { RedisListeners } from '../../src/platform/redis/connection.ts'
import { RedisUnavailable } from '../../src/platform/redis/failure.ts'
import { defineScript, runScript } from '../../src/platform/redis/script.ts'
import {
  FAILOVER_MS,
  type RedisSentinel,
  type RedisServer,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
} from '../helpers/servers.ts'
import { reduced, soaking } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'
import {
  connectionsOfEachTest,
  expectBackInTime,
  expectUnavailable,
  redisConfig,
  take,
} from './redis-connections.ts'

setDefaultTimeout(20_000)

const connect = connectionsOfEachTest()

const modes = ['single', 'cluster'] as const
type Mode = (typeof modes)[number]

describe('Redis, single and cluster', () => {
  const servers: Record<Mode, RedisServer[]> = { single: [], cluster: [] }
  const configOf = (mode: Mode) =>
    redisConfig(
      servers[mode].map(({ url }) => url),
      { mode },
    )
  const connected = async (mode: Mode, listeners: RedisListeners = {}) => {
    const made = connect(configOf(mode), listeners)
    await made.redis.ready()
    return made
  }
  const all = (mode: Mode, work: (server: RedisServer) => unknown) => Promise.all(servers[mode].map(work))

  /** Both at the same time: these tests wait more than they work. */
  const testBoth = (name: string, run: (mode: Mode) => Promise<void>) =>
    test(name, async () => {
      const outcomes = await Promise.allSettled(modes.map(run))
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === 'rejected')
          throw new Error(`Redis, ${modes[index]}`, { cause: outcome.reason })
      }
    }, 40_000)

  beforeAll(async () => {
    servers.single = [await startRedis()]
    servers.cluster = (await startRedisCluster(2000)).masters
  }, 60_000)
  afterAll(async () => {
    for (const mode of modes) await all(mode, (server) => server.stop())
  })

  testBoth('once it is ready, many calls at once are all answered', async (mode) => {
    const { limits } = await connected(mode)
    const waits = await Promise.all(Array.from({ length: 100 }, () => take(limits)))
    expect(new Set(waits)).toEqual(new Set([0]))
  })

  testBoth('stopped: errors at once; started again: it serves', async (mode) => {
    const told: string[] = []
    const { redis, limits } = await connected(mode, {
      onFailure: (cause: string) => told.push(cause),
      onRecovery: () => told.push('back'),
    })
    expect(await take(limits)).toBe(0)
    await all(mode, (server) => server.stop())
    await expectUnavailable(limits, 3000)
    await expect(redis.ping()).rejects.toThrow(RedisUnavailable)
    await all(mode, (server) => server.start())
    await expectBackInTime(limits)
    await redis.ready()
    await redis.ping()
    expect(told).toContain(mode === 'single' ? 'ECONNREFUSED' : 'CLOSED')
    expect(told.at(-1)).toBe('back')
  })

  /** The longer one outlasts the connection: it is given up, and made anew. */
  for (const seconds of reduced([6], [1, 6]))
    testBoth(`hanging for ${seconds} s: errors in time; going on: it serves`, async (mode) => {
      const { limits } = await connected(mode)
      expect(await take(limits)).toBe(0)
      await all(mode, (server) => server.pause())
      try {
        await expectUnavailable(limits, seconds * 1000)
      } finally {
        await all(mode, (server) => server.resume())
      }
      await expectBackInTime(limits)
    })

  testBoth('started before Redis is: it serves once Redis is there', async (mode) => {
    await all(mode, (server) => server.stop())
    const { redis, limits } = connect(configOf(mode))
    await expect(redis.ready(500)).rejects.toThrow(RedisUnavailable)
    await expectUnavailable(limits, 1000)
    await all(mode, (server) => server.start())
    await expectBackInTime(limits)
  })

  if (soaking)
    testBoth('a call that got no answer is not sent again', async (mode) => {
      const { redis } = await connected(mode)
      const key = `outage:{${crypto.randomUUID()}}`
      const count = defineScript(`redis.call('PEXPIRE', KEYS[1], 60000) return redis.call('INCR', KEYS[1])`)
      expect(await runScript(redis, count, [key])).toBe(1)
      await all(mode, (server) => server.pause())
      const outcomes = await Promise.allSettled([1, 2].map(() => runScript(redis, count, [key])))
      await all(mode, (server) => server.resume())
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      await redis.ready(10_000)
      await Bun.sleep(1000)
      expect(await runScript(redis, count, [key])).toBeLessThanOrEqual(4)
    })
})

test('a cluster is found whole from one of its addresses, or by name', async () => {
  const cluster = await startRedisCluster()
  const { port } = cluster.masters[1]!
  for (const url of [`redis://127.0.0.1:${port}`, `redis://localhost:${port}`]) {
    const { redis, limits } = connect(redisConfig([url], { mode: 'cluster' }))
    await redis.ready()
    await redis.ping()
    expect(await take(limits)).toBe(0)
  }
  await cluster.stop()
}, 30_000)

describe('Redis, Sentinel', () => {
  let sentinel: RedisSentinel
  beforeAll(async () => {
    sentinel = await startRedisSentinel()
  }, 120_000)
  afterAll(() => sentinel.stop())

  test('the master dies: it serves again once the Sentinels have made another', async () => {
    const options = redisConfig(sentinel.urls, { mode: 'sentinel', master: sentinel.masterName })
    const { redis, limits } = connect(options)
    await redis.ready()
    expect(await take(limits)).toBe(0)
    await sentinel.master.stop()
    await expectUnavailable(limits, 500)
    await waitFor(async () => (await take(limits)) === 0, { what: 'the failover', timeoutMs: FAILOVER_MS })
    await redis.ping()
  }, 120_000)
})
