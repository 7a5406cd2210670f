/**
 * `poterne doctor` on real servers. Everything is well at first; then each test breaks one thing, and exactly the check
 * of that one says so.
 */
import { describe, expect, spyOn, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { cleanWords } from '../../src/domain/messages/senders/clean-words.ts'
import { doctorCommand } from '../../src/operations/commands/doctor.ts'
import { run } from '../../src/operations/commands/run.ts'
import { checks } from '../../src/operations/doctor/checks.ts'
import { checkDisk, checkSpace } from '../../src/operations/doctor/database-checks.ts'
import { explainFailure } from '../../src/operations/doctor/explain.ts'
import {
  checkSecretFiles,
  findEnvironmentFiles,
  lookAtFiles,
} from '../../src/operations/doctor/machine-checks.ts'
import { checkArrival, checkGateways } from '../../src/operations/doctor/reach-checks.ts'
import { checkRedisVersion } from '../../src/operations/doctor/redis-checks.ts'
import { checkSealedRows } from '../../src/operations/doctor/stored-checks.ts'
import { openSocket } from '../../src/platform/admin-socket.ts'
import { applyMigrations, ownMigrations } from '../../src/platform/postgres/migrate.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { newEmail } from '../helpers/api-client.ts'
import { startChangingProxy } from '../helpers/changing-proxy.ts'
import { freePort } from '../helpers/free-port.ts'
import { startNameServer } from '../helpers/name-server.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { replaceVariables } from '../helpers/run-here.ts'
import { createDatabase, sharedPostgres, startRedis } from '../helpers/servers.ts'
import { mergeSettings, type Settings, startService, writeSettings } from '../helpers/service.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { longTest } from '../helpers/soak.ts'
import { use } from '../helpers/use-service.ts'

interface Line {
  name: string
  level: 'ok' | 'warning' | 'failure'
  message: string
}

async function captured(args: string[]): Promise<{ code: number; out: string }> {
  let out = ''
  const write = spyOn(process.stdout, 'write').mockImplementation((text) => {
    out += text
    return true
  })
  const putBack = replaceVariables({})
  try {
    return { code: await run({ doctor: async () => doctorCommand() }, ['doctor', ...args]), out }
  } finally {
    putBack()
    write.mockRestore()
    // Every run listens for a pipe that closes.
    process.stdout.removeAllListeners('error')
  }
}

/** A service that runs, and its socket. */
async function startReachable(options: Parameters<typeof startService>[0]) {
  const started = await startService(options)
  const socket = join(newDirectory('socket'), 'admin.sock')
  const opened = await openSocket(socket, started.inside.administration.handle)
  if ('refused' in opened) throw new Error(opened.refused)
  return {
    ...started,
    socket,
    async close() {
      await opened.server.stop(true)
      await started.close()
    },
  }
}

const service = use(() => startReachable({ shape: 'redis' }))
const mail = use(async () => {
  const smtp = await startSmtp()
  return { smtp, close: smtp.stop }
})
const wellKnown = {
  'acme.test': ['google-site-verification=x', 'v=spf1 include:_spf.acme-mail.test -all'],
  '_dmarc.acme.test': ['v=DMARC1; p=quarantine'],
  's1._domainkey.acme.test': ['v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3'],
}
const names = use(() => startNameServer({ ...wellKnown }))
function serve(records: Record<string, string[]>): void {
  for (const name of Object.keys(names.records)) delete names.records[name]
  Object.assign(names.records, records)
}

interface Patient {
  settings: Settings
  file: { mode: number }
  /** Gives it a database of its own, which may be changed. */
  ownDatabase(): Promise<postgres.Sql>
}

/** It has the keys of the service that runs, and a backup of today. */
async function createPatientDatabase() {
  const { url, drop } = await createDatabase()
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await prepare(sql)
  return {
    ...{ url, sql },
    async close() {
      await sql.end({ timeout: 1 })
      await drop()
    },
  }
}

async function prepare(sql: postgres.Sql): Promise<void> {
  await copyKeys(sql)
  await sql`insert into backups (id, last_success_at) values (1, now())
            on conflict (id) do update set last_success_at = now()`
}

const database = use(createPatientDatabase, service)

/** Builds a healthy installation: a database, Redis, mail, DNS, a gateway, and the service that runs. */
async function healthy(): Promise<Patient> {
  const { smtp } = mail
  const settings = mergeSettings(service.storage, {
    server: { base_url: service.url, port: Number(new URL(service.url).port) },
    database: { url: database.url, pool_size: 2 },
    password: { memory_kib: 19_456, iterations: 2 },
    limits: { hash_concurrency: 1 },
    smtp: {
      ...{ host: smtp.host, port: smtp.port, ...smtp.auth, ca_file: smtp.caFile },
      ...{ from: 'Poterne <no-reply@acme.test>', dkim_selector: 's1' },
    },
    sms: { gateways: [{ name: 'stub', url: service.gateway.url, body: { to: '{to}', text: '{text}' } }] },
  })
  return {
    settings,
    file: { mode: 0o600 },
    async ownDatabase() {
      const { url, sql, close } = await createPatientDatabase()
      closers.push(close)
      set(settings, 'database', { url })
      return sql
    },
  }
}

async function copyKeys(to: postgres.Sql): Promise<void> {
  const from = postgres(service.storage.database?.url as string, { max: 1 })
  const rows = await from`select * from signing_keys`
  await from.end()
  for (const row of rows) await to`insert into signing_keys ${to(row)}`
}

/** The options that name a file with these settings, and the name server. */
function configured(settings: Settings, mode = 0o600): string[] {
  const { file } = writeSettings(settings)
  chmodSync(file, mode)
  return ['--config', file, '--resolver', names.address]
}

/** Its report to programs. */
async function report(args: string[]) {
  const { code, out } = await captured(['--json', ...args])
  const said = JSON.parse(out) as { checks: Line[]; failures: number; warnings: number }
  const messageOf = (name: string) => said.checks.find((line) => line.name === name)?.message
  return { ...said, code, messageOf, bad: said.checks.filter(({ level }) => level !== 'ok') }
}

const examine = ({ settings, file }: Patient, more: string[] = []) =>
  report([...configured(settings, file.mode), '--socket', service.socket, ...more])

test('where everything is well each of the checks says so, in the order of the list', async () => {
  const { code, checks: lines, bad, failures, warnings } = await examine(await healthy())
  expect(bad).toEqual([])
  expect({ code, failures, warnings }).toEqual({ code: 0, failures: 0, warnings: 0 })
  expect(lines.map(({ name }) => name)).toEqual(checks.map(({ name }) => name))
  expect(lines.length).toBeGreaterThanOrEqual(20)
  expect(mail.smtp.messages).toEqual([])
  expect(service.gateway.requests.filter(({ method }) => method !== 'HEAD')).toEqual([])
})

const closers: (() => Promise<unknown>)[] = []

/** A thing that breaks, and the check that says so. `broken`: settings of the patient, or what is done to it. */
function breakage(level: 'warning' | 'failure', testOf = test) {
  return (what: string, name: string, message: RegExp, broken: Settings | ((patient: Patient) => unknown)) =>
    testOf(what, async () => {
      const patient = await healthy()
      try {
        if (typeof broken === 'function') await broken(patient)
        else patient.settings = mergeSettings(patient.settings, broken)
        const { code, bad } = await examine(patient)
        // What a pending migration makes is not there to be checked.
        const found = bad.filter(
          (finding) => finding.message !== 'not checked, because migrations are pending',
        )
        expect(found).toEqual([{ name, level, message: expect.stringMatching(message) }])
        expect(code).toBe(level === 'failure' ? 1 : 0)
        expect(bad[0]?.message).not.toContain('\n')
      } finally {
        mail.smtp.behave({})
        serve(wellKnown)
        for (const close of closers.splice(0)) await close()
      }
    })
}

describe('exactly one check says what is wrong, and what to do', () => {
  const [warns, fails] = [breakage('warning'), breakage('failure')]
  /** What connection-words.test.ts hears of the same servers in each run. */
  const failsToo = breakage('failure', longTest)
  const warnsToo = breakage('warning', longTest)

  warns('a hash that is cheap', 'configuration', /password\.memory_kib.*guessed/, {
    password: { memory_kib: 8, iterations: 1 },
  })
  failsToo(
    'a configuration with secrets that everybody may read',
    'secret-files',
    /can be read by everybody: chmod o=/,
    ({ file }) => {
      file.mode = 0o644
    },
  )
  fails(
    'more passwords at once than there is memory for',
    'memory',
    /1024 passwords .* lower limits\.hash_concurrency/,
    {
      limits: { hash_concurrency: 1024 },
      password: { memory_kib: Math.max(19_456, Math.ceil((totalmem() * 1.1) / 1024 / 1024)) },
    },
  )
  warnsToo('a hash that takes long', 'hash-time', /takes \d+ ms.*lower password\.iterations/, {
    password: { iterations: 60 },
  })
  failsToo(
    'a server that says it is old',
    'database-version',
    /PostgreSQL 12 is too old: upgrade/,
    (patient) =>
      shadow(
        patient,
        `current_setting(name text) returns text language sql stable as $$
      select case name when 'server_version_num' then '120005' else pg_catalog.current_setting(name) end $$`,
      ),
  )
  failsToo(
    'a database in another encoding',
    'database-encoding',
    /SQL_ASCII.*create a database with encoding/,
    (patient) => recreate(patient, `encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' template template0`),
  )
  fails(
    'a user who may use the tables, and not make any',
    'database-rights',
    /may not create tables.*make .* the owner/,
    (patient) => useRole(patient, 'select, insert, update, delete'),
  )
  failsToo(
    'a user who may only read',
    'database-rights',
    /may not read and write .* tables: make/,
    (patient) => useRole(patient, 'select'),
  )
  failsToo(
    'a user who may not use a sequence',
    'database-rights',
    /may not use sequence events_id_seq: make .* the owner/,
    async (patient) => {
      const { sql, role } = await useRole(patient, 'select, insert, update, delete')
      await sql.unsafe(`revoke usage on sequence events_id_seq from ${role}`)
    },
  )
  failsToo(
    'policies that hide rows from the user',
    'database-rights',
    /row-level security hides rows of sessions from role_\w+: turn it off there/,
    async (patient) => {
      const { sql } = await useRole(patient, 'select, insert, update, delete')
      await sql`alter table sessions enable row level security`
    },
  )
  warns(
    'a pool that is larger than the server allows',
    'database-connections',
    /database\.pool_size is 1000.*lower it/,
    { database: { pool_size: 1000 } },
  )
  warnsToo(
    'a user with few connections left',
    'database-connections',
    /\d of 3 connections are left/,
    (patient) => alterDatabase(patient, 'connection limit 3'),
  )
  fails(
    'a database with another clock',
    'database-clock',
    /60 s behind that of the database.*NTP/,
    (patient) =>
      shadow(
        patient,
        `clock_timestamp() returns timestamptz language sql volatile as $$
      select pg_catalog.clock_timestamp() + interval '1 minute' $$`,
      ),
  )
  warns('a migration that is pending', 'migrations', /applied when the service starts/, leaveLastMigration)
  failsToo(
    'a migration that is pending where only `poterne migrate` applies it',
    'migrations',
    /run `poterne migrate`/,
    async (patient) => {
      await leaveLastMigration(patient)
      set(patient.settings, 'database', { migrate: false })
    },
  )
  failsToo('a Redis that says it is old', 'redis-version', /Redis 5\.0\.\d+ is too old: upgrade/, (patient) =>
    throughProxy(patient, (said) => said.replace(/(redis_version:)\d/g, '$15')),
  )
  fails('a Redis with another clock', 'redis-clock', /behind that of Redis.*NTP/, (patient) =>
    throughProxy(patient, (said) =>
      said.replace(/(\*2\r\n\$10\r\n)(\d{10})/g, (_, head, seconds) => head + (Number(seconds) + 60)),
    ),
  )
  failsToo(
    'a Redis that forgets when it is full',
    'redis-eviction',
    /allkeys-lru.*set it to noeviction/,
    (patient) => withRedis(patient, ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru']),
  )
  fails('a Redis that cannot save', 'redis-persistence', /last save to its disk failed/, (patient) =>
    withRedis(patient, ['--stop-writes-on-bgsave-error', 'no'], async (say) => {
      // A directory is where the file should be. Writes go on, so that nothing else is wrong.
      const { dir: directory } = (await say('CONFIG', 'GET', 'dir')) as { dir: string }
      mkdirSync(join(directory, 'dump.rdb', 'of-somebody'), { recursive: true })
      await say('BGSAVE')
      while (/rdb_bgsave_in_progress:1/.test(String(await say('INFO', 'persistence')))) await Bun.sleep(10)
    }),
  )
  fails(
    'an authenticator app that nothing opens',
    'sealed-rows',
    /1 sealed rows .* put the former secret into server\.previous_secrets/,
    async ({ ownDatabase }) => {
      const sql = await ownDatabase()
      await sql`insert into accounts (uuid, email, accountable_type, role_id, language, created_at, updated_at)
                values (gen_random_uuid(), ${newEmail()}, 'User', 1, 'en', now(), now())`
      await sql`insert into totp_factors (account_id, sealed_secret, confirmed_at, last_step)
                select id, '\\x00'::bytea, now(), 0 from accounts`
    },
  )
  warns(
    'a signing key that nobody replaced',
    'signing-key',
    /it is 120 days old.*poterne keys rotate/,
    async ({ ownDatabase }) =>
      (await ownDatabase())`update signing_keys set signs_from = signs_from - interval '120 days'`,
  )
  fails(
    'a backup that failed',
    'backup',
    /the last one failed \(the disk is full\): run `poterne backup`/,
    async ({ ownDatabase }) => {
      const sql = await ownDatabase()
      await sql`update backups set last_success_at = now() - interval '1 day', last_failure_at = now(),
                                   last_failure = 'the disk is full'`
    },
  )
  warnsToo(
    'a backup that was not restored on trial',
    'backup',
    /the last one is 0 hours old; the trial restore could not run/,
    async ({ ownDatabase }) =>
      (await ownDatabase())`update backups set last_warning = 'the trial restore could not run'`,
  )
  warns(
    'a range of numbers that the guard closed',
    'sms-prefixes',
    /^the guard closed \+371234 until .*`poterne sms prefixes open \+371234` opens it$/,
    async ({ ownDatabase }) => {
      const sql = await ownDatabase()
      await sql`insert into sms_prefixes (prefix, day, codes, closed_until)
                values ('+371234', current_date, 40, now() + interval '1 day')`
      await sql`insert into sms_closings (prefix, reason, closed_until, created_at, creator_type)
                values ('+44', 'no customers there', now() + interval '1 day', now(), 'operator')`
    },
  )
  fails('backups that stopped', 'backup', /\d+ hours old, although backup\.at is 03:30/, async (patient) => {
    const sql = await patient.ownDatabase()
    await sql`update backups set last_success_at = now() - interval '3 days'`
    set(patient.settings, 'backup', { at: '03:30' })
  })
  failsToo(
    'a passphrase that cannot be read',
    'backup',
    /^backup\.passphrase_file: \/nowhere cannot be read \(ENOENT\): let the user of the service read it/,
    { backup: { at: '03:30', passphrase_file: '/nowhere' } },
  )
  fails(
    'a sender that the mail server refuses',
    'mail-sender',
    /smtp refuses .*no-reply@acme\.test.*550.*allow that sender/,
    () => mail.smtp.behave({ refuse: { status: 550, at: 'sender' } }),
  )
  warns('no SPF record', 'spf', /has no SPF record.*add the TXT record/, () =>
    serve({ ...wellKnown, 'acme.test': [] }),
  )
  failsToo('two SPF records', 'spf', /2 SPF records, which counts as none: join them/, () =>
    serve({ ...wellKnown, 'acme.test': ['v=spf1 -all', 'v=spf1 mx -all'] }),
  )
  warnsToo('no DMARC record', 'dmarc', /no DMARC record.*_dmarc\.acme\.test/, () => {
    const { '_dmarc.acme.test': _, ...others } = wellKnown
    serve(others)
  })
  fails('no DKIM key', 'dkim', /no key at s2\._domainkey\.acme\.test.*smtp\.dkim_selector/, {
    smtp: { dkim_selector: 's2' },
  })
  fails('a gateway that is away', 'gateways', /gone: .*nothing listens there/, async ({ settings }) => {
    const url = `http://127.0.0.1:${await freePort()}/send`
    set(settings, 'sms', { gateways: [{ name: 'gone', url, body: { to: '{to}', text: '{text}' } }] })
  })
  warns(
    'a name with letters that SMS lack',
    'sms-texts',
    /"Zażółć" has .*70 characters instead of 160.*texts\.service_name/,
    { texts: { service_name: 'Zażółć' } },
  )
  warnsToo(
    'a text of the operator with a letter that SMS lack',
    'sms-texts',
    /a text of your own has ’.*change it in texts\.directory/,
    ({ settings }) => {
      const directory = newDirectory('texts')
      const text = 'sms = "{service} : {code} est votre code, qu’il faut taper."'
      writeFileSync(join(directory, 'fr.toml'), `[messages.codes.confirmation]\n${text}\n`)
      set(settings, 'texts', { directory })
    },
  )
  warns(
    'a token that was made under a wrong clock',
    'future-dates',
    /token nightly \(2\d{3}-.*\): revoke it and make another$/,
    async ({ ownDatabase }) => {
      const sql = await ownDatabase()
      await sql`insert into administration_tokens
                  (uuid, hash, name, scopes, addresses, created_at, expires_at, creator_type)
                select gen_random_uuid(), name::bytea, name, '[]', '[]', now() + day * interval '1 day',
                       now() + interval '9 years', 'operator'
                  from (values ('nightly', 700), ('of today', 0)) made (name, day)`
    },
  )
  fails(
    'an address that leads to another service',
    'base-url',
    /other keys than those of this database: correct server\.base_url/,
    async (patient) => {
      const port = await behindProxy(patient, (request, pass) =>
        request.url.endsWith('/jwks.json') ? Response.json({ keys: [{ kid: 'another' }] }) : pass({}),
      )
      // This test is not about proxies, so nothing is in front.
      set(patient.settings, 'server', { port })
    },
  )
  fails(
    'a proxy that is not trusted',
    'forwarded-for',
    /comes from 127\.0\.0\.1, which is not trusted.*server\.trusted_proxies/,
    (patient) => behindProxy(patient, (_, pass) => pass({ 'x-forwarded-for': '203.0.113.7, 127.0.0.1' })),
  )
  fails(
    'a provider whose description cannot be read',
    'providers',
    /corporate cannot be used .*its issuer in the configuration/,
    async ({ settings }) => {
      const issuer = `http://localhost:${await freePort()}`
      const provider = { name: 'corporate', issuer, client_id: 'poterne', client_secret: 'secret' }
      set(settings, 'social', { providers: [provider], redirect_uris: ['https://app.acme.test/in'] })
    },
  )
  fails(
    'a site that does not serve the files of passkeys',
    'passkeys',
    /passkey-endpoints answers 404: pass that path on to poterne/,
    ({ settings }) =>
      set(settings, 'passkeys', {
        rp_id: 'localhost',
        origins: [service.url.replace('127.0.0.1', 'localhost')],
        enroll_url: 'https://acme.test/passkeys/new',
      }),
  )
  warnsToo(
    'an origin of passkeys that does not exist',
    'passkeys',
    /cannot be reached from here: .*passkeys\.origins|nothing listens there/,
    async ({ settings }) =>
      set(settings, 'passkeys', { rp_id: 'localhost', origins: [`http://localhost:${await freePort()}`] }),
  )
})

function set(settings: Settings, section: string, keys: Record<string, unknown>): void {
  settings[section] = { ...settings[section], ...keys }
}

/** Changes a database of its own, for the connections that follow. */
async function alterDatabase({ ownDatabase }: Patient, change: string): Promise<postgres.Sql> {
  const sql = await ownDatabase()
  const [{ name }] = (await sql`select current_database() as name`) as unknown as [{ name: string }]
  await sql.unsafe(`alter database ${name} ${change}`)
  return sql
}

/** A function that is found before PostgreSQL's own, on every connection to this database from now on. */
async function shadow(patient: Patient, definition: string): Promise<void> {
  const sql = await alterDatabase(patient, 'set search_path = public, pg_catalog')
  await sql.unsafe(`create function public.${definition}`)
}

/** Another database in its place. */
async function recreate(patient: Patient, options: string, migrations = ownMigrations): Promise<void> {
  const admin = postgres((await sharedPostgres()).url, { max: 1, onnotice: () => {} })
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  await admin.unsafe(`create database ${name} ${options}`)
  const url = new URL(patient.settings.database?.url as string)
  url.pathname = `/${name}`
  const database = openServer({ url: url.href, poolSize: 1 })
  await applyMigrations(database, new Date(), { migrations })
  await database.close()
  const sql = postgres(url.href, { max: 1, onnotice: () => {} })
  await prepare(sql)
  await sql.end()
  set(patient.settings, 'database', { url: url.href })
  closers.push(async () => {
    await admin.unsafe(`drop database ${name} with (force)`)
    await admin.end()
  })
}

const leaveLastMigration = (patient: Patient) => recreate(patient, '', ownMigrations.slice(0, -1))

async function useRole({ ownDatabase, settings }: Patient, rights: string) {
  const sql = await ownDatabase()
  const role = `role_${crypto.randomUUID().replaceAll('-', '')}`
  await sql.unsafe(`create role ${role} login;
    grant usage on schema public to ${role};
    grant ${rights} on all tables in schema public to ${role};
    grant usage on all sequences in schema public to ${role}`)
  const url = new URL(settings.database?.url as string)
  url.username = role
  set(settings, 'database', { url: url.href })
  closers.unshift(() => sql.unsafe(`drop owned by ${role} cascade; drop role ${role}`))
  return { sql, role }
}

test('tables of another application are named, and nobody has to own them', async () => {
  const patient = await healthy()
  const { sql, role } = await useRole(patient, 'select')
  await sql.unsafe(`grant create on schema public to ${role}; create table notes (id int);
    do $$ declare one record; begin
      for one in select format('table %s', oid::regclass) as what from pg_class
                  where relkind = 'r' and relname <> 'notes' and relnamespace = 'public'::regnamespace
                 union all
                 select format('function %s', oid::regprocedure) from pg_proc where pronamespace = 'public'::regnamespace
      loop execute format('alter %s owner to ${role}', one.what); end loop; end $$`)
  const { bad, messageOf } = await examine(patient)
  for (const close of closers.splice(0)) await close()
  expect(bad).toEqual([])
  expect(messageOf('database-rights')).toBe(
    `${role} may migrate, read and write; notes in the same schema are of other applications`,
  )
})

test('a signing key that a clock ahead made is not younger than nothing', async () => {
  const patient = await healthy()
  await (await patient.ownDatabase())`update signing_keys set signs_from = now() + interval '1 day'`
  const { messageOf } = await examine(patient)
  for (const close of closers.splice(0)) await close()
  expect(messageOf('signing-key')).toBe('it is 0 days old')
})

test('Redis is new enough from 6.2 on', async () => {
  const levelOf = async (version: string) =>
    (await checkRedisVersion({ config: {}, redis: { inspect: async () => [{ version }] } } as never)).level
  const versions = ['5.0.14', '6.0.16', '6.2.0', '7.2.4', '10.0.1', 'unknown']
  expect(await Promise.all(versions.map(levelOf))).toEqual([
    ...(['failure', 'failure', 'ok', 'ok', 'ok', 'warning'] as const),
  ])
})

test('files of variables are found where the documents and the unit put them', () => {
  const root = newDirectory('root')
  const put = (path: string, text: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
    return join(root, path)
  }
  expect(findEnvironmentFiles(root)).toEqual([])
  const documented = put('etc/poterne/environment', 'POTERNE_SERVER_SECRET=abc\n')
  put('etc/default/poterne', 'LANG=C\n')
  const own = put('srv/own.env', 'export POTERNE_DATABASE_URL=postgres://a:b@h/d\n')
  put('usr/lib/systemd/system/poterne.service', '[Service]\nEnvironmentFile=-/etc/default/poterne\n')
  put('etc/systemd/system/poterne.service.d/own.conf', '[Service]\nEnvironmentFile = /srv/own.env\n')
  const files = findEnvironmentFiles(root)
  expect(files).toEqual([documented, own])
  const found = (mode: number) => {
    chmodSync(documented, mode)
    chmodSync(own, 0o600)
    return checkSecretFiles({
      config: { storage: { dataDir: root }, database: { url: 'x' }, server: { secret: null } },
      secretFiles: lookAtFiles(files),
    } as never)
  }
  expect(found(0o600)).toEqual({ level: 'ok', message: '2 can be read by their owner alone' })
  expect(found(0o644)).toMatchObject({
    level: 'failure',
    message: expect.stringContaining(`${documented} can be read by everybody: chmod o=`),
  })
})

test('the name of a mail user is taken out of what a server says as a word, never inside another', () => {
  const words = (name: string, said: string) => cleanWords(said, { to: name, code: null }, (text) => text)
  expect(words('auth', '535 Incorrect authentication data for auth')).toBe(
    '535 Incorrect authentication data for …',
  )
  expect(words('', '554 no service')).toBe('554 no service')
})

type Say = (command: string, ...args: string[]) => Promise<unknown>

async function withRedis(
  { settings }: Patient,
  parameters: string[],
  prepare: (say: Say) => Promise<void> = async () => {},
) {
  const redis = await startRedis(parameters)
  closers.push(redis.stop)
  set(settings, 'redis', { url: redis.url })
  const client = new Bun.RedisClient(redis.url)
  await prepare((command, ...args) => client.send(command, args))
  client.close()
  return redis
}

async function throughProxy(patient: Patient, change: (said: string) => string): Promise<void> {
  const redis = await withRedis(patient, [])
  const proxy = await startChangingProxy(redis.port, change)
  closers.push(proxy.close)
  set(patient.settings, 'redis', { url: `redis://127.0.0.1:${proxy.port}` })
}

type Pass = (headers: Record<string, string>) => Promise<Response>

/** A reverse proxy in front of the service that runs. */
async function behindProxy(
  { settings }: Patient,
  handle: (request: Request, pass: Pass) => Response | Promise<Response>,
): Promise<number> {
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) =>
      handle(request, (headers) => {
        const { pathname } = new URL(request.url)
        return fetch(service.url + pathname, {
          headers: { ...Object.fromEntries(request.headers), ...headers },
        })
      }),
  })
  closers.push(() => proxy.stop(true))
  set(settings, 'server', { base_url: `http://127.0.0.1:${proxy.port}` })
  return proxy.port as number
}

