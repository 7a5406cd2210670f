/** The content of a backup, and the version of poterne that can read it. */
import { BackupRefused } from './refused.ts'

export interface PartManifest {
  /** The table. */
  name: string
  columns: string[]
  rows: number
  /** The size in COPY's text format. */
  bytes: number
  sha256: string
}

export interface Manifest {
  /** The version of poterne. */
  version: string
  created_at: string
  source: 'postgres' | 'embedded'
  /** The newest one that was applied. */
  migration: { number: number; name: string; hash: string }
  /** Names the server secret of that time, under which rows are sealed: see `secretKeyId`. */
  secret_key_id: string
  /** They are in hex, that one first, then the others that were accepted. Only `--with-secret` writes them. */
  secrets?: string[]
  parts: PartManifest[]
  /** The numbering of rows goes on from these values. */
  sequences: { table: string; column: string; last_value: number; is_called: boolean }[]
}

export const rowsIn = ({ parts }: Manifest): number => parts.reduce((sum, { rows }) => sum + rows, 0)
export const bytesIn = ({ parts }: Manifest): number => parts.reduce((sum, { bytes }) => sum + bytes, 0)

/** Tables and columns have such names here, so a forged file can name nothing else. */
const NAME = /^(?!poterne_)[a-z][a-z\d_]{0,62}$/

const isName = (value: unknown): value is string => typeof value === 'string' && NAME.test(value)
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const isText = (value: unknown) => typeof value === 'string'

type Unknown<T> = { [Key in keyof T]?: unknown }

/** Throws BackupRefused for anything else. */
export function parseManifest(payload: Uint8Array): Manifest {
  const read = parse<Unknown<Manifest>>(payload)
  const { version, created_at, secret_key_id, migration, parts, sequences, secrets = [] } = read
  const { number, name, hash } = (migration ?? {}) as Unknown<Manifest['migration']>
  const isWhole =
    [version, secret_key_id, name, hash].every(isText) &&
    isText(created_at) &&
    !Number.isNaN(Date.parse(String(created_at))) &&
    isCount(number) &&
    isList(secrets, isText) &&
    isList<Unknown<PartManifest>>(
      parts,
      (part) => isPart(part) && isCount(part.rows) && isCount(part.bytes) && isText(part.sha256),
    ) &&
    isList<Unknown<Manifest['sequences'][number]>>(
      sequences,
      (each) =>
        isName(each.table) &&
        isName(each.column) &&
        isCount(each.last_value) &&
        typeof each.is_called === 'boolean',
    )
  if (!isWhole) throw new BackupRefused('is damaged: its manifest cannot be read')
  return read as Manifest
}

/** Reads the head that stands before the rows of a part. Throws BackupRefused. */
export function parsePart(payload: Uint8Array): Pick<PartManifest, 'name' | 'columns'> {
  const { name, columns } = parse<Unknown<PartManifest>>(payload)
  if (!isPart({ name, columns })) throw new BackupRefused('is damaged: it names no table of poterne')
  return { name, columns } as Pick<PartManifest, 'name' | 'columns'>
}

const isPart = ({ name, columns }: Unknown<PartManifest>) =>
  isName(name) && isList(columns, isName) && columns.length > 0

function isList<Item>(value: unknown, isItem: (item: Item) => boolean): value is Item[] {
  return Array.isArray(value) && value.every((item) => item !== null && isItem(item))
}

function parse<T extends object>(payload: Uint8Array): T {
  try {
    const read: unknown = JSON.parse(Buffer.from(payload).toString('utf8'))
    if (typeof read === 'object' && read !== null) return read as T
  } catch {
    // Said below.
  }
  throw new BackupRefused('is damaged: its manifest cannot be read')
}
