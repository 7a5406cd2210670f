/** Loads a backup into a database, all of it in one transaction of the caller's. */
import type { FileHandle } from 'node:fs/promises'
import type { CopySession } from '../../platform/postgres/copy.ts'
import { databaseCode } from '../../platform/postgres/failure.ts'
import { ownMigrations } from '../../platform/postgres/migrate.ts'
import type { BackupKey } from './keys.ts'
import { bytesIn, type Manifest } from './manifest.ts'
import { readParts } from './read.ts'
import {
  countRows,
  finishTables,
  gatherStatistics,
  makeEmptyTables,
  setSequences,
  withoutIndexes,
} from './rebuild.ts'
import { BackupRefused } from './refused.ts'
import type { Progress } from './write.ts'

/** SQLSTATE of rows that do not fit their tables. */
const DATA = /^(22|23|42)/

/** The transaction was aborted, by an error that the driver kept to itself. */
const UNSAID = '25P02'

/** Throws BackupRefused where the backup comes from another version than this one can read. */
export function requireKnownMigration({ migration: { number, name, hash }, version }: Manifest): void {
  const own = ownMigrations[number]
  if (own === undefined)
    throw new BackupRefused(`was made by a newer poterne (${version}, ${name}): restore it with that version`)
  if (own.hash !== hash)
    throw new BackupRefused(`holds migration ${name}, which is not the one in this executable`)
}

/** Replaces whatever poterne had there. The rows are counted, the newer migrations applied, the statistics made. */
export async function loadBackup(
  target: CopySession,
  source: string | FileHandle,
  options: {
    keys: readonly BackupKey[]
    manifest: Manifest
    now: Date
    onProgress?: Progress | undefined
    signal?: AbortSignal
  },
): Promise<void> {
  const { keys, manifest, now, onProgress = () => {}, signal } = options
  requireKnownMigration(manifest)
  const migrations = manifest.migration.number + 1
  const total = bytesIn(manifest) + 1
  let loaded = 0
  async function* noted(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const block of blocks) {
      signal?.throwIfAborted()
      yield block
      loaded += block.length
      onProgress('loading', loaded / total)
    }
  }
  await makeEmptyTables(target, { count: migrations, now })
  let table = ''
  await withoutIndexes(target, async () => {
    for await (const item of readParts(source, keys)) {
      if ('manifest' in item) break
      const { name, columns, blocks } = item.part
      table = name
      await target.copyIn(name, columns, noted(blocks))
    }
    signal?.throwIfAborted()
    onProgress('making indexes', 1)
  }).catch((error: unknown) => {
    const code = databaseCode(error) ?? ''
    if (DATA.test(code)) throw new BackupRefused(`is damaged: its rows cannot be loaded (${table}, ${code})`)
    if (code === UNSAID)
      throw new BackupRefused(`cannot be loaded (${table}): the log of the PostgreSQL server says why`)
    throw error
  })
  for (const { name, rows } of manifest.parts) {
    const found = await countRows(target, name)
    if (found !== rows) throw new BackupRefused(`gave ${found} rows of ${name}, not ${rows}`)
  }
  await setSequences(target, manifest.sequences)
  await finishTables(target, migrations, now)
  await gatherStatistics(target)
}
