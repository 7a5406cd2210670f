/**
 * The file system through which PostgreSQL inside PGlite reads and writes. PGlite's own one has no `fsync`, so that
 * nothing would ever be flushed. This one flushes, and ends the instance if what it knows could differ from the disk.
 * That happens when a flush fails, or when a write of the log or of `pg_control` fails while the disk is not full.
 */
import { closeSync, constants, fsyncSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { InstanceEnded, NeverFlushed } from './failure.ts'

/** The requests of PostgreSQL to the file system; paths are relative to the database's directory. */
export type FileOperation =
  | { kind: 'write'; path: string; position: number; bytes: Uint8Array }
  | { kind: 'resize'; path: string; size: number }
  | { kind: 'flush' | 'make' | 'remove'; path: string }
  | { kind: 'rename'; path: string; to: string }

/** Tests see each operation by it, and it stands in for a disk that fails. */
export interface FileObserver {
  /** An error that it throws is the answer of the disk: it has a code, such as EIO. */
  before?(operation: FileOperation): void
  /** Of a write only the bytes that were written. They are a view, so copy what must last. */
  after?(operation: FileOperation): void
}

/** The number in WebAssembly's system interface. */
const EIO = 29
const FULL = new Set([51 /* ENOSPC */, 19 /* EDQUOT */, 22 /* EFBIG */])

/** If a write of these fails, PostgreSQL is in doubt about what is on the disk. */
const LOG = /^(pg_wal\/|global\/pg_control$)/

type Call = (...values: never[]) => unknown
type Calls = Record<string, Call>

interface FileNode {
  name: string
  parent: FileNode
  mode: number
}
interface FileStream {
  nfd: number
  node: FileNode
}

/** The parts of PGlite's module that this depends on; none of them is documented. */
interface FileModule {
  NODEFS?: { node_ops?: Calls; stream_ops?: Calls }
  FS?: { ErrnoError?: new (errno: number) => Error & { errno: number } }
  onRuntimeInitialized?: () => void
}

/** The functions of WebAssembly by which PGlite runs what it was sent. */
const ENTRIES = [
  '_PostgresMainLoopOnce',
  '_PostgresMainLongJmp',
  '_PostgresSendReadyForQueryIfNecessary',
  '_pgl_pq_flush',
  '_pq_buffer_remaining_data',
] as const
type Entries = Record<(typeof ENTRIES)[number], (() => unknown) | undefined>

/** An exception with this status stands for PostgreSQL's jump to where it handles an error. */
const LONG_JUMP = 100

export class FlushedFiles extends NodeFS {
  /** The reason why the instance ended; from then on every operation is refused. */
  ended: InstanceEnded | null = null
  flushes = 0
  /** Flushes what was kept back. To be called after each statement. */
  settle: () => void = () => {}

  constructor(
    directory: string,
    private readonly observer: FileObserver = {},
  ) {
    super(directory)
  }

  override async init(...[pg, options]: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(pg, options)
    // It is installed before PostgreSQL starts, so that what recovery writes is flushed as well.
    const install = (loaded: unknown) => {
      const module = loaded as FileModule
      this.install(module)
      const initialized = module.onRuntimeInitialized
      module.onRuntimeInitialized = () => {
        initialized?.()
        this.guard(loaded as Entries)
      }
    }
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), install] } }
  }

  /**
   * PGlite swallows every exception that leaves WebAssembly, goes on with what is left of the memory, and answers as if all
   * was well. Here such an exception ends the instance, and every function throws from then on.
   */
  private guard(module: Entries): void {
    for (const name of ENTRIES) {
      const original = module[name]
      if (!original) throw new NeverFlushed(`${name} is missing`)
      // PGlite goes on after every exception but one that `_PostgresMainLongJmp` throws, which it calls because of this one.
      const end = () => (name === '_PostgresMainLoopOnce' ? { status: LONG_JUMP } : this.ended)
      module[name] = () => {
        if (this.ended) throw end()
        try {
          return original()
        } catch (error) {
          const { status } = (error ?? {}) as { status?: unknown }
          if (status === LONG_JUMP) throw error
          this.end('PostgreSQL ended', error)
          throw end()
        }
      }
    }
  }

  /** Ends the instance, whose files hold what a crash would have left. */
  end(reason: string, cause: unknown): InstanceEnded {
    this.ended ??= new InstanceEnded(reason, { cause })
    return this.ended
  }

  private install({ NODEFS, FS }: FileModule): void {
    const [streams, nodes, ErrnoError] = [NODEFS?.stream_ops, NODEFS?.node_ops, FS?.ErrnoError]
    if (!streams || !nodes || !ErrnoError) throw new NeverFlushed('NODEFS or ErrnoError is missing')

    /** The files and directories that were flushed and not changed since, so that a flush has nothing to do. */
    const clean = new Set<string>()
    /**
     * The flush of a directory waits until anything but its names is changed: a checkpoint renames 60 segments of the
     * log, and asks for a flush after each.
     */
    let keptBack: string | null = null

    const noteChange = (operation: FileOperation): void => {
      const { kind, path } = operation
      const wasClean = clean.delete(path)
      if (kind !== 'write' && kind !== 'resize') clean.delete(dirname(path))
      if (operation.kind !== 'rename') return
      clean.delete(dirname(operation.to))
      if (wasClean) clean.add(operation.to)
      else clean.delete(operation.to)
    }

    const guarded = (operation: FileOperation, work: () => unknown): unknown => {
      if (this.ended) throw this.ended
      if (keptBack !== null && !changesNamesIn(keptBack, operation)) this.settle()
      if (operation.kind !== 'flush') noteChange(operation)
      try {
        this.observer.before?.(operation)
        const result = work()
        this.observer.after?.(
          operation.kind === 'write'
            ? { ...operation, bytes: operation.bytes.subarray(0, result as number) }
            : operation,
        )
        return result
      } catch (error) {
        const errno = errnoOf(error, NODEFS as never)
        const isFatal =
          operation.kind === 'flush' ||
          (operation.kind !== 'remove' && LOG.test(operation.path) && !FULL.has(errno))
        if (isFatal) throw this.end(`${operation.kind} of ${operation.path} failed`, error)
        // PGlite would swallow any other exception, and PostgreSQL take the operation for done.
        throw new ErrnoError(errno)
      }
    }

    const wrap = (calls: Calls, name: string, describe: (...values: never[]) => FileOperation | null) => {
      const original = calls[name]
      if (!original) throw new NeverFlushed(`${name} is missing`)
      calls[name] = (...values) => {
        const operation = describe(...values)
        return operation ? guarded(operation, () => original(...values)) : original(...values)
      }
    }
    const resize = (path: string, size: unknown): FileOperation | null =>
      typeof size === 'number' ? { kind: 'resize', path, size } : null

    wrap(
      streams,
      'write',
      (stream: FileStream, memory: Int8Array, offset: number, length: number, position: number) => ({
        kind: 'write',
        path: pathOf(stream.node),
        position,
        bytes: new Uint8Array(memory.buffer, memory.byteOffset + offset, length),
      }),
    )
    wrap(streams, 'setattr', ({ node }: FileStream, { size }: { size?: number }) =>
      resize(pathOf(node), size),
    )
    wrap(nodes, 'setattr', (node: FileNode, { size }: { size?: number }) => resize(pathOf(node), size))
    wrap(nodes, 'mknod', (parent: FileNode, name: string) => ({ kind: 'make', path: pathOf(parent, name) }))
    for (const name of ['unlink', 'rmdir'])
      wrap(nodes, name, (parent: FileNode, file: string) => ({ kind: 'remove', path: pathOf(parent, file) }))
    wrap(nodes, 'rename', (node: FileNode, parent: FileNode, name: string) => ({
      kind: 'rename',
      path: pathOf(node),
      to: pathOf(parent, name),
    }))
    const flush = (path: string, handle: number) =>
      guarded({ kind: 'flush', path }, () => {
        fsyncSync(handle)
        this.flushes += 1
        clean.add(path)
        return 0
      })
    this.settle = () => {
      if (keptBack === null || this.ended) return
      const path = keptBack
      keptBack = null
      const handle = openSync(join(this.rootDir, path), 'r')
      try {
        flush(path, handle)
      } finally {
        closeSync(handle)
      }
    }
    streams.fsync = ({ nfd, node }: FileStream) => {
      const path = pathOf(node)
      if (clean.has(path)) return 0
      if (!isDirectory(node)) return flush(path, nfd)
      if (keptBack !== path) this.settle()
      keptBack = path
      return 0
    }
  }
}

const isDirectory = ({ mode }: FileNode) => (mode & constants.S_IFMT) === constants.S_IFDIR

const changesNamesIn = (directory: string, operation: FileOperation) =>
  (operation.kind === 'remove' && dirname(operation.path) === directory) ||
  (operation.kind === 'rename' &&
    dirname(operation.path) === directory &&
    dirname(operation.to) === directory)

function pathOf(node: FileNode, name?: string): string {
  const parts = name === undefined ? [] : [name]
  // The root of a mount is its own parent.
  for (let at = node; at.parent !== at; at = at.parent) parts.unshift(at.name)
  return parts.join('/')
}

/** EIO where PGlite knows no number of its own: `undefined` would count as success. */
function errnoOf(error: unknown, nodefs: { convertNodeCode(error: unknown): unknown }): number {
  const { errno, name, code } = (error ?? {}) as { errno?: unknown; name?: unknown; code?: unknown }
  const found = name === 'ErrnoError' ? errno : typeof code === 'string' ? nodefs.convertNodeCode(error) : EIO
  return typeof found === 'number' && found > 0 ? found : EIO
}
