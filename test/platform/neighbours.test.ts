/** Restores and starts in a database that another application uses too: its objects stay as they are. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import postgres from 'postgres'
import { restore } from '../../src/compose/restore.ts'
import type { StoreContext } from '../../src/operations/doctor/check.ts'
import { checkRights } from '../../src/operations/doctor/database-checks.ts'
import { openServerCopy } from '../../src/platform/postgres/copy.ts'
import { applyMigrations, ownMigrations } from '../../src/platform/postgres/migrate.ts'
import { findStrangers, madeBy } from '../../src/platform/postgres/own-objects.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { secretKeyId } from '../../src/storage/backup/keys.ts'
import { createSealedFile } from '../../src/storage/backup/sealed-file.ts'
import { writeBackup } from '../../src/storage/backup/write.ts'
import { createConfigDirectory } from '../helpers/config.ts'
import { runPoterne } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import { startService, writeSettings } from '../helpers/service.ts'
import { longTest, reduced } from '../helpers/soak.ts'

setDefaultTimeout(180_000)

const OWN_DATABASE = 'give poterne a database of its own'
const secretText = 'ab'.repeat(32)
const secret = Buffer.from(secretText, 'hex')
const now = new Date()
const options = { now, onProgress: () => {}, signal: new AbortController().signal }
const names = [...madeBy(ownMigrations).names]

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: Error) => error.message,
  )

/** A backup of a database with one account. */
const backup = (async () => {
  const { url, drop } = await createDatabase()
  const source = await openServerCopy(url)
  await source.query(
    `insert into accounts (uuid, email, email_key, accountable_type, role_id, created_at, updated_at, language)
     values (gen_random_uuid(), 'a@example.org', 'a@example.org', 'User', 1, now(), now(), 'en')`,
  )
  const file = join(newDirectory('neighbours'), 'backup')
  const writer = await createSealedFile(file, { kind: 'secret', secret })
  await writeBackup(source, writer, { about: { version: '1.2.3', secret_key_id: secretKeyId(secret) }, now })
  await writer.close()
  await source.close()
  await drop()
  return file
})()

async function restoreInto(url: string, replace: boolean): Promise<string> {
  const directory = createConfigDirectory()
  const text = `[server]\nsecret = "${secretText}"\n[database]\nurl = "${url}"\n`
  const config = directory.configOf({ configFile: directory.write('poterne.toml', text) })
  directory.remove()
  return refusal(
    restore({
      ...{ ...options, config, replace, file: await backup, keys: [{ kind: 'secret', secret }] },
      ...{ givenSecret: null, keepSessions: false, approve: async () => {} },
    }),
  )
}

/** Returns the tables that it holds. */
async function writeBackupOf(url: string): Promise<string[]> {
  const source = await openServerCopy(url)
  const file = join(newDirectory('neighbours'), 'backup')
  const writer = await createSealedFile(file, { kind: 'secret', secret })
  const about = { version: '1.2.3', secret_key_id: secretKeyId(secret) }
  const { parts } = await writeBackup(source, writer, { about, now })
  await writer.close()
  await source.close()
  return parts.map(({ name }) => name)
}

async function migrate(url: string, migrations = ownMigrations): Promise<string> {
  const database = openServer({ url, poolSize: 1 })
  try {
    return await refusal(applyMigrations(database, now, { migrations }))
  } finally {
    await database.close()
  }
}

/** A database that belongs to the role of `url`; `admin` is the superuser in it. */
async function openShared() {
  const { url: adminUrl, name, drop } = await createDatabase({ migrated: false })
  const admin = postgres(adminUrl, { max: 1, onnotice: () => {} })
  await admin.unsafe(`create role ${name} login; alter database ${name} owner to ${name}`)
  const own = new URL(adminUrl)
  own.username = name
  return {
    url: own.href,
    role: name,
    admin,
    [Symbol.asyncDispose]: async () => {
      await admin.unsafe('drop schema public cascade').catch(() => {})
      await admin.end()
      await drop()
    },
  }
}
type Shared = Awaited<ReturnType<typeof openShared>>

/** Each catalog with the column that names the relation which a row is about. */
const catalogs: Record<string, string | null> = {
  ...{ pg_class: 'oid', pg_attribute: 'attrelid', pg_attrdef: 'adrelid', pg_constraint: 'conrelid' },
  ...{ pg_index: 'indrelid', pg_trigger: 'tgrelid', pg_rewrite: 'ev_class', pg_policy: 'polrelid' },
  ...{ pg_sequence: 'seqrelid', pg_publication_rel: 'prrelid', pg_statistic_ext: 'stxrelid' },
  ...{ pg_inherits: null, pg_type: null, pg_proc: null, pg_depend: null },
}

