/** The private servers that the other tests stand on. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import Redis from 'ioredis'
import postgres from 'postgres'
import { freePort } from '../helpers/free-port.ts'
import {
  createDatabase,
  FAILOVER_MS,
  redisPrefix,
  sharedPostgres,
  sharedRedis,
  startPostgres,
  startRedis,
  startRedisCluster,
  startRedisSentinel,
} from '../helpers/servers.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(20_000)

async function ask(url: string): Promise<unknown> {
  const sql = postgres(url, { max: 1, connect_timeout: 1 })
  try {
    return (await sql`select 1 as one`)[0]?.one
  } finally {
    await sql.end({ timeout: 0 })
  }
}

async function say(url: string, timeoutMs = 5000): Promise<string> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, commandTimeout: timeoutMs })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await redis.ping()
  } finally {
    redis.disconnect()
  }
}

test('a port is handed out once, however many ask', async () => {
  const ports = await Promise.all(Array.from({ length: 400 }, freePort))
  expect(new Set(ports).size).toBe(400)
})

describe('PostgreSQL', () => {
  test('each database is fresh, migrated and its own', async () => {
    await using first = await createDatabase()
    await using second = await createDatabase()
    const count = async (url: string) => {
      const sql = postgres(url, { max: 1 })
      const rows = await sql`select count(*)::int as tables from pg_tables where schemaname = 'public'`
      await sql.end()
      return rows[0]?.tables as number
    }
    expect(first.url).not.toBe(second.url)
    expect(await count(first.url)).toBeGreaterThan(5)
    expect(await count(second.url)).toBe(await count(first.url))
  })

  test('a dropped database is gone, whoever is connected', async () => {
    const database = await createDatabase({ migrated: false })
    const sql = postgres(database.url, { max: 1 })
    await sql`select 1`
    await database.drop()
    await sql.end({ timeout: 0 })
    await expect(ask(database.url)).rejects.toThrow('does not exist')
  })

  test('the run shares one server', async () => {
    const urls = await Promise.all([sharedPostgres(), sharedPostgres(), sharedPostgres()])
    expect(new Set(urls.map(({ url }) => url)).size).toBe(1)
  })

  test('a server of one own pauses, resumes, stops and comes back with its data', async () => {
    const server = await startPostgres()
    const sql = postgres(server.url, { max: 1, onnotice: () => {} })
    await sql`create table kept (n int)`
    server.pause()
    const answer = sql`select 1`.execute()
    expect(await Promise.race([answer, Bun.sleep(300).then(() => 'nothing')])).toBe('nothing')
    server.resume()
    expect(await answer).toHaveLength(1)
    await sql.end({ timeout: 1 })
    await server.stop()
    await expect(ask(server.url)).rejects.toThrow()
    await server.start()
    await server.restart()
    const again = postgres(server.url, { max: 1 })
    expect(await again`select * from kept`).toHaveLength(0)
    await again.end({ timeout: 1 })
    await server.stop()
  })
})

describe('Redis', () => {
  test('the run shares one server, under prefixes of one own', async () => {
    const { url } = await sharedRedis()
    expect((await sharedRedis()).url).toBe(url)
    expect(redisPrefix()).not.toBe(redisPrefix())
    expect(await say(url)).toBe('PONG')
  })

  test('a server of one own pauses, resumes and stops', async () => {
    const server = await startRedis()
    server.pause()
    await expect(say(server.url, 300)).rejects.toThrow()
    await Bun.sleep(400)
    server.resume()
    expect(await say(server.url)).toBe('PONG')
    await server.stop()
    await expect(say(server.url)).rejects.toThrow()
  })

  test('a cluster holds keys on three masters', async () => {
    const { urls, stop } = await startRedisCluster()
    const cluster = new Redis.Cluster(urls)
    for (let i = 0; i < 30; i++) await cluster.set(`key:${i}`, i)
    expect(cluster.nodes('master')).toHaveLength(3)
    const sizes = await Promise.all(cluster.nodes('master').map((node) => node.dbsize()))
    expect(sizes.reduce((a, b) => a + b)).toBe(30)
    expect(Math.min(...sizes)).toBeGreaterThan(0)
    cluster.disconnect()
    await stop()
  })

  test('Sentinel names the replica when the master is gone', async () => {
    const { urls, masterName, master, replica, stop } = await startRedisSentinel()
    await master.stop()
    const sentinel = new Redis(urls[0] as string)
    await waitFor(
      async () => {
        const address = (await sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName)) as string[]
        return address[1] === String(replica.port)
      },
      { what: 'the failover', timeoutMs: FAILOVER_MS, intervalMs: 100 },
    )
    sentinel.disconnect()
    await stop()
  }, 120_000)
})
