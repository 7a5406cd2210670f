/**
 * An operating-system lock on a directory: it ends with the process that holds it, however that ends. So a directory for
 * temporary files tells whether anybody still needs it.
 */
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const DIRECTORY_LOCK = 'lock'

/**
 * Locks the directory, and returns the function that releases it. It is `unavailable` where the file system knows no
 * locks. It throws where no file can be made there.
 */
export function lockDirectory(directory: string, name = DIRECTORY_LOCK) {
  const file = resolve(directory, name)
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() === false) throw new Error(`${file} is no file`)
  // Loaded here, since a service with servers locks nothing.
  const { Database: LockFile } = require('bun:sqlite') as typeof import('bun:sqlite')
  const lock = new LockFile(file, { create: true })
  try {
    lock.exec('pragma locking_mode = exclusive; pragma busy_timeout = 0; begin exclusive')
  } catch (error) {
    lock.close()
    return (error as { code?: unknown }).code === 'SQLITE_BUSY' ? 'taken' : 'unavailable'
  }
  return () => lock.close()
}

/** A younger directory may not have its lock yet. */
const YOUNG_MS = 60_000
/** An older directory is removed where locks say nothing. */
const OLD_MS = 86_400_000

/**
 * Removes the directories with that prefix that no process has locked any more; with `graceMs`, where one hands them to
 * another, only after that time. A directory that cannot be removed is left.
 */
export function removeAbandoned(directory: string, prefix: string, graceMs = 0): void {
  for (const name of readdirSync(directory).filter((each) => each.startsWith(prefix))) {
    const path = join(directory, name)
    try {
      if (isAbandoned(path, graceMs)) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another process removes it just now, or it belongs to somebody else.
    }
  }
}

function isAbandoned(path: string, graceMs: number): boolean {
  const found = lstatSync(path)
  // In a directory that others write to as well, what is in theirs may lead anywhere.
  if (!found.isDirectory() || found.uid !== process.geteuid?.()) return false
  const ageMs = Date.now() - found.mtimeMs
  if (!existsSync(join(path, DIRECTORY_LOCK))) return ageMs > YOUNG_MS
  if (ageMs < graceMs) return false
  const lock = lockDirectory(path)
  if (typeof lock !== 'function') return lock === 'unavailable' && ageMs > OLD_MS
  lock()
  return true
}
