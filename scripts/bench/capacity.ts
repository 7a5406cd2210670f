/**
 * `bun scripts/bench/capacity.ts [--accounts N] [--events N] [--sessions N] [--data DIRECTORY] [--latencies]` fills a
 * database on real servers, and prints the rows of docs/capacity.md: bytes of a row with its indexes, latencies of one
 * client, and the time of a backup and a restore. With `--data` the database stays there, and the next run measures it
 * without filling it again; with `--latencies` only what one client waits.
 */
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { stringify } from 'smol-toml'
import { type Answer, PASSWORD } from '../../test/helpers/api-client.ts'
import { builtExecutable } from '../../test/helpers/executable.ts'
import { newDirectory } from '../../test/helpers/run-directory.ts'
import { createDatabase, type PostgresServer, startPostgres, startRedis } from '../../test/helpers/servers.ts'
import { run } from '../lib/shell.ts'
import { onDatabase } from './accounts.ts'
import { loadSettings, mergeSettings, postgresSettings, type Settings, serve } from './bench.ts'
import { multiply } from './multiplied.ts'
import { endServers } from './server.ts'
import { apiOf } from './traffic.ts'

const fillSettings = { ...postgresSettings, fsync: 'off', full_page_writes: 'off', shared_buffers: '1GB' }
const LOGINS = 1000
const READS = 300

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '1000000' },
    events: { type: 'string', default: '10000000' },
    sessions: { type: 'string' },
    data: { type: 'string' },
    latencies: { type: 'boolean', default: false },
  },
})
const { accounts, events, sessions = accounts, data } = values
const amounts = { accounts: Number(accounts), events: Number(events), sessions: Number(sessions) }
// Not newFastDirectory: a database of this size has no place in memory.
const directory = data === undefined ? newDirectory('capacity') : resolve(data)
const filled = join(directory, 'filled.json')

// A directory that was named is none of the run's: its guard does not end the server there.
let server: PostgresServer | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => server?.stop().then(() => process.exit(130)))
try {
  const executable = await builtExecutable()
  const redis = { url: (await startRedis()).url, key_prefix: 'capacity:' }
  const settingsOf = (url: string) => ({ database: { url }, redis })
  if (!existsSync(filled)) {
    // What an interrupted run left is no database to measure.
    rmSync(directory, { recursive: true, force: true })
    server = await startPostgres({ directory, settings: fillSettings })
    const { url } = await createDatabase({ migrated: false, server })
    await multiply(amounts, executable, settingsOf(url))
    writeFileSync(filled, JSON.stringify({ name: new URL(url).pathname }))
    await server.stop()
  }
  server = await startPostgres({ directory, settings: postgresSettings })
  const url = new URL((await Bun.file(filled).json()).name, server.url).href
  await printSizes(url)
  await measureLatencies(executable, settingsOf(url))
  if (!values.latencies) {
    const restored = await createDatabase({ migrated: false, server })
    measureBackup(executable, settingsOf(url), settingsOf(restored.url))
    await restored.drop()
  }
} finally {
  await endServers()
  await server?.stop()
}
process.exit()

async function printSizes(databaseUrl: string): Promise<void> {
  console.log('| | rows | bytes | with indexes |\n| --- | --- | --- | --- |')
  await onDatabase(databaseUrl, async (sql) => {
    for (const table of ['accounts', 'sessions', 'known_devices', 'messages', 'events', 'event_details']) {
      const [{ count, own, all }] = await sql<[{ count: number; own: number; all: number }]>`
        select count(*)::int as count, pg_table_size(${table})::float as own,
               pg_total_relation_size(${table})::float as all from ${sql(table)}`
      const [alone, indexed] = [own, all].map((bytes) => Math.round(bytes / count))
      console.log(`| ${table} | ${count.toLocaleString('en')} | ${alone} | ${indexed} |`)
    }
    const [{ bytes }] = await sql<[{ bytes: number }]>`
      select pg_database_size(current_database())::float as bytes`
    console.log(`| the database | | | ${(bytes / 1e9).toFixed(1)} GB |`)
  })
}

