/**
 * The connection to Redis: one server, Sentinel or Cluster. Promises: a command answers or throws RedisUnavailable
 * within COMMAND_TIMEOUT_MS, is never queued while Redis is away, and is never sent twice. The connection keeps trying
 * and is back within 5 s of Redis. It does not log; it reports cause codes to its listeners.
 */
import type { Cluster, ClusterOptions, DNSLookupFunction, Redis, RedisOptions } from 'ioredis'
import { LastingFailure } from '../failure.ts'
import { type Endpoint, type RedisServers, readRedisUrls } from './endpoint.ts'
import { describeOldRedis, findEvictionPolicy, RedisEvicts, readFacts, versionIn } from './facts.ts'
import { RedisUnavailable, redisCause, redisFailure } from './failure.ts'
import { findWrongTls } from './wrong-tls.ts'

/** Half of the 5 s in which a caller must have its 503. */
const COMMAND_TIMEOUT_MS = 2500
/** A connection that is silent for longer while answers are due is dead (its host is gone) and is replaced. */
const SOCKET_TIMEOUT_MS = 3000
const CONNECT_TIMEOUT_MS = 2000
/** A restarted cluster needs two seconds by itself before it serves, which leaves little time for us. */
const RETRY_MAXIMUM_MS = 500
/**
 * The time after which a cluster is asked for its slots again; it bounds the time to notice a failover without traffic.
 */
const SLOTS_REFRESH_MS = 2000
/** The same cause is reported at most this often. */
const REPORT_INTERVAL_MS = 30_000

export type RedisClient = Pick<Redis, 'evalsha' | 'eval'>

export type RedisConnection = ReturnType<typeof openRedis>

export interface RedisListeners {
  /** A cause code for the log; each cause at most once in 30 s. */
  onFailure?: (causeCode: string) => void
  /** Connected again after a reported failure. */
  onRecovery?: () => void
}

/** The servers, the name under which Sentinel knows the primary, and the beginning of every key. */
type RedisPlace = RedisServers & { master: string | null; keyPrefix: string }

/**
 * Returns at once and connects in the background; see `ready`. The URLs are `redis://` or `rediss://` (TLS) with
 * `user:password@` and `/db`; credentials and db of the first one are used for all. In mode `sentinel` the URLs name
 * the Sentinels, while credentials, TLS and db are those of the Redis servers behind them. Sentinels with credentials
 * of their own get them from `?sentinel_username=…&sentinel_password=…`. With TLS, certificates must name what
 * Sentinels or the cluster announce: addresses, unless they are configured to announce host names.
 */
