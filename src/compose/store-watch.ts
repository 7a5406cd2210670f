/** The readiness of the stores: it is asked for at the start, each minute, and by load balancers. */
import type { LimitStore } from '../domain/foundation/limits/store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Ground } from '../platform/ground.ts'
import type { Database } from '../platform/postgres/database.ts'
import { DatabaseReadOnly, databaseCode } from '../platform/postgres/failure.ts'
import { requireVersion, VersionTooOld } from '../platform/postgres/migrate.ts'
import { measureClockSkewMs } from '../platform/postgres/server-fitness.ts'
import type { RedisConnection } from '../platform/redis/connection.ts'
import { RedisEvicts } from '../platform/redis/facts.ts'
import { partsOf, RedisUnavailable } from '../platform/redis/failure.ts'
import { requireCommands } from '../platform/redis/script.ts'
import { together } from '../platform/waiting.ts'
import { findNeglect } from '../storage/embedded/upkeep.ts'
import { AppError } from '../texts/errors.ts'

const INTERVAL_MS = 60_000
/** With a greater difference, an honest retry may look like reuse of a refresh token. */
const MOST_SKEW_MS = 3000
/** Anybody may ask whether the service is ready: the stores are written to at most this often. */
const WRITE_INTERVAL_MS = 1000
/** A rule that refuses no caller: each charge of it is written and admitted. */
const READINESS = { kind: 'window', count: 1_000_000_000, windowMs: 60_000 } as const

interface StoreWatchOptions extends Pick<Ground, 'clock' | 'logger'> {
  database: Database
  redis: RedisConnection | null
  /** The version of this executable. */
  version: string
  intervalMs?: number
}

/** Throws RedisEvicts if Redis is configured to evict keys. Then looks again each minute, and logs it. */
export async function watchStores(options: StoreWatchOptions): Promise<{ close(): void }> {
  const { database, redis, clock, logger, version, intervalMs = INTERVAL_MS } = options
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

interface ReadinessOptions {
  database: Database
  redis: RedisConnection | null
  /** The counters in the database, which are in use in every shape. */
  counters: Pick<LimitStore, 'charge'>
  clock: Clock
  version: string
}

const READ_ONLY = 'the database refuses writes: it is read-only'
/** The keys are SQLSTATE and the codes of the system. */
const DATABASE_REASONS: readonly [RegExp, string][] = [
  [/^(25006|EROFS)$/, READ_ONLY],
  [/^(53100|ENOSPC|EDQUOT)$/, 'the disk of the database is full'],
  [/^53300$/, 'the database takes no more connections'],
  [/^28/, 'the database refuses the credentials of this service'],
  [/^(42501|EACCES|EPERM)$/, 'this service lacks a right in the database'],
  [/^57P/, 'the database is starting or ending'],
]
const REDIS_REASONS: readonly [RegExp, string][] = [
  [/^OOM$/, 'Redis is full'],
  [/^(READONLY|MISCONF|NOREPLICAS)$/, 'Redis refuses writes'],
  [/^LOADING$/, 'Redis is starting'],
  [/^(NOAUTH|WRONGPASS)$/, 'Redis refuses the credentials of this service'],
  [/^NOPERM$/, 'Redis refuses this service a right'],
  [/^NODATABASE$/, 'Redis lacks the database of this service'],
]
const refusedCommand = (command: string) => `Redis refuses this service the command ${command.toUpperCase()}`

/** Anybody may read it: no words of a driver, which name hosts, users and versions. */
export function reasonOf(error: unknown): string {
  if (error instanceof VersionTooOld) {
    return 'a newer version migrated the database, and this one may no longer use it: end this replica'
  }
  if (error instanceof UpkeepNeglected) {
    return 'the upkeep of the embedded database is overdue: poterne doctor says what is due'
  }
  if (error instanceof DatabaseReadOnly) return READ_ONLY
  const inRedis = error instanceof RedisUnavailable
  const code = inRedis
    ? error.causeCode
    : (databaseCode(error) ?? databaseCode((error as Error | null)?.cause) ?? '')
  const reasons = inRedis ? REDIS_REASONS : DATABASE_REASONS
  const command = inRedis ? partsOf(code).command : null
  if (command !== null) return refusedCommand(command)
  const known = reasons.find(([pattern]) => pattern.test(code))?.[1]
  return known ?? (inRedis ? 'Redis does not answer' : 'the database does not answer')
}

/** The embedded database will soon refuse writes, or start too slowly after a crash. */
class UpkeepNeglected extends Error {
  override name = 'UpkeepNeglected'
}

async function requireUpkeep({ upkeep }: Database): Promise<void> {
  const neglect = upkeep && findNeglect(await upkeep.condition())
  if (neglect?.isFailure) throw new UpkeepNeglected(neglect.what)
}

/** Throws if a store does not answer, is full or was neglected, or if a newer version migrated the database. */
export function createReadiness({ database, redis, counters, clock, version }: ReadinessOptions) {
  const key = `readiness:${crypto.randomUUID()}`
  let writtenAt = Number.NEGATIVE_INFINITY
  // Everybody who asks meanwhile waits for the same look.
  const write = together(async () => {
    await Promise.all([
      redis && requireCommands(redis),
      counters.charge([{ key, rule: READINESS }], clock.now()),
    ])
    await requireVersion(database, version)
    await requireUpkeep(database)
    writtenAt = performance.now()
  })
  async function requireReady(): Promise<void> {
    await Promise.all([database.ping(), redis?.ping()])
    if (performance.now() - writtenAt < WRITE_INTERVAL_MS) return
    await write()
  }
  return async () => {
    try {
      await requireReady()
    } catch (error) {
      throw new AppError('unavailable', { cause: error, reason: reasonOf(error) })
    }
  }
}
