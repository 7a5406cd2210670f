/**
 * Fills a database with the tables of a backup or of another database, within one transaction of the caller's: until it
 * commits, whatever was there before stays as it was.
 */

import { type CopySession, databaseOf } from '../../platform/postgres/copy.ts'
import {
  applyWithin,
  makeLogged,
  makeOwnTable,
  ownMigrations,
  readApplied,
} from '../../platform/postgres/migrate.ts'
import {
  dropOwn,
  findHanging,
  findObstacle,
  MIGRATIONS,
  madeBy,
} from '../../platform/postgres/own-objects.ts'
import { BackupRefused } from './refused.ts'

const THE_DATABASE = 'the database'

let made: string[] | undefined

/** The tables that poterne has now, or had at some migration. */
function madeTables(): string[] {
  const tablesAt = (_: unknown, last: number) => [...madeBy(ownMigrations.slice(0, last + 1)).tables.keys()]
  made ??= [...new Set(ownMigrations.flatMap(tablesAt))]
  return made
}

/**
 * Drops what poterne made there, and makes the tables as the first `count` migrations left them, empty. Throws
 * BackupRefused where others have something of our names, or something that hangs on our tables.
 */
export async function makeEmptyTables(
  session: CopySession,
  { count, now, subject = THE_DATABASE }: { count: number; now: Date; subject?: string },
): Promise<void> {
  const database = databaseOf(session)
  const applied = await requireOwn(session, subject)
  const hanging = await findHanging(database, ownMigrations, applied)
  if (hanging !== null) throw new BackupRefused(hanging, subject)
  await dropOwn(database, ownMigrations, applied)
  await makeOwnTable(database)
  await applyWithin(database, ownMigrations.slice(0, count), now)
  await session.query(`select set_config('poterne.keeps_events', 'off', true)`)
  // Some migrations add the rows that a new database begins with.
  const names = (await listTables(session)).filter((name) => name !== MIGRATIONS)
  await session.query(`truncate ${names.map((name) => `"${name}"`).join(', ')}`)
}

/** Returns how many migrations were applied there. Throws BackupRefused where anything of our names is not ours. */
async function requireOwn(session: CopySession, subject: string): Promise<number> {
  const database = databaseOf(session)
  const applied = await readApplied(database)
  const unknown = applied.find(({ number, hash }) => ownMigrations[number]?.hash !== hash)
  const obstacle =
    unknown === undefined
      ? await findObstacle(database, ownMigrations, applied.length)
      : `holds migration ${unknown.name}, which is not one of this executable: give poterne a database of its own`
  if (obstacle !== null) throw new BackupRefused(obstacle, subject)
  return applied.length
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

/** The schema that search_path names first. */
const HERE = '(select oid from pg_namespace where nspname = current_schema())'

const listTables = async (session: CopySession): Promise<string[]> =>
  (
    await session.query<{ name: string }>(
      `select relname as name from pg_class
        where relkind = 'r' and relnamespace = ${HERE} and relname = any(string_to_array($1::text, ','))`,
      [madeTables().join(',')],
    )
  ).map(({ name }) => name)

interface Constraint {
  owner: string
  name: string
  definition: string
  isForeign: boolean
}

/**
 * Runs `work` while our tables, which makeEmptyTables made, have no keys and no indexes. These are made again after it:
 * many rows are much faster that way, and are checked all the same.
 */
export async function withoutIndexes(session: CopySession, work: () => Promise<void>): Promise<void> {
  const ours = `(select oid from pg_class where relnamespace = ${HERE} and relname = any(string_to_array($1::text, ',')))`
  const names = [(await listTables(session)).join(',')]
  const constraints = await session.query<Constraint>(
    `select conrelid::regclass::text as owner, conname as name, pg_get_constraintdef(oid) as definition,
            contype = 'f' as "isForeign"
       from pg_constraint where contype in ('f', 'p', 'u') and conrelid in ${ours}`,
    names,
  )
  const keys = constraints.filter(({ isForeign }) => !isForeign)
  const foreignKeys = constraints.filter(({ isForeign }) => isForeign)
  const indexes = await session.query<{ name: string; definition: string; settings: string | null }>(
    `select pg_class.oid::regclass::text as name, pg_get_indexdef(pg_class.oid) as definition,
            (select format('alter index %s alter column %s set statistics %s', attrelid::regclass, attnum, attstattarget)
               from pg_attribute where attrelid = indexrelid and attstattarget >= 0 limit 1) as settings
       from pg_index join pg_class on pg_class.oid = indexrelid
      where indrelid in ${ours} and not exists (select 1 from pg_constraint where conindid = indexrelid)`,
    names,
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

const EVENT_IDS = `pg_get_serial_sequence('events', 'id')`

/** The last id that an event was given; null where poterne has no events in the database. */
export async function readLastEventId(session: CopySession): Promise<number | null> {
  if (!(await listTables(session)).includes('events')) return null
  const [row] = await session.query<{ last: string }>(
    `select coalesce(pg_sequence_last_value(${EVENT_IDS}::regclass), 0)::text as last`,
  )
  return Number(row!.last)
}

/** So many ids are passed over where nobody knows how many were given since a backup. */
const UNKNOWN_EVENTS = 1_000_000

/**
 * Lets new events have greater ids than any before the restore. An application that follows the log has read up to one, and
 * would pass over the smaller ones. `replaced` is the last id of the database that was replaced. Where that is behind the
 * backup, the backup is of another database, whose last id nobody knows.
 */
export async function continueEventIds(session: CopySession, replaced: number | null): Promise<void> {
  const restored = (await readLastEventId(session))!
  const last = replaced !== null && replaced >= restored ? replaced : restored + UNKNOWN_EVENTS
  await session.query(`select setval(${EVENT_IDS}, greatest($1::bigint, 1), $1::bigint > 0)`, [last])
}

export async function countRows(session: CopySession, table: string, where = 'true'): Promise<number> {
  const [row] = await session.query<{ count: number }>(
    `select count(*)::int as count from "${table}" where ${where}`,
  )
  return row!.count
}

/** The newest migration of the database; undefined where poterne never started with it. */
export async function readNewestMigration(session: CopySession) {
  const newest = (await readApplied(databaseOf(session))).at(-1)
  return newest && { number: newest.number, name: newest.name, hash: newest.hash }
}

/** Throws BackupRefused where the database, which `subject` names, is not one that this version may fill. */
export async function readState(session: CopySession, subject = THE_DATABASE) {
  const newest = await readNewestMigration(session)
  if (newest !== undefined && newest.number >= ownMigrations.length)
    throw new BackupRefused('was migrated by a newer poterne: use that version', subject)
  await requireOwn(session, subject)
  const [account] = (await listTables(session)).includes('accounts')
    ? await session.query('select 1 as found from accounts limit 1')
    : []
  return {
    hasAccounts: account !== undefined,
    /** Its tables are those of this version. */
    isOwnVersion: newest?.hash === ownMigrations.at(-1)!.hash,
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
