/**
 * The embedded default (docs/decisions/embedded-database.md): PostgreSQL as PGlite in this process, on its own
 * directory, which is locked against a second process. Writes are on the disk before they are acknowledged. Promises
 * for a disk that fills: nothing acknowledged is lost, statements that cannot be executed throw DatabaseUnavailable,
 * and reading works while there is a reserve. Everything works again by itself once there is space.
 */
import { constants, cpSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DATABASE_DIRECTORY, prepareDataDirectory } from '../../platform/data-directory.ts'
import { type CopySession, createEmbeddedCopy } from '../../platform/postgres/copy.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { canWrite, freeBytes } from '../../platform/postgres/disk-space.ts'
import { inTransaction } from '../../platform/postgres/in-transaction.ts'
import { createSnapshots, makeCopy, removeLeftovers } from './copies.ts'
import { leaveCounters, takeCounters } from './counters.ts'
import { finishSwap, hasUnfinishedSwap, isNewDirectory, requireOwnEngine } from './directory.ts'
import { createDiskWatch } from './disk-watch.ts'
import { asDatabase, type EmbeddedDriver } from './driver.ts'
import type { FileObserver } from './files.ts'
import type { InstanceOptions } from './instance.ts'
import { createKeepUp } from './keep-up.ts'
import { openFirst, openLives } from './lives.ts'
import { createLock, DataDirectoryLocked, type DirectoryLock, isStarting } from './lock.ts'
import type { SentRows } from './rows.ts'
import { createTurns, type Turns } from './turns.ts'
import { createUpkeep, type UpkeepOptions, vacuumAll } from './upkeep.ts'
import { startWatchdog } from './watchdog.ts'

export interface EmbeddedOptions {
  /** Free bytes of a directory's file system. */
  freeBytes?: (directory: string) => number
  /** Runs while the directory is locked, before the database in it is opened or made. */
  beforeOpening?: (state: { isNewDatabase: boolean }) => void | Promise<void>
  upkeep?: UpkeepOptions
  /** Called once where the lock was removed, so that another process may write to the same files: nothing more is written. */
  onLockLost?: (message: string) => void
  /** Called where the instance ended by itself, and why; the database is opened anew within seconds. */
  onEnded?: (ended: { message: string; cause?: unknown }) => void
  /** The process ends once nothing else has run for so long, because of a statement that does not return. */
  silenceMs?: number
  /** Tests see by it what is written and flushed. */
  observer?: FileObserver
  /** Called where a piece of upkeep failed, such as a checkpoint; it is tried again. */
  onUpkeepFailure?: (failure: { message: string; cause?: unknown }) => void
}

const WATCH_INTERVAL_MS = 1000
const LEFTOVERS_INTERVAL_MS = 60_000

/** There is not enough space to open the database, or the disk takes no writes. */
class DataDirectoryFull extends Error {
  override name = 'DataDirectoryFull'
  constructor(readonly directory: string) {
    super(
      `storage.data_dir: ${resolve(directory)} cannot be written to: make space on its disk, raise its quota, or mount it for writing`,
    )
  }
}

/** Neither a command nor a backup makes one: what they would then say of it were true of no service. */
export class NoDatabase extends Error {
  override name = 'NoDatabase'
  constructor(dataDir: string) {
    super(
      `storage.data_dir: there is no database in ${resolve(dataDir)}. The first start of the service makes it, or \`poterne restore\`: ` +
        'start it, or wait for it (`poterne health --wait 1m`); where it has its data elsewhere, name that directory ' +
        '(--config, POTERNE_STORAGE_DATA_DIR), or its socket (POTERNE_ADMIN_SOCKET)',
    )
  }
}

/**
 * Tells whether the directory already holds a database, also one that a crash left between its old place and its new
 * one.
 */
export const isEmbeddedThere = (dataDir: string) =>
  !isNewDirectory(join(dataDir, DATABASE_DIRECTORY)) || hasUnfinishedSwap(dataDir)

/** Throws NoDatabase, and DataDirectoryLocked where a service that starts is about to make it. */
export function requireEmbedded(dataDir: string): void {
  if (isEmbeddedThere(dataDir)) return
  throw isStarting(dataDir) ? new DataDirectoryLocked(dataDir) : new NoDatabase(dataDir)
}

export async function openEmbedded(dataDir: string, options: EmbeddedOptions = {}): Promise<Database> {
  return asDatabase(await openDriver(dataDir, options))
}

/** The driver in the thread of the database itself. */
export interface OwnThreadDriver extends EmbeddedDriver {
  /** Reads at once, or returns null if the statement has to wait for its turn, or its answer for the disk. */
  readNow(text: string, values: unknown[]): SentRows | null
}

export const openDriver = (dataDir: string, options: EmbeddedOptions = {}) =>
  withLock(dataDir, options.beforeOpening, (lock) => keepOpen(dataDir, lock, options))

