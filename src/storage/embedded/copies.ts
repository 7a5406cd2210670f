/** Copies of the database's files, each in a directory of its own beside them, and what killed processes left of such. */
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DATABASE_DIRECTORY } from '../../platform/data-directory.ts'
import { removeOldTrials } from './directory.ts'
import { ENOUGH_BYTES } from './disk-watch.ts'
import { removeExpiredSnapshot } from './kept-snapshot.ts'
import type { Lives } from './lives.ts'
import { copySnapshot, makeSnapshotDirectory, removeOldSnapshots, snapshotBytes } from './snapshot.ts'
import { createTurns, type Turns } from './turns.ts'

type Measure = (directory: string) => number

/** A copy of the files would leave too little space for the database itself. */
class SnapshotRefused extends Error {
  override name = 'SnapshotRefused'
  constructor(dataDir: string, neededBytes: number) {
    const mebibytes = Math.ceil(neededBytes / 2 ** 20)
    super(
      `storage.data_dir: ${resolve(dataDir)} needs ${mebibytes} MiB of free space for a copy: make space on its disk`,
    )
  }
}

/** Returns the directory that `fill` filled, which its reader has a minute to lock. Throws SnapshotRefused. */
export async function makeCopy(
  dataDir: string,
  freeBytes: Measure,
  fill: (target: string) => void | Promise<void>,
): Promise<string> {
  const needed = snapshotBytes(join(dataDir, DATABASE_DIRECTORY)) + 2 * ENOUGH_BYTES
  if (freeBytes(dataDir) < needed) throw new SnapshotRefused(dataDir, needed)
  const { path, handOver } = makeSnapshotDirectory(dataDir)
  try {
    await fill(path)
    handOver()
    return path
  } catch (error) {
    handOver()
    rmSync(path, { recursive: true, force: true })
    throw error
  }
}

/**
 * Removes the files that killed processes left, and those that hold the data in clear: copies, and databases of trial
 * restores.
 */
export function removeLeftovers(dataDir: string): void {
  removeOldSnapshots(dataDir)
  removeOldTrials(dataDir)
  removeExpiredSnapshot(dataDir)
}

interface Needs {
  dataDir: string
  lives: Lives
  inTurn: Turns
  freeBytes: Measure
}

/** Copies of a database that is in use, one at a time. */
export function createSnapshots({ dataDir, lives, inTurn, freeBytes }: Needs) {
  const oneByOne = createTurns()
  let isCopying = false

  async function snapshot(): Promise<string> {
    removeLeftovers(dataDir)
    const flush = lives.flushOfThisLife()
    const inOwnTurn: Parameters<typeof copySnapshot>[0]['inTurn'] = (work) =>
      inTurn(() => {
        // The log is copied from its files.
        flush()
        return work((text) => lives.query(text, false))
      })
    isCopying = true
    try {
      return await makeCopy(dataDir, freeBytes, (target) =>
        copySnapshot({ inTurn: inOwnTurn }, join(dataDir, DATABASE_DIRECTORY), target),
      )
    } finally {
      isCopying = false
    }
  }

  return {
    snapshot: () => oneByOne(snapshot),
    /** While the files are copied, the log since the first of them must stay. */
    isCopying: () => isCopying,
  }
}
