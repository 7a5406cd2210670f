/** Removes expired rows in batches, without blocking anybody. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { type Database, param, statement } from './database.ts'

/** What housekeeping calls, batch after batch: removes up to `limit` rows whose time is over. */
export type Sweep = (now: Date, limit: number) => Promise<SweptBatch>

/** How many rows it removed; there may be `more` where it removed `limit` of them, or where it says so itself. */
export type SweptBatch = number | { removed: number; more: boolean }

const DAY_MS = 86_400_000

export const daysBefore = (now: Date, days: number) => new Date(now.getTime() - days * DAY_MS)

export interface Sweepable {
  table: SQLWrapper
  /** The columns of its primary key. */
  key: SQL
  /** The condition for an expired row; its parameters are those of `Params`. */
  where: SQL
  /** The column of the index that finds them; the oldest come first. */
  order: SQL
}

/**
 * Removes up to `limit` of these rows and returns how many it removed. Locked rows are left for the next time. The rows
 * are selected in a CTE, because a subquery with LIMIT may be evaluated more than once.
 */
export function createSweep<Params extends object>({ table, key, where, order }: Sweepable) {
  const sweep = statement<Params & { limit: number }, { removed: number }>(sql`
    with old as materialized (
      select ${key} from ${table} where ${where} order by ${order} limit ${param('limit', 'int')}
         for update skip locked),
    gone as (delete from ${table} where (${key}) in (select ${key} from old) returning 1)
    select count(*)::int as removed from gone`)
  return async (database: Database, params: Params & { limit: number }): Promise<number> =>
    (await database.first(sweep, params))?.removed ?? 0
}
