/**
 * Upgrades of a database in use: what an interrupted one leaves, and two versions side by side: the same executable
 * twice, or that of POTERNE_OLDER beside the present one. How long migrations keep anybody waiting is in
 * upgrade-locks.test.ts.
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { type Database, type Executor, param, statement } from '../../src/platform/postgres/database.ts'
import {
  applyMigrations,
  type Migration,
  migrationNames,
  ownMigrations,
} from '../../src/platform/postgres/migrate.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { defineStatement } from '../../src/platform/postgres/statement.ts'
import { newEmail, type Person, registration } from '../helpers/api-client.ts'
import { type Executable, poterneCommand, startExecutable } from '../helpers/executable.ts'
import { createFilled } from '../helpers/filled-database.ts'
import type { Inbox } from '../helpers/inbox.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase, type PostgresServer, startPostgres } from '../helpers/servers.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(reduced(60_000, 1_800_000))

/** The migrations of the oldest executable that is upgraded here; what follows is applied to a database in use. */
const OLDER = ownMigrations.slice(0, 13)

/** Everything that migrations make, as text. */
async function schemaOf(url: string): Promise<string[]> {
  const client = postgres(url, { max: 1, onnotice: () => {} })
  const rows = await client`
    select format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'public' and table_name <> 'poterne_migrations'
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select indexrelid::regclass::text || ' is invalid' from pg_index where not indisvalid
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
  })
  return {
    ...database,
    transaction: (work, options) => database.transaction((each) => work(counted(each)), options),
    session: (work) => database.session((each) => work(counted(each))),
  }
}

/** The migrations with the texts that some of them had before they were made fit for large databases. */
const formerMigrations: Migration[] = ownMigrations.map((migration) => {
  const path = join(import.meta.dir, `../helpers/former-migrations/${migration.name}.sql`)
  if (!existsSync(path)) return migration
  const text = readFileSync(path, 'utf8')
  const hash = createHash('sha256').update(text).digest('hex')
  expect(migration.formerHashes).toEqual([hash])
  return { ...migration, hash, concurrent: false, statements: text.split('--> statement-breakpoint') }
})

test.each([6, 10, 27])(
  'a database to which the former texts of the first %i migrations were applied ends with the same schema',
  async (count) => {
    const straight = await createDatabase()
    const { url, drop } = await createDatabase({ migrated: false })
    const database = await connectServer({ url, poolSize: 2 })
    await applyMigrations(database, new Date(), { migrations: formerMigrations.slice(0, count) })
    expect(await applyMigrations(database, new Date())).toEqual(migrationNames.slice(count))
    expect(await schemaOf(url)).toEqual(await schemaOf(straight.url))
    const unknown = ownMigrations.map((each) => ({ ...each, hash: 'another', formerHashes: [] }))
    await expect(applyMigrations(database, new Date(), { migrations: unknown })).rejects.toThrow(
      'is not the one in this executable',
    )
    await database.close()
    await Promise.all([drop(), straight.drop()])
  },
)

describe('an upgrade that is cut', () => {
  test('at any of its statements is finished by the next start', async () => {
    const straight = await createDatabase()
    const expected = await schemaOf(straight.url)
    await straight.drop()
    let cuts = 0
    for (let cut = 2; ; cut += reduced(30, 1)) {
      const { url, drop } = await createDatabase({ migrated: false })
      const database = await connectServer({ url, poolSize: 2 })
      await applyMigrations(database, new Date(), { migrations: OLDER })
      const outcome = await applyMigrations(cutAt(database, cut), new Date()).then(
        () => 'finished',
        (error) => error.message,
      )
      await applyMigrations(database, new Date())
      expect(await schemaOf(url)).toEqual(expected)
      await database.close()
      await drop()
      if (outcome === 'finished') break
      expect(outcome).toBe('cut')
      cuts++
    }
    expect(cuts).toBeGreaterThan(4)
  })
})

/** What a version after this one may do: more columns for tables whose rows statements give as a whole. */
const later: Migration[] = ['accounts', 'sessions', 'messages', 'accounts'].map((table, index) => ({
  number: ownMigrations.length + index,
  ...{
    name: `later_${index}`,
    hash: `later_${index}`,
    formerHashes: [],
    oldestVersion: null,
    concurrent: false,
  },
  statements: [`alter table "${table}" add column "later_${index}" text default 'later'`],
}))

/** For tests that kill it, or wait for what it does by itself. */
let server: Promise<PostgresServer> | undefined
const ownServer = () =>
  (server ??= startPostgres({ settings: { autovacuum_naptime: '1s', deadlock_timeout: '300ms' } }))
afterAll(async () => (await server)?.stop())

/** Its first index is made concurrently, on accounts. */
const CONCURRENT = migrationNames.indexOf('0017_account_search')

/** Migrates in a process of its own, and waits until the server makes the first index for it. */
async function migrateUntilIndex(url: string, watcher: postgres.Sql) {
  const child = Bun.spawn([...poterneCommand(), 'migrate'], {
    cwd: newDirectory('migrate'),
    env: {
      PATH: process.env.PATH ?? '',
      POTERNE_DATABASE_URL: url,
      POTERNE_SERVER_SECRET: 'ab'.repeat(32),
    },
    stdout: 'ignore',
    stderr: 'ignore',
  })
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

test('a process or a server that is killed while an index is made leaves what the next start finishes', async () => {
  const straight = await createDatabase()
  const expected = await schemaOf(straight.url)
  await straight.drop()
  const server = await ownServer()
  for (const killed of ['process', 'server']) {
    const { url } = await createDatabase({ migrated: false, server })
    const before = await connectServer({ url, poolSize: 1 })
    await applyMigrations(before, new Date(), { migrations: ownMigrations.slice(0, CONCURRENT) })
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
    const finished = applyMigrations(database, new Date())
    // The server goes on with the index of a process that is gone, and the next start waits for it.
    if (killed === 'process') {
      await watcher`select pg_sleep(0.2)`
      await holder.unsafe('commit')
    }
    expect(await finished).toEqual(migrationNames.slice(CONCURRENT))
    expect(await schemaOf(url)).toEqual(expected)
    await Promise.all([database.close(), ...clients.map((client) => client.end({ timeout: 0 }))])
  }
})

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
  const options = { migrations: [...ownMigrations, later[0]!], onLockTimeout: () => timeouts++ }
  expect(await applyMigrations(database, new Date(), options)).toEqual([later[0]!.name])
  expect(timeouts).toBe(0)
  await Promise.all([database.close(), client.end()])
})

test('statements and transactions whose result a migration changes are repeated with the same values', async () => {
  const { url, drop } = await createDatabase({ migrated: false })
  const database = await connectServer({ url, poolSize: 1 })
  const run = (text: string) => database.all({ text, params: [] }, {})
  await run('create table notes (id bytea, flag boolean, more jsonb, at timestamptz, count bigint)')
  const put = defineStatement({
    name: 'test.put_note',
    params: { id: 'bytea', flag: 'boolean', more: 'jsonb', at: 'timestamptz', count: 'bigint' },
    row: { id: 'bytea', flag: 'boolean', more: 'jsonb', at: 'timestamptz', count: 'bigint' },
    sql: (p) => sql`
    with put as (insert into notes values (${p.id}, ${p.flag}, ${p.more}, ${p.at}, ${p.count}) returning *)
    select * from put`,
  })
  const note = { id: Buffer.from('\\x00'), flag: true, more: ['a'], at: new Date(0), count: 7 }
  const inTransaction = () =>
    database.transaction(async (transaction) => {
      await transaction.first(put, note)
      return transaction.first(put, note)
    })
  expect(await database.first(put, note)).toEqual(note)
  await run('alter table notes add column one int')
  expect(await database.first(put, note)).toEqual({ ...note, one: null } as never)
  await run('alter table notes add column two int')
  expect(await inTransaction()).toEqual({ ...note, one: null, two: null } as never)
  const alike = await run(`select distinct id, flag, more, at, count from notes`)
  expect(alike).toEqual([note] as never[])
  expect(await run('select count(*)::int from notes')).toEqual([{ count: 4 }] as never[])
  await database.close()
  await drop()
})

test('statements that share a connection get rows of their own while migrations change the result', async () => {
  const { url, drop } = await createDatabase({ migrated: false })
  const database = await connectServer({ url, poolSize: 2 })
  const migrating = await connectServer({ url, poolSize: 1 })
  const alter = (text: string) => migrating.all({ text, params: [] }, {})
  await alter('create table notes (id int, flag boolean)')
  await alter('insert into notes select i, i % 2 = 0 from generate_series(1, 100) i')
  const find = statement<{ id: number }, { id: number; flag: boolean }>(
    sql`select * from notes where id = ${param('id', 'int')}`,
  )
  const change = statement<{ id: number; flag: boolean }, { id: number; flag: boolean }>(
    sql`update notes set flag = ${param('flag', 'boolean')} where id = ${param('id', 'int')} returning *`,
  )
  let ending = false
  let wrong = 0
  const readers = Array.from({ length: 16 }, async (_, index) => {
    for (let round = 0; !ending; round++) {
      const id = 1 + ((index + 16 * round) % 96)
      const flag = id % 2 === 0
      const row = await (round % 2 === 0
        ? database.first(find, { id })
        : database.first(change, { id, flag }))
      if (row?.id !== id || row.flag !== flag) wrong++
    }
  })
  for (let count = 0; count < reduced(20, 300); count++) {
    await alter(`alter table notes add column "more_${count}" text`)
    await Bun.sleep(10)
  }
  ending = true
  await Promise.all(readers)
  expect(wrong).toBe(0)
  await Promise.all([database.close(), migrating.close()])
  await drop()
})

/** Clients behind a load balancer that knows these replicas; what fails is kept. */
function runClients(replicas: Set<Executable>, people: Person[], inbox: Inbox) {
  let ending = false
  let calls = 0
  const failures: string[] = []
  const underWay = new Map<Executable, number>()
  const ask = async (operation: (replica: Executable) => Promise<{ status: number; body: unknown }>) => {
    const all = [...replicas]
    const replica = all[calls++ % all.length]!
    underWay.set(replica, (underWay.get(replica) ?? 0) + 1)
    try {
      const answer = await operation(replica)
      if (answer.status >= 400) failures.push(`${answer.status} ${JSON.stringify(answer.body)}`)
      // biome-ignore lint/suspicious/noExplicitAny: what a client reads.
      return answer.body as any
    } catch (error) {
      failures.push(String(error))
      return {}
    } finally {
      underWay.set(replica, underWay.get(replica)! - 1)
    }
  }
  const clients = people.map(async (person) => {
    while (!ending) {
      let { access_token, refresh_token } = await ask((to) => to.post('login', person))
      for (let count = 0; count < 4 && !ending; count++) {
        await ask((to) => to.get('me', { bearer: access_token }))
        ;({ access_token, refresh_token } = await ask((to) => to.post('refresh', { refresh_token })))
      }
      await Bun.sleep(10)
    }
  })
  const newcomers = (async () => {
    while (!ending) {
      const identifier = newEmail()
      await ask((to) => to.post('register', registration(identifier)))
      const otp = await inbox.nextCode(identifier)
      await ask((to) => to.post('verify-account', { identifier, otp }))
    }
  })()
  return {
    async remove(replica: Executable) {
      replicas.delete(replica)
      while ((underWay.get(replica) ?? 0) > 0) await Bun.sleep(5)
    },
    async stop() {
      ending = true
      await Promise.all([...clients, newcomers])
      return { calls, failures }
    },
  }
}

test('replicas are replaced one after the other, beside an older and a newer version, and no request fails', async () => {
  const older = process.env.POTERNE_OLDER
  // An older executable makes its tables itself, with the texts of its migrations.
  const { url, drop } = older
    ? await createDatabase({ migrated: false })
    : await createFilled(reduced(1000, 100_000), { migrations: OLDER.length })
  // So few connections that statements share them.
  const storage = { server: { secret: 'ab'.repeat(32) }, database: { url, pool_size: 2 } }
  const smtp = await startSmtp({ security: 'none', auth: null })
  const settings = { server: { base_url: 'http://auth.internal' } }
  const start = (executable?: string) =>
    startExecutable({ storage, smtp, settings, ...(executable && { executable }) })
  // Without an older executable both begin by migrating at the same moment.
  const former = await Promise.all([start(older), start(older)])
  const people = []
  for (let count = 0; count < 8; count++) people.push(await former[0].signUp(newEmail()))
  const replicas = new Set<Executable>(former)
  const clients = runClients(replicas, people, former[0].inbox)
  const present: Executable[] = []
  for (const each of former) {
    const next = await start()
    present.push(next)
    replicas.add(next)
    await Bun.sleep(reduced(200, 3000))
    await clients.remove(each)
    await each.kill('SIGTERM')
  }
  await Bun.sleep(reduced(200, 3000))
  const database = await connectServer({ url, poolSize: 1 })
  for (const count of later.keys()) {
    const migrations = [...ownMigrations, ...later.slice(0, count + 1)]
    expect(await applyMigrations(database, new Date(), { migrations })).toEqual([later[count]!.name])
    await Bun.sleep(reduced(150, 3000))
  }
  await database.close()
  const { calls, failures } = await clients.stop()
  process.stdout.write(`${failures.length} of ${calls} requests failed during the upgrade\n`)
  const causes = [...former, ...present].flatMap((each) =>
    each.log().filter(({ level }) => level === 'error'),
  )
  expect({ failures, causes }).toEqual({ failures: [], causes: [] })
  expect(calls).toBeGreaterThan(50)
  await Promise.all([...former, ...present].map((each) => each.close()))
  await smtp.stop()
  await drop()
})
