/**
 * The flushing of files and of the directories that name them: after it, copied, unpacked or renamed files are on the
 * disk.
 */
import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'

const AT_ONCE = 64

/** A file, or the names in a directory. */
export function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Every file and directory below it, and itself; not its own name in its parent. */
export async function flushTree(directory: string): Promise<void> {
  const below = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  // Many at once, since the disk writes those that wait together; but not more than a process may have open.
  const paths = [...below, directory].values()
  await Promise.all(Array.from({ length: AT_ONCE }, () => flushEach(paths)))
}

async function flushEach(paths: Iterable<string>): Promise<void> {
  for (const path of paths) {
    const file = await open(path, 'r')
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  }
}
