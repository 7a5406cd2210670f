/**
 * The embedded default (docs/decisions/embedded-database.md): PostgreSQL as PGlite in this process, on its own
 * directory, which is locked against a second process. Writes are on the disk before they are acknowledged. Promises
 * for a disk that fills: nothing acknowledged is lost, statements that cannot be executed throw DatabaseUnavailable,
 * and reading works while there is a reserve. Everything works again by itself once there is space.
 */
import { constants, cpSync, existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import {
  DATABASE_DIRECTORY,
  DataDirectoryRefused,
  describeForeignFile,
  prepareDataDirectory,
} from '../../platform/data-directory.ts'
import { type CopySession, createEmbeddedCopy } from '../../platform/postgres/copy.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { canWrite, freeBytes } from '../../platform/postgres/disk-space.ts'
import {
  DatabaseFull,
  DatabaseReadOnly,
  DatabaseUnavailable,
  databaseCode,
  isUnavailable,
} from '../../platform/postgres/failure.ts'
import { inTransaction } from '../../platform/postgres/in-transaction.ts'
import { leaveCounters, takeCounters } from './counters.ts'
import {
  finishSwap,
  hasUnfinishedSwap,
  isNewDirectory,
  removeOldTrials,
  requireOwnEngine,
} from './directory.ts'
import { asDatabase, type EmbeddedDriver, type RunEmbedded } from './driver.ts'
import { InstanceEnded } from './failure.ts'
import type { FileObserver } from './files.ts'
import { createFlushes, type Flushes } from './flushes.ts'
import { abandonInstance, endedBy, FLUSH_AFTER, type InstanceOptions, openInstance } from './instance.ts'
import { removeExpiredSnapshot } from './kept-snapshot.ts'
import { createLock, DataDirectoryLocked, type DirectoryLock, isStarting } from './lock.ts'
import { createDecoder, type SentRows } from './rows.ts'
import { createSession, type EmbeddedResult, type Session } from './session.ts'
import { copySnapshot, makeSnapshotDirectory, removeOldSnapshots, snapshotBytes } from './snapshot.ts'
import { createTurns } from './turns.ts'
import { createUpkeep, type UpkeepFailed, type UpkeepOptions, vacuumAll } from './upkeep.ts'
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

/** The time from one opening to the next. */
interface Life {
  readonly instance: PGlite
  readonly session: Session
  readonly flushes: Flushes
}

/** Upkeep that is due waits at most this long for a moment in which no statement waits. */
const QUIET_WITHIN_MS = 10_000
/** Small pieces of upkeep follow each other for this long. */
const UPKEEP_MS = 20
/** A look at all relations costs some 40 ms: too much for every second of an idle service. */
const LOOK_AGAIN_MS = 10_000

/** Read-only below the first, writable again above the second: there must always be space for a segment of the log. */
const RESERVE_BYTES = 24 * 1024 * 1024
const ENOUGH_BYTES = 32 * 1024 * 1024
const WATCH_INTERVAL_MS = 1000
/** The log says "embedded database: " before it. */
const ENDED = 'it has ended, and is opened anew'
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

/** A copy of the files would leave too little space for the database itself. */
export class SnapshotRefused extends Error {
  override name = 'SnapshotRefused'
  constructor(dataDir: string, neededBytes: number) {
    const mebibytes = Math.ceil(neededBytes / 2 ** 20)
    super(
      `storage.data_dir: ${resolve(dataDir)} needs ${mebibytes} MiB of free space for a copy: make space on its disk`,
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

/** Returns the directory that `fill` filled, which its reader has a minute to lock. Throws SnapshotRefused. */
async function makeCopy(
  dataDir: string,
  measure: typeof freeBytes,
  fill: (target: string) => void | Promise<void>,
): Promise<string> {
  const needed = snapshotBytes(join(dataDir, DATABASE_DIRECTORY)) + 2 * ENOUGH_BYTES
  if (measure(dataDir) < needed) throw new SnapshotRefused(dataDir, needed)
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
  {
    freeBytes: measure = freeBytes,
    upkeep: upkeepOptions,
    onUpkeepFailure,
    onEnded,
    observer,
    silenceMs,
    onLockLost = endProcess,
  }: EmbeddedOptions,
): Promise<OwnThreadDriver> {
  const directory = join(dataDir, DATABASE_DIRECTORY)
  const inTurn = createTurns()
  const snapshotInTurn = createTurns()
  const upkeep = createUpkeep(upkeepOptions)
  const decode = await createDecoder()
  const query = async (text: string) => decode(await run(text, [], true))
  /** While the files are copied, the log since the first of them must stay. */
  let isCopying = false
  /** Null after it ended by itself, until it can be opened again. */
  let life: Life | null = await live(openFirst)
  let isReadOnly = false
  /** The instance has ended, and is not opened again while there is no space. */
  let isFull = false
  let closed = false
  let hasLostLock = false

  async function live(open: typeof openInstance): Promise<Life> {
    upkeep.start(takeCounters(directory))
    const instance = await open(directory, { observer, flushedLater: true })
    const session = await createSession(instance)
    /** Many statements may write and did not, such as the search for a message that is due. */
    let flushedEnd = '0/0'
    const own: Life = {
      instance,
      session,
      flushes: createFlushes(() => {
        const [row] = decode(execute(own, FLUSH_AFTER, [flushedEnd]).rows)
        if (row) flushedEnd = String(row.end)
      }, inTurn),
    }
    return own
  }

  /** To be called within a turn only. */
  function execute(own: Life, text: string, values: unknown[]): EmbeddedResult {
    if (own !== life) throw new DatabaseUnavailable(ENDED)
    try {
      return own.session.run(text, values)
    } catch (error) {
      if (endedBy(error)) {
        abandonInstance(own.instance)
        life = null
        onEnded?.(error instanceof InstanceEnded ? error : { message: 'PostgreSQL panicked', cause: error })
      }
      if (life === null) throw new DatabaseUnavailable(ENDED, { cause: error })
      throw isOfTheDisk(error)
        ? new DatabaseUnavailable('its files cannot be read or written', { cause: error })
        : error
    }
  }

  /** To be called within a turn only. The answer may not be on the disk yet. */
  const run: RunEmbedded = async (text, values, mayBeForgotten = false) => {
    if (life === null) throw new DatabaseUnavailable(ENDED)
    const { flushes } = life
    const { rows, mayHaveWritten } = execute(life, text, values)
    if (mayHaveWritten) flushes.noteWrite({ mustLast: !mayBeForgotten })
    return rows
  }

  /** Its answer, once all that it may have seen is on the disk; a refusal shows something too. */
  async function answer<T>(work: () => Promise<T>, { isReader = false } = {}): Promise<T> {
    let flushes: Flushes | undefined
    try {
      return await inTurn(() => {
        flushes = life?.flushes
        return work()
      }, isReader)
    } finally {
      await flushes?.settle({ isReader })
    }
  }

  /** Runs statements of a session, which nobody shares: each statement is on the disk before the next one. */
  const runAndFlush: RunEmbedded = async (...statement) => {
    try {
      return await run(...statement)
    } finally {
      life?.flushes.now()
    }
  }

  /** Opens an instance again that has ended, and makes it read-only before the disk is full. */
  async function watch(): Promise<void> {
    if (life === null) {
      if (hasLostLock) return
      isFull = !canWrite(dataDir)
      if (isFull) return
      life = await live(openInstance)
      isReadOnly = false
    }
    life.flushes.now()
    const free = measure(dataDir)
    const wanted = isReadOnly ? free < ENOUGH_BYTES : free < RESERVE_BYTES
    if (wanted === isReadOnly) return
    await run(`set default_transaction_read_only = ${wanted ? 'on' : 'off'}`, [])
    isReadOnly = wanted
  }

  function endWithoutLock(): void {
    if (life !== null) abandonInstance(life.instance)
    life = null
    hasLostLock = true
    lock.release()
    onLockLost(
      `storage.data_dir: the lock in ${resolve(dataDir)} was removed, so that another process may write there: this one ends`,
    )
  }

  async function closeCleanly(): Promise<void> {
    if (life === null) return
    const counters = await upkeep.counters(query).catch(() => [])
    await life?.instance.close()
    if (life !== null) leaveCounters(directory, counters)
    life = null
  }

  const every = (ms: number, work: (isBusy: boolean) => Promise<unknown>) => {
    const timer = setInterval(() => {
      if (lock.isLost()) return endWithoutLock()
      const isBusy = inTurn.waiting() > 0
      // Work that fails is tried again the next time; until then the failing statements show that something is wrong.
      inTurn(async () => (closed ? undefined : work(isBusy))).catch(() => {})
    }, ms)
    timer.unref()
    return timer
  }
  let upkeptAtMs = performance.now()
  let nothingDueUntilMs = 0
  const stepUpkeep = (onlyUrgent = false) => upkeep.step(query, { onlyUrgent, mayCheckpoint: !isCopying })

  async function keepUp(isBusy: boolean): Promise<void> {
    if (life === null) return
    const startedAtMs = performance.now()
    // A vacuum writes to the log first, for which a disk that is almost full has no space.
    const onlyUrgent =
      isReadOnly || startedAtMs < nothingDueUntilMs || (isBusy && startedAtMs - upkeptAtMs < QUIET_WITHIN_MS)
    try {
      let done = await stepUpkeep(onlyUrgent)
      while (done && performance.now() - startedAtMs < UPKEEP_MS) done = await stepUpkeep(onlyUrgent)
      if (!done && !onlyUrgent) nothingDueUntilMs = startedAtMs + LOOK_AGAIN_MS
    } catch (error) {
      onUpkeepFailure?.(error as UpkeepFailed)
    }
    if (!onlyUrgent) upkeptAtMs = performance.now()
  }
  const stopWatchdog = startWatchdog(silenceMs)
  const timers = [
    every(LEFTOVERS_INTERVAL_MS, async () => removeLeftovers(dataDir)),
    every(WATCH_INTERVAL_MS, async (isBusy) => {
      await watch()
      await keepUp(isBusy)
    }),
  ]

  async function snapshot(): Promise<string> {
    removeLeftovers(dataDir)
    const own = life
    const inOwnTurn: Parameters<typeof copySnapshot>[0]['inTurn'] = (work) =>
      inTurn(() => {
        if (own === null || own !== life || closed) throw new DatabaseUnavailable(ENDED)
        // The log is copied from its files.
        own.flushes.now()
        return work(async (text) => decode(await run(text, [])))
      })
    isCopying = true
    try {
      return await makeCopy(dataDir, measure, (target) =>
        copySnapshot({ inTurn: inOwnTurn }, directory, target),
      )
    } finally {
      isCopying = false
    }
  }

  const isReader = (text: string) => life?.session.reads(text) ?? false

  return {
    run: (...statement) => answer(() => run(...statement), { isReader: isReader(statement[0]) }),
    readNow(text, values) {
      const mustWait = inTurn.waiting() > 0 || life?.flushes.isAwaited()
      return life === null || mustWait || !isReader(text) ? null : execute(life, text, values).rows
    },
    transaction: (work) => answer(() => inTransaction(run, () => work(run))),
    session: (work) => inTurn(() => work(runAndFlush)),
    ping: async () => {
      // The watch made it read-only, or could not open it again.
      if (isReadOnly || isFull) throw new DatabaseFull('its disk is full')
      const state = await answer(() => query(`select current_setting('transaction_read_only') as state`), {
        isReader: true,
      })
      if (state[0]?.state !== 'off') throw new DatabaseReadOnly('read-only')
    },
    upkeep: {
      step: () => inTurn(() => stepUpkeep()),
      condition: () => inTurn(() => upkeep.condition(query)),
    },
    files: { snapshot: () => snapshotInTurn(snapshot) },
    close: async () => {
      if (closed) return
      closed = true
      timers.forEach(clearInterval)
      stopWatchdog()
      await inTurn(closeCleanly)
      lock.release()
    },
  }
}

/** It ends at once: whatever a proper end would still write might damage what another process has written since. */
export function endProcess(message: string): void {
  process.stderr.write(`poterne failed: ${message}\n`)
  process.exit(1)
}

/**
 * Removes the files that killed processes left, and those that hold the data in clear: copies, and databases of trial
 * restores.
 */
function removeLeftovers(dataDir: string): void {
  removeOldSnapshots(dataDir)
  removeOldTrials(dataDir)
  removeExpiredSnapshot(dataDir)
}

/** The words of PGlite itself ("Aborted()") help nobody. */
async function openFirst(directory: string, options?: InstanceOptions): Promise<PGlite> {
  try {
    return await openInstance(directory, options)
  } catch (error) {
    if (error instanceof DataDirectoryRefused) throw error
    const path = resolve(directory)
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : 'unknown cause'
    const remedy =
      (existsSync(path) ? describeForeignFile(path) : null) ??
      'it is no database of this version of poterne, or it is damaged: restore a backup, or name another directory'
    throw new DataDirectoryRefused(`storage.data_dir: ${path} cannot be opened (${reason}): ${remedy}`)
  }
}

/** Includes errors of the file system without a code of their own: a quota (58030), a file size limit (XX000). */
function isOfTheDisk(error: unknown): boolean {
  const { file } = (error ?? {}) as { file?: unknown }
  return (
    isUnavailable(error) ||
    databaseCode(error)?.startsWith('58') === true ||
    /^(fd|md|xlog|slru|buffile|relmapper)\w*\.c$/.test(String(file))
  )
}
