/** The waiting of a migration for tables that others use. */
import { sql } from 'drizzle-orm'
import { type Executor, param, statement } from './database.ts'
import { madeBy } from './own-objects.ts'
import type { Migration } from './read-migrations.ts'

/** A statement that waits for a lock makes everybody behind it wait too: it gives up soon, and tries again. */
export const setShortLockTimeout = statement(sql`select set_config('lock_timeout', '500ms', true)`)
/** Longer than PostgreSQL's deadlock_timeout of 1 s, after which an automatic vacuum ends for somebody who waits. */
const patient = statement(sql`select set_config('lock_timeout', '3s', true)`)
/** The tables among these names, and those of the indexes among them. */
const findTables = statement<{ names: string }, { name: string }>(sql`
  select distinct table_of.relname as name
    from pg_class named left join pg_index on pg_index.indexrelid = named.oid
    join pg_class table_of on table_of.oid = coalesce(pg_index.indrelid, named.oid)
   where named.relname = any(string_to_array(${param('names', 'text')}, ','))
     and named.relnamespace = (select oid from pg_namespace where nspname = current_schema())
     and table_of.relkind = 'r'
   order by name`)

/**
 * Waits until no vacuum works on the tables that these name, and lets none begin. Nobody waits behind this lock, so
 * there is time until PostgreSQL has ended an automatic vacuum, which the migration itself would not wait for.
 */
export async function endVacuums(
  transaction: Executor,
  pending: readonly Migration[],
  all: readonly Migration[],
): Promise<void> {
  const texts = pending.flatMap(({ statements }) => statements)
  const named = texts.flatMap((text) => [...text.matchAll(/"(\w+)"/g)].map(([, name]) => name!))
  // Anything may be quoted, a column too, and another application's table may be called so.
  const names = new Set(named).intersection(madeBy(all).names)
  const tables = await transaction.all(findTables, { names: [...names].join(',') })
  if (tables.length === 0) return
  await transaction.all(patient, {})
  const list = tables.map(({ name }) => `"${name}"`).join(', ')
  await transaction.all({ text: `lock table ${list} in share update exclusive mode`, params: [] }, {})
  await transaction.all(setShortLockTimeout, {})
}
