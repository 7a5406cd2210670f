/**
 * Counts the round trips to the stores: statements as PostgreSQL counts them (pg_stat_statements; poterne's are each
 * one round trip), scripts and commands as Redis counts them.
 */
import Redis from 'ioredis'
import { onDatabase } from './accounts.ts'

/** An operation's mean, background work (sending messages) included. */
export interface Trips {
  reads: number
  writes: number
  redis: number
}

export interface TripCounter {
  /** Counts since the last call, or since the counter was made, less what goes on without any operation. */
  take(operations: number): Promise<Trips>
}

/** The time for which an idle poterne is counted, which looks at its outbox, for example. */
const IDLE_MS = 1500

const WRITES = /\b(insert|update|delete)\b/i
/** The comment with which a statement begins. */
const NAME = /^\s*\/\*[^*]*\*\//

/** A script counts once, and what it calls inside not at all. */
const SCRIPTS = new Set(['evalsha', 'eval'])

export async function countTrips(databaseUrl: string, redisUrl: string): Promise<TripCounter> {
  await onDatabase(databaseUrl, (sql) => sql`create extension if not exists pg_stat_statements`)
  const read = async () => {
    const rows = await onDatabase(
      databaseUrl,
      (sql) => sql<{ query: string; calls: number }[]>`
        select query, calls::int from pg_stat_statements s join pg_database d on d.oid = s.dbid
         where d.datname = current_database() and query not like '%pg_stat_statements%'
           and query ~* '^\\s*(/\\*[^*]*\\*/\\s*)?(select|insert|update|delete|with)'`,
    )
    const sum = (isWrite: boolean) =>
      rows
        .filter(({ query }) => WRITES.test(query.replace(NAME, '')) === isWrite)
        .reduce((total, { calls }) => total + calls, 0)
    return { reads: sum(false), writes: sum(true), redis: await readScripts(redisUrl) }
  }
  let last = await read()
  let lastMs = performance.now()
  const since = async (): Promise<Trips & { ms: number }> => {
    const [now, nowMs] = [await read(), performance.now()]
    const of = (part: keyof Trips) => now[part] - last[part]
    const passed = { reads: of('reads'), writes: of('writes'), redis: of('redis'), ms: nowMs - lastMs }
    last = now
    lastMs = nowMs
    return passed
  }
  await Bun.sleep(IDLE_MS)
  const idle = await since()
  return {
    async take(operations) {
      const passed = await since()
      const mean = (part: keyof Trips) =>
        Math.max(0, passed[part] - (idle[part] / idle.ms) * passed.ms) / Math.max(1, operations)
      return { reads: mean('reads'), writes: mean('writes'), redis: mean('redis') }
    },
  }
}

async function readScripts(url: string): Promise<number> {
  const redis = new Redis(url, { lazyConnect: true })
  await redis.connect()
  try {
    const lines = (await redis.info('commandstats')).matchAll(/^cmdstat_(\w+):calls=(\d+)/gm)
    return [...lines].reduce(
      (sum, [, name, calls]) => sum + (SCRIPTS.has(name as string) ? Number(calls) : 0),
      0,
    )
  } finally {
    redis.disconnect()
  }
}

export const describeTrips = ({ reads, writes, redis }: Trips): string =>
  [
    [reads, 'read'],
    [writes, 'write'],
    [redis, 'Redis'],
  ]
    .filter(([count]) => Number(count) >= 0.05)
    .map(([count, name]) => `${Number(Number(count).toFixed(1))} ${name}`)
    .join(' + ') || 'none'
