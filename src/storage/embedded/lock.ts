/** The lock by which one process alone has the directory of the embedded database. */
import { type Stats, statSync, utimesSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  adviseOn,
  currentUser,
  DataDirectoryRefused,
  describeForeignFile,
} from '../../platform/data-directory.ts'
import { lockDirectory } from '../../platform/directory-lock.ts'

export class DataDirectoryLocked extends Error {
  override name = 'DataDirectoryLocked'
  constructor(readonly directory: string) {
    super(`storage.data_dir: ${resolve(directory)} is in use by another poterne: stop that one first`)
  }
}

/** The start of a service takes no longer on a busy machine. */
const STARTING_MS = 60_000
const LOOK_AGAIN_MS = 200

/** A lock lasts as long as its file, and people remove files named `lock`. Versions before this one lock that one only. */
const FILE = 'in-use-do-not-remove'
const FORMER_FILE = 'lock'

/**
 * One that took it just now is waited for, until it ends, as a command does, or is ready, as a service. Throws
 * DataDirectoryLocked.
 */
export async function lockData(directory: string): Promise<() => void> {
  for (let isReady = false; ; isReady = !isStarting(directory)) {
    const release = tryLocks(directory)
    if (release !== null) return release
    if (isReady) throw new DataDirectoryLocked(directory)
    await Bun.sleep(LOOK_AGAIN_MS)
  }
}

function tryLocks(directory: string): (() => void) | null {
  const locks: (() => void)[] = []
  const release = () => {
    for (const unlock of locks) unlock()
  }
  for (const name of [FILE, FORMER_FILE]) {
    const lock = tryLock(directory, name)
    if (typeof lock !== 'function') {
      release()
      return null
    }
    locks.push(lock)
  }
  dateLock(directory, new Date())
  return () => {
    release()
    noteReady(directory)
  }
}

/** What is ready, or at its end, is not starting any more, however shortly ago it took the lock. */
export const noteReady = (directory: string): void => dateLock(directory, new Date(0))

/** The time of the file says since when a start may be under way: SQLite writes nothing into it. */
function dateLock(directory: string, date: Date): void {
  try {
    utimesSync(join(directory, FILE), date, date)
  } catch {
    // Somebody else's file is locked as well as one's own.
  }
}

/** True while whoever took the lock shortly ago may become a service that answers, or end. */
export function isStarting(directory: string): boolean {
  try {
    return Math.abs(Date.now() - statSync(join(directory, FILE)).mtimeMs) < STARTING_MS
  } catch {
    return false
  }
}

export type DirectoryLock = ReturnType<typeof createLock>

export function createLock(directory: string) {
  let unlock: (() => void) | null = null
  let held: string | null = null
  const readIdentity = () => identityOf(statSync(join(directory, FILE), { throwIfNoEntry: false }))
  return {
    /** Throws DataDirectoryLocked. */
    async take() {
      unlock = await lockData(directory)
      held = readIdentity()
    },
    release() {
      unlock?.()
      unlock = null
      held = null
    },
    /** Its file was removed or replaced while it was held: another process may have the directory. */
    isLost: () => held !== null && held !== readIdentity(),
  }
}

const identityOf = (found: Stats | undefined): string => (found ? `${found.dev}:${found.ino}` : 'none')

function tryLock(directory: string, name: string): ReturnType<typeof lockDirectory> {
  try {
    return lockDirectory(directory, name)
  } catch {
    throw new DataDirectoryRefused(
      `storage.data_dir: ${currentUser()} cannot write ${resolve(directory, 'lock')}: ${describeForeignFile(directory) ?? adviseOn(directory)}`,
    )
  }
}