export function openRedis(config: RedisPlace, listeners: RedisListeners = {}) {
  const client = connect(config)
  const newestCause = watch(client, listeners)
  if (isCluster(client)) connectMasters(client)
  else leaveWrongDatabase(client)
  /** Runs commands. If Redis is away, what they throw becomes RedisUnavailable. */
  const send = async <T>(work: (client: RedisClient) => Promise<T>) => {
    try {
      return await work(client)
    } catch (error) {
      throw redisFailure(error)
    }
  }
  return {
    /** Every key starts with it. */
    keyPrefix: config.keyPrefix,
    send,
    /**
     * Resolves once connected (in a cluster: to every master); throws RedisUnavailable after `timeoutMs`, or at once
     * where the server refuses the database. The connection goes on trying.
     */
    ready: async (timeoutMs = 5000) => {
      const deadline = performance.now() + timeoutMs
      for (;;) {
        const servers = serversOf(client)
        if (servers.length > 0 && servers.every(({ status }) => status === 'ready')) return
        const cause = newestCause()
        if (cause === 'NODATABASE' && !isCluster(client)) throw await noSuchDatabase(client)
        if (cause === 'CLUSTER' || cause === 'NOPERM:select') throw new RedisUnavailable(cause)
        if (performance.now() > deadline)
          throw new RedisUnavailable((await findWrongTls(readRedisUrls(config)[0], cause)) ?? cause)
        await Bun.sleep(2)
      }
    },
    /** Throws RedisUnavailable unless the server (in a cluster: every master) answers. */
    ping: () =>
      send(async () => {
        const servers = serversOf(client)
        if (servers.length === 0) throw new RedisUnavailable(newestCause())
        await Promise.all(servers.map((server) => server.ping()))
      }),
    /** Throws LastingFailure where a server (in a cluster: a master) is too old, RedisUnavailable where none answers. */
    async requireVersion() {
      const infos = await send(() => Promise.all(serversOf(client).map((server) => server.info('server'))))
      const old = infos.map((info) => describeOldRedis(versionIn(info))).find((found) => found !== null)
      if (old) throw new LastingFailure(old)
    },
    /** Throws RedisEvicts where a server (in a cluster: a master) would evict keys, RedisUnavailable where none answers. */
    async requireNoEviction() {
      const infos = await send(() => Promise.all(serversOf(client).map((server) => server.info('memory'))))
      const policy = infos.map(findEvictionPolicy).find((found) => found !== null)
      if (policy) throw new RedisEvicts(policy)
    },
    /** Removes every key that begins so, whole name. Looks at all keys, a part at a time: not for requests of clients. */
    removeBeginning: (beginning: string) =>
      send(async () => {
        const pattern = `${beginning.replace(/[\\*?[\]^]/g, '\\$&')}*`
        for (const server of serversOf(client)) await removeMatching(server, pattern)
      }),
    /** Asks each server (in a cluster: each master) about itself. */
    inspect: () => send(() => Promise.all(serversOf(client).map(readFacts))),
    /** Gives commands under way half a second to finish. */
    close: () => close(client),
  }
}

