/**
 * One connection for copying whole tables by COPY, beside the pool and without its deadlines. Used by backups, restores and
 * moves; the caller begins and ends the transaction.
 */
import type { PGlite } from '@electric-sql/pglite'
import postgres from 'postgres'
import { StoreUnreachable } from '../failure.ts'
import { readDatabaseUrl } from './address.ts'
import { camelCase, createExecutor, type Database } from './database.ts'
import { databaseCode } from './failure.ts'
import { settingsSql } from './session-settings.ts'
import { type CopiedTable, selectOf, targetOf } from './tables.ts'

/** Rows of this size are handled together. */
const ROWS_BYTES = 256 * 1024

/** Policies that hide rows from this role are an error: without them a copy would be incomplete in silence. */
const SETTINGS = settingsSql({ statement_timeout: '0', row_security: 'off' })

export interface CopySession {
  readonly kind: 'postgres' | 'embedded'
  query<Row extends object = Record<string, unknown>>(text: string, values?: unknown[]): Promise<Row[]>
  /** The rows in COPY's text format: each ends with a line feed, and holds none. */
  copyOut(table: CopiedTable, where?: string): AsyncIterable<Uint8Array>
  copyIn(table: string, columns: readonly string[], chunks: AsyncIterable<Uint8Array>): Promise<void>
  close(): Promise<void>
}

/** Throws StoreUnreachable. */
export async function openServerCopy(address: string, key = 'database.url'): Promise<CopySession> {
  const { connection, ...place } = readDatabaseUrl(address).options
  const client = postgres({
    ...place,
    max: 1,
    connect_timeout: 10,
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'poterne copy', ...connection },
  })
  await client.unsafe(SETTINGS).catch(async (error: unknown) => {
    await client.end({ timeout: 0 })
    throw new StoreUnreachable(key, error)
  })
  return {
    kind: 'postgres',
    query: async (text, values = []) => [...(await client.unsafe(text, values as never[]))] as never,
    async *copyOut(table, where) {
      const rows = await client.unsafe(`copy (${selectOf(table, where)}) to stdout`).readable()
      yield* inBatches(rows)
      // The driver stops reading from the socket while its buffer is full, and goes on when more rows are asked for. At
      // the end nobody asks, and the answer to the next statement would stay unread.
      rows._read(0)
    },
    async copyIn(table, columns, chunks) {
      const writable = await client.unsafe(`copy ${targetOf(table, columns)} from stdin`).writable()
      const failed = new Promise<never>((_, reject) => writable.once('error', reject))
      failed.catch(() => {})
      for await (const chunk of chunks) {
        if (!writable.write(chunk)) {
          await Promise.race([new Promise((resolve) => writable.once('drain', resolve)), failed])
        }
      }
      writable.end()
      await Promise.race([copyEnded(client), failed])
    },
    close: () => client.end({ timeout: 2 }),
  }
}

/** The driver gives each row by itself, and handling each would take longer than reading it. */
async function* inBatches(rows: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = []
  let bytes = 0
  for await (const row of rows) {
    waiting.push(row)
    bytes += row.length
    if (bytes < ROWS_BYTES) continue
    yield Buffer.concat(waiting)
    waiting = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(waiting)
}

/**
 * The driver says nothing of a failure after the last row. The next statement fails then, since the transaction is
 * aborted. The driver refuses that statement until it has sent the end of the rows.
 */
async function copyEnded(client: postgres.Sql): Promise<void> {
  for (;;) {
    try {
      await client.unsafe('select 1')
      return
    } catch (error) {
      if (databaseCode(error) !== 'COPY_IN_PROGRESS') throw error
      await Bun.sleep(1)
    }
  }
}

/** The part of one COPY that the embedded database holds in memory. */
const PAGES = 2048
const BATCH_BYTES = 8 * 1024 * 1024
const LINE_FEED = 10

/** `close` is what closes the instance. */
export function createEmbeddedCopy(instance: PGlite, close: () => Promise<void>): CopySession {
  const query = async (text: string, values: unknown[] = []) =>
    (await instance.query<Record<string, unknown>>(text, values)).rows
  async function insert(target: string, parts: Uint8Array[]): Promise<void> {
    await instance.query(`copy ${target} from '/dev/blob'`, [], {
      blob: new Blob(parts as Uint8Array<ArrayBuffer>[]),
    })
  }
  return {
    kind: 'embedded',
    query: query as CopySession['query'],
    async *copyOut(table, where = 'true') {
      const [size] = await query(`select pg_relation_size('"${table.name}"') / 8192 as pages`)
      const pages = Number(size?.pages)
      for (let page = 0; page < pages; page += PAGES) {
        const slice = `ctid >= '(${page},0)' and ctid < '(${page + PAGES},0)' and (${where})`
        const { blob } = await instance.query(`copy (${selectOf(table, slice)}) to '/dev/blob'`)
        // There is none where no row was selected.
        if (blob) yield new Uint8Array(await blob.arrayBuffer())
      }
    },
    async copyIn(table, columns, chunks) {
      const target = targetOf(table, columns)
      let parts: Uint8Array[] = []
      let bytes = 0
      for await (const chunk of chunks) {
        const end = chunk.lastIndexOf(LINE_FEED) + 1
        bytes += chunk.length
        if (end === 0 || bytes < BATCH_BYTES) {
          parts.push(chunk)
          continue
        }
        await insert(target, [...parts, chunk.subarray(0, end)])
        parts = [chunk.subarray(end)]
        bytes = chunk.length - end
      }
      if (bytes > 0) await insert(target, parts)
    },
    close,
  }
}

/** Stores use it: everything they do is part of the session's transaction. */
export function databaseOf(session: CopySession): Database {
  const executor = createExecutor(async (text, values) =>
    (await session.query(text, values)).map((row) =>
      Object.fromEntries(Object.entries(row).map(([column, value]) => [camelCase(column), value])),
    ),
  )
  return {
    kind: session.kind,
    ...executor,
    transaction: (work) => work(executor),
    session: (work) => work(executor),
    ping: async () => {},
    onInsert() {},
    close: async () => {},
  }
}
