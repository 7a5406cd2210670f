/** The address of Redis: each part of it is honoured, or refused by its name. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import Redis from 'ioredis'
import { loadConfig } from '../../src/platform/config/load.ts'
import { describeProblem } from '../../src/platform/config/report.ts'
import { openRedis } from '../../src/platform/redis/connection.ts'
import { readRedisUrl } from '../../src/platform/redis/endpoint.ts'
import { RedisUnavailable } from '../../src/platform/redis/failure.ts'
import { requireCommands } from '../../src/platform/redis/script.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { type RedisServer, startRedis } from '../helpers/servers.ts'
import { startService } from '../helpers/service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

function problemsOf(redis: Record<string, string>): string[] {
  const variables = Object.entries(redis).map(([key, value]) => [`POTERNE_REDIS_${key.toUpperCase()}`, value])
  const loaded = loadConfig({
    env: {
      POTERNE_DATABASE_URL: 'postgres://u@h/db',
      POTERNE_SERVER_SECRET: 'ab'.repeat(32),
      ...Object.fromEntries(variables),
    },
    directory: newDirectory('config'),
    mustDeliver: false,
  })
  return loaded.ok ? [] : loaded.problems.map(describeProblem)
}

describe('a part that is not understood', () => {
  const number = /: after its host it may only name the number of a database, from 0 up, such as \/1$/
  test.each([
    ['h/poterne', number],
    ['h/-1', number],
    ['h/1.5', number],
    ['h/1e3', number],
    ['h/+1', number],
    ['h/1/', number],
    ['h/0x10', number],
    ['h/2147483648', number],
    ['h?db=2', /: its parameter db is written as the path, such as \/1$/],
    ['h?timeout=5', /: its parameter timeout is not known: take it out$/],
    ['h?__proto__=5', /: its parameter __proto__ is not known/],
    ['h?hunter2', /: one of its parameters is not known: take it out$/],
    ['h?hunter2%40=x', /: one of its parameters is not known/],
    ['h?sentinel_password=', /: its parameter sentinel_password has no value$/],
    ['h?sentinel_password=a&sentinel_password=b', /: its parameter sentinel_password is there twice$/],
    ['h?sentinel_username=a', /: its parameter sentinel_username needs sentinel_password beside it$/],
    ['h?sentinel_password=a', /expected only with redis\.mode = "sentinel"/],
    ['h:0', /its host and port cannot be read/],
    ['h:65536', /its host and port cannot be read/],
    ['[::g]', /its host and port cannot be read/],
    ['', /its host and port cannot be read/],
    ['a:1,b:2', /it names several hosts: list each with its own URL in redis\.urls/],
    ['h/1#x', /it holds the sign #, which a URL cannot hold as it is: write %23 instead of it/],
    [':100%@h', /it holds the sign %, .*: write %25 instead of it/],
    [':pa/ss@h', /it holds the sign \/, .*: write %2F instead of it/],
    [':pa ss@h', /it holds a blank/],
  ])('of redis://%s is refused by its name', (rest, message) => {
    const found = problemsOf({ url: `redis://${rest}` })
    expect(found).toEqual([expect.stringMatching(message)])
    expect(found[0]).toStartWith('redis.url')
    expect(found[0]).not.toContain('hunter2')
  })

  test.each([
    ['cluster', 'redis://a/1,redis://b', /a cluster has the database 0 alone: leave the number out/],
    ['cluster', 'redis://a?sentinel_password=x', /expected only with redis\.mode = "sentinel"/],
    ['cluster', 'redis://a,redis://b/x', /item 2: after its host it may only name the number/],
    ['cluster', 'redis://a,redis://:pw@b', /one of its URLs names another password than the first/],
    ['sentinel', 'redis://:pw@a,redis://:other@b', /one of its URLs names another password than the first/],
    ['sentinel', 'redis://u:pw@a,redis://v:pw@b', /one of its URLs names another user than the first/],
    ['sentinel', 'redis://a/1,redis://b/2', /one of its URLs names another database than the first/],
    ['sentinel', 'redis://a,redis://b?sentinel_password=x', /another sentinel_password than the first/],
    ['sentinel', 'redis://a,rediss://b', /either redis:\/\/ or rediss:\/\/ in all of its URLs/],
  ])('of several URLs of a %s (%s) is refused by its name', (mode, urls, message) => {
    const master = mode === 'sentinel' ? { master: 'm' } : undefined
    const found = problemsOf({ urls, mode, ...master })
    expect(found).toEqual([expect.stringMatching(message)])
    expect(found[0]).toStartWith('redis.urls')
  })
})

test('what is understood is accepted, and read as it was meant', () => {
  const single = ['h', 'h/', 'h/0', 'h:1/15', '[::1]:7/1', 'u:@h', ':p%2Fw@h', 'münchen.test']
  for (const rest of single) expect([rest, problemsOf({ url: `rediss://${rest}` })]).toEqual([rest, []])
  const sentinels = 'redis://u:p@a:1/3?sentinel_username=s&sentinel_password=w,redis://b,redis://u:p@c/3'
  expect(problemsOf({ urls: sentinels, mode: 'sentinel', master: 'm' })).toEqual([])
  expect(problemsOf({ urls: 'redis://a/0,redis://b', mode: 'cluster' })).toEqual([])
  expect(readRedisUrl('rediss://u%40:p%3Aw:%C3%A9@[::1]:7/12')).toEqual({
    ...{ host: '::1', port: 7, username: 'u@', password: 'p:w:é', db: 12, tls: {} },
  })
})

test('a scheme is shown as it was written, which is what is wrong with it', () => {
  expect(problemsOf({ url: 'REDIS://h/1' })).toEqual([
    'redis.url = "REDIS://h/1": expected a URL that begins with redis:// or rediss:// (from POTERNE_REDIS_URL)',
  ])
})

describe('a database that the server does not have', () => {
  let server: RedisServer
  let administrator: Redis
  beforeAll(async () => {
    server = await startRedis(['--databases', '3', '--user', 'few', 'on', '>pw', '~*', '+@all', '-config'])
    administrator = new Redis(server.url)
    await administrator.call('ACL', 'SETUSER', 'none', 'on', '>pw', '~*', '+@all', '-select')
  })
  afterAll(async () => {
    administrator.disconnect()
    await server.stop()
  })

  async function refusal(credentials: string, path: string) {
    const url = `redis://${credentials}127.0.0.1:${server.port}${path}`
    const redis = openRedis({ mode: 'single', urls: [url], master: null, keyPrefix: 'test:' })
    const said = await redis.ready(10_000).then(
      () => 'none',
      (error: Error) => error.message,
    )
    await redis.close()
    return said
  }

  test('is not replaced by another one: the connection fails, and says how many there are', async () => {
    expect(await refusal('', '/2')).toBe('none')
    expect(await refusal('', '/3')).toStartWith(
      'the server has no database 3 (NODATABASE): it has 3, numbered from 0 to 2: correct the number',
    )
    expect(await refusal('few:pw@', '/99')).toStartWith(
      'the server has no database 99 (NODATABASE): correct the number',
    )
    expect(await refusal('none:pw@', '/1')).toStartWith('Redis refuses its user the command SELECT (NOPERM)')
    expect(await administrator.dbsize()).toBe(0)
  })

  test('ends the start of a service', async () => {
    const url = `${server.url}/16`
    await expect(startService({ settings: { redis: { url } } })).rejects.toThrow(
      /^redis\.url: cannot connect: the server has no database 16 /,
    )
  })

  test('is not replaced after the connection broke either', async () => {
    await administrator.call('ACL', 'SETUSER', 'some', 'on', '>pw', '~*', '+@all')
    const causes: string[] = []
    const redis = openRedis(
      {
        ...{ mode: 'single', urls: [`redis://some:pw@127.0.0.1:${server.port}/1`], master: null },
        keyPrefix: 'test:',
      },
      { onFailure: (cause) => causes.push(cause) },
    )
    await redis.ready()
    await requireCommands(redis)
    await administrator.call('ACL', 'SETUSER', 'some', '-select')
    await administrator.client('KILL', 'USER', 'some')
    await waitFor(() => causes.includes('NOPERM:select'), { what: 'the refusal' })
    await expect(redis.ping()).rejects.toThrow('Redis refuses its user the command SELECT')
    await expect(requireCommands(redis)).rejects.toThrow(RedisUnavailable)
    await redis.close()
    expect(await administrator.dbsize()).toBe(0)
  })
})
