/** The address of the database: each part of it is honoured, or refused by its name. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { loadConfig } from '../../src/platform/config/load.ts'
import { describeProblem } from '../../src/platform/config/report.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { createCertificate } from '../helpers/certificates.ts'
import { poterneCommand } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { serverDirectory } from '../helpers/postgres-server.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { sharedPostgres, startPostgres } from '../helpers/servers.ts'

setDefaultTimeout(60_000)

const load = (rest: string) =>
  loadConfig({
    env: { POTERNE_DATABASE_URL: `postgres://${rest}`, POTERNE_SERVER_SECRET: 'ab'.repeat(32) },
    directory: newDirectory('config'),
    mustDeliver: false,
  })
function problemsOf(rest: string): string[] {
  const loaded = load(rest)
  return loaded.ok ? [] : loaded.problems.map(describeProblem)
}
function warningsOf(rest: string): string[] {
  const loaded = load(rest)
  if (!loaded.ok) throw new Error(loaded.problems.map(describeProblem).join('\n'))
  return loaded.warnings.filter(({ key }) => key === 'database.url').map(({ message }) => message)
}

const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})

const whereabouts = statement<
  object,
  { database: string; name: string; path: string; user: string; tls: boolean }
>(sql`
  select current_database()::text as database, current_setting('application_name') as name,
         current_setting('search_path') as path, current_user::text as "user",
         coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as tls`)

async function reached(url: string) {
  const database = openServer({ url, poolSize: 1 })
  try {
    return await database.first(whereabouts, {})
  } finally {
    await database.close()
  }
}

/** The reason beneath "the database does not answer". */
const refusalOf = (url: string) =>
  reached(url).then(
    () => 'none',
    (error: Error) => String((error.cause as { code?: string } | undefined)?.code ?? error.message),
  )

