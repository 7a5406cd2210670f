/** Private Redis servers: single, cluster of three masters, Sentinel. Nothing is written to disk. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Redis from 'ioredis'
import { freePort } from './free-port.ts'
import { newDirectory, oncePerRun } from './run-directory.ts'
import { controlServer, leaveWithoutProgram, type ServerControls } from './server-process.ts'
import { waitFor } from './wait.ts'

export interface RedisServer extends ServerControls {
  url: string
  port: number
}

/** Fails if the server does not answer at once. */
async function onServer<T>(port: number, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(port, '127.0.0.1', {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: 2000,
    commandTimeout: 2000,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

async function launch(port: number, directory: string, parameters: string[]): Promise<RedisServer> {
  if (Bun.which('redis-server') === null) leaveWithoutProgram('Redis')
  const controls = controlServer({
    directory,
    command: ['redis-server', ...parameters],
    answers: () => onServer(port, async (redis) => (await redis.ping()) === 'PONG'),
  })
  await controls.start()
  return { ...controls, port, url: `redis://127.0.0.1:${port}` }
}

const inMemory = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']

/** A server of the caller's own, for tests that stop, restart or pause it. A restart empties it. */
export async function startRedis(parameters: string[] = []): Promise<RedisServer> {
  const port = await freePort()
  const directory = newDirectory('redis')
  return launch(port, directory, ['--port', String(port), '--dir', directory, ...inMemory, ...parameters])
}

/** The server that the whole run shares: never stop it, never flush it; keys under a `redisPrefix()`. */
export async function sharedRedis(): Promise<{ url: string }> {
  return oncePerRun('redis', async () => ({ url: (await startRedis()).url }))
}

/** A key prefix that nobody else has. */
export function redisPrefix(): string {
  return `test-${crypto.randomUUID()}:`
}

export interface RedisCluster {
  urls: string[]
  masters: RedisServer[]
  stop(): Promise<void>
}

/**
 * Three masters, no replicas. A master that says nothing for `nodeTimeoutMs` counts as failed, and the cluster as down:
 * longer than a busy machine may stop one, but for tests of what happens then.
 */
export async function startRedisCluster(nodeTimeoutMs = 15_000): Promise<RedisCluster> {
  const start = async () => {
    const busPort = String(await freePort())
    return startRedis([
      '--cluster-enabled',
      'yes',
      '--cluster-port',
      busPort,
      '--cluster-node-timeout',
      String(nodeTimeoutMs),
    ])
  }
  const masters = [await start(), await start(), await start()]
  const addresses = masters.map(({ port }) => `127.0.0.1:${port}`)
  execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes'], { stdio: 'pipe' })
  for (const { port } of masters)
    await waitFor(
      () => onServer(port, async (redis) => (await redis.cluster('INFO')).includes('cluster_state:ok')),
      { what: `the cluster as seen from port ${port}`, timeoutMs: 30_000 },
    )
  return { urls: masters.map(({ url }) => url), masters, stop: () => stopAll(masters) }
}

export interface RedisSentinel {
  /** The addresses of the three Sentinels. */
  urls: string[]
  /** The name the Sentinels know the master by. */
  masterName: string
  /** Master and replica as started; a failover changes the roles, not the names. */
  master: RedisServer
  replica: RedisServer
  sentinels: RedisServer[]
  stop(): Promise<void>
}

/** Sentinels whose own timer was late, as on a busy machine, do nothing for 30 seconds. */
export const FAILOVER_MS = 60_000

/** One master, one replica, three Sentinels of which two must agree; a failover takes about three seconds. */
export async function startRedisSentinel(): Promise<RedisSentinel> {
  const masterName = 'poterne'
  const master = await startRedis()
  const replica = await startRedis([
    ...['--replicaof', `127.0.0.1 ${master.port}`, '--repl-diskless-sync-delay', '0'],
    ...['--repl-ping-replica-period', '1'],
  ])
  await waitFor(
    () =>
      onServer(replica.port, async (redis) =>
        (await redis.info('replication')).includes('master_link_status:up'),
      ),
    { what: 'the replica to follow its master' },
  )
  const sentinels: RedisServer[] = []
  for (let i = 0; i < 3; i++) sentinels.push(await startSentinel(masterName, master.port))
  for (const { port } of sentinels)
    await waitFor(() => onServer(port, (redis) => knowsEverybody(redis, masterName)), {
      what: 'the Sentinels to know each other',
      timeoutMs: 60_000,
    })
  const urls = sentinels.map(({ url }) => url)
  const stop = () => stopAll([...sentinels, replica, master])
  return { urls, masterName, master, replica, sentinels, stop }
}

async function startSentinel(masterName: string, masterPort: number): Promise<RedisServer> {
  const port = await freePort()
  const directory = newDirectory('sentinel')
  const file = join(directory, 'sentinel.conf')
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${directory}`,
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${masterName} 1000`,
    `sentinel failover-timeout ${masterName} 5000`,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return launch(port, directory, [file, '--sentinel'])
}

async function knowsEverybody(sentinel: Redis, masterName: string): Promise<boolean> {
  const flat = (await sentinel.call('SENTINEL', 'MASTER', masterName)) as string[]
  const field = (name: string) => flat[flat.indexOf(name) + 1]
  return field('num-other-sentinels') === '2' && field('num-slaves') === '1'
}

async function stopAll(servers: RedisServer[]): Promise<void> {
  await Promise.all(servers.map((server) => server.stop()))
}
