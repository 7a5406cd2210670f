/**
 * Rows of the embedded database as PostgreSQL sent them. The thread that asked decodes them, since the thread of the
 * database has more to do. Bytes are also cheap to pass between the two.
 */
import { camelCase } from '../../platform/postgres/database.ts'

/** The columns of a prepared statement. */
export interface Columns {
  /** It differs from that of any other preparation in this process, of the same text too. */
  id: number
  keys: string[]
  /** PostgreSQL's numbers of their types. */
  types: number[]
}

export interface SentRows {
  columns: Columns
  /** Messages of PostgreSQL's protocol, of which each DataRow is a row. */
  rows: Uint8Array
}

let lastId = 0

export const nextColumns = (fields: readonly { name: string; dataTypeID: number }[]): Columns => ({
  id: ++lastId,
  keys: fields.map(({ name }) => camelCase(name)),
  types: fields.map(({ dataTypeID }) => dataTypeID),
})

/** PostgreSQL's numbers of its own types, which never change. */
const numbers = { int8: 20, int2: 21, int4: 23, oid: 26, float4: 700, float8: 701 }
const others = { bool: 16, bytea: 17, json: 114, timestamptz: 1184, jsonb: 3802 }

/** The decoder of each type that has one, by its number; any other value stays the text that PostgreSQL writes. */
export const decoders: Record<number, (text: string) => unknown> = {
  ...Object.fromEntries(Object.values(numbers).map((type) => [type, (text: string) => Number(text)])),
  [others.bool]: (text) => text === 't',
  [others.bytea]: (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex')),
  [others.json]: (text) => JSON.parse(text),
  [others.jsonb]: (text) => JSON.parse(text),
  [others.timestamptz]: (text) => new Date(text),
}

export type DecodeRows = (sent: SentRows) => Record<string, unknown>[]

/** Loads the reader of the protocol, which nothing needs with a PostgreSQL server. */
export async function createDecoder(): Promise<DecodeRows> {
  const { Parser } = await import('pg-protocol/dist/parser.js')
  return ({ columns: { keys, types }, rows }) => {
    const decoded: Record<string, unknown>[] = []
    // A new one for each, since one that was interrupted by an error would go on in the middle of a message.
    new Parser().parse(Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength), (message) => {
      if (message.name !== 'dataRow') return
      const { fields } = message as unknown as { fields: (string | null)[] }
      const row: Record<string, unknown> = {}
      for (let index = 0; index < keys.length; index++) {
        const text = fields[index] ?? null
        const decode = decoders[types[index]!]
        row[keys[index]!] = text === null || decode === undefined ? text : decode(text)
      }
      decoded.push(row)
    })
    return decoded
  }
}
