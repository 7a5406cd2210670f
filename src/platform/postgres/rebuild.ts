/**
 * Fills a database with the tables of a backup or of another database, within one transaction of the caller's: until it
 * commits, whatever was there before stays as it was.
 */
import { BackupRefused } from '../backup/refused.ts'
import { type CopySession, databaseOf } from './copy.ts'
import { applyWithin, makeLogged, makeOwnTable, ownMigrations } from './migrate.ts'

const MIGRATIONS = 'poterne_migrations'

/** Every table and function that any version of poterne made. */
function madeByMigrations(kind: 'table' | 'function'): string[] {
  const pattern = new RegExp(
    `\\bcreate\\s+(?:or\\s+replace\\s+|unlogged\\s+)?${kind}\\s+(?:if\\s+not\\s+exists\\s+)?"(\\w+)"`,
    'gi',
  )
  const names = ownMigrations.flatMap(({ statements }) =>
    statements.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name as string)),
  )
  return [...new Set(names)]
}

/** Drops what poterne made there, and makes the tables as the first `count` migrations left them, empty. */
export async function makeEmptyTables(session: CopySession, count: number, now: Date): Promise<void> {
  for (const name of [...madeByMigrations('table'), MIGRATIONS])
    await session.query(`drop table if exists "${name}" cascade`)
  for (const name of madeByMigrations('function'))
    await session.query(`drop function if exists "${name}" cascade`)
  const database = databaseOf(session)
  await makeOwnTable(database)
  await applyWithin(database, ownMigrations.slice(0, count), now)
  await session.query(`select set_config('poterne.keeps_events', 'off', true)`)
  // Some migrations add the rows that a new database begins with.
  const names = (await listTables(session)).filter((name) => name !== MIGRATIONS)
  await session.query(`truncate ${names.map((name) => `"${name}"`).join(', ')}`)
}

/** It skips the first `count`. Without statistics plans are slow: see `gatherStatistics`. */
export async function finishTables(session: CopySession, count: number, now: Date): Promise<void> {
  const database = databaseOf(session)
  await applyWithin(database, ownMigrations.slice(count), now)
  await session.query(`select set_config('poterne.keeps_events', 'on', true)`)
  if (session.kind === 'embedded') await makeLogged(database)
}

export async function gatherStatistics(session: CopySession): Promise<void> {
  for (const name of await listTables(session)) await session.query(`analyze "${name}"`)
}

const listTables = async (session: CopySession): Promise<string[]> =>
  (
    await session.query<{ name: string }>(
      `select relname as name from pg_class
        where relkind = 'r' and relnamespace = current_schema()::regnamespace
          and relname = any(string_to_array($1::text, ','))`,
      [[...madeByMigrations('table'), MIGRATIONS].join(',')],
    )
  ).map(({ name }) => name)

interface Constraint {
  owner: string
  name: string
  definition: string
  isForeign: boolean
}

/**
 * Runs `work` while the tables have no keys and no indexes, which are made again after it: many rows are much faster that
 * way, and are checked all the same.
 */
export async function withoutIndexes(session: CopySession, work: () => Promise<void>): Promise<void> {
  const constraints = await session.query<Constraint>(
    `select conrelid::regclass::text as owner, conname as name, pg_get_constraintdef(oid) as definition,
            contype = 'f' as "isForeign"
       from pg_constraint where contype in ('f', 'p', 'u') and connamespace = current_schema()::regnamespace`,
  )
  const keys = constraints.filter(({ isForeign }) => !isForeign)
  const foreignKeys = constraints.filter(({ isForeign }) => isForeign)
  const indexes = await session.query<{ name: string; definition: string; settings: string | null }>(
    `select pg_class.oid::regclass::text as name, pg_get_indexdef(pg_class.oid) as definition,
            (select format('alter index %s alter column %s set statistics %s', attrelid::regclass, attnum, attstattarget)
               from pg_attribute where attrelid = indexrelid and attstattarget >= 0 limit 1) as settings
       from pg_index join pg_class on pg_class.oid = indexrelid
      where relnamespace = current_schema()::regnamespace
        and not exists (select 1 from pg_constraint where conindid = indexrelid)`,
  )
  for (const { owner, name } of [...foreignKeys, ...keys])
    await session.query(`alter table ${owner} drop constraint "${name}"`)
  for (const { name } of indexes) await session.query(`drop index ${name}`)
  await work()
  await session.query(`set local maintenance_work_mem = '64MB'`)
  const addKeys = async (added: Constraint[]) => {
    for (const { owner, name, definition } of added)
      await session.query(`alter table ${owner} add constraint "${name}" ${definition}`)
  }
  await addKeys(keys)
  for (const { definition, settings } of indexes) {
    await session.query(definition)
    if (settings !== null) await session.query(settings)
  }
  await addKeys(foreignKeys)
}

/** The numbering of rows goes on where it was. */
export async function setSequences(
  session: CopySession,
  sequences: { table: string; column: string; last_value: number; is_called: boolean }[],
): Promise<void> {
  const set = `select setval(pg_get_serial_sequence($1::text, $2::text), $3::bigint, $4::boolean)`
  for (const { table, column, last_value, is_called } of sequences)
    await session.query(set, [table, column, last_value, is_called])
}

export async function countRows(session: CopySession, table: string, where = 'true'): Promise<number> {
  const [row] = await session.query<{ count: number }>(
    `select count(*)::int as count from "${table}" where ${where}`,
  )
  return row!.count
}

/** The rows that the query finds; none where the table is not there. */
async function queryIfThere<Row extends object>(session: CopySession, table: string, query: string) {
  const [{ found } = { found: false }] = await session.query<{ found: boolean }>(
    'select to_regclass($1::text) is not null as found',
    [`"${table}"`],
  )
  return found ? session.query<Row>(query) : []
}

/** The newest migration of the database; undefined where poterne never started with it. */
export async function readNewestMigration(session: CopySession) {
  const [newest] = await queryIfThere<{ number: number; name: string; hash: string }>(
    session,
    MIGRATIONS,
    `select number, name, hash from ${MIGRATIONS} order by number desc limit 1`,
  )
  return newest
}

export async function readState(session: CopySession) {
  const newest = await readNewestMigration(session)
  const [account] = await queryIfThere(session, 'accounts', 'select 1 as found from accounts limit 1')
  return {
    hasAccounts: account !== undefined,
    /** Its tables are those of this version. */
    isOwnVersion: newest?.hash === ownMigrations.at(-1)!.hash,
    isNewer: newest !== undefined && newest.number >= ownMigrations.length,
  }
}

/** Throws where another poterne is connected to the same database. */
export async function requireAlone(session: CopySession): Promise<void> {
  if (session.kind === 'embedded') return
  const [row] = await session.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and application_name like 'poterne%'`,
  )
  if (row!.count > 0)
    throw new BackupRefused(
      `is in use by ${row!.count} connections of poterne: stop every replica first`,
      'the database',
    )
}
