/** The facts that a Redis server tells about itself. */
import type { Redis } from 'ioredis'
import { findEvictionPolicy } from './eviction.ts'

export interface RedisFacts {
  version: string
  /** It is null where no key is ever evicted. */
  evictionPolicy: string | null
  saveFailed: boolean
  keepsOverRestart: boolean
  /** This machine is surely ahead by so much; negative if it is behind. */
  clockSkewMs: number
}

export async function readFacts(server: Pick<Redis, 'info' | 'time' | 'config'>): Promise<RedisFacts> {
  const before = Date.now()
  const [seconds, microseconds] = await server.time()
  const after = Date.now()
  const theirs = Number(seconds) * 1000 + Number(microseconds) / 1000
  const [about, persistence, memory] = await Promise.all(
    ['server', 'persistence', 'memory'].map((section) => server.info(section)),
  )
  const field = (info: string | undefined, name: string) =>
    new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info ?? '')?.[1]
  const hasAppendOnly = field(persistence, 'aof_enabled') === '1'
  return {
    version: field(about, 'redis_version') ?? 'unknown',
    evictionPolicy: findEvictionPolicy(memory ?? ''),
    saveFailed:
      field(persistence, 'rdb_last_bgsave_status') === 'err' ||
      (hasAppendOnly && field(persistence, 'aof_last_write_status') === 'err'),
    keepsOverRestart: hasAppendOnly || (await savesSnapshots(server)),
    clockSkewMs: theirs < before ? before - theirs : theirs > after ? after - theirs : 0,
  }
}

/** Not every user may read the configuration: then nothing is promised. */
async function savesSnapshots(server: Pick<Redis, 'config'>): Promise<boolean> {
  const answer = (await server.config('GET', 'save').catch(() => [])) as string[]
  return (answer[1] ?? '') !== ''
}
