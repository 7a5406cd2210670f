/** The content of a backup, and the version of poterne that can read it. */
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { BackupRefused } from './refused.ts'

/** Tables and columns have such names here, so a forged file can name nothing else. */
const name = Type.String({ pattern: '^(?!poterne_)[a-z][a-z\\d_]{0,62}$' })
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** The head that stands before the rows of a part. */
const headSchema = Type.Object({
  /** The table. */
  name,
  columns: Type.Array(name, { minItems: 1 }),
})

const partSchema = Type.Object({
  ...headSchema.properties,
  rows: count,
  /** The size in COPY's text format. */
  bytes: count,
  sha256: Type.String(),
})

const manifestSchema = Type.Object({
  /** The version of poterne. */
  version: Type.String(),
  created_at: Type.String(),
  source: Type.Unsafe<'postgres' | 'embedded'>(Type.Any()),
  /** The newest one that was applied. */
  migration: Type.Object({ number: count, name: Type.String(), hash: Type.String() }),
  /** Names the server secret of that time, under which rows are sealed: see `secretKeyId`. */
  secret_key_id: Type.String(),
  /** They are in hex, that one first, then the others that were accepted. Only `--with-secret` writes them. */
  secrets: Type.Optional(Type.Array(Type.String())),
  parts: Type.Array(partSchema),
  /** The numbering of rows goes on from these values. */
  sequences: Type.Array(
    Type.Object({ table: name, column: name, last_value: count, is_called: Type.Boolean() }),
  ),
})

export type PartManifest = Static<typeof partSchema>
export type Manifest = Static<typeof manifestSchema>

export const rowsIn = ({ parts }: Manifest): number => parts.reduce((sum, { rows }) => sum + rows, 0)
export const accountsIn = ({ parts }: Manifest): number =>
  parts.find(({ name }) => name === 'accounts')?.rows ?? 0
export const bytesIn = ({ parts }: Manifest): number => parts.reduce((sum, { bytes }) => sum + bytes, 0)

/** Throws BackupRefused for anything else. */
export function parseManifest(payload: Uint8Array): Manifest {
  const read = parse(payload)
  if (!Value.Check(manifestSchema, read) || Number.isNaN(Date.parse(read.created_at))) throw unreadable()
  return read
}

/** Reads the head of a part. Throws BackupRefused. */
export function parsePart(payload: Uint8Array): Static<typeof headSchema> {
  const { name, columns } = parse(payload) as Partial<PartManifest>
  const read = { name, columns }
  if (Value.Check(headSchema, read)) return read
  throw new BackupRefused('is damaged: it names no table of poterne')
}

function parse(payload: Uint8Array): object {
  try {
    const read: unknown = JSON.parse(Buffer.from(payload).toString('utf8'))
    if (typeof read === 'object' && read !== null) return read
  } catch {
    // Said below.
  }
  throw unreadable()
}

const unreadable = () => new BackupRefused('is damaged: its manifest cannot be read')
