/** Copies a database to a sealed backup: every table in one snapshot, compressed block by block. */

import type { CopySession } from '../../platform/postgres/copy.ts'
import { ownMigrations } from '../../platform/postgres/migrate.ts'
import { type CopiedTable, copiedTables } from '../../platform/postgres/tables.ts'
import type { Manifest, PartManifest } from './manifest.ts'
import { readNewestMigration } from './rebuild.ts'
import { encodeRecord, recordKinds } from './records.ts'
import { BackupRefused } from './refused.ts'
import type { SealedWriter } from './sealed-file.ts'

/** So much is compressed at once. */
const BLOCK_BYTES = 1024 * 1024
const LEVEL = 3
const LINE_FEED = 10

/** Reports the progress of the work, from 0 to 1, and the name of the work. */
export type Progress = (what: string, done: number) => void

interface WriteOptions {
  about: Pick<Manifest, 'version' | 'secret_key_id' | 'secrets'>
  now: Date
  onProgress?: Progress
}

/** Writes a whole backup from one snapshot of the source. The caller closes the file, unfinished where this throws. */
export async function writeBackup(source: CopySession, writer: SealedWriter, options: WriteOptions) {
  const { about, now, onProgress = () => {} } = options
  await source.query('begin isolation level repeatable read read only')
  const migration = await readMigration(source)
  const sizes = await readSizes(source)
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 1)
  let before = 0
  const parts: PartManifest[] = []
  for (const table of copiedTables()) {
    const size = sizes.get(table.name) ?? 0
    const advance = (bytes: number) => onProgress('copying', (before + Math.min(size, bytes)) / total)
    parts.push(await writePart(source, table, writer, advance))
    before += size
    advance(0)
  }
  const sequences = await readSequences(source)
  await source.query('commit')
  const manifest: Manifest = {
    ...about,
    ...{ created_at: now.toISOString(), source: source.kind, migration, parts, sequences },
  }
  await writeRecord(writer, recordKinds.manifest, Buffer.from(JSON.stringify(manifest)))
  await writer.end()
  return manifest
}

async function writePart(
  source: CopySession,
  table: CopiedTable,
  writer: SealedWriter,
  advance: (bytes: number) => void,
): Promise<PartManifest> {
  const part = { name: table.name, columns: [...table.columns] }
  await writeRecord(writer, recordKinds.part, Buffer.from(JSON.stringify(part)))
  const hash = new Bun.CryptoHasher('sha256')
  let [rows, bytes, waitingBytes] = [0, 0, 0]
  let waiting: Uint8Array[] = []
  /** One block is compressed while the next one is read. */
  let compressing: Promise<Uint8Array> | null = null

  async function flush(): Promise<void> {
    const block = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    const before = compressing
    compressing = Bun.zstdCompress(block, { level: LEVEL })
    if (before) await writeRecord(writer, recordKinds.block, await before)
  }
  for await (const chunk of source.copyOut(table)) {
    hash.update(chunk)
    rows += countLines(chunk)
    bytes += chunk.length
    for (let at = 0; at < chunk.length; at += BLOCK_BYTES) {
      const piece = chunk.subarray(at, at + BLOCK_BYTES)
      waiting.push(piece)
      waitingBytes += piece.length
      if (waitingBytes >= BLOCK_BYTES) await flush()
    }
    advance(bytes)
  }
  if (waitingBytes > 0) await flush()
  if (compressing) await writeRecord(writer, recordKinds.block, await compressing)
  return { ...part, rows, bytes, sha256: hash.digest('hex') }
}

async function writeRecord(
  writer: SealedWriter,
  kind: (typeof recordKinds)[keyof typeof recordKinds],
  payload: Uint8Array,
): Promise<void> {
  for (const bytes of encodeRecord(kind, payload)) await writer.write(bytes)
}

function countLines(chunk: Uint8Array): number {
  let lines = 0
  for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) lines += 1
  return lines
}

/** Throws BackupRefused where the tables are not those that this version knows. */
export async function readMigration(source: CopySession): Promise<Manifest['migration']> {
  const own = ownMigrations.at(-1)!
  const newest = await readNewestMigration(source)
  if (newest?.hash === own.hash) return newest
  throw new BackupRefused(
    newest === undefined
      ? 'is empty: poterne never started with it'
      : `is at migration ${newest.name}, this poterne at ${own.name}: use the version that runs the service, or run \`poterne migrate\``,
    'the database',
  )
}

/** Bytes of each table on the disk, for the progress. */
async function readSizes(source: CopySession): Promise<Map<string, number>> {
  const rows = await source.query<{ name: string; bytes: string | number }>(
    `select relname as name, pg_table_size(oid) as bytes from pg_class
      where relkind = 'r' and relnamespace = (select oid from pg_namespace where nspname = current_schema())`,
  )
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]))
}

export async function readSequences(source: CopySession): Promise<Manifest['sequences']> {
  const sequences: Manifest['sequences'] = []
  for (const { name: table, identity: column } of copiedTables()) {
    if (column === null) continue
    const [named] = await source.query<{ sequence: string }>(
      `select pg_get_serial_sequence('"${table}"', '${column}') as sequence`,
    )
    const [row] = await source.query<{ last_value: string | number; is_called: boolean }>(
      `select last_value, is_called from ${named!.sequence}`,
    )
    sequences.push({ table, column, last_value: Number(row!.last_value), is_called: row!.is_called })
  }
  return sequences
}
