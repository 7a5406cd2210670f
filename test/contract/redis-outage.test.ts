/**
 * Redis going away and coming back, on servers of our own: an error within 5 s, never a hang; working again within 5 s
 * of its return, without a restart; nothing unlimited meanwhile.
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

for (const mode of ['single', 'cluster'] as const)
  describe(`Redis, ${mode}`, () => {
    let servers: RedisServer[] = []
    const connected = async (listeners: RedisListeners = {}) => {
      const made = await connect(
        redisConfig(
          servers.map(({ url }) => url),
          { mode },
        ),
        listeners,
      )
      await made.redis.ready()
      return made
    }
    const all = (work: (server: RedisServer) => unknown) => Promise.all(servers.map(work))

    beforeAll(async () => {
      servers = mode === 'single' ? [await startRedis()] : (await startRedisCluster(2000)).masters
    }, 60_000)
    afterAll(async () => {
      await all((server) => server.stop())
    })

    test('once it is ready, many calls at once are all answered', async () => {
      const { limits } = await connected()
      const waits = await Promise.all(Array.from({ length: 100 }, () => take(limits)))
      expect(new Set(waits)).toEqual(new Set([0]))
    })

    test('stopped: errors at once; started again: it serves', async () => {
      const told: string[] = []
      const { redis, limits } = await connected({
        onFailure: (cause: string) => told.push(cause),
        onRecovery: () => told.push('back'),
      })
      expect(await take(limits)).toBe(0)
      await all((server) => server.stop())
      await expectUnavailable(limits, 3000)
      await expect(redis.ping()).rejects.toThrow(RedisUnavailable)
      await all((server) => server.start())
      await expectBackInTime(limits)
      await redis.ready()
      await redis.ping()
      expect(told).toContain(mode === 'single' ? 'ECONNREFUSED' : 'CLOSED')
      expect(told.at(-1)).toBe('back')
    }, 30_000)

    /** The longer one outlasts the connection: it is given up, and made anew. */
    for (const seconds of [1, 6])
      test(`hanging for ${seconds} s: errors in time; going on: it serves`, async () => {
        const { limits } = await connected()
        expect(await take(limits)).toBe(0)
        await all((server) => server.pause())
        try {
          await expectUnavailable(limits, seconds * 1000)
        } finally {
          await all((server) => server.resume())
        }
        await expectBackInTime(limits)
      }, 40_000)

    test('started before Redis is: it serves once Redis is there', async () => {
      await all((server) => server.stop())
      const { redis, limits } = await connect(
        redisConfig(
          servers.map(({ url }) => url),
          { mode },
        ),
      )
      await expect(redis.ready(500)).rejects.toThrow(RedisUnavailable)
      await expectUnavailable(limits, 1000)
      await all((server) => server.start())
      await expectBackInTime(limits)
    }, 30_000)

    test('a call that got no answer is not sent again', async () => {
      const { redis } = await connected()
      const key = `outage:{${crypto.randomUUID()}}`
      const count = defineScript(`redis.call('PEXPIRE', KEYS[1], 60000) return redis.call('INCR', KEYS[1])`)
      expect(await runScript(redis, count, [key])).toBe(1)
      await all((server) => server.pause())
      const outcomes = await Promise.allSettled([1, 2].map(() => runScript(redis, count, [key])))
      await all((server) => server.resume())
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
      await redis.ready(10_000)
      await Bun.sleep(1000)
      expect(await runScript(redis, count, [key])).toBeLessThanOrEqual(4)
    }, 30_000)
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
