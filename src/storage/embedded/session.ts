/**
 * The one session of an embedded instance. Each statement is prepared once, and then runs in one call into WebAssembly,
 * which is synchronous: nothing else happens meanwhile. PostgreSQL's protocol is written and read by `pg-protocol`, in a quarter of the
 * time that PGlite's own copy of it takes.
 */
import type { PGlite } from '@electric-sql/pglite'
import type * as messages from 'pg-protocol/dist/messages.js'
import { isStale } from '../../platform/postgres/pool.ts'
import { asBuffer, endedBy, filesOf } from './instance.ts'
import { type Columns, nextColumns, type SentRows } from './rows.ts'

export interface EmbeddedResult {
  rows: SentRows
  /** It is false where the text shows that nothing was. */
  mayHaveWritten: boolean
}

export type Session = Awaited<ReturnType<typeof createSession>>

/** WebAssembly's memory grows for a large value and is never given back. No value of ours comes near it. */
const MOST_BYTES = 16 * 1024 * 1024
/** PostgreSQL reads JSON by recursion, and WebAssembly's own stack ends before max_stack_depth: at some 10,000. */
const MOST_NESTED = 1000
const JSON_TYPES = new Set([114 /* json */, 3802 /* jsonb */])
/** Texts that carry no parameter in their place; there are some 300. */
export const MOST_PREPARED = 2000

const WORTH_PREPARING = /^\s*(\/\*|select|with|insert|update|delete|begin|commit|rollback)/i
const CHANGES_SCHEMA = /^\s*(create|alter|drop|truncate)\b/i

const READS = /^\s*(\/\*.*?\*\/\s*)?(select|with|show)\b/i
const WRITES = /\b(insert|update|delete|merge)\b/i
const VOLATILE = `
  select proname from pg_proc where provolatile = 'v' and pronamespace = 'public'::regnamespace`
/** The writes of a transaction were noted at its statements. */
const BOUNDS = /^(begin|commit|rollback|set|deallocate)\b/

interface Prepared {
  name: string
  mayHaveWritten: boolean
  parameters: Parameter[]
  columns: Columns
}

interface Parameter {
  isJson: boolean
  serialize: ((value: unknown) => unknown) | undefined
}

/** The first byte of a message from PostgreSQL, before four bytes with the length of the rest. */
const DATA_ROW = 'D'.charCodeAt(0)
const ERROR = 'E'.charCodeAt(0)
const READY = 'Z'.charCodeAt(0)

