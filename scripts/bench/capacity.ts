/**
 * `bun scripts/bench/capacity.ts [--accounts N] [--events N] [--sessions N] [--data DIRECTORY] [--executable FILE]
 * [--latencies]` fills a database on real servers, and prints the rows of docs/capacity.md: bytes of a row with its
 * indexes, latencies of one client, and the time of a backup and a restore. With `--data` the database stays there, and
 * the next run measures it without filling it again; with `--latencies` only what one client waits.
 */
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { stringify } from 'smol-toml'
import { builtExecutable } from '../../test/helpers/executable.ts'
import { newDirectory } from '../../test/helpers/run-directory.ts'
import { createDatabase, type PostgresServer, startPostgres, startRedis } from '../../test/helpers/servers.ts'
import { onDatabase, PASSWORD } from './accounts.ts'
import { endChildren, startServer } from './children.ts'
import { type Amounts, multiply, settingsFor } from './multiplied.ts'
import { SERVER_SECRET, type Settings, startPoterne } from './poterne.ts'
import { postgresSettings } from './servers.ts'
import { startSmtpSink } from './smtp-sink.ts'
import { post, type Tokens } from './traffic.ts'

const fillSettings = { ...postgresSettings, fsync: 'off', full_page_writes: 'off', shared_buffers: '1GB' }
const LOGINS = 1000
const READS = 300

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '10000000' },
    sessions: { type: 'string' },
    data: { type: 'string' },
    executable: { type: 'string' },
    latencies: { type: 'boolean', default: false },
  },
})
const amounts: Amounts = {
  accounts: Number(values.accounts),
  events: Number(values.events),
  sessions: Number(values.sessions ?? values.accounts),
}
const startedAt = performance.now()
const progress = (text: string) =>
  console.error(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${text}`)
const executable = values.executable === undefined ? await builtExecutable() : resolve(values.executable)
// Not newFastDirectory: a database of this size has no place in memory.
const directory = values.data === undefined ? newDirectory('capacity') : resolve(values.data)
const filled = join(directory, 'filled.json')

let server: PostgresServer | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => stop().then(() => process.exit(130)))
try {
  await main()
} finally {
  await stop()
}
process.exit()

async function stop(): Promise<void> {
  await endChildren()
  await server?.stop()
}

async function main(): Promise<void> {
  const redis = await startRedis()
  if (!existsSync(filled)) {
    // What an interrupted run left is no database to measure.
    rmSync(directory, { recursive: true, force: true })
    server = await startPostgres({ directory, settings: fillSettings })
    const { url: databaseUrl } = await createDatabase({ migrated: false, server })
    await multiply({ ...amounts, executable, databaseUrl, redisUrl: redis.url, progress })
    writeFileSync(filled, JSON.stringify({ name: new URL(databaseUrl).pathname }))
    await server.stop()
  }
  server = await startPostgres({ directory, settings: postgresSettings })
  const databaseUrl = new URL((await Bun.file(filled).json()).name, server.url).href
  const smtp = await startSmtpSink()
  const settings = settingsFor(smtp.port, databaseUrl, redis.url)
  console.log('| | rows | bytes | with indexes |\n| --- | --- | --- | --- |')
  for (const line of await sizes(databaseUrl)) console.log(line)
  console.log('\n| call, one client | p50 | p99 |\n| --- | --- | --- |')
  await measureLatencies(settings, databaseUrl)
  if (!values.latencies) await measureBackup(settings, server)
  smtp.stop()
  await redis.stop()
}

async function sizes(databaseUrl: string): Promise<string[]> {
  return onDatabase(databaseUrl, async (sql) => {
    const tables = ['accounts', 'sessions', 'known_devices', 'messages', 'events', 'event_details']
    const lines = []
    for (const table of tables) {
      const [row] = await sql<{ count: number; own: number; all: number }[]>`
        select count(*)::int as count, pg_table_size(${table})::float as own,
               pg_total_relation_size(${table})::float as all from ${sql(table)}`
      const { count, own, all } = row!
      const each = (bytes: number) => Math.round(bytes / count)
      lines.push(`| ${table} | ${count.toLocaleString('en')} | ${each(own)} | ${each(all)} |`)
    }
    const [row] = await sql<{ bytes: number }[]>`select pg_database_size(current_database())::float as bytes`
    return [...lines, `| the database | | | ${(row!.bytes / 1e9).toFixed(1)} GB |`]
  })
}

/** One call after the other, each in its turn about another of the accounts, from all over the table. */
async function measureLatencies(settings: Settings, databaseUrl: string): Promise<void> {
  const people = await onDatabase(
    databaseUrl,
    (sql) => sql<{ email: string; uuid: string }[]>`
      select email, uuid from accounts where id in (
        select 101 + (random() * (select max(id) - 101 from accounts))::bigint from generate_series(1, ${LOGINS}))`,
  )
  const [{ last }] = await onDatabase(
    databaseUrl,
    (sql) => sql<[{ last: number }]>`select max(id)::float as last from events`,
  )
  const socket = join(newDirectory('socket'), 'admin.sock')
  const poterne = await startPoterne({ executable, settings: { ...settings, admin: { socket } } })
  const api = (request: { method: string; path: string; body?: unknown; token?: string }) =>
    fetch(poterne.url + request.path, {
      method: request.method,
      headers: {
        'content-type': 'application/json',
        ...(request.token !== undefined && { authorization: `Bearer ${request.token}` }),
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    })
  const admin = (path: string) => fetch(`http://localhost/admin/v1/${path}`, { unix: socket })
  const spread = people.slice(0, READS)
  const sessions = await timed<Tokens>(
    'login',
    people.map(
      ({ email }) =>
        () =>
          api(post('login', { identifier: email, password: PASSWORD })),
    ),
  )
  const tokens = await timed<Tokens>(
    'refresh',
    sessions.map(
      ({ refresh_token }) =>
        () =>
          api(post('refresh', { refresh_token })),
    ),
  )
  await timed(
    'GET me',
    tokens.map(
      ({ access_token: token }) =>
        () =>
          api({ method: 'GET', path: '/api/v1/auth/me', token }),
    ),
  )
  const numberIn = (email: string) => email.replace(/\D/g, '').padStart(3, '0')
  const asks: [string, string[]][] = [
    ['administration: the newest 50', spread.map(() => 'accounts?limit=50')],
    ['administration: an address', spread.map(({ email }) => `accounts?query=${encodeURIComponent(email)}`)],
    ['administration: a part of an address', spread.map(({ email }) => `accounts?query=${numberIn(email)}`)],
    ['administration: a name that thousands have', spread.map(() => 'accounts?query=fatou.kone')],
    ['administration: one account', spread.map(({ uuid }) => `accounts/${uuid}`)],
    ["administration: an account's events", spread.map(({ uuid }) => `accounts/${uuid}/events`)],
    [
      'administration: `events?after=`',
      spread.map((_, n) => `events?limit=100&after=${Math.floor((last * n) / READS)}`),
    ],
  ]
  for (const [name, paths] of asks)
    await timed(
      name,
      paths.map((path) => () => admin(path)),
    )
  await poterne.stop()
}

