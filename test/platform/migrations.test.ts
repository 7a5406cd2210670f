/** Migrations beside a service that is in use. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import type { Database } from '../../src/platform/postgres/database.ts'
import {
  applyMigrations,
  migrationNames,
  ownMigrations,
  requireVersion,
} from '../../src/platform/postgres/migrate.ts'
import type { Migration } from '../../src/platform/postgres/read-migrations.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { version } from '../../src/platform/version.ts'
import { createDatabase } from '../helpers/servers.ts'
import { startService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

test('a migration that meets a held table gives way, and is applied once the table is free', async () => {
  const { url, drop } = await createDatabase({ migrated: false })
  const holder = postgres(url, { max: 1, onnotice: () => {} })
  await holder`create table poterne_migrations (
    number integer primary key, name text not null, hash text not null, applied_at timestamptz not null)`
  await holder.unsafe('begin; lock table poterne_migrations in share mode')
  const database = await connectServer({ url, poolSize: 1 })
  let timeouts = 0
  const release = () => {
    timeouts += 1
    void holder.unsafe('commit').execute()
  }
  expect(await applyMigrations(database, new Date(), { onLockTimeout: release })).toEqual(migrationNames)
  expect(timeouts).toBe(1)
  await Promise.all([database.close(), holder.end()])
  await drop()
})

test('a replica that is too old for a migrated database is not ready', async () => {
  const service = await startService({ shape: 'postgres' })
  const { database } = service.inside
  await requireVersion(database, version.version)
  const text = `update poterne_migrations set oldest_version = '99.0.0' where number = 0`
  await database.all({ text, params: [] }, {})
  await expect(requireVersion(database, '98.9.9')).rejects.toThrow('99.0.0')
  await requireVersion(database, '99.0.0')
  const { status, body } = await service.call('GET', '/readyz')
  expect([status, body.code]).toEqual([503, 'unavailable'])
  expect(body.reason).toBe(
    'a newer version migrated the database, and this one may no longer use it: end this replica',
  )
  expect(service.log.join('')).toContain('VersionTooOld')
  await service.close()
})

test('a database that turns read-only is said to refuse writes, without its name or host', async () => {
  const service = await startService({ shape: 'postgres' })
  const { database } = service.inside
  const run = (text: string) => database.all({ text, params: [] }, {})
  await run(`do $$ begin
    execute format('alter database %I set default_transaction_read_only = on', current_database());
  end $$`)
  await run(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  )
  await run('select pg_terminate_backend(pg_backend_pid())').catch(() => {})
  const answer = await waitFor(
    async () => {
      const { body } = await service.call('GET', '/readyz')
      return body.reason === 'the database refuses writes: it is read-only' && body
    },
    { what: 'readiness to end' },
  )
  expect(Object.keys(answer)).toEqual(['status', 'code', 'message', 'reason', 'request_id'])
  await service.close()
})

/** Every migration of ours, one that makes two indexes concurrently, and one after it. */
function withConcurrent(): Migration[] {
  const next = (name: string, concurrent: boolean, statements: string[]) => {
    const number = migrations.length
    migrations.push({
      number,
      name,
      hash: name,
      statements,
      oldestVersion: null,
      concurrent,
    })
  }
  const migrations: Migration[] = [...ownMigrations]
  next('before', false, ['create table before_indexes (id int)'])
  next('indexes', true, [
    '-- concurrently\ncreate index concurrently if not exists "accounts_sought" on accounts (updated_at)',
    'create index concurrently if not exists "accounts_also" on accounts (updated_at, id)',
  ])
  next('after', false, ['create table after_indexes (id int)'])
  return migrations
}

const listIndexes = (database: Database) =>
  database.all<Record<string, never>, { name: string; valid: boolean }>(
    {
      text: `select relname as name, indisvalid as valid from pg_index join pg_class on oid = indexrelid
              where relname in ('accounts_sought', 'accounts_also') order by 1`,
      params: [],
    },
    {},
  )
const BOTH_VALID = [
  { name: 'accounts_also', valid: true },
  { name: 'accounts_sought', valid: true },
]

test('a concurrent migration keeps no writer waiting, is made again after an interruption, and runs once for all replicas', async () => {
  const { url, drop } = await createDatabase()
  const migrations = withConcurrent()
  const [first, second] = await Promise.all([1, 2].map(() => connectServer({ url, poolSize: 2 })))
  const older = postgres(url, { max: 1, onnotice: () => {} })
  const watcher = postgres(url, { max: 1, onnotice: () => {} })
  const building = async () => {
    for (;;) {
      const [row] = await watcher`select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%index concurrently%'`
      if (row) return row.pid as number
    }
  }
  // A transaction under way: the index must wait for it, and others must not wait for the index.
  await older.unsafe('begin; lock table accounts in row exclusive mode')
  const interrupted = applyMigrations(first!, new Date(), { migrations }).then(
    () => 'applied',
    () => 'interrupted',
  )
  const pid = await building()
  await watcher`set lock_timeout = '100ms'`
  await watcher`update accounts set updated_at = updated_at`
  await watcher`select pg_terminate_backend(${pid})`
  expect(await interrupted).toBe('interrupted')
  expect(await listIndexes(second!)).toEqual([{ name: 'accounts_sought', valid: false }])

  const again = [first!, second!].map((database) => applyMigrations(database, new Date(), { migrations }))
  await building()
  await older.unsafe('commit')
  expect((await Promise.all(again)).flat().sort()).toEqual(['after', 'indexes'])
  expect(await listIndexes(first!)).toEqual(BOTH_VALID)
  const shown = { text: `select current_setting('statement_timeout') as value`, params: [] }
  expect(await first!.session((session) => session.all(shown, {}))).toEqual([{ value: '2500ms' }] as never[])
  await Promise.all([first!.close(), second!.close(), older.end(), watcher.end()])
  await drop()
})

longTest('the embedded database makes a concurrent index like any other', async () => {
  const service = await startService({ shape: 'embedded' })
  const { database } = service.inside
  expect(await applyMigrations(database, new Date(), { migrations: withConcurrent() })).toEqual([
    'before',
    'indexes',
    'after',
  ])
  expect(await listIndexes(database)).toEqual(BOTH_VALID)
  await service.close()
})