function connect({ mode, urls, master }: RedisPlace): Redis | Cluster {
  // Loaded here, since most services run without Redis.
  const { Cluster, Redis } = require('ioredis') as typeof import('ioredis')
  const endpoints = readRedisUrls({ mode, urls })
  const { sentinelUsername, sentinelPassword, ...first } = endpoints[0]
  if (mode === 'cluster') return new Cluster(endpoints.map(address), clusterOptions(first))
  const { host, port, ...shared } = first
  const options = {
    ...commonOptions,
    ...shared,
    enableOfflineQueue: false,
    retryStrategy: backoff,
    // A master that was demoted in a failover keeps its connections: leave it, and ask who is master now.
    reconnectOnError: (error: Error) => redisCause(error) === 'READONLY',
  } satisfies RedisOptions
  if (mode === 'single') return new Redis({ ...options, host, port })
  return new Redis({
    ...options,
    sentinels: endpoints.map(address),
    name: master ?? '',
    ...(sentinelUsername === undefined ? {} : { sentinelUsername }),
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(shared.tls === undefined ? {} : { sentinelTLS: shared.tls, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: 1000,
    sentinelRetryStrategy: backoff,
  })
}

/**
 * No command is ever sent twice, because one that may have run, such as taking a code, must not run again.
 * `maxRetriesPerRequest` 0 drops commands under way together with their connection. Every server and proxy speaks
 * RESP2, and RESP3 adds nothing for what our scripts return.
 */
const commonOptions = {
  protocol: 2,
  replyMapping: 'legacy',
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  commandTimeout: COMMAND_TIMEOUT_MS,
  socketTimeout: SOCKET_TIMEOUT_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  disconnectTimeout: 500,
  connectionName: 'poterne',
  // Two more commands that the user would need.
  disableClientInfo: true,
} satisfies RedisOptions

function clusterOptions({ username, password, tls }: Endpoint) {
  return {
    redisOptions: {
      ...commonOptions,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(tls === undefined ? {} : { tls }),
    },
    enableOfflineQueue: false,
    clusterRetryStrategy: backoff,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    // These would repeat commands that may have run, or wait where an immediate error is better. Redirections stay on.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // The certificate names the host with TLS, so connect by name.
    ...(tls === undefined ? {} : { dnsLookup: connectByName }),
  } satisfies ClusterOptions
}

const connectByName: DNSLookupFunction = (host, found) => found(null, host)

function address({ host, port }: Endpoint): { host: string; port: number } {
  return { host, port }
}

function backoff(times: number): number {
  return Math.min(25 * 2 ** Math.min(times, 10), RETRY_MAXIMUM_MS)
}

/**
 * Reports failures and recoveries, and returns a function that gives the newest cause code. Without an `error` listener
 * the client would print the address to the console.
 */
function watch(client: Redis | Cluster, { onFailure, onRecovery }: RedisListeners): () => string {
  const toldAt = new Map<string, number>()
  let causeCode = 'CLOSED'
  const fail = (error: unknown) => {
    // It follows from an error that was told before: what comes after it on the same connection cannot be sent.
    if (error instanceof Error && error.message.startsWith("Stream isn't writeable")) return
    causeCode = redisCause(error)
    const now = performance.now()
    if (now - (toldAt.get(causeCode) ?? Number.NEGATIVE_INFINITY) < REPORT_INTERVAL_MS) return
    toldAt.set(causeCode, now)
    onFailure?.(causeCode)
  }
  client.on('error', fail)
  client.on('node error', fail)
  client.on('ready', () => {
    if (toldAt.size > 0) onRecovery?.()
    toldAt.clear()
  })
  return () => causeCode
}

/**
 * A cluster client connects to a master only with the first command for it, and refuses all other commands until it is
 * connected. So we connect as soon as a master is known, but not before the client is ready, or its own first command
 * would be refused. Replicas are not used.
 */
function connectMasters(cluster: Cluster): void {
  const connectTo = (node: Redis) => {
    if (cluster.status !== 'ready' || node.options.readOnly || node.status !== 'wait') return
    node.connect().catch(() => {})
  }
  cluster.on('ready', () => cluster.nodes('master').forEach(connectTo))
  cluster.on('+node', connectTo)
}

/**
 * Where the server refuses to select the database of the URL, the client would go on in database 0, which may be that of
 * another service. A refusal for want of a password ends the connection by itself.
 */
function leaveWrongDatabase(client: Redis): void {
  client.on('error', (error: { command?: { name?: string } }) => {
    if (error.command?.name === 'select' && redisCause(error) !== 'NOAUTH') client.disconnect(true)
  })
}

/** Says how many databases there are, if the configuration of the server may be read. */
async function noSuchDatabase(client: Redis): Promise<RedisUnavailable> {
  const asking = client.duplicate({ db: 0, lazyConnect: true, retryStrategy: () => null })
  asking.on('error', () => {})
  const count = await asking
    .connect()
    .then(async () => Number(((await asking.config('GET', 'databases')) as string[])[1]))
    .catch(() => Number.NaN)
  asking.disconnect()
  const known = count > 0 ? `it has ${count}, numbered from 0 to ${count - 1}: ` : ''
  return new RedisUnavailable(
    'NODATABASE',
    `the server has no database ${client.options.db} (NODATABASE): ${known}correct the number at the end of the URL, or raise \`databases\` of Redis`,
  )
}

const isCluster = (client: Redis | Cluster): client is Cluster => client.isCluster

/** The servers that commands go to; empty while the client does not know them. */
function serversOf(client: Redis | Cluster): Redis[] {
  if (client.status !== 'ready') return []
  return isCluster(client) ? client.nodes('master') : [client]
}

/** Microseconds each, during which Redis answers nobody else. */
const SCANNED_AT_ONCE = 1000

async function removeMatching(server: Redis, pattern: string): Promise<void> {
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const [next, keys]: [string, string[]] = await server.scan(
      cursor,
      'MATCH',
      pattern,
      'COUNT',
      SCANNED_AT_ONCE,
    )
    if (keys.length > 0) await server.unlink(keys)
    cursor = next === '0' ? null : next
  }
}

async function close(client: Redis | Cluster): Promise<void> {
  const quit = client.status === 'ready' ? client.quit().catch(() => {}) : Promise.resolve()
  await Promise.race([quit, Bun.sleep(500)])
  client.disconnect()
}
