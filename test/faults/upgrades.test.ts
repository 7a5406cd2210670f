/**
 * Upgrades that end early, tried with the migrations from before the first release. The times for which migrations keep anybody
 * waiting are in upgrade-locks.test.ts, two versions side by side in rolling-upgrade.soak.test.ts.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import postgres from 'postgres'
import type { Database, Executor } from '../../src/platform/postgres/database.ts'
import { applyMigrations, type Migration, ownMigrations } from '../../src/platform/postgres/migrate.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { earlier, laterMigrations } from '../helpers/filled-database.ts'
import { createDatabase, type PostgresServer, startPostgres } from '../helpers/servers.ts'
import { longTest, reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(reduced(180_000, 1_800_000))

/** An older executable had applied these; the others are applied to a database in use. */
const OLDER = earlier.migrations.slice(0, 13)
const { migrations } = earlier
const names = migrations.map(({ name }) => name)

/** Everything that migrations make, as text. */
async function schemaOf(url: string): Promise<string[]> {
  const client = postgres(url, { max: 1, onnotice: () => {} })
  const rows = await client`
    select format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'public' and table_name <> 'poterne_migrations'
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select indexrelid::regclass::text || ' is invalid' from pg_index where not indisvalid
    union all select format('%s %s %s', relname, relpersistence, reloptions) from pg_class
               where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'poterne_migrations'
    union all select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    union all select conrelid::regclass || ' ' || pg_get_constraintdef(oid) from pg_constraint
               where connamespace = 'public'::regnamespace
    union all select proname || ' ' || md5(prosrc) from pg_proc where pronamespace = 'public'::regnamespace
    union all select name from poterne_migrations
     order by 1`
  await client.end()
  return rows.map(({ line }) => line as string)
}

/** Fails at the statement of this number, as a process that is killed there. */
function cutAt(database: Database, cut: number): Database {
  let count = 0
  const counted = (executor: Executor): Executor => ({
    all: async (query, values) => {
      if (count++ === cut) throw new Error('cut')
      return executor.all(query, values)
    },
    first: (query, values) => executor.first(query, values),
    run: (query, values) => executor.run(query, values),
  })
  return {
    ...database,
    transaction: (work, options) => database.transaction((each) => work(counted(each)), options),
    session: (work) => database.session((each) => work(counted(each))),
  }
}

/** Makes a database with these migrations, and answers its schema. */
async function schemaAfter(migrations: readonly Migration[]): Promise<string[]> {
  const { url, drop } = await createDatabase({ migrated: false })
  const database = await connectServer({ url, poolSize: 1 })
  await applyMigrations(database, new Date(), { migrations })
  await database.close()
  const schema = await schemaOf(url)
  await drop()
  return schema
}

let made: Promise<string[]> | undefined
const earlierSchema = () => (made ??= schemaAfter(migrations))

/** Neither changes any more. */
longTest('the first migration makes what those from before the first release made', async () => {
  const isMigration = (line: string) => /^\d{4}_\w+$/.test(line)
  // No statement of the present calls them.
  const isDead = (line: string) => /^limits_(recent|take|j\w+) /.test(line)
  const now = await schemaAfter(ownMigrations.slice(0, 1))
  // The index that finds accounts by a part of a contact gathers its entries now.
  const asNow = (line: string) =>
    line.replace("WITH (fastupdate='false')", "WITH (gin_pending_list_limit='256')")
  const before = (await earlierSchema()).filter((line) => !isDead(line)).map(asNow)
  expect(now.filter((line) => !isMigration(line))).toEqual(before.filter((line) => !isMigration(line)))
})

test('a database from before the first release is refused by a sentence of its own', async () => {
  const { url, drop } = await createDatabase({ migrated: false })
  const database = await connectServer({ url, poolSize: 1 })
  await applyMigrations(database, new Date(), { migrations: earlier.migrations.slice(0, 2) })
  await expect(applyMigrations(database, new Date())).rejects.toThrow('from before its first release')
  await database.close()
  await drop()
})

