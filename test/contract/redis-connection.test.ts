/** The use that the connection makes of urls, certificates and replies, on servers of our own. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import Redis from 'ioredis'
import type { Config } from '../../src/platform/config/types.ts'
import { RedisUnavailable } from '../../src/platform/redis/failure.ts'
import { defineScript, runScript } from '../../src/platform/redis/script.ts'
import { createCertificate } from '../helpers/certificates.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { type RedisServer, startRedis } from '../helpers/servers.ts'
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

describe('what Redis answers', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
    const administrator = new Redis(server.url)
    await administrator.config('SET', 'requirepass', 'p@ss/word?')
    administrator.disconnect()
  })
  afterAll(() => server.stop())
  const urlWith = (credentials: string, path = '') => `redis://${credentials}127.0.0.1:${server.port}${path}`
  const secret = encodeURIComponent('p@ss/word?')
  const reply = (text: string) => defineScript(`return redis.error_reply('${text}')`)

  test('the password and the database of the url are used', async () => {
    const second = connect(redisConfig([urlWith(`:${secret}@`, '/2')]))
    const named = connect(redisConfig([urlWith(`default:${secret}@`)]))
    await second.redis.ready()
    await named.redis.ready()
    await named.redis.ping()
    const administrator = new Redis(urlWith(`:${secret}@`))
    const clients = String(await administrator.client('LIST')).split('\n')
    administrator.disconnect()
    const databases = clients
      .filter((line) => line.includes(' name=poterne '))
      .map((line) => / db=\d/.exec(line)?.[0])
    expect(databases.sort()).toEqual([' db=0', ' db=2'])
  })

  test('a wrong or missing password is "unavailable", with its cause', async () => {
    for (const [url, cause] of [
      [urlWith(':wrong@'), 'WRONGPASS'],
      [urlWith(''), 'NOAUTH'],
    ]) {
      const told: string[] = []
      const { redis } = connect(redisConfig([url!]), { onFailure: (code: string) => told.push(code) })
      const error = await redis.ready(700).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      expect(error).toBeInstanceOf(RedisUnavailable)
      expect(told).toContain(cause!)
      expect(String(error)).not.toContain('wrong@')
    }
  })

  test('replies that mean "not now" are "unavailable", others are mistakes of ours', async () => {
    const { redis } = connect(redisConfig([urlWith(`:${secret}@`)]))
    await redis.ready()
    for (const code of ['LOADING', 'CLUSTERDOWN', 'MASTERDOWN', 'MISCONF', 'OOM', 'NOREPLICAS', 'BUSY'])
      await expect(runScript(redis, reply(`${code} for a reason`), [])).rejects.toThrow(
        expect.objectContaining({ name: 'RedisUnavailable', causeCode: code }),
      )
    const mistake = await runScript(redis, reply('ERR some mistake'), []).catch((error: unknown) => error)
    expect(mistake).not.toBeInstanceOf(RedisUnavailable)
    const secretValue = runScript(redis, reply('ERR some mistake'), ['outage:key'], ['a secret'])
    const told = await secretValue.catch((error: unknown) => Bun.inspect(error))
    expect(told).toContain('ERR some mistake')
    expect(told).not.toMatch(/a secret|outage:key/)
    const wrongType = defineScript(
      `redis.call('SET', KEYS[1], 'x', 'PX', 1000) return redis.call('LLEN', KEYS[1])`,
    )
    await expect(runScript(redis, wrongType, ['outage:type'])).rejects.toThrow(/WRONGTYPE/)
  })

  test('a server that turns read-only is unavailable, and serves again once it is not', async () => {
    const { redis, limits } = connect(redisConfig([urlWith(`:${secret}@`)]))
    await redis.ready()
    const administrator = new Redis(urlWith(`:${secret}@`))
    await administrator.call('REPLICAOF', '127.0.0.1', '1')
    await expectUnavailable(limits, 300)
    await administrator.call('REPLICAOF', 'NO', 'ONE')
    administrator.disconnect()
    await expectBackInTime(limits)
  }, 20_000)

  test('nobody notices that the server forgot the scripts', async () => {
    const { redis, limits } = connect(redisConfig([urlWith(`:${secret}@`)]))
    await redis.ready()
    await take(limits)
    const administrator = new Redis(urlWith(`:${secret}@`))
    await administrator.call('SCRIPT', 'FLUSH')
    administrator.disconnect()
    expect(await Promise.all(Array.from({ length: 32 }, () => take(limits)))).toEqual(Array(32).fill(0))
  })
})

describe('Redis with TLS', () => {
  /** In a process of its own, since the authorities of a process are fixed when it starts. */
  const program = `
    const { openRedis } = await import(process.argv[1])
    const redis = openRedis({ mode: process.argv[2], urls: [process.argv[3]], master: null, keyPrefix: 'tls:' })
    const outcome = redis.ready(5000).then(() => redis.ping())
    await outcome.then(() => console.log('connected'), (error) => console.log(error.name))
    process.exit(0)`
  const modulePath = join(import.meta.dir, '../../src/platform/redis/connection.ts')

  async function connectFrom(caFile: string, url: string, mode: Config['redis']['mode'] = 'single') {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: caFile }
    const command = [process.execPath, '-e', program, modulePath, mode, url]
    const child = Bun.spawn(command, { env, stderr: 'inherit' })
    return (await new Response(child.stdout).text()).trim()
  }

  async function startWithTls({ key, cert }: { key: string; cert: string }, parameters: string[] = []) {
    const directory = newDirectory('redis-tls')
    const [keyFile, certFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
    await Promise.all([Bun.write(keyFile, key), Bun.write(certFile, cert)])
    const tlsPort = await freePort()
    const server = await startRedis([
      ...['--tls-port', String(tlsPort), '--tls-auth-clients', 'no', '--tls-ca-cert-file', certFile],
      ...['--tls-key-file', keyFile, '--tls-cert-file', certFile],
      ...parameters,
    ])
    return { server, url: `rediss://localhost:${tlsPort}`, tlsPort }
  }

  test('a certificate of a known authority for the named host is accepted, others are refused', async () => {
    const [good, elsewhere] = [createCertificate('trusted'), createCertificate('wrong-host')]
    const [right, wrong] = [await startWithTls(good), await startWithTls(elsewhere)]
    const outcomes = await Promise.all([
      connectFrom(good.caFile, right.url),
      connectFrom(elsewhere.caFile, right.url),
      connectFrom(elsewhere.caFile, wrong.url),
    ])
    expect(outcomes).toEqual(['connected', 'RedisUnavailable', 'RedisUnavailable'])
    await Promise.all([right.server.stop(), wrong.server.stop()])
  }, 30_000)

  test('a cluster is spoken to with TLS too', async () => {
    const certificate = createCertificate('trusted')
    const cluster = [
      ...['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())],
      ...['--tls-cluster', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    ]
    const { server, url } = await startWithTls(certificate, cluster)
    const alone = new Redis(server.port)
    await alone.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    await waitFor(async () => String(await alone.call('CLUSTER', 'INFO')).includes('cluster_state:ok'))
    alone.disconnect()
    expect(await connectFrom(certificate.caFile, url, 'cluster')).toBe('connected')
    await server.stop()
  }, 30_000)
})