/**
 * Every object of the database, or of these relations, and every row of its tables, with the transactions that wrote
 * them. The picture leaves out the numbers that PostgreSQL keeps by itself, such as statistics.
 */
async function picture({ admin }: Shared, relations = ''): Promise<string[]> {
  const lines: string[] = []
  const byItself = '{reltuples,relpages,relallvisible,relfrozenxid,relminmxid}'
  for (const [catalog, relation] of Object.entries(catalogs)) {
    if (relations !== '' && relation === null) continue
    const condition =
      relations === ''
        ? 'each.xmin::text::bigint > (select xmin::text::bigint from pg_database where datname = current_database())'
        : `each.${relation} in (select oid from pg_class where ${relations})`
    const rows = await admin.unsafe(
      `select each.xmin::text || ' ' || (to_jsonb(each) - '${byItself}'::text[])::text as line from ${catalog} each
        where ${condition}`,
    )
    lines.push(...rows.map(({ line }) => `${catalog} ${line}`))
  }
  const tables = await admin.unsafe(
    `select oid::regclass::text as name from pg_class
      where relkind in ('r', 'm', 'S') and oid >= 16384 and ${relations || 'true'}`,
  )
  for (const { name } of tables) {
    const rows = await admin.unsafe(`select t.xmin::text as written_by, * from ${name} t`)
    lines.push(...rows.map((row) => `${name} ${JSON.stringify(row)}`))
  }
  return lines.sort()
}

/** The statement that makes something of that name. */
const kinds: Record<string, (name: string) => string> = {
  table: (name) => `create table "${name}" (id int, body text); insert into "${name}" values (1, 'theirs')`,
  view: (name) => `create view "${name}" as select 1 as one`,
  'materialized view': (name) => `create materialized view "${name}" as select 1 as one`,
  sequence: (name) => `create sequence "${name}"; select nextval('"${name}"')`,
  'composite type': (name) => `create type "${name}" as (id int)`,
  'enumerated type': (name) => `create type "${name}" as enum ('theirs')`,
  function: (name) =>
    `create function "${name}"(int) returns int language sql as 'select $1'; create function "${name}"(text) returns text language sql as 'select $1'`,
}

/** The strangers that are found in a database where so many migrations were applied. */
async function strangersIn(url: string, applied = 0): Promise<string[]> {
  const database = openServer({ url, poolSize: 1 })
  try {
    return await findStrangers(database, ownMigrations, applied)
  } finally {
    await database.close()
  }
}