const namesOf = (lines: Line[]) => lines.map(({ name }) => name)
const dependents = (name: string) => checks.filter((check) => check.after === name).map((check) => check.name)

describe('what others stand on', () => {
  test('a database that does not let poterne in: the checks that need it say why they were not made', async () => {
    const patient = await healthy()
    set(patient.settings, 'database', { url: `${patient.settings.database?.url}x` })
    const { code, bad } = await examine(patient)
    expect(code).toBe(1)
    expect(bad.find(({ name }) => name === 'database')).toEqual({
      name: 'database',
      level: 'failure',
      message: expect.stringMatching(/3D000.*create that database, or correct its name$/),
    })
    const others = bad.filter(({ name }) => name !== 'database')
    expect(new Set(others.map(({ level }) => level))).toEqual(new Set(['warning']))
    expect(namesOf(others)).toEqual(expect.arrayContaining(dependents('database')))
  })

  test('a database that only reads: it answers, and serves nobody', async () => {
    const patient = await healthy()
    await alterDatabase(patient, 'set default_transaction_read_only = on')
    const { code, bad } = await examine(patient)
    for (const close of closers.splice(0)) await close()
    expect(code).toBe(1)
    expect(bad[0]).toEqual({
      name: 'database',
      level: 'failure',
      message: 'read-only: it takes no writes: name the primary in database.url, or make space on its disk',
    })
    expect(namesOf(bad)).toEqual(['database', ...dependents('database')])
  })

  test('a Redis that is away, and only what needs it', async () => {
    const patient = await healthy()
    set(patient.settings, 'redis', { url: `redis://127.0.0.1:${await freePort()}` })
    const { code, bad } = await examine(patient)
    expect(code).toBe(1)
    expect(namesOf(bad)).toEqual(['redis', ...dependents('redis')])
    expect(bad[0]).toMatchObject({ level: 'failure', message: expect.stringContaining('start it') })
  })

  test.each([
    ['Redis is unavailable (CLOSED)', 'Redis is unavailable (CLOSED): nothing answers'],
    ['The operation timed out', 'The operation timed out: nothing answers'],
    [
      'ECONNREFUSED: Unable to connect. Is the computer able to access the url?',
      'ECONNREFUSED: Unable to connect: nothing listens there',
    ],
    [
      'too many connections for role "app" (53300)',
      'too many connections for role "app" (53300): it takes no more connections: raise max_connections',
    ],
    [
      'certificate has expired (CERT_HAS_EXPIRED)',
      'certificate has expired (CERT_HAS_EXPIRED): its certificate is not trusted for this host, since it has expired: renew it',
    ],
    ['read ECONNRESET', 'read ECONNRESET: it closes the connection: correct host and port, and look whether'],
  ])('what a runtime says (%s) is followed by what to do', (said, explained) => {
    expect(explainFailure(new Error(said))).toStartWith(explained)
  })

  test('a directory without a database is a failure that names it, and Redis is not missed', async () => {
    const { settings } = await healthy()
    const { database: _, redis: __, ...others } = settings
    const data_dir = join(newDirectory('new'), 'data')
    const asked = configured({ ...others, storage: { data_dir } })
    const { code, bad, messageOf } = await report(asked)
    expect(code).toBe(1)
    expect(namesOf(bad.filter(({ level }) => level === 'failure'))).toEqual(['database'])
    expect(messageOf('database')).toStartWith(
      `storage.data_dir: there is no database in ${data_dir}. The first start`,
    )
    expect((await captured(asked)).out).toContain(': 1 failure (database), ')
    expect(messageOf('migrations')).toBe('not checked, because there is no database')
    expect(messageOf('redis')).toContain('not configured')
    expect(existsSync(data_dir)).toBe(false)
  })

  test('a mail server that does not know the password, and only what needs it', async () => {
    const patient = await healthy()
    set(patient.settings, 'smtp', { password: 'hunter2' })
    const { bad } = await examine(patient)
    expect(namesOf(bad)).toEqual(['mail-server', 'mail-sender'])
    expect(bad[0]).toMatchObject({
      level: 'failure',
      message: expect.stringContaining('correct username and password'),
    })
    expect(JSON.stringify(bad)).not.toContain('hunter2')
  })

  longTest('name servers that do not answer: a warning for each record', async () => {
    const patient = await healthy()
    const { bad } = await examine(patient, ['--resolver', `127.0.0.1:${await freePort()}`])
    expect(bad.map(({ name, level }) => [name, level])).toEqual([
      ['spf', 'warning'],
      ['dmarc', 'warning'],
      ['dkim', 'warning'],
    ])
    expect(bad[0]?.message).toContain('--resolver')
  })

  test('an address that cannot be reached from here is no failure', async () => {
    const patient = await healthy()
    set(patient.settings, 'server', { base_url: `http://127.0.0.1:${await freePort()}` })
    const { code, bad } = await examine(patient)
    expect([code, bad.map(({ name, level }) => `${name} ${level}`)]).toEqual([
      0,
      ['base-url warning', 'forwarded-for warning'],
    ])
    expect((await examine(patient, ['--strict'])).code).toBe(1)
  })
})

