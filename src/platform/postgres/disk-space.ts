/** The check that a database could write to a directory: free space, quota and the limit of a file's size allow it. */
import { closeSync, existsSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** Recovery writes less before the database runs: a few segments of the log and of tables. */
const TRIAL_BYTES = 8 * 1024 * 1024
const CHUNK = new Uint8Array(1024 * 1024)

/**
 * Writes a file of that size and removes it. No number of the file system shows a quota or a file size limit, so trying
 * is the only way to find out.
 */
export function canWrite(directory: string): boolean {
  const file = join(directory, 'trial')
  try {
    rmSync(file, { force: true })
    // A link that somebody planted under this name is not followed.
    const descriptor = openSync(file, 'wx', 0o600)
    try {
      for (let left = TRIAL_BYTES; left > 0; ) left -= writeSync(descriptor, CHUNK, 0, CHUNK.byteLength)
    } finally {
      closeSync(descriptor)
    }
    return true
  } catch {
    return false
  } finally {
    // Nothing is there where the disk is mounted read-only, which refuses this too.
    if (existsSync(file)) rmSync(file, { force: true })
  }
}

/** The number of bytes free for this user; infinite if the file system does not report it. */
export function freeBytes(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** The same without waiting for a disk that does not answer, such as one of another machine; null if it is not reported. */
export async function readFreeBytes(directory: string): Promise<number | null> {
  try {
    const { bavail, bsize } = await statfs(directory)
    return bavail * bsize
  } catch {
    return null
  }
}
