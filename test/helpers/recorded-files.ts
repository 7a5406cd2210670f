/** Every operation of a process on the files below a directory, as strace saw it: in order, with the bytes. */
import { readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { newDirectory } from './run-directory.ts'

const CALLS =
  'open,openat,creat,pwrite64,write,writev,pwritev,ftruncate,truncate,fallocate,fsync,fdatasync,sync_file_range,' +
  'rename,renameat,renameat2,link,linkat,symlink,unlink,unlinkat,mkdir,mkdirat,rmdir,copy_file_range,sendfile'

export type FileOperation = {
  /** Milliseconds since 1970. */
  start: number
  end: number
} & (
  | { kind: 'create'; path: string; truncates: boolean }
  | { kind: 'write'; path: string; offset: number; bytes: Buffer }
  | { kind: 'truncate'; path: string; size: number }
  | { kind: 'sync' | 'unlink' | 'mkdir' | 'rmdir'; path: string }
  | { kind: 'rename'; path: string; to: string }
)

export interface Recorder {
  /** To be put in front of the command. */
  wrapper: string[]
  /** Reads what the process that has ended did. Throws where it did something that is not understood here. */
  read(directory: string): Promise<FileOperation[]>
}

export function createRecorder(): Recorder {
  const prefix = join(newDirectory('strace'), 'trace')
  return {
    // The process is a grandchild, so that signals reach the process itself.
    wrapper: [
      ...['strace', '-D', '-ff', '--seccomp-bpf', '-ttt', '-T', '-y', '-xx'],
      ...['-s', '4000000', '-e', `trace=${CALLS}`, '-e', 'signal=none', '-o', prefix],
    ],
    async read(directory) {
      const below = resolve(directory)
      const files = readdirSync(dirname(prefix)).map((name) => join(dirname(prefix), name))
      const lines: Line[] = []
      for (const file of files)
        for (const text of (await Bun.file(file).text()).split('\n')) {
          const line = parseLine(text)
          if (line !== null) lines.push(line)
        }
      lines.sort((a, b) => a.start - b.start)
      return interpret(lines, below)
    },
  }
}

interface Line {
  start: number
  end: number
  call: string
  args: string
  result: string
}

function parseLine(text: string): Line | null {
  const found = /^(\d+\.\d+) (\w+)\((.*)\) += (-?\d+.*?)(?: <(\d+\.\d+)>)?$/s.exec(text)
  if (found === null) return null
  const [, start, call, args, result, took = '0'] = found
  if (result!.startsWith('-')) return null
  const startMs = Number(start) * 1000
  return { start: startMs, end: startMs + Number(took) * 1000, call: call!, args: args!, result: result! }
}

const decode = (hex: string): Buffer => Buffer.from(hex.replaceAll('\\x', ''), 'hex')
/** The path in `3</tmp/file>`, or null. */
const pathOf = (text: string): string | null => {
  const found = /^(?:\d+|AT_FDCWD)<((?:\\x[\da-f]{2})*)>/.exec(text)
  return found ? decode(found[1]!).toString() : null
}
const numberOf = (text: string): number => Number(/^(\d+)/.exec(text)?.[1] ?? Number.NaN)

/** Splits at the commas between arguments; strings hold none, since they are written in hex. */
const split = (args: string): string[] => args.split(', ')
const stringOf = (argument: string): Buffer => decode(/^"(.*)"$/s.exec(argument)?.[1] ?? '')

interface Reading {
  /** It returns null where it is none of our files. */
  inside(path: string | null): string | null
  /** A `write` continues there, by the number of the open file. */
  positions: Map<number, number>
  known: Set<string>
}

type Time = Pick<Line, 'start' | 'end'>
type Read = (parts: string[], line: Line, reading: Reading) => FileOperation | null

const named = (directory: string, name: string) =>
  resolve(pathOf(directory) ?? '/', stringOf(name).toString())
const timeOf = ({ start, end }: Line): Time => ({ start, end })

const readOpening =
  (flagsAt: number): Read =>
  (parts, line, { inside, positions, known }) => {
    const path = inside(pathOf(line.result))
    if (path === null) return null
    positions.set(numberOf(line.result), 0)
    const flags = parts[flagsAt] ?? ''
    const truncates = /O_TRUNC/.test(flags)
    if (!truncates && (!/O_CREAT/.test(flags) || known.has(path))) return null
    known.add(path)
    return { ...timeOf(line), kind: 'create', path, truncates }
  }

const readWrite: Read = (parts, line, { inside, positions }) => {
  const path = inside(pathOf(parts[0]!))
  if (path === null) return null
  const file = numberOf(parts[0]!)
  const bytes = stringOf(parts[1]!).subarray(0, numberOf(line.result))
  const offset = line.call === 'pwrite64' ? Number(parts[3]) : (positions.get(file) ?? 0)
  if (line.call === 'write') positions.set(file, offset + bytes.length)
  return { ...timeOf(line), kind: 'write', path, offset, bytes }
}

const readResize: Read = (parts, line, { inside }) => {
  const path = inside(pathOf(parts[0]!))
  return path === null ? null : { ...timeOf(line), kind: 'truncate', path, size: Number(parts[1]) }
}

const readSync: Read = (parts, line, { inside }) => {
  const path = inside(pathOf(parts[0]!))
  return path === null ? null : { ...timeOf(line), kind: 'sync', path }
}

const readRename: Read = (parts, line, { inside, known }) => {
  const [from, to] =
    line.call === 'rename'
      ? [stringOf(parts[0]!).toString(), stringOf(parts[1]!).toString()]
      : [named(parts[0]!, parts[1]!), named(parts[2]!, parts[3]!)]
  const path = inside(from)
  if (path === null) return null
  known.delete(path)
  known.add(to)
  return { ...timeOf(line), kind: 'rename', path, to }
}

const readName =
  (kind: 'unlink' | 'mkdir' | 'rmdir', isRelative: boolean): Read =>
  (parts, line, { inside, known }) => {
    const path = inside(isRelative ? named(parts[0]!, parts[1]!) : stringOf(parts[0]!).toString())
    if (path === null) return null
    known.delete(path)
    return { ...timeOf(line), kind: /AT_REMOVEDIR/.test(line.args) ? 'rmdir' : kind, path }
  }

const calls: Record<string, Read> = {
  open: readOpening(1),
  creat: readOpening(1),
  openat: readOpening(2),
  pwrite64: readWrite,
  write: readWrite,
  ftruncate: readResize,
  fsync: readSync,
  fdatasync: readSync,
  rename: readRename,
  renameat: readRename,
  renameat2: readRename,
  unlink: readName('unlink', false),
  unlinkat: readName('unlink', true),
  mkdir: readName('mkdir', false),
  mkdirat: readName('mkdir', true),
  rmdir: readName('rmdir', false),
}

function interpret(lines: Line[], below: string): FileOperation[] {
  const reading: Reading = {
    inside: (path) => (path === below || path?.startsWith(`${below}/`) ? path : null),
    positions: new Map(),
    known: new Set(),
  }
  return lines.flatMap((line) => {
    const parts = split(line.args)
    const read = calls[line.call]
    if (read) return read(parts, line, reading) ?? []
    const path = parts.map((part) => reading.inside(pathOf(part))).find((each) => each !== null)
    if (path !== undefined) throw new Error(`${line.call} of ${path} is not understood`)
    return []
  })
}
