/**
 * One PGlite on a data directory, started from the files inside the executable. The build puts a prepared directory into
 * it, so that no initdb runs on the user's machine; from source there is none, and the directory is made here.
 */
import { closeSync, renameSync, rmSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'
import { assetPaths, preparedDatabasePath } from '../bundled/paths.ts'
import { readAsset } from '../bundled/read.ts'
import { isNewDirectory, requireOwnEngine } from './embedded-directory.ts'

/** PGlite turns fsync off ("-F"). An acknowledged write must survive a crash of the machine, so we leave it on. */
const withoutFsyncOff = (parameters: string[]) => parameters.filter((parameter) => parameter !== '-F')
const OWN_PARAMS = ['-c', 'shared_buffers=16MB', '-c', 'TimeZone=UTC']

const asDate = (value: string) => new Date(value)
const asText = (value: string) => value

/** For filling a database: rows of tables that the same transaction made are not written to the log as well. */
const BULK_PARAMS = ['wal_level=minimal', 'max_wal_senders=0'].flatMap((setting) => ['-c', setting])

export interface InstanceOptions {
  bulk?: boolean
  /** Nothing of it needs to survive a crash. */
  throwAway?: boolean
}

/** Makes the database where there is nothing, and recovers it after a crash. Throws DataDirectoryRefused. */
export async function openInstance(
  directory: string,
  { bulk = false, throwAway = false }: InstanceOptions = {},
): Promise<PGlite> {
  requireOwnEngine(directory)
  const isNew = isNewDirectory(directory)
  // In parallel, because these three take most of the time to the first answer.
  const { pgliteWasm, pgliteData, initdbWasm } = assetPaths
  const [module, bundle, { PGlite, types }] = await Promise.all([
    compile(pgliteWasm),
    readAsset(pgliteData),
    // Loaded here, since with a PostgreSQL server nothing needs it.
    import('@electric-sql/pglite'),
    isNew ? unpackPrepared(directory) : null,
  ])
  return PGlite.create({
    dataDir: directory,
    startParams: [
      ...withoutFsyncOff(PGlite.defaultStartParams),
      ...OWN_PARAMS,
      ...(bulk ? BULK_PARAMS : []),
      ...(throwAway ? ['-F'] : []),
    ],
    initDbStartParams: ['--wal-segsize=1'],
    pgliteWasmModule: module,
    ...(isNew && preparedDatabasePath === null ? { initdbWasmModule: await compile(initdbWasm) } : {}),
    fsBundle: new Blob([bundle]),
    parsers: { [types.TIMESTAMPTZ]: asDate, [types.DATE]: asText, [types.INT8]: Number },
  })
}

async function compile(path: string): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readAsset(path))
}

async function unpackPrepared(target: string): Promise<void> {
  if (preparedDatabasePath === null) return
  const partial = `${target}.partial`
  rmSync(partial, { recursive: true, force: true })
  await new Bun.Archive(await readAsset(preparedDatabasePath)).extract(partial)
  renameSync(partial, target)
}

/**
 * Whether this error ended the instance. PostgreSQL in single-user mode does not exit when it panics: it continues with
 * its locks held, and the next statement spins for ever.
 */
export function endedBy(error: unknown): boolean {
  const { severity, name } = (error ?? {}) as { severity?: unknown; name?: unknown }
  return (
    severity === 'PANIC' ||
    severity === 'FATAL' ||
    error instanceof WebAssembly.RuntimeError ||
    name === 'ExitStatus'
  )
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
