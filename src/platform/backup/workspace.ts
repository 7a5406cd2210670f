/**
 * A backup is made in a hidden directory beside its file, which has only to be renamed in the end. The next backup
 * there removes the workspace of a process that was killed, and never that of one that still runs.
 */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockDirectory, removeAbandoned } from '../directory-lock.ts'
import { BackupRefused, cannotWrite } from './refused.ts'

const PREFIX = '.poterne-backup-'
const TRIAL_PREFIX = 'trial-'

export interface Workspace {
  /** The backup until it is verified. */
  file: string
  /** Everything in it goes, too. */
  remove(): void
}

/** Throws BackupRefused where nothing can be written to the directory. */
export function openWorkspace(directory: string): Workspace {
  try {
    removeAbandoned(directory, PREFIX)
    for (;;) {
      const path = join(directory, `${PREFIX}${crypto.randomUUID()}`)
      mkdirSync(path, { mode: 0o700 })
      const lock = lockDirectory(path)
      // Another process has just looked whether it is abandoned, and removes it.
      if (lock === 'taken') continue
      return {
        file: join(path, 'backup'),
        remove() {
          rmSync(path, { recursive: true, force: true, maxRetries: 3 })
          if (lock !== 'unavailable') lock()
        },
      }
    }
  } catch (error) {
    throw error instanceof BackupRefused ? error : cannotWrite(error, directory)
  }
}

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
