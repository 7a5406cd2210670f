/**
 * A backup is made in a hidden directory beside its file, which has only to be renamed in the end. The next backup
 * there removes the workspace of a process that was killed, and never that of one that still runs.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lockDirectory, removeAbandoned } from '../../platform/directory-lock.ts'
import { BackupRefused, cannotWrite } from './refused.ts'

const PREFIX = '.poterne-backup-'

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