describe('how an address arrives', () => {
  const arrival = { peer: '10.0.0.9', forwardedFor: '192.0.2.123', address: '10.0.0.9', isTrusted: false }
  test.each([
    ['nothing in front', arrival, true, 'ok', 'not believed'],
    [
      'a proxy that adds the address, and is trusted',
      { ...arrival, forwardedFor: '192.0.2.123, 10.0.0.1', isTrusted: true },
      false,
      'ok',
      'arrives',
    ],
    [
      'a proxy that puts the address in the place of all',
      { ...arrival, forwardedFor: '10.0.0.1', isTrusted: true },
      false,
      'ok',
      'arrives',
    ],
    [
      'a proxy that is not trusted',
      { ...arrival, forwardedFor: '192.0.2.123, 10.0.0.1' },
      false,
      'failure',
      'add "10.0.0.9" to server.trusted_proxies',
    ],
    [
      'a proxy that says nothing',
      { ...arrival, forwardedFor: null },
      false,
      'failure',
      'let it set that header',
    ],
    ['a proxy that passes on what clients write', arrival, false, 'failure', 'let it add'],
    [
      'a trusted proxy that passes on what clients write',
      { ...arrival, address: '192.0.2.123', isTrusted: true },
      false,
      'failure',
      'is believed',
    ],
  ])('%s', (_, seen, isDirect, level, message) => {
    expect(checkArrival(seen, isDirect)).toEqual({
      level,
      message: expect.stringContaining(message),
    } as never)
  })
})

