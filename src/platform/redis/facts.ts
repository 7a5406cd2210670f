/** The facts that a Redis server tells about itself. */
import type { Redis } from 'ioredis'

/** A line of the answer to `INFO`. */
const field = (info: string | undefined, name: string) =>
  new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info ?? '')?.[1]

/** Reads from the answer to `INFO memory` the policy under which keys are evicted; null where none ever is. */
export function findEvictionPolicy(info: string | undefined): string | null {
  const policy = field(info, 'maxmemory_policy') ?? 'noeviction'
  return policy === 'noeviction' || Number(field(info, 'maxmemory') ?? 0) === 0 ? null : policy
}

/** The server may throw counters and codes away to fit others. */
export class RedisEvicts extends Error {
  override name = 'RedisEvicts'
  constructor(readonly policy: string) {
    super(
      `redis: maxmemory-policy is ${policy}, so a full Redis would forget limits and codes: set it to noeviction, or ` +
        'maxmemory to 0',
    )
  }
}

const OLDEST_VERSION = [6, 2] as const

/** Of a server that does not say it. */
export const UNKNOWN_VERSION = 'unknown'

/** `version`: as `INFO` has it. Null where poterne can use it, and for a server that says none. */
export function describeOldRedis(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isOld = major < OLDEST_VERSION[0] || (major === OLDEST_VERSION[0] && minor < OLDEST_VERSION[1])
  return isOld ? `Redis ${version} is too old: upgrade it to ${OLDEST_VERSION.join('.')} or later` : null
}

/** Reads it from the answer to `INFO server`. */
export const versionIn = (info: string | undefined): string => field(info, 'redis_version') ?? UNKNOWN_VERSION

export type RedisFacts = Awaited<ReturnType<typeof readFacts>>

export async function readFacts(server: Pick<Redis, 'info' | 'time' | 'config'>) {
  const before = Date.now()
  const [seconds, microseconds] = await server.time()
  const after = Date.now()
  const theirs = Number(seconds) * 1000 + Number(microseconds) / 1000
  const [about, persistence, memory] = await Promise.all(
    ['server', 'persistence', 'memory'].map((section) => server.info(section)),
  )
  const hasAppendOnly = field(persistence, 'aof_enabled') === '1'
  return {
    version: versionIn(about),
    /** It is null where no key is ever evicted. */
    evictionPolicy: findEvictionPolicy(memory),
    saveFailed:
      field(persistence, 'rdb_last_bgsave_status') === 'err' ||
      (hasAppendOnly && field(persistence, 'aof_last_write_status') === 'err'),
    keepsOverRestart: hasAppendOnly || (await savesSnapshots(server)),
    /** This machine is surely ahead by so much; negative if it is behind. */
    clockSkewMs: theirs < before ? before - theirs : theirs > after ? after - theirs : 0,
  }
}

/** Not every user may read the configuration: then nothing is promised. */
async function savesSnapshots(server: Pick<Redis, 'config'>): Promise<boolean> {
  const answer = (await server.config('GET', 'save').catch(() => [])) as string[]
  return (answer[1] ?? '') !== ''
}
