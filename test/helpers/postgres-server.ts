/** Private PostgreSQL servers, and fresh migrated databases on the one that the run shares. */
import { execFileSync } from 'node:child_process'
import { accessSync, chownSync, constants, existsSync, mkdirSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import postgres from 'postgres'
import { applyMigrations } from '../../src/platform/postgres/migrate.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { freePort } from './free-port.ts'
import { newFastDirectory, oncePerRun } from './run-directory.ts'
import { controlServer, leaveWithoutProgram, type ServerControls } from './server-process.ts'

export interface PostgresServer extends ServerControls {
  /** The address of the database `postgres`, as its superuser. */
  url: string
  port: number
}

export interface PostgresOptions {
  /** Settings of postgresql.conf beside ours, e.g. `{ max_connections: '20' }`. */
  settings?: Record<string, string>
  /** It lies there, and its data stay for the next one. Stop it yourself: the end of the run does not. */
  directory?: string
}

/** A crash of the machine may lose data (fsync off), a kill of the server may not: an acknowledged commit is kept. */
const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  fsync: 'off',
  full_page_writes: 'off',
  dynamic_shared_memory_type: 'mmap',
  // It starts a process for each database of the run in this time.
  autovacuum_naptime: '5min',
}

/** Program directories to look in: PATH, then Debian's, newest first. */
function programDirectory(): string {
  const debian = '/usr/lib/postgresql'
  const versions = isDirectory(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const places = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ]
  const found = places.find((place) => isProgram(join(place, 'postgres')) && isProgram(join(place, 'initdb')))
  // All programs of one version lie together; on PATH there may be links to some of them.
  return found ? dirname(realpathSync(join(found, 'postgres'))) : leaveWithoutProgram('PostgreSQL')
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function isDirectory(path: string): boolean {
  try {
    readdirSync(path)
    return true
  } catch {
    return false
  }
}

/**
 * PostgreSQL refuses to run as root: then it runs as the user of its package, or as nobody. It is null to run as
 * ourselves.
 */
function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) =>
        Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {}
  }
  throw new Error('PostgreSQL cannot run as root, and there is neither a user postgres nor nobody')
}

export function asServerUser(command: string[]): string[] {
  const user = serverUser()
  if (user === null) return command
  return ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', '--', ...command]
}

export const serverDirectory = (name = 'postgres') => ofServerUser(newFastDirectory(name))

function ofServerUser(directory: string): string {
  const user = serverUser()
  if (user !== null) chownSync(directory, user.uid, user.gid)
  return directory
}

/** It lies in the server's directory, so that the guard finds it too. */
function run(directory: string, command: string[]): void {
  const [program, ...parameters] = asServerUser(command)
  execFileSync(program as string, parameters, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] })
}

/** An empty data directory, made once per run: a copy takes a tenth of the time. */
const emptyDataDirectory = () =>
  oncePerRun('postgres-data', async () => {
    const directory = serverDirectory()
    const data = join(directory, 'data')
    const options = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']
    run(directory, [join(programDirectory(), 'initdb'), `--pgdata=${data}`, ...options])
    return data
  })

/** A server of the caller's own, for tests that stop, restart or pause it. Others use `createDatabase()`. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { directory: kept } = options
  if (kept !== undefined) mkdirSync(kept, { recursive: true })
  const directory = kept === undefined ? serverDirectory() : ofServerUser(kept)
  const data = join(directory, 'data')
  if (!existsSync(data)) run(directory, ['cp', '-a', await emptyDataDirectory(), data])
  const port = await freePort()
  const server = controlPostgres({ ...options, directory, port })
  await server.start()
  return server
}

/**
 * A standby that follows `primary`, which waits for it with every commit from then on. Made by `pg_basebackup`, over the
 * port of the primary.
 */
export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const directory = serverDirectory('standby')
  const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=standby`
  const options = ['--checkpoint=fast', '--wal-method=stream', '--write-recovery-conf', '--no-sync']
  run(directory, [
    join(programDirectory(), 'pg_basebackup'),
    '-d',
    from,
    '-D',
    join(directory, 'data'),
    ...options,
  ])
  const standby = controlPostgres({ directory, port: await freePort() })
  await standby.start()
  await onServer(primary.url, async (sql) => {
    await sql.unsafe("alter system set synchronous_standby_names = 'standby'")
    await sql`select pg_reload_conf()`
  })
  return standby
}

/** Makes a standby the primary. It waits for no other one then. */
export const promote = (standby: { url: string }) =>
  onServer(standby.url, async (sql) => {
    await sql`select pg_promote()`
    await sql.unsafe("alter system set synchronous_standby_names = ''")
    await sql`select pg_reload_conf()`
  })

function controlPostgres(place: PostgresOptions & { directory: string; port: number }): PostgresServer {
  const { directory, port } = place
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const all = { ...settings, ...place.settings, port: String(port) }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const controls = controlServer({
    directory,
    command: asServerUser([join(programDirectory(), 'postgres'), '-D', join(directory, 'data'), ...flags]),
    answers: async () => {
      await onServer(url, (sql) => sql`select 1`)
      return true
    },
  })
  return { ...controls, url, port }
}

async function onServer<T>(url: string, work: (sql: postgres.Sql) => PromiseLike<T>): Promise<T> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** The server that the whole run shares: never stop it; it ends with the run. */
export async function sharedPostgres(): Promise<{ url: string }> {
  return oncePerRun('postgres', async () => ({ url: (await startPostgres()).url }))
}

let administrator: postgres.Sql | undefined

/** One connection to the shared server makes and drops the databases of this process. It keeps no process alive for long. */
async function onShared(statement: string): Promise<void> {
  administrator ??= postgres((await sharedPostgres()).url, { max: 1, idle_timeout: 5, onnotice: () => {} })
  await administrator.unsafe(statement)
}

export interface TestDatabase {
  url: string
  name: string
  /** It also throws out every connected client. */
  drop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface DatabaseOptions {
  /** It is false for a database without a single table. */
  migrated?: boolean
  /** A server of `startPostgres()`; the shared one if not given. */
  server?: { url: string }
  /** The address of another one on that server, to which nobody is connected: this one is a copy of it. */
  copied?: string
}

/** A fresh database, a copy of one that the migrations made once. */
export async function createDatabase({
  migrated = true,
  server,
  copied,
}: DatabaseOptions = {}): Promise<TestDatabase> {
  const { url: serverUrl } = server ?? (await sharedPostgres())
  const empty = () => (migrated ? migratedTemplate(serverUrl) : 'template0')
  const template = copied ? new URL(copied).pathname.slice(1) : await empty()
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  const run = server ? (text: string) => onServer(serverUrl, (sql) => sql.unsafe(text)) : onShared
  await run(`create database ${name} template ${template} strategy file_copy`)
  const drop = async () => {
    await run(`drop database if exists ${name} with (force)`)
  }
  return { url: databaseUrl(serverUrl, name), name, drop, [Symbol.asyncDispose]: drop }
}

function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

const migratedTemplate = (serverUrl: string) =>
  oncePerRun(`template-${new URL(serverUrl).port}`, async () => {
    const name = 'poterne_template'
    await onServer(serverUrl, (sql) => sql.unsafe(`create database ${name} template template0`))
    await migrate(databaseUrl(serverUrl, name))
    return name
  })

async function migrate(url: string): Promise<void> {
  const database = openServer({ url, poolSize: 1 })
  try {
    await applyMigrations(database, new Date())
  } finally {
    await database.close()
  }
}