/** Sends them, prints what they took, and returns the bodies of the answers. The first ten warm up. */
async function timed<Body>(name: string, calls: (() => Promise<Response>)[]): Promise<Body[]> {
  const bodies: Body[] = []
  const took: number[] = []
  for (const call of calls) {
    const before = performance.now()
    const answer = await call()
    const body = await answer.json()
    took.push(performance.now() - before)
    if (!answer.ok) throw new Error(`${name} answered ${answer.status}: ${JSON.stringify(body)}`)
    bodies.push(body as Body)
  }
  const sorted = took.slice(10).toSorted((a, b) => a - b)
  const at = (share: number) => `${sorted[Math.floor(sorted.length * share)]!.toPrecision(3)} ms`
  console.log(`| ${name} | ${at(0.5)} | ${at(0.99)} |`)
  return bodies
}

async function measureBackup(settings: Settings, postgres: PostgresServer): Promise<void> {
  const place = newDirectory('backup')
  const file = join(place, 'all.backup')
  const run = async (name: string, args: string[], config: Settings) => {
    const data = join(place, `${name}-data`)
    mkdirSync(data)
    writeFileSync(join(data, 'config.toml'), stringify({ ...config, storage: { data_dir: data } }))
    const before = performance.now()
    const command = [executable, ...args, '--config', join(data, 'config.toml')]
    const { exited, directory: log } = startServer(command)
    if ((await exited) !== 0) throw new Error(`${name}: ${await Bun.file(join(log, 'log')).text()}`)
    console.log(`| ${name} | ${((performance.now() - before) / 1000).toFixed(0)} s | |`)
  }
  const used = { ...settings, server: { ...settings.server, secret: SERVER_SECRET } }
  await run('backup', ['backup', file], used)
  console.log(`| its file | ${(statSync(file).size / 1e9).toFixed(2)} GB | |`)
  const { url, drop } = await createDatabase({ migrated: false, server: postgres })
  await run('restore', ['restore', file], { ...used, database: { url } })
  await drop()
}
