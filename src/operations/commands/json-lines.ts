/** Reads a file of JSON Lines piece by piece, whatever it holds: a line of a gigabyte takes no memory. */
import { accessSync, constants, createReadStream, statSync } from 'node:fs'
import { parseExactly } from '../../platform/http/request-body.ts'
import { CommandFailure } from './failure.ts'

export const LONGEST_LINE_BYTES = 65_536
/** The request that carries it adds two levels to those that a request may have. */
const MAXIMUM_DEPTH = 28

/** `upTo`: so many bytes of the file were read. */
export type ReadLine = { line: number; bytes: number; upTo: number } & (
  | { record: Record<string, unknown> }
  | { code: 'not_json' | 'too_long' | 'invalid_value' }
)

const LINE_FEED = 10
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `name`: what the command line calls it. */
export function requireReadable(file: string, name = ''): void {
  if (file === '-') return
  try {
    accessSync(file, constants.R_OK)
    if (statSync(file).isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
  } catch (error) {
    throw new CommandFailure(2, `${name}${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** `-` is standard input. Empty lines and a byte order mark are passed over. `fd`: the file, where it is open already. */
export async function* readJsonLines(file: string, fd?: number): AsyncGenerator<ReadLine> {
  const chunks: AsyncIterable<Uint8Array> =
    file === '-' ? process.stdin : createReadStream(file, fd === undefined ? {} : { fd })
  let line = 0
  for await (const { bytes, upTo } of splitLines(chunks)) {
    line++
    if (bytes === null) yield { line, bytes: 0, upTo, code: 'too_long' }
    else {
      const read = readOne(bytes, line === 1)
      if (read !== null) yield { line, bytes: bytes.length, upTo, ...read }
    }
  }
}

/** `bytes` is null for a line that is too long. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>) {
  let parts: Uint8Array[] = []
  let length = 0
  let upTo = 0
  const take = () => {
    const whole = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
    const bytes = length > LONGEST_LINE_BYTES ? null : whole
    upTo += length + 1
    parts = []
    length = 0
    return { bytes, upTo }
  }
  const keep = (part: Uint8Array) => {
    length += part.length
    if (length <= LONGEST_LINE_BYTES) parts.push(part)
    else parts = []
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      keep(chunk.subarray(from, at))
      yield take()
      from = at + 1
    }
    keep(Buffer.from(chunk.subarray(from)))
  }
  if (length > 0) yield take()
}

function readOne(bytes: Uint8Array, isFirst: boolean) {
  let value: unknown
  try {
    const text = utf8.decode(bytes)
    const plain = (isFirst ? text.replace(/^\ufeff/, '') : text).trim()
    if (plain === '') return null
    value = parseExactly(plain)
  } catch {
    return { code: 'not_json' as const }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { code: 'not_json' as const }
  return isPlain(value, MAXIMUM_DEPTH)
    ? { record: value as Record<string, unknown> }
    : { code: 'invalid_value' as const }
}

const REFUSED_KEYS = ['__proto__', 'toString', 'valueOf']

/** Numbers that JavaScript would change, and texts that nothing stores, would have the whole call refused. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || value === null) return true
  return (
    depth > 0 &&
    Object.entries(value).every(
      ([key, inner]) => !REFUSED_KEYS.includes(key) && isPlain(key, depth) && isPlain(inner, depth - 1),
    )
  )
}