describe('where poterne never started', () => {
  // One catalog has all relations, one all types and one all functions, whatever their kind.
  const tried = reduced(['table'], Object.keys(kinds))
  test.each(tried)('a %s stays as it is, under any of our names, and is named', async (kind) => {
    expect(names.length).toBeGreaterThan(150)
    // Whose it is makes no difference: that is tried where names alone tell, and where arguments tell as well.
    const owners = ['table', 'function'].includes(kind) ? ['the same', 'another'] : ['another']
    for (const owner of reduced(owners, ['the same', 'another'])) {
      await using shared = await openShared()
      const makeAll = names.map(kinds[kind]!).join(';')
      await shared.admin.unsafe(
        owner === 'another' ? makeAll : `set role ${shared.role}; ${makeAll}; reset role`,
      )
      const before = await picture(shared)
      const found = (await strangersIn(shared.url)).join('\n')
      expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(found))).toEqual([])
      for (const said of [
        await restoreInto(shared.url, false),
        await restoreInto(shared.url, true),
        await migrate(shared.url),
      ]) {
        expect(said).toContain(OWN_DATABASE)
        expect(said).toContain('account_codes')
      }
      expect(await picture(shared)).toEqual(before)
    }
  })

  test('one name alone is enough, and start and restore say which', async () => {
    const ofTables = ['messages', 'accounts_email_proved', 'limits_charge', 'relocations']
    for (const name of [...reduced(['messages'], ofTables), 'poterne_migrations']) {
      await using shared = await openShared()
      await shared.admin.unsafe(kinds.table!(name))
      const before = await picture(shared)
      const reason = `holds what another application made under names of poterne (table ${name}): ${OWN_DATABASE}`
      expect(await restoreInto(shared.url, true)).toBe(`the database ${reason}`)
      expect(await migrate(shared.url)).toBe(`the database ${reason}`)
      expect(await picture(shared)).toEqual(before)
    }
  })

  longTest('a table that only looks like ours is theirs', async () => {
    const theirs = {
      'other columns': 'create table poterne_migrations (id int)',
      'our columns and foreign rows': `
        create table poterne_migrations (number int primary key, name text, hash text, applied_at timestamptz);
        insert into poterne_migrations values (0, '0000_initial', 'theirs', now())`,
      'our columns and no rows beside a table of theirs': `
        create table poterne_migrations (number int primary key, name text, hash text, applied_at timestamptz);
        create table accounts (uuid uuid, email text, created_at timestamptz);
        insert into accounts values (gen_random_uuid(), 'theirs@example.org', now())`,
    }
    for (const make of Object.values(theirs)) {
      await using shared = await openShared()
      await shared.admin.unsafe(make)
      await shared.admin.unsafe('grant select on all tables in schema public to public')
      const before = await picture(shared)
      for (const replace of [false, true])
        expect(await restoreInto(shared.url, replace)).toEndWith(OWN_DATABASE)
      expect(await migrate(shared.url)).not.toBe('accepted')
      expect(await picture(shared)).toEqual(before)
    }
  })

  longTest('the start says so in one line', async () => {
    await using shared = await openShared()
    await shared.admin.unsafe(kinds.table!('events'))
    const before = await picture(shared)
    const settings = { server: { secret: secretText }, database: { url: shared.url } }
    const { file, directory } = writeSettings(settings)
    // Another start cannot help, and systemd tries none.
    for (const [args, exitCode] of [
      [['serve', '--dev'], 2],
      [['migrate'], 2],
      [['restore', await backup], 1],
    ] as const) {
      const { code, error } = await runPoterne([...args, '--config', file], { directory })
      expect(code).toBe(exitCode)
      expect(error).toMatch(new RegExp(`^[^\\n]*\\(table events\\): ${OWN_DATABASE}\\n$`))
    }
    expect(await picture(shared)).toEqual(before)
  })
})