export async function createSession(instance: PGlite) {
  // Loaded here, since with a PostgreSQL server nothing needs them.
  const [{ serialize }, { Parser }] = await Promise.all([
    import('pg-protocol'),
    import('pg-protocol/dist/parser.js'),
  ])
  const files = filesOf(instance)
  const prepared = new Map<string, Prepared>()
  let names = 0
  let knownFunctions: RegExp | null = null

  /** The messages of the reply. A reply counts only if it is whole and holds no error, not even after the rows. */
  function exchange(parts: Uint8Array[]) {
    const chunks: Uint8Array[] = []
    // Everything happens before it returns. An error that it throws has ended the instance.
    instance
      .execProtocolRawStream(Buffer.concat(parts), {
        syncToFs: false,
        // A view of WebAssembly's memory, which the next call changes.
        onRawData: (bytes) => chunks.push(bytes.slice()),
      })
      .catch(() => {})
    if (files.ended) throw files.ended
    files.settle()
    const reply = examine(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    const error =
      reply.errorAt === null
        ? undefined
        : read(reply.bytes.subarray(reply.errorAt)).find(({ name }) => name === 'error')
    if (endedBy(error)) throw files.end('PostgreSQL panicked', error)
    if (!reply.isReady) throw files.end('an answer of PostgreSQL was cut off', null)
    if (error) throw error
    return reply
  }

  function read(bytes: Uint8Array): messages.BackendMessage[] {
    const all: messages.BackendMessage[] = []
    new Parser().parse(asBuffer(bytes), (message) => all.push(message))
    return all
  }

  function prepare(text: string): Prepared {
    requireShallow(text, false)
    const name = WORTH_PREPARING.test(text) ? `s${names++}` : ''
    const { bytes } = exchange([
      serialize.parse({ name, text }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    ])
    let parameterTypes: number[] = []
    let fields: messages.RowDescriptionMessage['fields'] = []
    for (const message of read(bytes)) {
      if (message.name === 'parameterDescription')
        parameterTypes = (message as messages.ParameterDescriptionMessage).dataTypeIDs
      if (message.name === 'rowDescription') fields = (message as messages.RowDescriptionMessage).fields
    }
    const made: Prepared = {
      name,
      mayHaveWritten:
        !(READS.test(text) || BOUNDS.test(text)) || WRITES.test(text) || writingFunctions().test(text),
      parameters: parameterTypes.map((type) => ({
        isJson: JSON_TYPES.has(type),
        serialize: instance.serializers[type],
      })),
      columns: nextColumns(fields),
    }
    if (name !== '') prepared.set(text, made)
    return made
  }

  function forgetAll(): void {
    prepared.clear()
    knownFunctions = null
    exchange([serialize.query('deallocate all')])
  }

  /** Our own functions and PostgreSQL's that write, of which the text of a statement shows only the name. */
  function writingFunctions(): RegExp {
    if (knownFunctions === null) {
      const { bytes } = exchange([serialize.query(VOLATILE)])
      const names = read(bytes).map((message) => (message as messages.DataRowMessage).fields?.[0])
      knownFunctions = new RegExp(
        `\\b(${[...names.filter((name) => typeof name === 'string'), 'nextval', 'setval', 'pg_logical_emit_message'].join('|')})\\b`,
        'i',
      )
    }
    return knownFunctions
  }

  return {
    /** Throws what PostgreSQL answers, or InstanceEnded. */
    run(text: string, values: readonly unknown[]): EmbeddedResult {
      if (prepared.size > MOST_PREPARED) forgetAll()
      const { name, parameters, columns, mayHaveWritten } = prepared.get(text) ?? prepare(text)
      let rows: Uint8Array
      try {
        rows = exchange([
          serialize.bind({ statement: name, values: serializeAll(values, parameters) }),
          serialize.execute({}),
          serialize.sync(),
        ]).rows
      } catch (error) {
        if (isStale(error)) prepared.delete(text)
        throw error
      }
      // A plan would fail whose result is another one now.
      if (CHANGES_SCHEMA.test(text)) forgetAll()
      return { rows: { columns, rows }, mayHaveWritten }
    },
    /** It is true where the statement has run before, and its text shows that it writes nothing. */
    reads: (text: string) => prepared.get(text)?.mayHaveWritten === false,
  }
}

/** A statement is refused before it reaches WebAssembly. */
class StatementRefused extends Error {
  constructor(
    readonly code: '54000' | '54001',
    message: string,
  ) {
    super(message)
  }
}

function serializeAll(values: readonly unknown[], parameters: Prepared['parameters']) {
  let bytes = 0
  return values.map((value, index) => {
    if (value === null || value === undefined) return null
    const { serialize, isJson = false } = parameters[index] ?? {}
    const serialized = (serialize?.(value) ?? String(value)) as string | Buffer
    bytes += typeof serialized === 'string' ? serialized.length : serialized.byteLength
    if (bytes > MOST_BYTES)
      throw new StatementRefused('54000', `the values of a statement exceed ${MOST_BYTES} bytes`)
    if (isJson && typeof serialized === 'string') requireShallow(serialized, true)
    return serialized
  })
}

/** Strings of JSON hold any number of brackets; those of a statement may be JSON themselves. */
function requireShallow(text: string, skipStrings: boolean): void {
  if (text.length <= MOST_NESTED) return
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const sign = text[index]!
    if (inString && sign === '\\') index += 1
    else if (sign === '"') inString = skipStrings && !inString
    else if (inString) continue
    else if (']})'.includes(sign)) depth -= 1
    else if ('[{('.includes(sign) && ++depth > MOST_NESTED)
      throw new StatementRefused('54001', `brackets of a statement are nested deeper than ${MOST_NESTED}`)
  }
}

/** Finds what a reply consists of by the heads of its messages, since decoding the rows is the reader's work. */
function examine(bytes: Uint8Array) {
  const heads = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let rowsFrom = 0
  let rowsTo = 0
  let errorAt: number | null = null
  let kind = 0
  let at = 0
  while (at + 5 <= bytes.length) {
    kind = bytes[at]!
    const end = at + 1 + heads.getUint32(at + 1)
    if (kind === DATA_ROW) {
      if (rowsTo === 0) rowsFrom = at
      rowsTo = end
    } else if (kind === ERROR) errorAt ??= at
    at = end
  }
  return {
    bytes,
    /** The part of it from the first row to the last. */
    rows: bytes.subarray(rowsFrom, rowsTo),
    errorAt,
    /** It is false if the reply was cut off. */
    isReady: at === bytes.length && kind === READY,
  }
}
