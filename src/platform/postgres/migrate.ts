/**
 * Applies the embedded migrations in order, each once, also when many processes start at the same moment. Refuses a
 * database that a newer poterne migrated, and one whose applied migrations are not the ones in this executable.
 */
import { sql } from 'drizzle-orm'
import { LastingFailure } from '../failure.ts'
import { version } from '../version.ts'
import { type Database, type Executor, param, statement } from './database.ts'
import { databaseCode, isConflict } from './failure.ts'
import { endVacuums, setShortLockTimeout } from './migration-locks.ts'
import { findObstacle, findOwnTable } from './own-objects.ts'
import { readMigrations } from './read-migrations.ts' with { type: 'macro' }
import type { Migration } from './read-migrations.ts'

export type { Migration } from './read-migrations.ts'

/** The migrations in this executable, oldest first. Frozen, or the build would write them into every place that reads them. */
export const ownMigrations: readonly Migration[] = Object.freeze(readMigrations())

/** The first of the migrations that `0000_initial` replaced before anything was released. */
const BEFORE_RELEASE = '0000_schema'

/** The key of the advisory lock. Any number will do, but it must never change. */
const LOCK = 7_045_318

export const migrationNames = ownMigrations.map(({ name }) => name)

/** The beginning of what a version says of a database that it cannot use any more. */
export const MIGRATED_BY_NEWER = 'the database was migrated by a newer poterne'

export class MigrationRefused extends LastingFailure {
  override name = 'MigrationRefused'
}

/** Another try may find it otherwise. */
class MigrationDelayed extends Error {
  override name = 'MigrationDelayed'
}

/** A newer version migrated the database in a way that this one cannot run beside. */
export class VersionTooOld extends Error {
  override name = 'VersionTooOld'
  constructor(version: string, oldest: string) {
    super(`the database was migrated for version ${oldest} and newer, this is ${version}: end this replica`)
  }
}

/** Another process is migrating. */
class Busy extends Error {}

export interface Applied {
  number: number
  name: string
  hash: string
}

interface AppliedBefore extends Applied {
  /** The oldest version that may use the database since; null: it does not say, or the column is not there yet. */
  oldestVersion: string | null
}

/**
 * Nobody waits for the lock within a statement: an index that is made concurrently waits for every statement under way,
 * and would wait for the one that waits for it.
 */
const tryLock = statement<Record<string, never>, { locked: boolean }>(
  sql`select pg_try_advisory_xact_lock(${sql.raw(String(LOCK))}) as locked`,
)
const tryLockSession = statement<Record<string, never>, { locked: boolean }>(
  sql`select pg_try_advisory_lock(${sql.raw(String(LOCK))}) as locked`,
)
const unlockSession = statement(sql`select pg_advisory_unlock(${sql.raw(String(LOCK))})`)
const unlimited = statement(sql`select set_config('statement_timeout', '0', true)`)
/** An index that is made concurrently keeps nobody waiting, and must wait until every older transaction has ended. */
const unhurriedSession = statement(sql`
  select set_config('statement_timeout', '0', false), set_config('lock_timeout', '0', false)`)
/** It does not use `reset`: the timeouts of a session are set after it began. */
const showTimeouts = statement<Record<string, never>, { slow: string; lock: string }>(sql`
  select current_setting('statement_timeout') as slow, current_setting('lock_timeout') as lock`)
const setTimeouts = statement<{ slow: string; lock: string }>(sql`
  select set_config('statement_timeout', ${param('slow', 'text')}, false),
         set_config('lock_timeout', ${param('lock', 'text')}, false)`)
const findInvalidIndex = statement<{ name: string }, { found: number }>(sql`
  select 1 as found from pg_index join pg_class on pg_class.oid = pg_index.indexrelid
   where pg_class.relname = ${param('name', 'text')} and not pg_index.indisvalid
     and pg_table_is_visible(pg_class.oid)`)
const createTable = statement(sql`
  create table if not exists poterne_migrations (
    number integer primary key, name text not null, hash text not null, applied_at timestamptz not null)`)
const addOldestVersion = statement(sql`
  alter table poterne_migrations add column if not exists oldest_version text`)
const hasOldestVersion = statement<Record<string, never>, { found: boolean }>(sql`
  select exists (select 1 from pg_attribute where attrelid = to_regclass(quote_ident(current_schema()) || '.poterne_migrations')
                  and attname = 'oldest_version' and not attisdropped) as found`)