describe('beside the tables of poterne', () => {
  test('a table in the place of one of ours is theirs, also where not every migration was applied', async () => {
    for (const migrations of [ownMigrations.slice(0, 1), ...reduced([], [ownMigrations])]) {
      await using shared = await openShared()
      expect(await migrate(shared.url, migrations)).toBe('accepted')
      await shared.admin.unsafe(
        'drop table accounts cascade; create table accounts (uuid uuid, email text, created_at timestamptz)',
      )
      const before = await picture(shared)
      for (const replace of [false, true])
        expect(await restoreInto(shared.url, replace)).toContain(`(table accounts): ${OWN_DATABASE}`)
      expect(await picture(shared)).toEqual(before)
    }
  })

  test('what does not touch ours stays while ours are replaced, and was not even made again', async () => {
    for (const migrations of [...reduced([], [[], ownMigrations.slice(0, 1)]), ownMigrations]) {
      await using shared = await openShared()
      const makeTheirs = `
        create table orders (id int generated always as identity primary key, number text unique);
        create table order_lines (order_id int references orders, body text);
        create index order_lines_body on order_lines (body);
        create unlogged table carts (id int);
        create view order_report as select number from orders;
        create materialized view order_numbers as select number from orders;
        create type order_state as enum ('open');
        create function touched() returns trigger language plpgsql as 'begin return null; end';
        create trigger events_are_kept after insert on orders for each row execute function touched();
        create trigger sessions_end_below after insert on orders for each row execute function touched();
        create schema theirs; create table theirs.accounts (id int primary key);
        create table theirs.sessions (account_id int references theirs.accounts);
        insert into orders (number) values ('1'); insert into theirs.accounts values (1)`
      await shared.admin.unsafe(makeTheirs)
      if (migrations.length > 0) expect(await migrate(shared.url, migrations)).toBe('accepted')
      const theirs = `(relnamespace = 'theirs'::regnamespace or relname ~ '^order|^carts')`
      const before = await picture(shared, theirs)
      expect(before.length).toBeGreaterThan(20)
      expect(await restoreInto(shared.url, true)).toBe('accepted')
      expect(await picture(shared, theirs)).toEqual(before)
      expect(await migrate(shared.url)).toBe('accepted')
      expect(await strangersIn(shared.url, ownMigrations.length)).toEqual([])
      expect(await restoreInto(shared.url, false)).toContain('has accounts already')
      expect(await restoreInto(shared.url, true)).toBe('accepted')
      expect(await picture(shared, theirs)).toEqual(before)
    }
  })

  const hanging: [string, string][] = [
    ['view report', 'create view report as select email from accounts'],
    ['materialized view figures', 'create materialized view figures as select email from accounts'],
    [
      'constraint orders_account_fkey on table orders',
      'create table orders (account bigint references accounts (id))',
    ],
    [
      'trigger told on table accounts',
      `create function told() returns trigger language plpgsql as 'begin return null; end';
      create trigger told after insert on accounts for each row execute function told()`,
    ],
    ['policy only_theirs on table accounts', 'create policy only_theirs on accounts'],
    ['rule told on table accounts', 'create rule told as on insert to accounts do also notify told'],
    ['table more_accounts', 'create table more_accounts () inherits (accounts)'],
    ['index accounts_of_theirs', 'create index accounts_of_theirs on accounts (language)'],
    ['statistics object of_theirs', 'create statistics of_theirs on email, language from accounts'],
    ['publication of_theirs', 'create publication of_theirs for table accounts'],
    [
      'function of_theirs(accounts)',
      `create function of_theirs(accounts) returns int language sql as 'select 1'`,
    ],
    ['column one of table pairs', 'create table pairs (one accounts)'],
    [
      'default value for column id of table orders',
      `create table orders (id bigint default nextval('events_id_seq'))`,
    ],
    [
      'index found',
      'create table texts (id text); create index found on texts using gin (account_trigrams(id))',
    ],
  ]
  longTest('what hangs on our tables is named, and stays', async () => {
    // A refusal names twelve.
    for (const some of [hanging.slice(0, 7), hanging.slice(7)]) {
      await using shared = await openShared()
      expect(await migrate(shared.url)).toBe('accepted')
      for (const [, make] of some) await shared.admin.unsafe(make)
      const before = await picture(shared)
      const said = await restoreInto(shared.url, true)
      expect(said).toContain('holds what others hung on the tables of poterne (')
      for (const [what] of some) expect(said).toContain(what)
      expect(await picture(shared)).toEqual(before)
    }
  })

  test('a function that only has the name of ours stays', async () => {
    await using shared = await openShared()
    expect(await migrate(shared.url)).toBe('accepted')
    await shared.admin.unsafe(`create function limits_charge(int) returns int language sql as 'select $1'`)
    const before = await picture(shared)
    expect(await restoreInto(shared.url, true)).toContain(
      `(function limits_charge(integer)): ${OWN_DATABASE}`,
    )
    expect(await picture(shared)).toEqual(before)
  })
})

longTest(
  'a schema that is named like the role, which search_path names first, is ours everywhere',
  async () => {
    await using shared = await openShared()
    const schema = `${shared.role}-App`
    await shared.admin.unsafe(
      `alter role ${shared.role} rename to "${schema}"; create schema authorization "${schema}"`,
    )
    const url = new URL(shared.url)
    url.username = schema
    const storage = { server: { secret: secretText }, database: { url: url.href } }
    await (await startService({ storage })).close()
    expect(await migrate(url.href)).toBe('accepted')
    expect(await restoreInto(url.href, false)).toBe('accepted')
    expect(await writeBackupOf(url.href)).toContain('accounts')
    expect(await restoreInto(url.href, true)).toBe('accepted')
    const database = openServer({ url: url.href, poolSize: 1 })
    expect(await checkRights({ database } as StoreContext)).toMatchObject({ level: 'ok' })
    await database.close()
    const places = await shared.admin`
    select nspname from pg_class join pg_namespace on pg_namespace.oid = relnamespace where relname = 'accounts'`
    expect(places.map(({ nspname }) => nspname)).toEqual([schema])
  },
)

test('the ids of events never go back in a restore', async () => {
  await using shared = await openShared()
  const lastEvent = async () => Number((await shared.admin`select max(id) as last from events`)[0]!.last)
  expect(await restoreInto(shared.url, false)).toBe('accepted')
  expect(await lastEvent()).toBe(1_000_001)
  await shared.admin`select setval('events_id_seq', 2000000)`
  expect(await restoreInto(shared.url, true)).toBe('accepted')
  expect(await lastEvent()).toBe(2_000_001)
})