test('the page of operators describes each check', async () => {
  const page = await Bun.file(join(import.meta.dir, '../../docs/monitoring.md')).text()
  for (const { name } of checks) expect(page).toContain(`\`${name}\``)
})

test('a former secret that nothing needs is named, a fresh one that waits to be used is not', async () => {
  const former = {
    id: '01234567',
    acceptedEverywhere: true,
    isCurrentElsewhere: false,
    rows: { signing_keys: 0, authenticator_apps: 0, lasting_keys: 0 },
    sessions: 0,
    removableAt: new Date(0),
  }
  const saidOf = async (wasCurrent: boolean) => {
    const status = { current: '89abcdef', previous: [{ ...former, wasCurrent }], lostRows: 0 }
    return (await checkSealedRows({ secrets: { status: async () => status } } as never)).message
  }
  expect(await saidOf(true)).toContain('1 former secrets are needed no more')
  expect(await saidOf(false)).toBe('all open under the accepted secrets')
})

test('the disk of a database on another machine is not looked at here', async () => {
  const on = (address: string | null) => ({
    kind: 'server',
    first: async ({ name }: { name: string }) =>
      name === 'doctor.facts' ? { address } : { directory: import.meta.dir },
  })
  const messageOf = async (address: string | null) =>
    (await checkDisk({ config: {}, database: on(address) } as never)).message
  expect(await messageOf('203.0.113.9')).toBe(
    'the disk of the server cannot be seen from here: watch it there',
  )
  for (const here of ['127.0.0.1', null]) expect(await messageOf(here)).toContain(`for ${import.meta.dir}`)
})