/** For copying whole tables, while no service may have it open. Makes the database where there is none. */
export function openEmbeddedCopy(
  dataDir: string,
  beforeOpening?: EmbeddedOptions['beforeOpening'],
  options: InstanceOptions = { bulk: true },
): Promise<CopySession> {
  const directory = join(dataDir, DATABASE_DIRECTORY)
  return withLock(dataDir, beforeOpening, async (lock) => {
    const instance = await openFirst(directory, options)
    const copy = createEmbeddedCopy(instance, async () => {
      const counters = options.bulk ? await vacuumAll(copy.query) : null
      await instance.close()
      if (counters !== null) leaveCounters(directory, counters)
      lock.release()
    })
    return copy
  })
}

/**
 * Copies the files while no service may have them open, as a crash would leave them: who opens the copy recovers it, as one
 * of a service. Returns its directory.
 */
export const copyUnopened = (dataDir: string): Promise<string> =>
  withLock(dataDir, undefined, async (lock) => {
    const directory = join(dataDir, DATABASE_DIRECTORY)
    requireOwnEngine(directory)
    const copy = await makeCopy(dataDir, freeBytes, (target) =>
      cpSync(directory, target, { recursive: true, mode: constants.COPYFILE_FICLONE }),
    )
    lock.release()
    return copy
  })

/** Opens what is in the directory, which stays locked until it is released. */
async function withLock<T>(
  dataDir: string,
  beforeOpening: EmbeddedOptions['beforeOpening'],
  open: (lock: DirectoryLock) => Promise<T>,
): Promise<T> {
  prepareDataDirectory(dataDir)
  const lock = createLock(dataDir)
  await lock.take()
  try {
    if (!canWrite(dataDir)) throw new DataDirectoryFull(dataDir)
    removeLeftovers(dataDir)
    finishSwap(dataDir)
    await beforeOpening?.({ isNewDatabase: !isEmbeddedThere(dataDir) })
    return await open(lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

async function keepOpen(
  dataDir: string,
  lock: DirectoryLock,
  { freeBytes: measure = freeBytes, onLockLost = endProcess, ...options }: EmbeddedOptions,
): Promise<OwnThreadDriver> {
  const directory = join(dataDir, DATABASE_DIRECTORY)
  const inTurn = createTurns()
  const upkeep = createUpkeep(options.upkeep)
  const lives = await openLives({
    directory,
    inTurn,
    observer: options.observer,
    beforeOpening: () => upkeep.start(takeCounters(directory)),
    onEnded: options.onEnded,
  })
  const disk = createDiskWatch({ dataDir, lives, freeBytes: measure })
  const snapshots = createSnapshots({ dataDir, lives, inTurn, freeBytes: measure })
  const { keepUp, step } = createKeepUp({
    upkeep,
    lives,
    mayCheckpoint: () => !snapshots.isCopying(),
    onFailure: options.onUpkeepFailure,
  })
  const regular = createRegularWork({ lock, inTurn, onLockLost: endWithoutLock })

  function endWithoutLock(): void {
    lives.abandon()
    lock.release()
    onLockLost(
      `storage.data_dir: the lock in ${resolve(dataDir)} was removed, so that another process may write there: this one ends`,
    )
  }

  async function closeCleanly(): Promise<void> {
    if (!lives.isOpen()) return
    const counters = await upkeep.counters(lives.query).catch(() => [])
    if (await lives.close()) leaveCounters(directory, counters)
  }

  const stopWatchdog = startWatchdog(options.silenceMs)
  regular.every(LEFTOVERS_INTERVAL_MS, async () => removeLeftovers(dataDir))
  regular.every(WATCH_INTERVAL_MS, async (isBusy) => {
    await disk.look()
    await keepUp({ isBusy, isReadOnly: disk.isReadOnly() })
  })

  const { run, runAndFlush, answer, isReader, readNow } = lives
  return {
    run: (...statement) => answer(() => run(...statement), { isReader: isReader(statement[0]) }),
    readNow,
    transaction: (work) => answer(() => inTransaction(run, () => work(run))),
    session: (work) => inTurn(() => work(runAndFlush)),
    ping: disk.ping,
    upkeep: {
      step: () => inTurn(step),
      condition: () => inTurn(() => upkeep.condition(lives.query)),
    },
    files: { snapshot: snapshots.snapshot },
    close: async () => {
      if (regular.isOver()) return
      regular.end()
      stopWatchdog()
      await inTurn(closeCleanly)
      lock.release()
    },
  }
}

interface Regular {
  lock: DirectoryLock
  inTurn: Turns
  onLockLost(): void
}

/** What is done again and again, each time in a turn, as long as the lock is there. */
function createRegularWork({ lock, inTurn, onLockLost }: Regular) {
  const timers: Timer[] = []
  let isOver = false

  function every(ms: number, work: (isBusy: boolean) => Promise<unknown>): void {
    const timer = setInterval(() => {
      if (lock.isLost()) return onLockLost()
      const isBusy = inTurn.waiting() > 0
      // Work that fails is tried again the next time; until then the failing statements show that something is wrong.
      inTurn(async () => (isOver ? undefined : work(isBusy))).catch(() => {})
    }, ms)
    timer.unref()
    timers.push(timer)
  }

  return {
    every,
    isOver: () => isOver,
    end(): void {
      isOver = true
      timers.forEach(clearInterval)
    },
  }
}

/** It ends at once: whatever a proper end would still write might damage what another process has written since. */
export function endProcess(message: string): void {
  process.stderr.write(`poterne failed: ${message}\n`)
  process.exit(1)
}
