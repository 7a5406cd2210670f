/** What a backup holds, and the version of poterne that can read it. */

export interface PartManifest {
  /** The table. */
  name: string
  columns: string[]
  rows: number
  /** Of COPY's text format. */
  bytes: number
  sha256: string
}

export interface Manifest {
  /** Of poterne. */
  version: string
  created_at: string
  source: 'postgres' | 'embedded'
  /** The newest one that was applied. */
  migration: { number: number; name: string; hash: string }
  /** Names the server secret of that time, under which rows are sealed: see `secretKeyId`. */
  secret_key_id: string
  /** In hex, that one first, then the others that were accepted; only with `--with-secret`. */
  secrets?: string[]
  parts: PartManifest[]
  /** Where the numbering of rows goes on. */
  sequences: { table: string; column: string; last_value: number; is_called: boolean }[]
}

export const rowsIn = ({ parts }: Manifest): number => parts.reduce((sum, { rows }) => sum + rows, 0)
export const bytesIn = ({ parts }: Manifest): number => parts.reduce((sum, { bytes }) => sum + bytes, 0)