test('a gateway that is reached by way of a proxy is asked through it', async () => {
  const gateway = { name: 'far', url: 'https://sms.acme.test/send?to={to}', oauth: null }
  const asked: string[] = []
  const findingBy = (fetch: (url: string) => Promise<Response>) =>
    checkGateways({
      config: { sms: { gateways: [gateway] } },
      network: {
        fetch(url: string) {
          asked.push(url)
          return fetch(url)
        },
      },
    } as never)
  process.env.HTTPS_PROXY = 'http://proxy.acme.test:3128'
  try {
    expect(await findingBy(async () => new Response(null, { status: 404 }))).toEqual(
      expect.objectContaining({ level: 'ok', message: 'far: it answers by way of HTTPS_PROXY' }),
    )
    const away = await findingBy(() => Promise.reject(new Error('ECONNREFUSED')))
    expect(away.level).toBe('failure')
  } finally {
    delete process.env.HTTPS_PROXY
  }
  expect(new Set(asked)).toEqual(new Set(['https://sms.acme.test']))
})

test('a disk that fills is a warning below a gigabyte, and a failure below 100 MB', () => {
  const levelOf = (megabytes: number) => checkSpace('/data', megabytes * 1024 * 1024).level
  expect([levelOf(99), levelOf(101), levelOf(1023), levelOf(1025)]).toEqual([
    'failure',
    'warning',
    'warning',
    'ok',
  ])
})