/** It reads by way of JSON: the column is not there yet where an earlier version migrated. */
const listOldestVersions = statement<Record<string, never>, { oldest: string }>(sql`
  select to_jsonb(poterne_migrations)->>'oldest_version' as oldest from poterne_migrations
  where to_jsonb(poterne_migrations)->>'oldest_version' is not null`)
/**
 * A crash empties unlogged tables. That is rare on a server; the embedded database crashes with every crash of this
 * process, so its tables are made logged.
 */
const findUnlogged = statement<Record<string, never>, { name: string }>(sql`
  select relname as name from pg_class where relpersistence = 'u' and relkind = 'r'`)
const listApplied = statement<Record<string, never>, AppliedBefore>(sql`
  select number, name, hash, to_jsonb(poterne_migrations)->>'oldest_version' as "oldestVersion"
  from poterne_migrations order by number`)
const noteApplied = statement<Applied & Pick<Migration, 'oldestVersion'> & { now: Date }>(sql`
  insert into poterne_migrations (number, name, hash, oldest_version, applied_at)
  values (${param('number')}, ${param('name')}, ${param('hash')}, ${param('oldestVersion')}, ${param('now')})`)

/** Somebody holds what the migration needs, as after a deadlock. All of it was undone. */
const LOCK_REFUSED = '55P03'
const LOCK_TRIES = 60
const LOCK_PAUSE_MS = 1000
const BUSY_PAUSE_MS = 100

/** Migrations of a newer version are no obstacle where each of them names this version as able to use the database. */
function pendingAfter(applied: AppliedBefore[], migrations: readonly Migration[]): Migration[] {
  for (const { number, name, hash, oldestVersion } of applied) {
    const own = migrations[number]
    if (own === undefined) {
      if (oldestVersion !== null && Bun.semver.order(version.version, oldestVersion) >= 0) continue
      throw new MigrationRefused(
        `${MIGRATED_BY_NEWER} (${applied.at(-1)?.name}); run that version, or restore a backup`,
      )
    }
    if (own.hash !== hash) {
      throw new MigrationRefused(
        name === BEFORE_RELEASE
          ? 'the database was made by a poterne from before its first release, and none continues it: start with a new database'
          : `migration ${name} in the database is not the one in this executable`,
      )
    }
  }
  return migrations.slice(applied.length)
}

/** The migrations that poterne applied there, oldest first; none where it never started with the database. */
export async function readApplied(executor: Executor): Promise<AppliedBefore[]> {
  const { found } = await findOwnTable(executor)
  return found ? executor.all(listApplied, {}) : []
}

/** Throws MigrationRefused also where the database has what poterne did not make under names of ours. */
async function findPending(database: Database, migrations: readonly Migration[]): Promise<Migration[]> {
  const applied = await readApplied(database)
  const pending = pendingAfter(applied, migrations)
  if (pending.length === 0) return pending
  const obstacle = await findObstacle(database, migrations, applied.length)
  if (obstacle === null) return pending
  // Another process may have made them meanwhile.
  if ((await readApplied(database)).length !== applied.length) return findPending(database, migrations)
  throw new MigrationRefused(`the database ${obstacle}`)
}

/** The names of the pending migrations, oldest first. Throws MigrationRefused. */
export async function planMigrations(database: Database): Promise<string[]> {
  return (await findPending(database, ownMigrations)).map(({ name }) => name)
}

/** Serves a service that does not migrate by itself: it throws MigrationDelayed if a migration is pending. */
export async function requireMigrated(database: Database): Promise<void> {
  const pending = await planMigrations(database)
  if (pending.length === 0) return
  throw new MigrationDelayed(`the database lacks ${pending.join(', ')}: run "poterne migrate"`)
}

/** Throws VersionTooOld if a migration does not allow this version to run beside it. */
export async function requireVersion(database: Database, running: string): Promise<void> {
  for (const { oldest } of await database.all(listOldestVersions, {})) {
    if (Bun.semver.order(running, oldest) < 0) throw new VersionTooOld(running, oldest)
  }
}

interface ApplyOptions {
  /** Called each time a migration gave up waiting for somebody's lock, before it is tried again. */
  onLockTimeout?: () => void
  migrations?: readonly Migration[]
}

/**
 * Applies all pending migrations and returns their names. Each runs in a transaction of its own, so that none keeps the
 * locks of those before it; a concurrent one runs without any. An empty or an embedded database is migrated in one
 * transaction up to the first concurrent migration. A table that somebody else holds is waited for half a second at a
 * time, so that the requests behind the migration go on. While another process migrates, it waits for that one. Throws
 * MigrationRefused.
 */
