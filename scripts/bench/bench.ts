/**
 * The things that every row works with: the time to measure, the servers that all share, and what to stop at the end.
 */
import { join } from 'node:path'
import { builtExecutable } from '../../test/helpers/executable.ts'
import { newDirectory } from '../../test/helpers/run-directory.ts'
import { addAccounts, addEmbeddedAccounts, cheapHash, hashSettings } from './accounts.ts'
import { type Load, type LoadResult, runLoad } from './load.ts'
import { loadSettings, type Poterne, type Settings, startPoterne } from './poterne.ts'
import { type Stores, startStores } from './servers.ts'
import { type SmtpSink, startSmtpSink } from './smtp-sink.ts'

export interface Bench {
  quick: boolean
  /** Rounds of a row, and seconds of one side of a round. */
  rounds: number
  seconds: number
  /** It comes once before the rounds: code that was compiled for speed, prepared statements, open connections. */
  warmupSeconds: number
  executable(): Promise<string>
  stores(): Promise<Stores>
  smtp(): Promise<SmtpSink>
  /** poterne on PostgreSQL and Redis, limits off, in a database of its own with so many confirmed accounts. */
  startPoterne(options?: StartOptions): Promise<MeasuredPoterne>
  /** poterne with nothing but its embedded database, limits off. */
  startEmbedded(options: EmbeddedOptions): Promise<Poterne>
  load(load: Load): Promise<LoadResult>
  progress(text: string): void
  close(): Promise<void>
}

export interface StartOptions {
  accounts?: number
  settings?: Settings
  /** An argon2 that costs nothing, for rows that sign in only to begin. */
  cheapPasswords?: boolean
}

export interface EmbeddedOptions {
  accounts: number
  cheapPasswords?: boolean
  /** Put in front of the executable. */
  wrapper?: string[]
}

export interface MeasuredPoterne extends Poterne {
  databaseUrl: string
  redisUrl: string
  keyPrefix: string
}

export interface BenchOptions {
  quick: boolean
  /** Measure this one instead of dist/poterne. */
  executable: string | null
  progress: (text: string) => void
}

/** The 64 clients of the table. */
export const CLIENTS = 64

export function createBench({ quick, executable, progress }: BenchOptions): Bench {
  let stores: Promise<Stores> | undefined
  let smtp: Promise<SmtpSink> | undefined
  let built: Promise<string> | undefined
  const bench: Bench = {
    quick,
    rounds: quick ? 2 : 5,
    seconds: quick ? 1 : 3,
    warmupSeconds: quick ? 2 : 10,
    executable: () => {
      built ??= executable === null ? builtExecutable() : Promise.resolve(executable)
      return built
    },
    stores: () => {
      stores ??= startStores()
      return stores
    },
    smtp: () => {
      smtp ??= startSmtpSink()
      return smtp
    },
    async startPoterne({ accounts = 0, settings, cheapPasswords = false } = {}) {
      const { newDatabase, redis } = await bench.stores()
      const databaseUrl = await newDatabase()
      const keyPrefix = `bench-${crypto.randomUUID()}:`
      const base = loadSettings((await bench.smtp()).port)
      const all = mergeSettings(
        base,
        { database: { url: databaseUrl }, redis: { url: redis.url, key_prefix: keyPrefix } },
        passwordSettings(cheapPasswords),
        settings ?? {},
      )
      const poterne = await startPoterne({ executable: await bench.executable(), settings: all })
      if (accounts > 0) {
        await addAccounts(databaseUrl, { count: accounts, hash: hashOf(cheapPasswords) })
      }
      return { ...poterne, databaseUrl, redisUrl: redis.url, keyPrefix }
    },
    async startEmbedded({ accounts, cheapPasswords = false, wrapper = [] }) {
      const dataDir = join(newDirectory('embedded'), 'data')
      await addEmbeddedAccounts(dataDir, { count: accounts, hash: hashOf(cheapPasswords) })
      const settings = mergeSettings(
        loadSettings((await bench.smtp()).port),
        { storage: { data_dir: dataDir } },
        passwordSettings(cheapPasswords),
      )
      return startPoterne({ executable: await bench.executable(), settings, wrapper })
    },
    async load(load) {
      const result = await runLoad(load)
      if (result.generatorShare > 0.9)
        progress(
          `  the load generator itself took ${Math.round(result.generatorShare * 100)} % of a processor`,
        )
      return result
    },
    progress,
    async close() {
      await (await stores)?.stop()
      ;(await smtp)?.stop()
    },
  }
  return bench
}

const hashOf = (cheapPasswords: boolean) => (cheapPasswords ? cheapHash : hashSettings)

const passwordSettings = (cheapPasswords: boolean): Settings =>
  cheapPasswords ? { password: { memory_kib: cheapHash.memoryCost, iterations: cheapHash.timeCost } } : {}

/** Later ones win, key by key; an array of tables as a whole. */
export function mergeSettings(...all: Settings[]): Settings {
  const merged: Settings = {}
  for (const settings of all)
    for (const [section, keys] of Object.entries(settings))
      merged[section] = Array.isArray(keys) ? keys : { ...merged[section], ...keys }
  return merged
}
