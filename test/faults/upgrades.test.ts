/**
 * Upgrades of a database in use: how long a migration keeps anybody waiting, what an interrupted one leaves, and two
 * versions side by side. 20,000 accounts and the same executable twice; a million accounts with POTERNE_SOAK=1, and the
 * executable of POTERNE_OLDER beside the present one where that is set.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import type { Database, Executor } from '../../src/platform/postgres/database.ts'
import { applyMigrations, migrationNames, ownMigrations } from '../../src/platform/postgres/migrate.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { defineStatement } from '../../src/platform/postgres/statement.ts'
import { newEmail } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { createDatabase } from '../helpers/servers.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { reduced } from '../helpers/soak.ts'

setDefaultTimeout(reduced(60_000, 1_800_000))

/** The migrations of the oldest executable that is upgraded here; what follows is applied to a database in use. */
const OLDER = ownMigrations.slice(0, 13)
const LONGEST_WAIT_MS = 1000
const ACCOUNTS = reduced(20_000, 1_000_000)

/** A database as an older version left it, with that many accounts, twice as many sessions, and as many messages. */
async function createOlder(accounts: number) {
  const { url, drop } = await createDatabase({ migrated: false })
  const database = await connectServer({ url, poolSize: 2 })
  await applyMigrations(database, new Date(), { migrations: OLDER })
  const client = postgres(url, { max: 1, onnotice: () => {} })
  await client`
    insert into accounts (uuid, email, email_key, phone, password_digest, accountable_type, role_id, account_confirmed_at,
                          email_confirmed_at, created_at, updated_at, language)
    select gen_random_uuid(), 'person-' || i || '@example.com', 'person-' || i || '@example.com',
           '+3361' || lpad(i::text, 7, '0'), '$argon2id$v=19$m=8,t=1,p=1$' || repeat('A', 22) || '$' || repeat('B', 43),
           'User', 1, now(), now(), now(), now(), 'fr' from generate_series(1, ${accounts}) i`
  await client`
    insert into sessions (id, account_id, ip, amr, created_at, last_used_at, expires_at, ends_at, family_hash)
    select gen_random_uuid(), id, '192.0.2.1', 'pwd', now(), now(), now() + interval '30 days', now() + interval '90 days',
           sha256((id || '-' || twice)::text::bytea) from accounts, generate_series(1, 2) twice`
  await client`
    insert into messages (channel, destination, purpose, language, code_subject, code_purpose, created_at, attempts,
                          next_attempt_at, finished_at, outcome, gateway, account_uuid)
    select 'email', email, 'confirmation', 'fr', uuid, 'confirmation', now(), 1, now(), now(), 'sent', 'smtp', uuid
      from accounts`
  await client`
    insert into known_devices (account_id, tag, kind, sign_in, last_sign_in_at)
    select id, sha256(id::text::bytea), 'device', 1, now() from accounts`
  await client.unsafe('vacuum analyze')
  return { url, database, client, drop }
}

const writes = {
  accounts: 'update accounts set updated_at = clock_timestamp() where id = $1',
  sessions: `update sessions set last_used_at = clock_timestamp() where family_hash = sha256(($1::int || '-1')::text::bytea)`,
  messages: `insert into messages (channel, destination, purpose, language, created_at, next_attempt_at)
             values ('email', $1::int::text, 'notice', 'fr', now(), now())`,
  known_devices: 'update known_devices set last_sign_in_at = clock_timestamp() where account_id = $1',
  signing_keys: 'update signing_keys set published_until = null where $1::int = 0',
}

/** Writes to every table all the while, one client for each, and says how long each waited at most. */
function writeAllTheWhile(url: string, accounts: number) {
  let ending = false
  const longest: Record<string, number> = {}
  const clients = Object.entries(writes).map(async ([table, text]) => {
    const client = postgres(url, { max: 1, onnotice: () => {} })
    await client.unsafe(text, [1])
    longest[table] = 0
    while (!ending) {
      const startedAt = performance.now()
      await client.unsafe(text, [1 + Math.floor(Math.random() * accounts)])
      longest[table] = Math.max(longest[table], performance.now() - startedAt)
      await Bun.sleep(2)
    }
    await client.end()
  })
  return async () => {
    ending = true
    await Promise.all(clients)
    return longest
  }
}

test('no migration keeps a writer waiting for a second', async () => {
  const { url, database, client, drop } = await createOlder(ACCOUNTS)
  const stop = writeAllTheWhile(url, ACCOUNTS)
  await Bun.sleep(300)
  const startedAt = performance.now()
  expect(await applyMigrations(database, new Date())).toEqual(migrationNames.slice(OLDER.length))
  const tookMs = performance.now() - startedAt
  const longest = await stop()
  const [worst] = Object.entries(longest).toSorted(([, one], [, other]) => other - one)
  const numbers = `${ACCOUNTS} accounts: ${Math.round(tookMs)} ms, longest wait ${Math.round(worst![1])} ms (${worst![0]})`
  process.stdout.write(`upgrade of ${numbers}\n`)
  expect(worst![1]).toBeLessThan(LONGEST_WAIT_MS)
  await Promise.all([database.close(), client.end()])
  await drop()
})

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
    union all select name || ' ' || hash from poterne_migrations
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

describe('an upgrade that is cut', () => {
  test('at any of its statements is finished by the next start', async () => {
    const straight = await createDatabase()
    const expected = await schemaOf(straight.url)
    await straight.drop()
    let cuts = 0
    for (let cut = 2; ; cut += reduced(12, 1)) {
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

/** Clients behind a load balancer that knows these replicas; what fails is kept. */
function runClients(replicas: Set<Executable>, people: { identifier: string; password: string }[]) {
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
  return {
    async remove(replica: Executable) {
      replicas.delete(replica)
      while ((underWay.get(replica) ?? 0) > 0) await Bun.sleep(5)
    },
    async stop() {
      ending = true
      await Promise.all(clients)
      return { calls, failures }
    },
  }
}

test('replicas are replaced one after the other, an older version beside the present one, and no request fails', async () => {
  const older = process.env.POTERNE_OLDER
  const { url, database, client, drop } = await createOlder(reduced(1000, 100_000))
  await Promise.all([database.close(), client.end()])
  const storage = { server: { secret: 'ab'.repeat(32) }, database: { url, pool_size: 4 } }
  const smtp = await startSmtp({ security: 'none', auth: null })
  const settings = { server: { base_url: 'http://auth.internal' } }
  const start = (executable?: string) =>
    startExecutable({ storage, smtp, settings, ...(executable && { executable }) })
  // Without an older executable both begin by migrating at the same moment.
  const former = await Promise.all([start(older), start(older)])
  const people = []
  for (let count = 0; count < 4; count++) people.push(await former[0].signUp(newEmail()))
  const replicas = new Set<Executable>(former)
  const clients = runClients(replicas, people)
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
  const { calls, failures } = await clients.stop()
  expect(failures).toEqual([])
  expect(calls).toBeGreaterThan(50)
  await Promise.all([...former, ...present].map((each) => each.close()))
  await smtp.stop()
  await drop()
})
