/**
 * One PGlite on a data directory, started from the files inside the executable. The build puts a prepared directory into
 * it, so that no initdb runs on the user's machine; from source there is none, and the directory is made here.
 */
import { closeSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { assetPaths, preparedDatabasePath } from '../../platform/bundled/paths.ts'
import { readAsset } from '../../platform/bundled/read.ts'
import { flush, flushTree } from '../../platform/flush.ts'
import { isFatal } from '../../platform/postgres/failure.ts'
import { isNewDirectory, requireOwnEngine } from './directory.ts'
import { InstanceEnded, NeverFlushed } from './failure.ts'
import type { FileObserver, FlushedFiles } from './files.ts'
import { decoders } from './rows.ts'

const STACK_KIB = 100

/** PGlite turns fsync off ("-F"). An acknowledged write must survive a crash of the machine, so we leave it on. */
const withoutFsyncOff = (parameters: string[]) => parameters.filter((parameter) => parameter !== '-F')
const OWN_PARAMS = [
  'shared_buffers=8MB',
  'TimeZone=UTC',
  // Plans are kept: docs/decisions/sequential-scans-off.md.
  'enable_seqscan=off',
  'jit=off',
  // PGlite has an empty function in place of fdatasync.
  'wal_sync_method=fsync',
  // Far below the stack of WebAssembly, so that a recursion ends in an error of the statement.
  `max_stack_depth=${STACK_KIB}kB`,
].flatMap((setting) => ['-c', setting])

export const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  Buffer.from(buffer, byteOffset, byteLength)

/** They serve filling a database: rows of tables that the same transaction made are not written to the log as well. */
const BULK_PARAMS = ['wal_level=minimal', 'max_wal_senders=0'].flatMap((setting) => ['-c', setting])

export interface InstanceOptions {
  bulk?: boolean
  /** Nothing of it needs to survive a crash. */
  throwAway?: boolean
  /** A commit does not wait for the disk: its caller flushes before anybody sees it. */
  flushedLater?: boolean
  observer?: FileObserver | undefined
}

/** Makes the database where there is nothing, and recovers it after a crash. Throws DataDirectoryRefused. */
export async function openInstance(
  directory: string,
  { bulk = false, throwAway = false, flushedLater = false, observer }: InstanceOptions = {},
): Promise<PGlite> {
  requireOwnEngine(directory)
  const isNew = isNewDirectory(directory)
  // In parallel, because these three take most of the time to the first answer.
  const { pgliteData, initdbWasm } = assetPaths
  const [module, bundle, { PGlite, types }, { FlushedFiles }] = await Promise.all([
    compiledEngine(),
    readAsset(pgliteData),
    // Loaded here, since with a PostgreSQL server nothing needs it.
    import('@electric-sql/pglite'),
    import('./files.ts'),
    isNew ? unpackPrepared(directory, { throwAway }) : null,
  ])
  const files = new FlushedFiles(directory, observer)
  const instance = await PGlite.create({
    fs: files,
    startParams: [
      ...withoutFsyncOff(PGlite.defaultStartParams),
      ...OWN_PARAMS,
      ...(bulk ? BULK_PARAMS : []),
      ...(throwAway ? ['-F'] : []),
      ...(flushedLater ? ['-c', 'synchronous_commit=off'] : []),
    ],
    initDbStartParams: ['--wal-segsize=1'],
    pgliteWasmModule: module,
    ...(isNew && preparedDatabasePath === null ? { initdbWasmModule: await compile(initdbWasm) } : {}),
    fsBundle: new Blob([bundle]),
    parsers: decoders,
    // The protocol carries bytes as they are.
    serializers: { [types.BYTEA]: asBuffer as never },
  })
  if (isNew && preparedDatabasePath === null) await flushTree(directory)
  if (!throwAway) await proveFlush(instance, files)
  return instance
}

/** Writes a record that belongs to nobody, and waits until the log up to it is on the disk. */
export const FLUSH = `select pg_logical_emit_message(false, 'flush', '', true)`

/** The same, unless the log still ends where the flush before ended: then everything is on the disk. Answers its new end. */
export const FLUSH_AFTER = `
  select pg_logical_emit_message(false, 'flush', '', true)::text as "end"
   where pg_current_wal_insert_lsn() <> $1::text::pg_lsn`

/** Throws NeverFlushed where nothing was flushed although PostgreSQL asked for it. */
async function proveFlush(instance: PGlite, files: FlushedFiles): Promise<void> {
  const before = files.flushes
  await instance.query(FLUSH)
  if (files.ended) throw files.ended
  if (files.flushes === before) throw new NeverFlushed('PostgreSQL flushed nothing')
}

async function compile(path: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readAsset(path))
}

let engine: Promise<WebAssembly.Module> | null = null

/** PostgreSQL in WebAssembly, compiled once: what the compilers make of it while it runs serves the next instance too. */
export function compiledEngine(): Promise<WebAssembly.Module> {
  engine ??= compile(assetPaths.pgliteWasm).catch((error) => {
    engine = null
    throw error
  })
  return engine
}

/** Takes the one that another thread of this process has. */
export function useEngine(compiled: WebAssembly.Module): void {
  engine = Promise.resolve(compiled)
}

async function unpackPrepared(target: string, { throwAway }: { throwAway: boolean }): Promise<void> {
  if (preparedDatabasePath === null) return
  const partial = `${target}.partial`
  rmSync(partial, { recursive: true, force: true })
  await new Bun.Archive(await readAsset(preparedDatabasePath)).extract(partial)
  if (!throwAway) await flushTree(partial)
  renameSync(partial, target)
  flush(dirname(target))
}

/**
 * Tells whether this error ended the instance. PostgreSQL in single-user mode does not exit when it panics: it
 * continues with its locks held, and the next statement spins for ever.
 */
export function endedBy(error: unknown): boolean {
  const { name } = (error ?? {}) as { name?: unknown }
  return error instanceof InstanceEnded || isFatal(error) || name === 'ExitStatus'
}

/** The part of an emulated open file that refers to the real one. */
interface OpenFile {
  nfd?: number
}

/** Closes the files of an instance that panicked and leaves it to the garbage collector. It must not be used again. */
export function abandonInstance({ Module }: PGlite): void {
  const { streams = [] } = Module.FS as unknown as { streams?: (OpenFile | null | undefined)[] }
  for (const stream of streams) {
    if (stream?.nfd === undefined) continue
    try {
      closeSync(stream.nfd)
    } catch {
      // Closed already.
    }
  }
}

/** The file system of an instance that `openInstance` made. */
export const filesOf = (instance: PGlite): FlushedFiles => instance.fs as FlushedFiles