describe('a part that is not understood', () => {
  test.each([
    [
      'h/db?sslmode=nonsense',
      'its parameter sslmode takes disable, allow, prefer, require, verify-ca or verify-full',
    ],
    ['h/db?channel_binding=maybe', 'its parameter channel_binding takes disable, prefer or require'],
    ['h/db?keepalives_idle=soon', 'its parameter keepalives_idle takes a whole number'],
    ['h/db?target_session_attrs=best', /^its parameter target_session_attrs takes any, /],
    [
      'h/db?pgbouncer=true',
      'its parameter pgbouncer is known neither to PostgreSQL nor to poterne: take it out',
    ],
    ['h/db?schema=public', 'its parameter schema is known neither to PostgreSQL nor to poterne: take it out'],
    ['h/db?max=20', 'its parameter max is known neither to PostgreSQL nor to poterne: take it out'],
    ['h/db?__proto__=1', /^its parameter __proto__ is known neither/],
    ['h/db?hunter2%40=x', 'one of its parameters is known neither to PostgreSQL nor to poterne: take it out'],
    ['h/db?hunter2', 'one of its parameters has no value'],
    ['h/db?search_path=', 'its parameter search_path has no value'],
    ['h/db?work_mem=1MB&work_mem=2MB', 'its parameter work_mem is there twice'],
    ['h/db?requirepeer=root', 'poterne does not know how to honour its parameter requirepeer: take it out'],
    ['h/db?passfile=/x', /honour its parameter passfile: give the password in database\.password$/],
    ['h/db?sslrootcert=/nowhere', 'its parameter sslrootcert names a file that cannot be read (ENOENT)'],
    [
      'h/db?sslmode=prefer&sslcert=/x',
      'its parameter sslcert needs sslmode=require, verify-ca or verify-full',
    ],
    [
      'h/db?ssl_min_protocol_version=TLSv1.3',
      'its parameter ssl_min_protocol_version needs sslmode=require, verify-ca or verify-full',
    ],
    [
      'h/db?sslmode=prefer&ssl_max_protocol_version=TLSv1.2',
      'its parameter ssl_max_protocol_version needs sslmode=require, verify-ca or verify-full',
    ],
    [
      'h/db?sslnegotiation=direct',
      'its parameter sslnegotiation needs sslmode=require, verify-ca or verify-full',
    ],
    ['h/db?hostaddr=elsewhere', 'its parameter hostaddr takes one IP address, of one host'],
    ['h:0/db', /^its host and port cannot be read/],
    ['h:65536/db', /^its host and port cannot be read/],
    ['[::g]/db', /^its host and port cannot be read/],
    ['a,,b/db', /^its host and port cannot be read/],
    ['a,b/db?port=1,2,3', 'it holds another number of ports than of hosts'],
    ['u@/db?host=/run/a,/run/b', 'it lists a socket beside another host: name one of them'],
    ['h/db%00x', 'it holds %00, which PostgreSQL cannot read'],
    ['h/db#x', /^it holds the sign #/],
  ])('of postgres://%s is refused by its name', (rest, message) => {
    const found = problemsOf(rest)
    expect(found).toHaveLength(1)
    const [, said] = found[0]!.split(/^database\.url: /)
    if (typeof message === 'string') expect(said).toBe(message)
    else expect(said).toMatch(message)
  })

  test('ends `config check` with 2, without a connection', () => {
    const env = {
      POTERNE_DATABASE_URL: 'postgres://h/db?pgbouncer=true',
      POTERNE_SERVER_SECRET: 'ab'.repeat(32),
    }
    const { exitCode, stderr } = Bun.spawnSync([...poterneCommand(), 'config', 'check', '--dev'], {
      cwd: newDirectory('config'),
      env: { ...env, PATH: process.env.PATH, HOME: '/nonexistent' },
    })
    expect([exitCode, String(stderr)]).toEqual([
      2,
      expect.stringContaining('its parameter pgbouncer is known'),
    ])
  })
})

test.each([
  ['channel_binding=require', ['channel_binding']],
  ['channel_binding=prefer&gssencmode=disable&keepalives=1&keepalives_idle=30&sslsni=1', []],
  [
    'gssencmode=require&krbsrvname=db&service=acme&load_balance_hosts=random',
    ['gssencmode', 'krbsrvname', 'service', 'load_balance_hosts'],
  ],
  ['connect_timeout=10&tcp_user_timeout=500', ['connect_timeout', 'tcp_user_timeout']],
  ['client_encoding=UTF8&sslcompression=0', []],
  ['client_encoding=LATIN1', ['client_encoding']],
  ['statement_timeout=5000&TimeZone=Asia/Tokyo&work_mem=8MB', ['statement_timeout', 'TimeZone']],
  ['options=-c%20bytea_output%3Descape%20--work-mem%3D8MB', ['bytea_output']],
])('%s: a warning for each that has no effect', (query, names) => {
  expect(warningsOf(`127.0.0.1/db?${query}`)).toEqual(
    names.map((name) => expect.stringContaining(`its parameter ${name} has no effect: `)),
  )
})

describe('an address that is understood', () => {
  test('of a managed database, with what only libpq knows, connects', async () => {
    const { url } = await sharedPostgres()
    const only = 'channel_binding=prefer&gssencmode=disable&keepalives=1&sslsni=1&target_session_attrs=any'
    const found = await reached(`${url}?${only}&application_name=acme&options=-c%20search_path%3Dapp,public`)
    expect(found).toMatchObject({ database: 'postgres', name: 'acme', path: 'app,public' })
    expect(await reached(`${url}?search_path=other`)).toMatchObject({ name: 'poterne', path: 'other' })
  })

  test('may name any database and user, percent-encoded', async () => {
    const { url } = await sharedPostgres()
    const admin = postgres(url, { max: 1 })
    const names = ['po-terne@2', 'a b/ü?#%', 'plus+']
    for (const [at, name] of names.entries()) {
      await admin.unsafe(`create database "${name}"`)
      await admin.unsafe(`create role "${name}" login`)
      const place = url.replace(/postgres@/, `${encodeURIComponent(name)}@`)
      const own = place.replace(/\/[^/]*$/, `/${encodeURIComponent(name)}`)
      expect(await reached(own)).toMatchObject({ database: name, user: name })
      // They may be parameters, too, in which a plus sign is one.
      const words = `?dbname=${encodeURIComponent(name).replace('%2B', '+')}&user=${encodeURIComponent(name)}`
      if (at !== 1) expect(await reached(`${url}${words}`)).toMatchObject({ database: name, user: name })
      await admin.unsafe(`drop database "${name}"`)
      await admin.unsafe(`drop role "${name}"`)
    }
    await admin.end()
  })

  test('may list several hosts, an address beside a name, and IPv6', async () => {
    const server = await startPostgres({ settings: { listen_addresses: '127.0.0.1,::1' } })
    ends.push(server.stop)
    const { port } = server
    const closed = await freePort()
    expect(await reached(`postgres://postgres@127.0.0.1:${closed},127.0.0.1:${port}/postgres`)).not.toBeNull()
    expect(
      await reached(`postgres://postgres@/postgres?host=127.0.0.1,127.0.0.1&port=${closed},${port}`),
    ).not.toBeNull()
    expect(await reached(`postgres://postgres@[::1]:${port}/postgres`)).not.toBeNull()
    expect(
      await reached(`postgres://postgres@nowhere.invalid:${port}/postgres?hostaddr=127.0.0.1`),
    ).not.toBeNull()
  })

  test('verifies as much as it says, against the authority that it names', async () => {
    const directory = serverDirectory('tls')
    const { uid, gid } = statSync(directory)
    const trusted = createCertificate()
    const [cert, key] = [join(directory, 'server.crt'), join(directory, 'server.key')]
    writeFileSync(cert, trusted.cert)
    writeFileSync(key, trusted.key, { mode: 0o600 })
    for (const file of [cert, key]) chownSync(file, uid, gid)
    const server = await startPostgres({ settings: { ssl: 'on', ssl_cert_file: cert, ssl_key_file: key } })
    ends.push(server.stop)
    const at = (host: string, query: string) => `postgres://postgres@${host}:${server.port}/postgres?${query}`
    const ca = `sslrootcert=${encodeURIComponent(trusted.caFile)}`
    const other = `sslrootcert=${encodeURIComponent(createCertificate().caFile)}`
    for (const query of [ca, `${ca}&sslmode=verify-full`, `${ca}&sslmode=verify-ca`, `${ca}&sslmode=require`])
      expect([query, await reached(at('localhost', query))]).toEqual([
        query,
        expect.objectContaining({ tls: true }),
      ])
    for (const query of [
      'sslmode=require',
      'sslmode=prefer',
      `${ca}&sslmode=verify-full&ssl_min_protocol_version=TLSv1.3`,
    ])
      expect(await reached(at('127.0.0.1', query))).toMatchObject({ tls: true })
    expect(await reached(at('127.0.0.1', 'sslmode=disable'))).toMatchObject({ tls: false })
    for (const query of ['sslmode=verify-full', `${other}&sslmode=require`, other])
      expect([query, await refusalOf(at('localhost', query))]).toEqual([
        query,
        expect.stringMatching(/SELF_SIGNED|VERIFY|ISSUER|unable to verify/),
      ])
    // The name of the host is verified by verify-full alone.
    const misnamed = (query: string) => at('elsewhere.test', `${query}&hostaddr=127.0.0.1`)
    expect(await refusalOf(misnamed(`${ca}&sslmode=verify-full`))).toMatch(/ALTNAME|altnames/)
    expect(await reached(misnamed(`${ca}&sslmode=verify-ca`))).toMatchObject({ tls: true })
  })
})