export async function applyMigrations(
  database: Database,
  now: Date,
  { onLockTimeout, migrations = ownMigrations }: ApplyOptions = {},
): Promise<string[]> {
  const applied: string[] = []
  for (let timeouts = 0; ; ) {
    const [first] = await findPending(database, migrations)
    if (!first) return applied
    const apply = isConcurrent(database, first) ? applyConcurrently : applyTogether
    try {
      applied.push(...(await apply(database, now, migrations)))
    } catch (error) {
      if (error instanceof Busy) await Bun.sleep(BUSY_PAUSE_MS)
      else if (databaseCode(error) !== LOCK_REFUSED && !isConflict(error)) throw error
      else {
        timeouts += 1
        if (timeouts === LOCK_TRIES)
          throw new MigrationDelayed(
            'a table is held by another connection: end what holds it, and try again',
          )
        onLockTimeout?.()
        await Bun.sleep(LOCK_PAUSE_MS)
      }
    }
  }
}

/** The embedded database has one connection: there is nobody whom an ordinary migration could keep waiting. */
const isConcurrent = (database: Database, { concurrent }: Migration) =>
  concurrent && database.kind === 'postgres'

/** The table of applied migrations, with the column that the first versions did not have. */
export async function makeOwnTable(transaction: Executor): Promise<void> {
  // Replicas read it whenever somebody asks whether they are ready, so it is not locked without need.
  if ((await transaction.first(hasOldestVersion, {}))!.found) return
  await transaction.all(createTable, {})
  await transaction.all(addOldestVersion, {})
}

function ordinaryAtFirst(database: Database, pending: Migration[]): Migration[] {
  const end = pending.findIndex((migration) => isConcurrent(database, migration))
  return end < 0 ? pending : pending.slice(0, end)
}

/** The next one in a transaction; where nobody would wait for its locks, all before the first concurrent one. */
async function applyTogether(database: Database, now: Date, migrations: readonly Migration[]) {
  return database.transaction(
    async (transaction) => {
      await transaction.all(unlimited, {})
      if (!(await transaction.first(tryLock, {}))!.locked) throw new Busy()
      await transaction.all(setShortLockTimeout, {})
      await makeOwnTable(transaction)
      const done = await transaction.all(listApplied, {})
      const isInUse = database.kind === 'postgres' && done.length > 0
      const ordinary = ordinaryAtFirst(database, pendingAfter(done, migrations))
      const together = isInUse ? ordinary.slice(0, 1) : ordinary
      if (isInUse) await endVacuums(transaction, together, migrations)
      await applyWithin(transaction, together, now)
      if (database.kind === 'embedded') await makeLogged(transaction)
      return together.map(({ name }) => name)
    },
    { noDeadline: true },
  )
}

/** An index that is made concurrently elsewhere is made like any other. */
export async function applyWithin(transaction: Executor, migrations: readonly Migration[], now: Date) {
  for (const migration of migrations) {
    for (const text of migration.statements) {
      const own = migration.concurrent ? text.replace(/\bindex\s+concurrently\b/gi, 'index') : text
      await transaction.all({ text: own, params: [] }, {})
    }
    await transaction.all(noteApplied, { ...migration, now })
  }
}

export async function makeLogged(transaction: Executor): Promise<void> {
  for (const { name } of await transaction.all(findUnlogged, {}))
    await transaction.all({ text: `alter table "${name}" set logged`, params: [] }, {})
}

/**
 * The next migration, if it is a concurrent one. An interruption leaves an invalid index behind: it is dropped and made
 * again. The lock ends with the session, also if this process is killed.
 */
async function applyConcurrently(database: Database, now: Date, migrations: readonly Migration[]) {
  const applied = await database.session(async (session) => {
    if (!(await session.first(tryLockSession, {}))!.locked) return null
    const [next] = pendingAfter(await readApplied(session), migrations)
    const mine = next && isConcurrent(database, next) ? [next] : []
    const timeouts = (await session.first(showTimeouts, {}))!
    for (const migration of mine) {
      await session.all(unhurriedSession, {})
      for (const text of migration.statements) {
        const name = createdIndex(text)
        if (name !== null && (await session.first(findInvalidIndex, { name }))) {
          await session.all({ text: `drop index concurrently if exists "${name}"`, params: [] }, {})
        }
        await session.all({ text, params: [] }, {})
      }
      await session.all(noteApplied, { ...migration, now })
    }
    await session.all(setTimeouts, timeouts)
    await session.all(unlockSession, {})
    return mine.map(({ name }) => name)
  })
  if (applied === null) throw new Busy()
  return applied
}

const createdIndex = (text: string): string | null =>
  /\bcreate\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?"?(\w+)"?/i.exec(text)?.[1] ??
  null
