/** The things that every row works with: the time to measure, and poterne on the stores that all rows share. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { builtExecutable } from '../../test/helpers/executable.ts'
import { freePort } from '../../test/helpers/free-port.ts'
import { newDirectory } from '../../test/helpers/run-directory.ts'
import { createDatabase, startPostgres, startRedis } from '../../test/helpers/servers.ts'
import { addAccounts, addEmbeddedAccounts, cheapHash, hashSettings } from './accounts.ts'
import { type Load, runLoad } from './load.ts'
import { startServer } from './server.ts'
import { startSmtpSink } from './smtp-sink.ts'
import type { Traffic } from './traffic.ts'

/** The clients of most rows. */
export const CLIENTS = 64
export const SERVER_SECRET = 'ab'.repeat(32)

/** An acknowledged commit is on the disk: not in memory, as for tests. The extension counts round trips. */
export const postgresSettings = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  shared_preload_libraries: 'pg_stat_statements',
}

/** Sections and keys as in config.toml. */
export type Settings = Record<string, Record<string, unknown>>

/** Later ones win, key by key; an array of tables as a whole. */
export function mergeSettings(...all: Settings[]): Settings {
  const merged: Settings = {}
  for (const [section, keys] of all.flatMap((settings) => Object.entries(settings)))
    merged[section] = Array.isArray(keys) ? keys : { ...merged[section], ...keys }
  return merged
}

/**
 * Limits off, argon2 as the product ships it. No client of the bench has a known device, so no place of the hash queue is
 * reserved for owners: 64 clients find places in it.
 */
export const loadSettings = (smtpPort: number): Settings => ({
  server: { base_url: 'https://auth.bench', secret: SERVER_SECRET },
  limits: { enabled: false, hash_queue_reserved: 0 },
  smtp: { host: '127.0.0.1', port: smtpPort, security: 'none', from: 'Poterne <no-reply@bench.example>' },
})

const sink = once(async () => startSmtpSink())

/** Starts an executable with these settings; mail goes to a server that takes everything. `wrapper`: put in front. */
export async function serve(executable: string, settings: Settings, wrapper: string[] = []) {
  const [directory, port, smtp] = [newDirectory('poterne'), await freePort(), await sink()]
  const all = mergeSettings(
    { storage: { data_dir: join(directory, 'data') } },
    loadSettings(smtp.port),
    settings,
    { server: { host: '127.0.0.1', port } },
  )
  mkdirSync(String(all.storage?.data_dir), { recursive: true })
  const file = join(directory, 'config.toml')
  writeFileSync(file, stringify(all))
  return startServer([...wrapper, executable, 'serve', '--config', file], port, { directory })
}

interface PoterneOptions {
  /** So many confirmed ones exist before. */
  accounts?: number
  /** An argon2 that costs nothing, for rows that sign in only to begin. */
  cheapPasswords?: boolean
  settings?: Settings
  wrapper?: string[]
}

export type Bench = ReturnType<typeof createBench>
export type Poterne = Awaited<ReturnType<Bench['startPoterne']>>

/** `given`: the executable to measure instead of dist/poterne. */
export function createBench(quick: boolean, given: string | undefined, progress: (text: string) => void) {
  const executable = once(async () => given ?? builtExecutable())
  const postgres = once(() =>
    startPostgres({ directory: newDirectory('postgres'), settings: postgresSettings }),
  )
  const redis = once(() => startRedis())
  const newDatabase = async () => (await createDatabase({ migrated: false, server: await postgres() })).url
  const newStores = async () => ({
    database: { url: await newDatabase() },
    redis: { url: (await redis()).url, key_prefix: `bench-${crypto.randomUUID()}:` },
  })
  const start = async (settings: Settings, wrapper?: string[]) => serve(await executable(), settings, wrapper)
  const load = async (url: string, traffic: Traffic, more: Partial<Load> = {}) => {
    const result = await runLoad({ url, traffic, connections: CLIENTS, seconds: bench.seconds, ...more })
    const percent = Math.round(result.generatorShare * 100)
    if (percent > 90) progress(`  the load generator itself took ${percent} % of a processor`)
    return result
  }
  const bench = {
    quick,
    /** Rounds of a row, and seconds of one side of a round. */
    rounds: quick ? 2 : 5,
    seconds: quick ? 1 : 3,
    /**
     * It comes once before the rounds: code that was compiled for speed, prepared statements, open connections. Bun compiles
     * for half a minute: refreshes begin at 830 a second, come to 3,600 after ten seconds, and to 4,600 after 30.
     */
    warmupSeconds: quick ? 2 : 30,
    executable,
    /** It is empty: poterne, and every rival, makes its own tables. */
    newDatabase,
    newStores,
    /** poterne with exactly these stores. */
    start,
    /** poterne on a database of its own, with PostgreSQL and Redis. */
    async startPoterne({ accounts = 0, cheapPasswords = false, settings = {} }: PoterneOptions = {}) {
      const stores = await newStores()
      const all = mergeSettings(stores, passwordSettings(cheapPasswords), settings)
      const server = await start(all)
      if (accounts > 0)
        await addAccounts(stores.database.url, { count: accounts, hash: hashOf(cheapPasswords) })
      return { ...server, ...stores, settings: all }
    },
    /** poterne with nothing but its embedded database. */
    async startEmbedded({ accounts = 0, cheapPasswords = false, wrapper = [] }: PoterneOptions) {
      const dataDir = join(newDirectory('embedded'), 'data')
      await addEmbeddedAccounts(dataDir, { count: accounts, hash: hashOf(cheapPasswords) })
      const storage = { data_dir: dataDir }
      return start(mergeSettings({ storage }, passwordSettings(cheapPasswords)), wrapper)
    },
    load,
    rate: async (...of: Parameters<typeof load>) => (await load(...of)).rate,
    progress,
  }
  return bench
}

const hashOf = (cheapPasswords: boolean) => (cheapPasswords ? cheapHash : hashSettings)

const passwordSettings = (cheapPasswords: boolean): Settings =>
  cheapPasswords ? { password: { memory_kib: cheapHash.memoryCost, iterations: cheapHash.timeCost } } : {}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
