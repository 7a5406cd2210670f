/**
 * The servers and databases that poterne can use, as the start, doctor and `config check --connect` say it in the same words:
 * version, encoding, connections, clock.
 */
import { sql } from 'drizzle-orm'
import type { Clock } from '../clock.ts'
import type { Database } from './database.ts'
import { defineStatement } from './statement.ts'

/** Xid8, with which transactions are numbered, came with it. */
const OLDEST_VERSION = 13

/** `version`: as `server_version_num` has it. */
export function describeOldVersion(version: number): string | null {
  const major = Math.floor(version / 10_000)
  return major >= OLDEST_VERSION
    ? null
    : `PostgreSQL ${major} is too old: upgrade the server to ${OLDEST_VERSION} or later`
}

export function describeForeignEncoding(encoding: string): string | null {
  return encoding === 'UTF8'
    ? null
    : `the encoding is ${encoding}, in which names and addresses are lost: create a database with encoding 'UTF8' and move the data there`
}

/** Returns why poterne cannot make its tables there, or null. SQL_ASCII keeps every byte as it came, so that it can. */
export const describeUnfit = ({ version, encoding }: { version: number; encoding: string }): string | null =>
  describeOldVersion(version) ?? (encoding === 'SQL_ASCII' ? null : describeForeignEncoding(encoding))

/** The connections that the server gives; -1 is no limit. A superuser has none but that of the server; PostgreSQL 16 and later reserve some for another role. */
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

const readClock = defineStatement({
  name: 'clock.read',
  params: {},
  row: { ms: 'float8' },
  sql: () => sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
})

/** Milliseconds by which this machine is surely ahead of the database, behind it if negative; the way there is left out. */
export async function measureClockSkewMs(database: Database, clock: Clock): Promise<number> {
  const before = clock.now().getTime()
  const row = await database.first(readClock, {})
  const after = clock.now().getTime()
  const theirs = row!.ms
  if (theirs >= before && theirs <= after) return 0
  return theirs < before ? before - theirs : after - theirs
}
