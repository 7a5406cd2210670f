/**
 * Brings the embedded database of an older engine into a directory of this one. Only the older executable can read the old
 * files, so it makes a backup, from a copy; the database itself is not touched until the new one is complete.
 */
import { constants, cpSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'smol-toml'
import type { Config } from '../platform/config/types.ts'
import { DATABASE_DIRECTORY, prepareDataDirectory } from '../platform/data-directory.ts'
import { lockDirectory, removeAbandoned } from '../platform/directory-lock.ts'
import { flushTree } from '../platform/flush.ts'
import { createEmbeddedCopy } from '../platform/postgres/copy.ts'
import { freeBytes } from '../platform/postgres/disk-space.ts'
import type { BackupKey } from '../storage/backup/keys.ts'
import { loadBackup } from '../storage/backup/load.ts'
import { rowsIn } from '../storage/backup/manifest.ts'
import { verifyBackup } from '../storage/backup/read.ts'
import { BackupRefused } from '../storage/backup/refused.ts'
import type { Progress } from '../storage/backup/write.ts'
import { leaveCounters, type UpkeepCounters } from '../storage/embedded/counters.ts'
import { ENGINE_VERSION, finishSwap, readEngine, swapDatabase } from '../storage/embedded/directory.ts'
import { openInstance } from '../storage/embedded/instance.ts'
import { lockData } from '../storage/embedded/lock.ts'
import { snapshotBytes } from '../storage/embedded/snapshot.ts'
import { vacuumAll } from '../storage/embedded/upkeep.ts'
import { secretsOf } from './connections.ts'

const PREFIX = 'upgrade-'

interface UpgradeOptions {
  config: Pick<Config, 'server' | 'storage'>
  /** The executable that ran before. */
  from: string
  now: Date
  onProgress: Progress
  signal: AbortSignal
}

/**
 * Throws BackupRefused and DataDirectoryRefused; then nothing was changed. It returns null if the database is of this
 * engine already. The old directory is at `kept`.
 */
export async function upgradeEngine(options: UpgradeOptions): Promise<{ rows: number; kept: string } | null> {
  const { config, onProgress, signal } = options
  const { dataDir } = config.storage
  const directory = join(dataDir, DATABASE_DIRECTORY)
  prepareDataDirectory(dataDir)
  const unlock = await lockData(dataDir)
  try {
    finishSwap(dataDir)
    const engine = readEngine(directory)
    if (engine === null) throw new BackupRefused('holds no database', resolve(dataDir))
    if (engine === ENGINE_VERSION) return null
    requireSpace(dataDir, directory)
    removeAbandoned(dataDir, PREFIX)
    const work = join(dataDir, `${PREFIX}${crypto.randomUUID()}`)
    mkdirSync(work, { mode: 0o700 })
    const unlockWork = lockDirectory(work)
    try {
      onProgress('copying', 0)
      const { file, key } = await backUpCopy(options, directory, work)
      signal.throwIfAborted()
      const fresh = join(work, DATABASE_DIRECTORY)
      const rows = await load(options, { file, key, fresh })
      signal.throwIfAborted()
      return { rows, kept: swapDatabase(dataDir, fresh, engine) }
    } finally {
      rmSync(work, { recursive: true, force: true, maxRetries: 3 })
      if (typeof unlockWork === 'function') unlockWork()
    }
  } finally {
    unlock()
  }
}

/** The copy, the copy that the older executable makes of it, the backup, and the new database. */
function requireSpace(dataDir: string, directory: string): void {
  const needed = 4 * snapshotBytes(directory)
  if (freeBytes(dataDir) < needed)
    throw new BackupRefused(
      `needs ${Math.ceil(needed / 2 ** 20)} MiB of free space for the copies: make space on its disk`,
      resolve(dataDir),
    )
}

/** The older executable backs it up, because it knows neither this configuration nor its newer keys. */
async function backUpCopy(
  { config, from, onProgress, signal }: UpgradeOptions,
  directory: string,
  work: string,
): Promise<{ file: string; key: BackupKey }> {
  const copy = join(work, 'copy')
  mkdirSync(copy, { mode: 0o700 })
  cpSync(directory, join(copy, DATABASE_DIRECTORY), { recursive: true, mode: constants.COPYFILE_FICLONE })
  const [current, ...previous] = secretsOf(config).map((secret) => Buffer.from(secret).toString('hex'))
  const passphrase = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')
  const paths = {
    passphrase: join(work, 'passphrase'),
    config: join(work, 'config.toml'),
    file: join(work, 'backup'),
  }
  writeFileSync(paths.passphrase, `${passphrase}\n`, { mode: 0o600 })
  const settings = {
    storage: { data_dir: copy },
    server: { secret: current!, ...(previous.length > 0 && { previous_secrets: previous }) },
  }
  writeFileSync(paths.config, stringify(settings), { mode: 0o600 })
  onProgress('the older poterne makes a backup', 0.1)
  const { PATH = '', TMPDIR } = process.env
  const made = Bun.spawn(
    [resolve(from), 'backup', paths.file, '--config', paths.config, '--passphrase-file', paths.passphrase],
    {
      cwd: work,
      env: { PATH, HOME: work, ...(TMPDIR && { TMPDIR }) },
      stdout: 'ignore',
      stderr: 'pipe',
      signal,
    },
  )
  const [said, code] = await Promise.all([new Response(made.stderr).text(), made.exited])
  signal.throwIfAborted()
  if (code !== 0 || !existsSync(paths.file) || statSync(paths.file).size === 0)
    throw new BackupRefused(
      `made no backup of the database: ${said.trim().split('\n').at(-1) || `it ended with ${code}`}`,
      from,
    )
  return { file: paths.file, key: { kind: 'passphrase', passphrase } }
}

/** All of it as it was: unlike a restore, nothing of it lies in the past. */
async function load(
  { now, onProgress, signal }: UpgradeOptions,
  { file, key, fresh }: { file: string; key: BackupKey; fresh: string },
): Promise<number> {
  const keys = [key]
  const manifest = await verifyBackup(file, keys, () => signal.throwIfAborted())
  const instance = await openInstance(fresh, { bulk: true })
  const target = createEmbeddedCopy(instance, () => instance.close())
  let counters: UpkeepCounters[]
  try {
    await target.query('begin')
    await loadBackup(target, file, { keys, manifest, now, onProgress, signal })
    await target.query('commit')
    counters = await vacuumAll(target.query)
  } finally {
    await target.close()
  }
  leaveCounters(fresh, counters)
  await flushTree(fresh)
  return rowsIn(manifest)
}