describe('with the embedded database', () => {
  const embedded = use(() =>
    startReachable({ shape: 'embedded', settings: { password: { memory_kib: 19_456, iterations: 2 } } }),
  )
  const settingsOf = (more: Settings = {}) =>
    mergeSettings(
      embedded.storage,
      {
        server: { base_url: embedded.url, port: Number(new URL(embedded.url).port) },
        smtp: {
          host: mail.smtp.host,
          port: mail.smtp.port,
          ...mail.smtp.auth,
          ca_file: mail.smtp.caFile,
          from: 'a@acme.test',
        },
      },
      more,
    )
  const examineIt = () => report([...configured(settingsOf()), '--socket', embedded.socket])

  test('the service that runs looks for the command, and a backup needs a passphrase', async () => {
    const { code, bad, messageOf } = await examineIt()
    expect(messageOf('database')).toContain('embedded')
    expect([code, namesOf(bad)]).toEqual([1, ['configuration', 'backup']])
    expect(bad[1]?.message).toMatch(/lost together with the machine; set backup\.passphrase_file/)
  })

  test('a data directory that others may look into', async () => {
    const directory = embedded.storage.storage?.data_dir as string
    const { mode } = statSync(directory)
    chmodSync(directory, 0o755)
    const { bad } = await examineIt()
    chmodSync(directory, mode & 0o777)
    expect(bad.find(({ name }) => name === 'data-directory')).toMatchObject({
      level: 'failure',
      message: expect.stringMatching(/open to other users.*chmod go=/),
    })
    expect(namesOf(bad)).toEqual(['configuration', 'data-directory', 'backup'])
  })

  test('without its socket, that it is in use', async () => {
    const settings = settingsOf({ admin: { socket: join(newDirectory('none'), 'none.sock') } })
    const { messageOf } = await report(configured(settings))
    expect(messageOf('database')).toContain('name it with --socket')
  })
})

