/**
 * Copies the embedded database's files while it is in use, as PostgreSQL's base backup does. The files are copied after
 * a checkpoint, in slices between other work, and then the log since that checkpoint. Opening the copy replays the log
 * up to the moment when the last slice was copied: every transaction committed until then is in it, and no half of any.
 * No statement waits longer than for one slice.
 */
import { existsSync, lstatSync, mkdirSync, readdirSync, statSync, utimesSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { lockDirectory, removeAbandoned } from '../../platform/directory-lock.ts'

/** Copied while nothing else happens; some 20 ms. */
const SLICE_BYTES = 16 * 1024 * 1024
/** Segments of the log (1 MiB each) that are left for the last slice. */
const LAST_SEGMENTS = 8

/** Copies begin with it, beside the database. */
const PREFIX = 'snapshot-'

const CONTROL = join('global', 'pg_control')
const LOG = 'pg_wal'
/** The files that PostgreSQL makes anew at its start: the directories must be there, their content is not wanted. */
const EMPTIED =
  /^(pg_wal|pg_stat|pg_stat_tmp|pg_subtrans|pg_notify|pg_serial|pg_snapshots|pg_dynshmem|pg_replslot)\//
const LEFT_OUT = /(^|\/)(pg_internal\.init.*|postmaster\.(pid|opts))$/

interface SnapshotDatabase {
  /** Runs `work` while no statement runs. Throws once the database was opened anew: the copy would be of two lives. */
  inTurn<T>(work: (query: (text: string) => Promise<Record<string, unknown>[]>) => Promise<T>): Promise<T>
}

/** Between the end of a copy and the moment at which its reader has locked it. */
const HANDED_OVER_WITHIN_MS = 60_000

/** Makes a directory for a copy, locked until `handOver`: its reader has a minute to lock it. */
export function makeSnapshotDirectory(dataDir: string): { path: string; handOver: () => void } {
  const path = join(dataDir, `${PREFIX}${crypto.randomUUID()}`)
  mkdirSync(path, { mode: 0o700 })
  const unlock = lockDirectory(path)
  return {
    path,
    handOver() {
      utimesSync(path, new Date(), new Date())
      if (typeof unlock === 'function') unlock()
    },
  }
}

/**
 * Tells whether it is such a copy, by its name and kind: who reads one removes it afterwards. A path that ends in a
 * slash would be looked at through a link.
 */
export const isSnapshotDirectory = (path: string): boolean =>
  !path.endsWith('/') &&
  /^snapshot-[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(basename(path)) &&
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/** Copies that a process left behind which was killed. The maker or reader of a copy has locked it. */
export const removeOldSnapshots = (dataDir: string) => removeAbandoned(dataDir, PREFIX, HANDED_OVER_WITHIN_MS)

/** Bytes of the files that a copy holds. */
export const snapshotBytes = (source: string): number =>
  filesOf(source).reduce(
    (sum, file) => sum + (statSync(join(source, file), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )

/** `target` is empty. No checkpoint may be made until it returns. */
export async function copySnapshot({ inTurn }: SnapshotDatabase, source: string, target: string) {
  makeDirectories(source, target)
  const first = await inTurn(async (query) => {
    await query('checkpoint')
    await copyFile(source, target, CONTROL)
    const [row] = await query('select pg_walfile_name(redo_lsn) as name from pg_control_checkpoint()')
    return String(row?.name)
  })
  await copyInSlices(source, target, (work) => inTurn(work))
  const copied = new Set<string>()
  for (let isLast = false; !isLast; ) {
    await inTurn(async (query) => {
      const [row] = await query('select pg_walfile_name(pg_current_wal_insert_lsn()) as name')
      const missing = readdirSync(join(source, LOG))
        .filter((name) => /^[\dA-F]{24}$/.test(name) && name >= first && name <= String(row?.name))
        .filter((name) => !copied.has(name))
        .sort()
      isLast = missing.length <= LAST_SEGMENTS
      // The newest one is still written to.
      const now = isLast ? missing : missing.slice(0, LAST_SEGMENTS)
      for (const name of now) {
        await copyFile(source, target, join(LOG, name))
        copied.add(name)
      }
    })
  }
}

function makeDirectories(source: string, target: string): void {
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true }))
    if (entry.isDirectory()) {
      const path = join(entry.parentPath, entry.name)
      mkdirSync(join(target, path.slice(source.length)), { recursive: true, mode: 0o700 })
    }
}

/** The control file and the log are left out. */
const filesOf = (source: string): string[] =>
  readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(source.length + 1))
    .filter((file) => file !== CONTROL && !EMPTIED.test(file) && !LEFT_OUT.test(file))

async function copyInSlices(
  source: string,
  target: string,
  inTurn: (work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const files = filesOf(source)
  let next = 0
  let position = 0
  while (next < files.length) {
    await inTurn(async () => {
      for (let left = SLICE_BYTES; left > 0 && next < files.length; ) {
        const copied = await copyFile(source, target, files[next]!, { from: position, most: left })
        // Small files cost as well.
        left -= Math.max(copied, 4096)
        position += copied
        if (left > 0) [next, position] = [next + 1, 0]
      }
    })
  }
}

/** Copies up to `most` bytes; fewer where the file ends. A file that is gone was dropped, which the log says too. */
async function copyFile(
  source: string,
  target: string,
  file: string,
  { from = 0, most = Number.POSITIVE_INFINITY }: { from?: number; most?: number } = {},
): Promise<number> {
  const input = await open(join(source, file), 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (input === null) return 0
  const path = join(target, file)
  const output = await open(path, existsSync(path) ? 'r+' : 'wx', 0o600)
  try {
    return await copyBytes(input, output, from, most)
  } finally {
    await Promise.all([input.close(), output.close()])
  }
}

const BLOCK_BYTES = 1024 * 1024

async function copyBytes(input: FileHandle, output: FileHandle, from: number, most: number): Promise<number> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES)
  let copied = 0
  while (copied < most) {
    const { bytesRead } = await input.read(block, 0, Math.min(block.length, most - copied), from + copied)
    if (bytesRead === 0) break
    await output.write(block, 0, bytesRead, from + copied)
    copied += bytesRead
  }
  return copied
}
