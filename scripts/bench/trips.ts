/**
 * Counts the round trips to the stores: statements as PostgreSQL counts them (pg_stat_statements; poterne's are each
 * one round trip), scripts as Redis counts them.
 */
import Redis from 'ioredis'
import { onDatabase } from './accounts.ts'
import type { Poterne } from './bench.ts'

/** An operation's mean, background work (sending messages) included. */
export interface Trips {
  reads: number
  writes: number
  redis: number
}

const kinds = ['reads', 'writes', 'redis'] as const
const names = { reads: 'read', writes: 'write', redis: 'Redis' }

const tripsOf = (of: (kind: keyof Trips) => number) =>
  Object.fromEntries(kinds.map((kind) => [kind, of(kind)])) as unknown as Trips

/** The time for which an idle poterne is counted, which looks at its outbox, for example. */
const IDLE_MS = 1500

export async function countTrips({ database, redis }: Pick<Poterne, 'database' | 'redis'>) {
  await onDatabase(database.url, (sql) => sql`create extension if not exists pg_stat_statements`)
  const count = async <Result>(work: () => Promise<Result>) => {
    const [before, startedAt] = [await readTrips(database.url, redis.url), performance.now()]
    const result = await work()
    const after = await readTrips(database.url, redis.url)
    const trips = tripsOf((kind) => after[kind] - before[kind])
    return { result, trips, ms: performance.now() - startedAt }
  }
  const idle = await count(() => Bun.sleep(IDLE_MS))
  const passed = { operations: 0, reads: 0, writes: 0, redis: 0 }
  const mean = () => tripsOf((kind) => Math.max(0, passed[kind]) / passed.operations)
  return {
    /** Counts what goes on during a load, less what goes on without any. */
    async during<Result extends { sent: number }>(load: () => Promise<Result>): Promise<Result> {
      const { result, trips, ms } = await count(load)
      passed.operations += result.sent
      for (const kind of kinds) passed[kind] += trips[kind] - (idle.trips[kind] * ms) / idle.ms
      return result
    },
    /** Of all the loads. */
    mean,
    describe: (): string =>
      kinds
        .filter((kind) => mean()[kind] >= 0.05)
        .map((kind) => `${Number(mean()[kind].toFixed(1))} ${names[kind]}`)
        .join(' + ') || 'none',
  }
}

async function readTrips(databaseUrl: string, redisUrl: string): Promise<Trips> {
  // A statement begins with a comment that names it.
  const [statements] = await onDatabase(
    databaseUrl,
    (sql) => sql<[Pick<Trips, 'reads' | 'writes'>]>`
      select coalesce(sum(calls) filter (where not writes), 0)::int as reads,
             coalesce(sum(calls) filter (where writes), 0)::int as writes
        from (select calls, text ~* '\\y(insert|update|delete)\\y' as writes
                from pg_stat_statements(true) s join pg_database d on d.oid = s.dbid and d.datname = current_database(),
                     regexp_replace(query, '^\\s*/\\*[^*]*\\*/', '') text
               where query not like '%pg_stat_statements%' and text ~* '^\\s*(select|insert|update|delete|with)') counted`,
  )
  const redis = new Redis(redisUrl)
  const commands = (await redis.info('commandstats')).matchAll(/^cmdstat_(evalsha|eval):calls=(\d+)/gm)
  redis.disconnect()
  return { ...statements, redis: [...commands].reduce((sum, [, , calls]) => sum + Number(calls), 0) }
}
