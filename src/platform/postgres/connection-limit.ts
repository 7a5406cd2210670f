/** The number of connections that the server gives, which may be fewer than the pool may take. */
import { sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import { defineStatement } from './statement.ts'

/** -1 is no limit. A superuser has none but that of the server; PostgreSQL 16 and later reserve some for another role. */
const findGiven = defineStatement({
  name: 'connections.given',
  row: { given: 'int' },
  sql: () => sql`
  select case when rolsuper then current_setting('max_connections')::int else least(
           current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
             - coalesce(nullif(current_setting('reserved_connections', true), '')::int, 0),
           nullif((select datconnlimit from pg_database where datname = current_database()), -1),
           nullif(rolconnlimit, -1)) end as given
    from pg_roles where rolname = session_user`,
})

export async function countGiven(database: Pick<Database, 'first'>): Promise<number> {
  return (await database.first(findGiven, {}))!.given
}

/** It is null where the pool may take all that it wants, and one is left. */
export const describePool = (poolSize: number, given: number): string | null =>
  poolSize < given
    ? null
    : `database.pool_size is ${poolSize}, and the server gives ${given} connections, one of which is left for commands: lower it, or raise max_connections (or the limit of the database or user)`
