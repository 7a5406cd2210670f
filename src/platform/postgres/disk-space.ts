/** Whether a directory can take what a database is about to write, whatever stands against it: space, quota, a limit. */
import { closeSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What recovery may write at most before it gets going: a few segments of the log and of tables. */
const TRIAL_BYTES = 8 * 1024 * 1024
const CHUNK = new Uint8Array(1024 * 1024)

/** Writes a file of that size and removes it: a quota or a file size limit shows in no number of the file system. */
export function canWrite(directory: string): boolean {
  const file = join(directory, 'trial')
  try {
    const descriptor = openSync(file, 'w', 0o600)
    try {
      for (let left = TRIAL_BYTES; left > 0; ) left -= writeSync(descriptor, CHUNK, 0, CHUNK.byteLength)
    } finally {
      closeSync(descriptor)
    }
    return true
  } catch {
    return false
  } finally {
    rmSync(file, { force: true })
  }
}

/** Bytes that are free for us; a file system that does not say counts as one with enough. */
export function freeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
