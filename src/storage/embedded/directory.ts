/**
 * Looks at the directory of the embedded database before PostgreSQL sees it. It holds nothing, a database of this
 * engine, one of another engine, or something that must not be touched.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  DATABASE_DIRECTORY,
  DataDirectoryRefused,
  describeForeignFile,
} from '../../platform/data-directory.ts'
import { lockDirectory, removeAbandoned } from '../../platform/directory-lock.ts'
import { flush } from '../../platform/flush.ts'

/** The version of the PostgreSQL inside PGlite. Another one cannot read these files. */
export const ENGINE_VERSION = '18'

/** Complete and on the disk, and about to take the place of the database. */
export const UPGRADED = `${DATABASE_DIRECTORY}.upgraded`

/** Made by the PostgreSQL of another version. */
class OtherEngine extends DataDirectoryRefused {
  override name = 'OtherEngine'
  constructor(
    directory: string,
    readonly engine: string,
  ) {
    super(
      `storage.data_dir: ${resolve(directory)} was made by PostgreSQL ${engine}, and this poterne holds PostgreSQL ${ENGINE_VERSION}: ` +
        'stop poterne and run `poterne upgrade --from /path/of/the/poterne/before`, which copies everything and keeps the old directory',
    )
  }
}

/**
 * A database is only ever made where there is nothing. A directory that cannot be read, as one of another user, is not
 * new.
 */
export function isNewDirectory(directory: string): boolean {
  try {
    return statSync(directory, { throwIfNoEntry: false }) === undefined || readdirSync(directory).length === 0
  } catch {
    return false
  }
}

/**
 * It returns null where there is no database yet. Throws DataDirectoryRefused where files are there, but not those of a
 * database.
 */
export function readEngine(directory: string): string | null {
  if (isNewDirectory(directory)) return null
  const refuse = (
    why: string,
    remedy = `put that file back (it holds "${ENGINE_VERSION}"), restore a backup, or name another directory`,
  ): never => {
    throw new DataDirectoryRefused(
      `storage.data_dir: ${resolve(directory)} holds files, but its PG_VERSION ${why}, so that nothing was changed there: ${remedy}`,
    )
  }
  try {
    const engine = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim()
    return /^\d+$/.test(engine) ? engine : refuse('names no version')
  } catch (error) {
    if (error instanceof DataDirectoryRefused) throw error
    const { code = 'unknown cause' } = error as NodeJS.ErrnoException
    const foreign = code === 'EACCES' ? describeForeignFile(directory) : null
    return refuse(`cannot be read (${code})`, foreign ?? undefined)
  }
}

/** Throws DataDirectoryRefused, OtherEngine included. */
export function requireOwnEngine(directory: string): void {
  const engine = readEngine(directory)
  if (engine !== null && engine !== ENGINE_VERSION) throw new OtherEngine(directory, engine)
}

/**
 * The database at `fresh`, which is on the disk, takes the place of the one that is there, which is kept; gives its new name,
 * which ends in `label`. A crash leaves the old one, or what `finishSwap` completes.
 */
export function swapDatabase(dataDir: string, fresh: string, label: string): string {
  const current = join(dataDir, DATABASE_DIRECTORY)
  let kept = `${current}.${label}`
  for (let number = 2; existsSync(kept); number++) kept = `${current}.${label}-${number}`
  const upgraded = join(dataDir, UPGRADED)
  // One that an interrupted swap left beside its database was never used.
  if (fresh !== upgraded) rmSync(upgraded, { recursive: true, force: true })
  renameSync(fresh, upgraded)
  flush(dirname(fresh))
  flush(dataDir)
  renameSync(current, kept)
  finishSwap(dataDir)
  return kept
}

export const hasUnfinishedSwap = (dataDir: string): boolean => existsSync(join(dataDir, UPGRADED))

/** To be called while the data directory is locked. */
export function finishSwap(dataDir: string): void {
  const [current, upgraded] = [join(dataDir, DATABASE_DIRECTORY), join(dataDir, UPGRADED)]
  if (existsSync(current) || !existsSync(upgraded)) return
  renameSync(upgraded, current)
  flush(dataDir)
}

const TRIAL_PREFIX = 'trial-'

/**
 * Holds the database of a trial restore, which is in clear. It is never beside the backup, whose directory may be
 * copied elsewhere. Removed with this process too, and what a killed one left the next backup or start removes.
 */
export function openTrialDirectory(directory: string): { path: string; remove(): void } {
  removeOldTrials(directory)
  const path = join(directory, `${TRIAL_PREFIX}${crypto.randomUUID()}`)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const lock = lockDirectory(path)
  const remove = () => {
    process.off('exit', remove)
    rmSync(path, { recursive: true, force: true, maxRetries: 3 })
    if (typeof lock === 'function') lock()
  }
  process.once('exit', remove)
  return { path, remove }
}

export function removeOldTrials(directory: string): void {
  if (existsSync(directory)) removeAbandoned(directory, TRIAL_PREFIX)
}
