/** Whether the stores can be relied on: at the start, each minute, and when a load balancer asks. */
import type { LimitStore } from '../domain/limits/limits/store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/http/logging.ts'
import { measureClockSkewMs } from '../platform/postgres/clock-skew.ts'
import type { Database } from '../platform/postgres/database.ts'
import { findNeglect } from '../platform/postgres/embedded-upkeep.ts'
import { requireVersion, VersionTooOld } from '../platform/postgres/migrate.ts'
import type { RedisConnection } from '../platform/redis/connection.ts'
import { RedisEvicts } from '../platform/redis/eviction.ts'

const INTERVAL_MS = 60_000
/** More than this and an honest retry may look like reuse of a refresh token. */
const MOST_SKEW_MS = 3000
/** Anybody may ask whether the service is ready: the stores are written to at most this often. */
const WRITE_INTERVAL_MS = 1000
/** A rule that refuses no caller: each charge of it is written and admitted. */
const READINESS = { kind: 'window', count: 1_000_000_000, windowMs: 60_000 } as const

export interface StoreWatchOptions {
  database: Database
  redis: RedisConnection | null
  clock: Clock
  logger: Logger
  /** Of this executable. */
  version: string
  intervalMs?: number
}

/** Throws RedisEvicts if Redis is configured to evict keys. Then looks again each minute, and logs it. */
export async function watchStores({
  database,
  redis,
  clock,
  logger,
  version,
  intervalMs = INTERVAL_MS,
}: StoreWatchOptions): Promise<StoreWatch> {
  async function compareClocks(): Promise<void> {
    // The embedded database reads the clock of this very machine.
    if (database.kind === 'embedded') return
    const skewMs = await measureClockSkewMs(database, clock)
    if (Math.abs(skewMs) <= MOST_SKEW_MS) return
    const seconds = Math.round(skewMs / 100) / 10
    logger.warn(
      { skew_seconds: seconds },
      `the clock of this machine is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} that of the database: let NTP set both`,
    )
  }
  async function lookAgain(): Promise<void> {
    await redis?.requireNoEviction().catch((error: unknown) => {
      // A store that does not answer is reported by the code that needs it.
      if (error instanceof RedisEvicts) logger.error({ policy: error.policy }, error.message)
    })
    await compareClocks().catch(() => {})
    await requireVersion(database, version).catch((error: unknown) => {
      if (error instanceof VersionTooOld) logger.error(error.message)
    })
  }
  await Promise.all([redis?.requireNoEviction(), compareClocks()])
  const timer = setInterval(lookAgain, intervalMs)
  timer.unref()
  return { close: () => clearInterval(timer) }
}

export interface StoreWatch {
  close(): void
}

export interface ReadinessOptions {
  database: Database
  redis: RedisConnection | null
  /** The counters in the database, which are in use in every shape. */
  counters: Pick<LimitStore, 'charge'>
  clock: Clock
  version: string
}

/** The embedded database will soon refuse writes, or start too slowly after a crash. */
export class UpkeepNeglected extends Error {
  override name = 'UpkeepNeglected'
}

async function requireUpkeep({ upkeep }: Database): Promise<void> {
  const neglect = upkeep && findNeglect(await upkeep.condition())
  if (neglect?.isFailure) throw new UpkeepNeglected(neglect.what)
}

/** Throws if a store does not answer, is full or was neglected, or if a newer version migrated the database. */
export function createReadiness({
  database,
  redis,
  counters,
  clock,
  version,
}: ReadinessOptions): () => Promise<void> {
  const key = `readiness:${crypto.randomUUID()}`
  let writtenAt = Number.NEGATIVE_INFINITY
  return async () => {
    await Promise.all([database.ping(), redis?.ping()])
    if (performance.now() - writtenAt < WRITE_INTERVAL_MS) return
    await Promise.all([redis?.write(), counters.charge([{ key, rule: READINESS }], clock.now())])
    await requireVersion(database, version)
    await requireUpkeep(database)
    writtenAt = performance.now()
  }
}
