/** Removes expired rows in batches, without blocking anybody. */

import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import { defineStatement, type Placeholders, type Spec, type ValuesOf } from './statement.ts'

/** The function that housekeeping calls, batch after batch: it removes up to `limit` rows whose time is over. */
export type Sweep = (now: Date, limit: number) => Promise<SweptBatch>

/**
 * The number of rows that it removed; there may be `more` where it removed `limit` of them, or where it says so itself.
 */
export type SweptBatch = number | { removed: number; more: boolean }

const DAY_MS = 86_400_000

export const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS)

interface Sweepable<Params extends Spec> {
  /** The name of the statement: `sessions.sweep`. */
  name: string
  table: SQLWrapper
  /** The columns of its primary key. */
  key: SQL
  params: Params
  /** The condition for an expired row. */
  where: (parameters: Placeholders<keyof Params & string>) => SQL
  /** The column of the index that finds them; the oldest come first. */
  order: SQL
}

/**
 * Removes up to `limit` of these rows and returns how many it removed. Locked rows are left for the next time. The rows
 * are selected in a CTE, because a subquery with LIMIT may be evaluated more than once.
 */
export function createSweep<const Params extends Spec>(sweepable: Sweepable<Params>) {
  const { name, table, key, params, where, order } = sweepable
  const sweep = defineStatement({
    name,
    params: { ...params, limit: 'int' } as Params & { limit: 'int' },
    row: { removed: 'int' },
    sql: (p) => sql`
    with old as materialized (
      select ${key} from ${table} where ${where(p)} order by ${order} limit ${p.limit}
         for update skip locked),
    gone as (delete from ${table} where (${key}) in (select ${key} from old) returning 1)
    select count(*)::int as removed from gone`,
  })
  return async (database: Database, values: ValuesOf<Params & { limit: 'int' }>): Promise<number> =>
    (await database.first(sweep, values))?.removed ?? 0
}

/** The sweep of rows whose `expires_at` has come. */
export const createExpirySweep = (table: SQLWrapper, name: string, key: SQL) =>
  createSweep({
    ...{ name, table, key },
    params: { now: 'timestamptz' },
    where: (p) => sql`expires_at <= ${p.now}`,
    order: sql`expires_at`,
  })

/** The sweep of rows with a time before the one that is given; `time` is the column of the index that finds them. */
export const createAgeSweep = (table: SQLWrapper, name: string, key: SQL, time: SQL) =>
  createSweep({
    ...{ name, table, key },
    params: { before: 'timestamptz' },
    where: (p) => sql`${time} < ${p.before}`,
    order: time,
  })
