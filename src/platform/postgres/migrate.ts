/**
 * Applies the embedded migrations in order, each once, also when many processes start at the same moment. Refuses a
 * database that a newer poterne migrated, and one whose applied migrations are not the ones in this executable.
 */
import { sql } from 'drizzle-orm'
import { type Database, type Executor, param, statement } from './database.ts'
import { databaseCode } from './failure.ts'
import { readMigrations } from './read-migrations.ts' with { type: 'macro' }

const migrations = readMigrations()

/** The key of the advisory lock. Any number will do, but it must never change. */
const LOCK = 7_045_318

/** The names of all migrations, oldest first. */
export const migrationNames = migrations.map(({ name }) => name)

export class MigrationRefused extends Error {
  override name = 'MigrationRefused'
}

/** A newer version migrated the database in a way that this one cannot run beside. */
export class VersionTooOld extends Error {
  override name = 'VersionTooOld'
  constructor(version: string, oldest: string) {
    super(`the database was migrated for version ${oldest} and newer, this is ${version}: end this replica`)
  }
}

interface Applied {
  number: number
  name: string
  hash: string
}

const lock = statement(sql`select pg_advisory_xact_lock(${sql.raw(String(LOCK))})`)
const unlimited = statement(sql`select set_config('statement_timeout', '0', true)`)
const createTable = statement(sql`
  create table if not exists poterne_migrations (
    number integer primary key, name text not null, hash text not null, applied_at timestamptz not null)`)
const addOldestVersion = statement(sql`
  alter table poterne_migrations add column if not exists oldest_version text`)
/** By way of JSON: the column is not there yet where an earlier version migrated. */
const listOldestVersions = statement<Record<string, never>, { oldest: string }>(sql`
  select to_jsonb(poterne_migrations)->>'oldest_version' as oldest from poterne_migrations
  where to_jsonb(poterne_migrations)->>'oldest_version' is not null`)
/** What waits for a lock makes everybody behind it wait too: it gives up soon, and tries again. */
const hasty = statement(sql`select set_config('lock_timeout', '1s', true)`)
const tableExists = statement<Record<string, never>, { found: boolean }>(
  sql`select to_regclass('poterne_migrations') is not null as found`,
)
/**
 * A crash empties unlogged tables. On a server that is rare; the embedded database crashes with every crash of this
 * process, so its tables are made logged.
 */
const findUnlogged = statement<Record<string, never>, { name: string }>(sql`
  select relname as name from pg_class where relpersistence = 'u' and relkind = 'r'`)
const listApplied = statement<Record<string, never>, Applied>(
  sql`select number, name, hash from poterne_migrations order by number`,
)
const noteApplied = statement<Applied & { oldestVersion: string | null; now: Date }>(sql`
  insert into poterne_migrations (number, name, hash, oldest_version, applied_at)
  values (${param('number')}, ${param('name')}, ${param('hash')}, ${param('oldestVersion')}, ${param('now')})`)

const LOCK_NOT_AVAILABLE = '55P03'
const LOCK_TRIES = 60
const LOCK_PAUSE_MS = 500

function pendingAfter(applied: Applied[]) {
  const newest = applied.at(-1)
  if (newest && newest.number >= migrations.length) {
    throw new MigrationRefused(
      `the database was migrated by a newer poterne (${newest.name}); run that version, or restore a backup`,
    )
  }
  for (const { number, name, hash } of applied) {
    if (migrations[number]?.hash !== hash) {
      throw new MigrationRefused(`migration ${name} in the database is not the one in this executable`)
    }
  }
  return migrations.slice(applied.length)
}

async function readApplied(executor: Executor): Promise<Applied[]> {
  const { found } = (await executor.first(tableExists, {}))!
  return found ? executor.all(listApplied, {}) : []
}

/** The names of the pending migrations, oldest first. Throws MigrationRefused. */
export async function planMigrations(database: Database): Promise<string[]> {
  return pendingAfter(await readApplied(database)).map(({ name }) => name)
}

/** For a service that does not migrate by itself: throws MigrationRefused if a migration is pending. */
export async function requireMigrated(database: Database): Promise<void> {
  const pending = await planMigrations(database)
  if (pending.length === 0) return
  throw new MigrationRefused(`the database lacks ${pending.join(', ')}: run "poterne migrate"`)
}

/** Throws VersionTooOld where a migration says that this version may not run beside it. */
export async function requireVersion(database: Database, version: string): Promise<void> {
  for (const { oldest } of await database.all(listOldestVersions, {})) {
    if (Bun.semver.order(version, oldest) < 0) throw new VersionTooOld(version, oldest)
  }
}

interface ApplyOptions {
  /** Called each time a migration gave up waiting for somebody's lock, before it is tried again. */
  onLockTimeout?: () => void
}

/**
 * Applies all pending migrations in one transaction and returns their names. A table that somebody else holds is waited
 * for a second at a time, so that the requests behind the migration go on. Throws MigrationRefused.
 */
export async function applyMigrations(
  database: Database,
  now: Date,
  { onLockTimeout }: ApplyOptions = {},
): Promise<string[]> {
  if ((await planMigrations(database)).length === 0) return []
  for (let tries = 1; ; tries++) {
    try {
      return await applyAtOnce(database, now)
    } catch (error) {
      if (databaseCode(error) !== LOCK_NOT_AVAILABLE) throw error
      if (tries === LOCK_TRIES)
        throw new MigrationRefused('a table is held by another connection: end what holds it, and try again')
      onLockTimeout?.()
      await Bun.sleep(LOCK_PAUSE_MS)
    }
  }
}

async function applyAtOnce(database: Database, now: Date): Promise<string[]> {
  return database.transaction(
    async (transaction) => {
      await transaction.all(unlimited, {})
      await transaction.all(lock, {})
      await transaction.all(hasty, {})
      await transaction.all(createTable, {})
      await transaction.all(addOldestVersion, {})
      const pending = pendingAfter(await transaction.all(listApplied, {}))
      for (const { number, name, hash, oldestVersion, statements } of pending) {
        for (const text of statements) await transaction.all({ text, params: [] }, {})
        await transaction.all(noteApplied, { number, name, hash, oldestVersion, now })
      }
      if (database.kind === 'embedded') {
        for (const { name } of await transaction.all(findUnlogged, {})) {
          await transaction.all({ text: `alter table "${name}" set logged`, params: [] }, {})
        }
      }
      return pending.map(({ name }) => name)
    },
    { noDeadline: true },
  )
}
