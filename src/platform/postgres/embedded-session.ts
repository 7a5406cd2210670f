/**
 * The one session of an embedded instance. Each statement is prepared once, and then runs in one call into WebAssembly,
 * which is synchronous: nothing else happens meanwhile. PostgreSQL's protocol is written and read by `pg-protocol`, in a quarter of the
 * time that PGlite's own copy of it takes.
 */
import type { PGlite } from '@electric-sql/pglite'
import type * as messages from 'pg-protocol/dist/messages.js'
import { camelCase } from './database.ts'
import { endedBy, filesOf } from './embedded-instance.ts'
import { isStale } from './pool.ts'

export interface EmbeddedResult {
  rows: Record<string, unknown>[]
  /** It is false where the text shows that nothing was. */
  mayHaveWritten: boolean
}

export interface Session {
  /** Throws what PostgreSQL answers, or InstanceEnded. */
  run(text: string, values: readonly unknown[]): EmbeddedResult
  /** It is true where the statement has run before, and its text shows that it writes nothing. */
  reads(text: string): boolean
}

/** WebAssembly's memory grows for a large value and is never given back. No value of ours comes near it. */
const MOST_BYTES = 16 * 1024 * 1024
/** PostgreSQL reads JSON by recursion, and WebAssembly's own stack ends before max_stack_depth: at some 10,000. */
const MOST_NESTED = 1000
const JSON_TYPES = new Set([114 /* json */, 3802 /* jsonb */])
/** Texts that carry no parameter in their place; there are some 300. */
const MOST_PREPARED = 2000

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
  fields: { key: string; parse: ((text: string) => unknown) | undefined }[]
}

interface Parameter {
  isJson: boolean
  serialize: ((value: unknown) => unknown) | undefined
}

interface Reply {
  parameterTypes: number[]
  fields: messages.RowDescriptionMessage['fields']
}

export async function createSession(instance: PGlite): Promise<Session> {
  // Loaded here, since with a PostgreSQL server nothing needs them.
  const [{ serialize }, { Parser }] = await Promise.all([
    import('pg-protocol'),
    import('pg-protocol/dist/parser.js'),
  ])
  const files = filesOf(instance)
  const prepared = new Map<string, Prepared>()
  let names = 0
  let knownFunctions: RegExp | null = null

  /** A reply counts only if it is whole and holds no error, not even after the rows. */
  function exchange(parts: Uint8Array[], onRow?: (fields: (string | null)[]) => void): Reply {
    const reply: Reply = { parameterTypes: [], fields: [] }
    const parser = new Parser()
    let error: messages.DatabaseError | null = null
    let isReady = false
    const take = (message: messages.BackendMessage): void => {
      if (message.name === 'dataRow') onRow?.((message as messages.DataRowMessage).fields)
      if (message.name === 'readyForQuery') isReady = true
      if (message.name === 'error') error ??= message as messages.DatabaseError
      if (message.name === 'rowDescription') reply.fields = (message as messages.RowDescriptionMessage).fields
      if (message.name === 'parameterDescription')
        reply.parameterTypes = (message as messages.ParameterDescriptionMessage).dataTypeIDs
    }
    // Everything happens before it returns. An error that it throws has ended the instance.
    instance
      .execProtocolRawStream(Buffer.concat(parts), {
        syncToFs: false,
        // A view of WebAssembly's memory, which the next call changes.
        onRawData: (bytes) => parser.parse(Buffer.from(bytes), take),
      })
      .catch(() => {})
    if (files.ended) throw files.ended
    files.settle()
    if (error && endedBy(error)) throw files.end('PostgreSQL panicked', error)
    if (!isReady) throw files.end('an answer of PostgreSQL was cut off', null)
    if (error) throw error
    return reply
  }

  function prepare(text: string): Prepared {
    requireShallow(text, false)
    const name = WORTH_PREPARING.test(text) ? `s${names++}` : ''
    const { parameterTypes, fields } = exchange([
      serialize.parse({ name, text }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    ])
    const made: Prepared = {
      name,
      mayHaveWritten:
        !(READS.test(text) || BOUNDS.test(text)) || WRITES.test(text) || ownFunctions().test(text),
      parameters: parameterTypes.map((type) => ({
        isJson: JSON_TYPES.has(type),
        serialize: instance.serializers[type],
      })),
      fields: fields.map(({ name: column, dataTypeID }) => ({
        key: camelCase(column),
        parse: instance.parsers[dataTypeID],
      })),
    }
    if (name !== '') prepared.set(text, made)
    return made
  }

  function forgetAll(): void {
    prepared.clear()
    knownFunctions = null
    exchange([serialize.query('deallocate all')])
  }

  /** Our own functions that write, of which the text of a statement shows only the name. */
  function ownFunctions(): RegExp {
    if (knownFunctions === null) {
      const names: (string | null)[] = []
      exchange([serialize.query(VOLATILE)], ([name]) => names.push(name ?? null))
      knownFunctions = new RegExp(`\\b(${[...names, 'nextval', 'setval'].join('|')})\\b`, 'i')
    }
    return knownFunctions
  }

  return {
    run(text, values) {
      if (prepared.size > MOST_PREPARED) forgetAll()
      const { name, parameters, fields, mayHaveWritten } = prepared.get(text) ?? prepare(text)
      const rows: EmbeddedResult['rows'] = []
      try {
        exchange(
          [
            serialize.bind({ statement: name, values: serializeAll(values, parameters) }),
            serialize.execute({}),
            serialize.sync(),
          ],
          (row) => rows.push(decode(row, fields)),
        )
      } catch (error) {
        if (isStale(error)) prepared.delete(text)
        throw error
      }
      // A plan would fail whose result is another one now.
      if (CHANGES_SCHEMA.test(text)) forgetAll()
      return { rows, mayHaveWritten }
    },
    reads: (text) => prepared.get(text)?.mayHaveWritten === false,
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

function serializeAll(
  values: readonly unknown[],
  parameters: Prepared['parameters'],
): (string | Buffer | null)[] {
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

function decode(row: (string | null)[], fields: Prepared['fields']): Record<string, unknown> {
  const decoded: Record<string, unknown> = {}
  for (let index = 0; index < fields.length; index++) {
    const { key, parse } = fields[index]!
    const text = row[index] ?? null
    decoded[key] = text === null || parse === undefined ? text : parse(text)
  }
  return decoded
}
