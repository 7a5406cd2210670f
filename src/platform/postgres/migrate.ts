/**
 * Applies the embedded migrations in order, each once, also when many processes start at the same moment. Refuses a
 * database that a newer poterne migrated, and one whose applied migrations are not the ones in this executable.
 */
import { sql } from 'drizzle-orm'
import { type Database, type Executor, param, statement } from './database.ts'
import { readMigrations } from './read-migrations.ts' with { type: 'macro' }

const migrations = readMigrations()

/** The key of the advisory lock. Any number will do, but it must never change. */
const LOCK = 7_045_318

/** The names of all migrations, oldest first. */
export const migrationNames = migrations.map(({ name }) => name)

export class MigrationRefused extends Error {
  override name = 'MigrationRefused'
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
const noteApplied = statement<Applied & { now: Date }>(sql`
  insert into poterne_migrations (number, name, hash, applied_at)
  values (${param('number')}, ${param('name')}, ${param('hash')}, ${param('now')})`)

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

/** Applies all pending migrations in one transaction and returns their names. Throws MigrationRefused. */
export async function applyMigrations(database: Database, now: Date): Promise<string[]> {
  if ((await planMigrations(database)).length === 0) return []
  return database.transaction(
    async (transaction) => {
      await transaction.all(unlimited, {})
      await transaction.all(lock, {})
      await transaction.all(createTable, {})
      const pending = pendingAfter(await transaction.all(listApplied, {}))
      for (const { number, name, hash, statements } of pending) {
        for (const text of statements) await transaction.all({ text, params: [] }, {})
        await transaction.all(noteApplied, { number, name, hash, now })
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
