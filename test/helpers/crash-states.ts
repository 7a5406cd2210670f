/**
 * The states that a disk may hold after a crash, from the recorded operations of a process. A file's bytes are certain
 * once it was flushed, and with them the name under which it was made. A rename or a removal is certain once its
 * directory was flushed. Of everything else any part may be there: in pieces of 4 KiB, in any order.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { FileOperation } from './recorded-files.ts'

const PIECE = 4096

/** The loss of writes that were not flushed. */
export type Loss = 'everything' | 'data' | 'names' | 'some'
export const losses: Loss[] = ['everything', 'data', 'names', 'some']

interface Change {
  at: number
  /** From then on it is certain. */
  certainAt: number
  apply: { offset: number; bytes: Buffer } | { size: number }
}

interface Entry {
  isDirectory: boolean
  changes: Change[]
  children: Map<string, number>
}

interface NameChange {
  at: number
  certainAt: number
  parent: number
  name: string
  /** It is null if the name goes. */
  entry: number | null
  /** The former name of a rename. */
  from: { parent: number; name: string } | null
}

export interface CrashModel {
  /** Writes the state at that moment to `target`, which must not exist. `random` gives numbers from 0 to 1. */
  write(target: string, atMs: number, loss: Loss, random: () => number): void
  /** The moments at which anything happened. */
  times: number[]
}

/** `base`: a copy of what was there before, all of it on the disk. */
export function createCrashModel(
  operations: FileOperation[],
  directory: string,
  base: string | null = null,
): CrashModel {
  const history = createHistory(resolve(directory), base)
  for (const operation of operations) history.add(operation)
  return {
    times: [...new Set(operations.map(({ start }) => start))],
    write(target, atMs, loss, random) {
      const keeps = (kind: 'data' | 'names') =>
        loss === 'some' ? random() < 0.5 : loss !== 'everything' && loss !== kind
      if (base === null) mkdirSync(target, { mode: 0o700 })
      else cpSync(base, target, { recursive: true })
      writeState(history, target, { atMs, keeps })
    },
  }
}

const NEVER = Number.POSITIVE_INFINITY
const TOP = 0

interface History {
  entries: Entry[]
  names: NameChange[]
  add(operation: FileOperation): void
}

function createHistory(root: string, base: string | null): History {
  const entries: Entry[] = [{ isDirectory: true, changes: [], children: new Map() }]
  const names: NameChange[] = []

  function make(path: string, isDirectory: boolean, at: number, certainAt: number): number {
    const { parent, name } = placeOf(path)
    const entry = entries.push({ isDirectory, changes: [], children: new Map() }) - 1
    entries[parent]!.children.set(name, entry)
    names.push({ at, certainAt, parent, name, entry, from: null })
    return entry
  }
  const placeOf = (path: string) => ({ parent: know(dirname(path), true), name: basename(path) })

  function find(path: string): number | undefined {
    if (path === root) return TOP
    const parent = find(dirname(path))
    return parent === undefined ? undefined : entries[parent]!.children.get(basename(path))
  }
  /** A file that the run did not make itself was there before. */
  function know(path: string, isDirectory = false): number {
    const found = find(path)
    if (found !== undefined) return found
    const before = base === null ? null : join(base, relative(root, path))
    const isOne = isDirectory || (before !== null && existsSync(before) && statSync(before).isDirectory())
    const entry = make(path, isOne, 0, 0)
    if (before !== null && !isOne && existsSync(before))
      entries[entry]!.changes.push({
        at: 0,
        certainAt: 0,
        apply: { offset: 0, bytes: readFileSync(before) },
      })
    return entry
  }
  const isThere = (path: string) =>
    find(path) !== undefined || (base !== null && existsSync(join(base, relative(root, path))))
  const change = (path: string, at: number, apply: Change['apply']) =>
    entries[know(path)]!.changes.push({ at, certainAt: NEVER, apply })

  function forget(path: string, at: number): void {
    const { parent, name } = placeOf(path)
    entries[parent]!.children.delete(name)
    names.push({ at, certainAt: NEVER, parent, name, entry: null, from: null })
  }
  function rename(path: string, to: string, at: number): void {
    const entry = know(path)
    const [from, { parent, name }] = [placeOf(path), placeOf(to)]
    entries[from.parent]!.children.delete(from.name)
    entries[parent]!.children.set(name, entry)
    names.push({ at, certainAt: NEVER, parent, name, entry, from })
  }
  function flush(path: string, { start, end }: FileOperation): void {
    const flushed = know(path)
    const isOpen = ({ at, certainAt }: Change | NameChange) => at <= start && certainAt > end
    for (const each of entries[flushed]!.changes.filter(isOpen)) each.certainAt = end
    const isOfIt = ({ entry, from, parent }: NameChange) =>
      (entry === flushed && from === null) || parent === flushed || from?.parent === flushed
    for (const each of names.filter((name) => isOpen(name) && isOfIt(name))) {
      each.certainAt = end
      makeCertain(each.parent, end)
    }
  }
  /** A name is of use only below the names of its directories. */
  function makeCertain(directory: number, end: number): void {
    const made = directory === TOP ? undefined : names.find(({ entry }) => entry === directory)
    if (made === undefined) return
    made.certainAt = Math.min(made.certainAt, end)
    makeCertain(made.parent, end)
  }

  return {
    entries,
    names,
    add(operation) {
      const { kind, path, start: at } = operation
      if (kind === 'write') change(path, at, { offset: operation.offset, bytes: operation.bytes })
      else if (kind === 'truncate') change(path, at, { size: operation.size })
      else if (kind === 'rename') rename(path, operation.to, at)
      else if (kind === 'sync') flush(path, operation)
      else if (kind === 'unlink' || kind === 'rmdir') forget(path, at)
      else if (path !== root && !isThere(path)) make(path, kind === 'mkdir', at, NEVER)
      else if (kind === 'create' && operation.truncates) change(path, at, { size: 0 })
    },
  }
}