interface Somebody {
  email: string
  uuid: string
}

/** One call after the other, each in its turn about another of the accounts, from all over the table. */
async function measureLatencies(executable: string, settings: Settings): Promise<void> {
  const [people, last] = await onDatabase(String(settings.database?.url), async (sql) => {
    const [event] = await sql<[{ last: number }]>`select max(id)::float as last from events`
    const found = await sql<Somebody[]>`
      select email, uuid from accounts where id in (
        select 101 + (random() * (select max(id) - 101 from accounts))::bigint from generate_series(1, ${LOGINS}))`
    return [found, event.last] as const
  })
  const socket = join(newDirectory('socket'), 'admin.sock')
  const api = apiOf((await serve(executable, { ...settings, admin: { socket } })).url)
  const admin = async (path: string) => {
    const answer = await fetch(`http://localhost/admin/v1/${path}`, { unix: socket })
    return { status: answer.status, body: await answer.json() }
  }
  console.log('\n| call, one client | p50 | p99 |\n| --- | --- | --- |')
  const signedIn = await timed('login', people, ({ email }) =>
    api.post('login', { identifier: email, password: PASSWORD }),
  )
  const refreshed = await timed('refresh', signedIn, ({ refresh_token }) =>
    api.post('refresh', { refresh_token }),
  )
  await timed('GET me', refreshed, ({ access_token }) => api.get('me', { bearer: access_token }))
  const numberIn = (email: string) => email.replace(/\D/g, '').padStart(3, '0')
  const asked: Record<string, (somebody: Somebody, n: number) => string> = {
    'the newest 50': () => 'accounts?limit=50',
    'an address': ({ email }) => `accounts?query=${encodeURIComponent(email)}`,
    'a part of an address': ({ email }) => `accounts?query=${numberIn(email)}`,
    'a name that thousands have': () => 'accounts?query=fatou.kone',
    'one account': ({ uuid }) => `accounts/${uuid}`,
    "an account's events": ({ uuid }) => `accounts/${uuid}/events`,
    '`events?after=`': (_, n) => `events?limit=100&after=${Math.floor((last * n) / READS)}`,
  }
  for (const [name, path] of Object.entries(asked))
    await timed(`administration: ${name}`, people.slice(0, READS), (somebody, n) => admin(path(somebody, n)))
  await endServers()
}

type Said = Pick<Answer, 'status' | 'body'>

/** Prints what the calls took, and returns the bodies of the answers. The first ten warm up. */
async function timed<Of>(name: string, all: Of[], send: (of: Of, n: number) => Promise<Said>) {
  const bodies: Answer['body'][] = []
  const took: number[] = []
  for (const [n, of] of all.entries()) {
    const before = performance.now()
    const { status, body } = await send(of, n)
    took.push(performance.now() - before)
    if (status !== 200) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`)
    bodies.push(body)
  }
  const sorted = took.slice(10).toSorted((a, b) => a - b)
  const at = (share: number) => `${sorted[Math.floor(sorted.length * share)]!.toPrecision(3)} ms`
  console.log(`| ${name} | ${at(0.5)} | ${at(0.99)} |`)
  return bodies
}

function measureBackup(executable: string, used: Settings, restored: Settings): void {
  const file = join(newDirectory('backup'), 'all.backup')
  const timedCommand = (name: string, settings: Settings) => {
    const cwd = newDirectory(name)
    const config = mergeSettings(loadSettings(25), settings, { storage: { data_dir: cwd } })
    writeFileSync(join(cwd, 'config.toml'), stringify(config))
    const before = performance.now()
    run([executable, name, file, '--config', 'config.toml'], { cwd })
    console.log(`| ${name} | ${((performance.now() - before) / 1000).toFixed(0)} s | |`)
  }
  timedCommand('backup', used)
  console.log(`| its file | ${(statSync(file).size / 1e9).toFixed(2)} GB | |`)
  timedCommand('restore', restored)
}
