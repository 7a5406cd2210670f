/** Removing rows whose time is over, a batch at a time, in the way of nobody. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { type Database, param, statement } from './database.ts'

export interface Sweepable {
  table: SQLWrapper
  /** The columns of its primary key. */
  key: SQL
  /** Whose time is over; its parameters are those of `Params`. */
  where: SQL
  /** The column of the index that finds them, the oldest first. */
  order: SQL
}

/**
 * Removes up to `limit` of these rows and says how many it removed; those that somebody holds are left for another
 * time. A CTE, since a subquery with LIMIT may run more than once.
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