interface Crash {
  atMs: number
  /** Asked of each piece that was not flushed. */
  keeps(kind: 'data' | 'names'): boolean
}

type Tree = Map<number, Map<string, number>>

function writeState({ entries, names }: History, target: string, { atMs, keeps }: Crash): void {
  const tree: Tree = new Map(entries.map((_, entry) => [entry, new Map()]))
  const isApplied = ({ at, certainAt }: NameChange) =>
    at === 0 || (at < atMs && (certainAt <= atMs || keeps('names')))
  const gone: { parent: number; name: string }[] = []
  for (const each of names.filter(isApplied)) {
    const { parent, name, entry, from } = each
    // Nothing is left of a rename whose former name was lost already.
    if (from !== null && tree.get(from.parent)!.get(from.name) !== entry) continue
    for (const place of from === null ? [] : [from]) {
      tree.get(place.parent)!.delete(place.name)
      gone.push(place)
    }
    if (entry !== null) tree.get(parent)!.set(name, entry)
    else {
      tree.get(parent)!.delete(name)
      gone.push({ parent, name })
    }
  }
  const paths = pathsOf(tree, target)
  for (const { parent, name } of gone) {
    const above = paths.get(parent)
    if (above !== undefined && !tree.get(parent)!.has(name))
      rmSync(join(above, name), { recursive: true, force: true })
  }
  for (const [entry, path] of paths) {
    const { isDirectory, changes } = entries[entry]!
    if (isDirectory) mkdirSync(path, { recursive: true, mode: 0o700 })
    else
      writeFileSync(
        path,
        contentOf(changes, atMs, () => keeps('data')),
        { mode: 0o600 },
      )
  }
}

/** Directories before what is in them. */
function pathsOf(tree: Tree, target: string): Map<number, string> {
  const paths = new Map([[TOP, target]])
  for (const [entry, path] of paths)
    for (const [name, child] of tree.get(entry)!) paths.set(child, join(path, name))
  return paths
}

function contentOf(changes: Change[], atMs: number, keepsPiece: () => boolean): Buffer {
  let content = Buffer.alloc(0)
  let size = 0
  const reserve = (wanted: number) => {
    if (wanted > content.length) {
      const grown = Buffer.alloc(Math.max(wanted, content.length * 2))
      content.copy(grown, 0, 0, size)
      content = grown
    }
    if (wanted > size) {
      content.fill(0, size, wanted)
      size = wanted
    }
  }
  for (const { at, certainAt, apply } of changes) {
    if (at >= atMs && at > 0) continue
    const isCertain = certainAt <= atMs
    if ('size' in apply) {
      if (!isCertain && !keepsPiece()) continue
      reserve(apply.size)
      size = apply.size
      continue
    }
    const { offset, bytes } = apply
    for (let from = 0; from < bytes.length; ) {
      const until = Math.min(bytes.length, from + PIECE - ((offset + from) % PIECE))
      if (isCertain || keepsPiece()) {
        reserve(offset + until)
        bytes.copy(content, offset + from, from, until)
      }
      from = until
    }
  }
  return content.subarray(0, size)
}