describe('the command', () => {
  test('prints a line for each check and a sum, and sends test messages where asked', async () => {
    const { settings } = await healthy()
    const [email, number] = [newEmail(), '+33612345678']
    const { code, out } = await captured([
      ...configured(settings),
      ...['--socket', service.socket, '--send-email', email, '--send-sms', number],
    ])
    const lines = out.trimEnd().split('\n')
    expect(lines).toHaveLength(checks.length + 3)
    expect(lines.at(-1)).toBe(`${checks.length + 2} checks: 0 failures, 0 warnings`)
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^ok {7}[a-z-]+: \S/)
    expect(code).toBe(0)
    expect((await mail.smtp.waitForMailTo(email)).text).toContain('this is a test')
    expect(service.gateway.requests.some((request) => JSON.stringify(request).includes(number))).toBe(true)
  })

  test('says what is wrong with the configuration, and looks no further', async () => {
    const { settings } = await healthy()
    set(settings, 'server', { port: 99_999 })
    const { code, out } = await captured(configured(settings))
    expect(code).toBe(1)
    expect(out).toMatch(
      /^failure {2}configuration: server\.port = 99999: expected .*\n1 check: 1 failure \(configuration\), 0 warnings\n$/,
    )
  })

  test.each([
    ['--send-email', 'nobody', /nobody is no e-mail address/],
    ['--send-sms', '12', /12 is no phone number/],
    ['--resolver', 'dns.acme.test', /--resolver must be an address/],
  ])('%s %s is wrong usage', async (option, value, message) => {
    const { settings } = await healthy()
    let error = ''
    const write = spyOn(process.stderr, 'write').mockImplementation((text) => {
      error += text
      return true
    })
    const { code } = await captured([...configured(settings), option, value])
    write.mockRestore()
    expect([code, error]).toEqual([2, expect.stringMatching(message) as unknown as string])
  })
})
