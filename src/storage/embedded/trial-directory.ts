/** The directory in which a backup restores into an embedded database on trial. */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockDirectory, removeAbandoned } from '../../platform/directory-lock.ts'

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
