/**
 * Moving all data from one database to another. Rows of the table `relocations`: 1 in the old database once its data was
 * moved away, 2 in the new one until the events and the finished messages have followed.
 */
import { sql } from 'drizzle-orm'
import { BackupRefused } from '../backup/refused.ts'
import { type CopySession, databaseOf, openServerCopy } from './copy.ts'
import type { Database } from './database.ts'
import { databaseCode } from './failure.ts'
import { findOwnTable } from './own-objects.ts'
import { countRows } from './rebuild.ts'
import { relocations } from './schema.ts'
import { defineStatement, pick, rowOf } from './statement.ts'
import { type CopiedTable, copiedTables, targetOf } from './tables.ts'

export interface Mark {
  movedTo: string
  movedAt: Date
}

const MOVED_AWAY = 1
const UNFINISHED = 2

const NO_TABLE = '42P01'

/** Rows that nobody needs to sign in, and that may come later. */
const laterRows: Record<string, string> = {
  events: 'true',
  event_details: 'true',
  messages: 'finished_at is not null',
}

const findMark = defineStatement({
  name: 'relocations.find',
  params: { id: 'int' },
  row: pick(rowOf(relocations), 'movedTo', 'movedAt'),
  sql: (p) => sql`select moved_to, moved_at from ${relocations} where id = ${p.id}`,
})

/** It returns null where the data is here. To be called outside a transaction, which a missing table would end. */
export async function findRelocation(database: Database, id = MOVED_AWAY): Promise<Mark | null> {
  // PostgreSQL writes each error into its log, and before our first start the table may be another application's.
  if (!(await findOwnTable(database)).found) return null
  try {
    return await database.first(findMark, { id })
  } catch (error) {
    if (databaseCode(error) === NO_TABLE) return null
    throw error
  }
}

async function putRow(session: CopySession, id: number, { movedTo, movedAt }: Mark): Promise<void> {
  await session.query(
    'insert into relocations (id, moved_to, moved_at) values ($1::int, $2::text, $3::timestamptz)',
    [id, movedTo, movedAt],
  )
}

const removeRow = (session: CopySession, id: number) =>
  session.query('delete from relocations where id = $1::int', [id])

export const readMark = (session: CopySession) => findRelocation(databaseOf(session))
export const readUnfinished = (session: CopySession) => findRelocation(databaseOf(session), UNFINISHED)
export const putUnfinished = (session: CopySession, mark: Mark) => putRow(session, UNFINISHED, mark)
export const removeUnfinished = (session: CopySession) => removeRow(session, UNFINISHED)
export const removeMark = (session: CopySession) => removeRow(session, MOVED_AWAY)

/** From then on no poterne starts with it. */
export async function putMark(session: CopySession, mark: Mark): Promise<void> {
  await session.query('begin read write')
  await putRow(session, MOVED_AWAY, mark)
  await session.query('commit')
}

/**
 * From now on every write is refused in a PostgreSQL database, in the sessions that are open as well: they are ended, and
 * begin anew without the right to write. Throws BackupRefused where the user does not own the database.
 */
export async function forbidWrites(session: CopySession): Promise<void> {
  const database = await databaseName(session)
  try {
    await session.query(`alter database ${database} set default_transaction_read_only = on`)
  } catch (error) {
    if (databaseCode(error) !== '42501') throw error
    throw new BackupRefused(`${database} belongs to another user: let its owner move it`, 'the database')
  }
  const others = `datname = current_database() and usename = current_user and pid <> pg_backend_pid()
    and backend_type = 'client backend'`
  const frozen = await session.query<{ pid: number }>(`select pid from pg_stat_activity where ${others}`)
  const pids = frozen.map(({ pid }) => pid).join(',')
  if (pids === '') return
  await session.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where pid in (${pids}) and ${others}`,
  )
  for (;;) {
    const [left] = await session.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity where pid in (${pids}) and ${others}`,
    )
    if (left!.count === 0) return
    await Bun.sleep(10)
  }
}

export async function allowWrites(session: CopySession): Promise<void> {
  if (session.kind !== 'postgres') return
  await session.query(`alter database ${await databaseName(session)} reset default_transaction_read_only`)
}

/** A job for a process that outlives the one of the move. */
export interface AllowJob {
  task: 'allow'
  url: string
}

/** It changes nothing if the data was moved away. By a session of its own, since that of the move is closed. */
export async function allowAgain(url: string): Promise<void> {
  const session = await openServerCopy(url)
  try {
    await session.query('set default_transaction_read_only = off')
    if ((await readMark(session)) === null) await allowWrites(session)
  } finally {
    await session.close()
  }
}

async function databaseName(session: CopySession): Promise<string> {
  const [row] = await session.query<{ name: string }>('select quote_ident(current_database()) as name')
  return row!.name
}

/** Copies everything that signing in needs, and returns the number of rows; both sides are counted. Throws BackupRefused. */
export async function copyLivingRows(source: CopySession, target: CopySession): Promise<number> {
  let rows = 0
  for (const table of copiedTables()) {
    const where = laterRows[table.name] === undefined ? 'true' : `not (${laterRows[table.name]})`
    // Marks are about one database.
    if (table.name === 'relocations' || where === 'not (true)') continue
    await target.copyIn(table.name, table.columns, source.copyOut(table, where))
    const [there, here] = [await countRows(target, table.name), await countRows(source, table.name, where)]
    if (there !== here) throw new BackupRefused(`of ${here} rows has ${there}`, `the copy of ${table.name}`)
    rows += there
  }
  return rows
}

/** The rows that may come later, also where some came already; the new database may be in use. */
export async function copyLaterRows(
  source: CopySession,
  target: CopySession,
  onTable: (name: string) => void,
): Promise<number> {
  let rows = 0
  for (const table of copiedTables()) {
    const where = laterRows[table.name]
    if (where === undefined) continue
    onTable(table.name)
    rows += await copyLater(source, target, table, where)
  }
  return rows
}

async function copyLater(
  source: CopySession,
  target: CopySession,
  { name, columns, identity }: CopiedTable,
  where: string,
): Promise<number> {
  const list = columns.map((column) => `"${column}"`).join(', ')
  await target.query('begin')
  await target.query(`create temporary table later (like "${name}") on commit drop`)
  await target.copyIn('later', columns, source.copyOut({ name, columns, identity }, where))
  const [copied] = await target.query<{ count: number }>('select count(*)::int as count from later')
  await target.query(
    `insert into ${targetOf(name, columns)} overriding system value select ${list} from later on conflict do nothing`,
  )
  await target.query('commit')
  return copied!.count
}