describe('an upgrade that is cut', () => {
  longTest('at any of its statements is finished by the next start', async () => {
    const expected = await earlierSchema()
    await using older = await createDatabase({ migrated: false })
    const before = await connectServer({ url: older.url, poolSize: 1 })
    await applyMigrations(before, new Date(), { migrations: OLDER })
    await before.close()
    let cuts = 0
    for (let cut = 2; ; cut++) {
      const { url, drop } = await createDatabase({ copied: older.url })
      const database = await connectServer({ url, poolSize: 2 })
      const outcome = await applyMigrations(cutAt(database, cut), new Date(), { migrations }).then(
        () => 'finished',
        (error) => error.message,
      )
      await applyMigrations(database, new Date(), { migrations })
      expect(await schemaOf(url)).toEqual(expected)
      await database.close()
      await drop()
      if (outcome === 'finished') break
      expect(outcome).toBe('cut')
      cuts++
    }
    expect(cuts).toBeGreaterThan(2)
  })
})

/** For tests that kill it, or wait for what it does by itself. */
let server: Promise<PostgresServer> | undefined
const ownServer = () =>
  (server ??= startPostgres({ settings: { autovacuum_naptime: '1s', deadlock_timeout: '300ms' } }))
afterAll(async () => (await server)?.stop())

/** Its first index is made concurrently, on accounts. */
const CONCURRENT = names.indexOf('0017_account_search')

/** Migrates in a process of its own, and waits until the server makes the first index for it. */
async function migrateUntilIndex(url: string, watcher: postgres.Sql) {
  const script = join(import.meta.dir, '../helpers/migrate-earlier.ts')
  const child = Bun.spawn([process.execPath, script, url], { stdout: 'ignore', stderr: 'ignore' })
  await waitFor(
    async () =>
      (
        await watcher`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
                      and query ilike '%index concurrently%' and pid <> pg_backend_pid()`
      ).length > 0,
    { what: 'an index that is being made', timeoutMs: 20_000 },
  )
  return child
}

longTest(
  'a process or a server that is killed while an index is made leaves what the next start finishes',
  async () => {
    const expected = await earlierSchema()
    const server = await ownServer()
    for (const killed of ['process', 'server']) {
      const { url } = await createDatabase({ migrated: false, server })
      const before = await connectServer({ url, poolSize: 1 })
      await applyMigrations(before, new Date(), { migrations: migrations.slice(0, CONCURRENT) })
      await before.close()
      const clients = [1, 2].map(() => postgres(url, { max: 1, onnotice: () => {} }))
      const [holder, watcher] = clients as [postgres.Sql, postgres.Sql]
      await holder.unsafe('begin; lock table accounts in row exclusive mode')
      const child = await migrateUntilIndex(url, watcher)
      if (killed === 'server') {
        await server.kill()
        expect(await child.exited).toBe(1)
        await server.start()
        expect(await schemaOf(url)).toContain('accounts_email_prefix is invalid')
      } else {
        child.kill('SIGKILL')
        await child.exited
      }
      const database = await connectServer({ url, poolSize: 1 })
      const finished = applyMigrations(database, new Date(), { migrations })
      // The server goes on with the index of a process that is gone, and the next start waits for it.
      if (killed === 'process') {
        await watcher`select pg_sleep(0.2)`
        await holder.unsafe('commit')
      }
      expect(await finished).toEqual(names.slice(CONCURRENT))
      expect(await schemaOf(url)).toEqual(expected)
      await Promise.all([database.close(), ...clients.map((client) => client.end({ timeout: 0 }))])
    }
  },
)

test('an automatic vacuum ends for a migration, which would not wait until it is over', async () => {
  const { url } = await createDatabase({ migrated: false, server: await ownServer() })
  const database = await connectServer({ url, poolSize: 1 })
  await applyMigrations(database, new Date())
  const client = postgres(url, { max: 1, onnotice: () => {} })
  // At this pace it would take minutes.
  await client`alter table accounts set (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1,
                                         autovacuum_vacuum_threshold = 10, autovacuum_vacuum_scale_factor = 0)`
  await client`insert into accounts (uuid, accountable_type, role_id, created_at, updated_at, language)
               select gen_random_uuid(), 'User', 1, now(), now(), 'fr' from generate_series(1, 20000)`
  await client`update accounts set updated_at = now()`
  await waitFor(
    async () =>
      (await client`select from pg_stat_progress_vacuum where relid = 'accounts'::regclass`).length > 0,
    { what: 'an automatic vacuum', timeoutMs: 30_000 },
  )
  let timeouts = 0
  const options = { migrations: [...ownMigrations, laterMigrations[0]!], onLockTimeout: () => timeouts++ }
  expect(await applyMigrations(database, new Date(), options)).toEqual([laterMigrations[0]!.name])
  expect(timeouts).toBe(0)
  await Promise.all([database.close(), client.end()])
})
