/** The lock by which one process alone has the directory of the embedded database. */
import { resolve } from 'node:path'
import { currentUser, DataDirectoryRefused } from '../data-directory.ts'
import { lockDirectory } from '../directory-lock.ts'

export class DataDirectoryLocked extends Error {
  override name = 'DataDirectoryLocked'
  constructor(readonly directory: string) {
    super(`storage.data_dir: ${resolve(directory)} is in use by another poterne: stop that one first`)
  }
}

/** Throws DataDirectoryLocked. */
export function lockData(directory: string): () => void {
  const lock = tryLock(directory)
  if (typeof lock !== 'function') throw new DataDirectoryLocked(directory)
  return lock
}

export interface DirectoryLock {
  /** Throws DataDirectoryLocked. */
  take(): void
  release(): void
}

export function createLock(directory: string): DirectoryLock {
  let unlock: (() => void) | null = null
  return {
    take() {
      unlock = lockData(directory)
    },
    release() {
      unlock?.()
      unlock = null
    },
  }
}

function tryLock(directory: string): ReturnType<typeof lockDirectory> {
  try {
    return lockDirectory(directory)
  } catch {
    throw new DataDirectoryRefused(
      `storage.data_dir: ${currentUser()} cannot write ${resolve(directory, 'lock')}: let that user own the directory and what is in it`,
    )
  }
}
