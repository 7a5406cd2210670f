/**
 * Moves all data between the embedded database and a PostgreSQL server. The rows that a sign-in needs go first, while
 * the old database refuses to write. Then the old one is marked, and events and finished messages follow.
 */

import { createEventStore } from '../domain/foundation/events/store.ts'
import { forgetErasedAgain } from '../domain/operations/backups/restore-sql.ts'
import { BackupRefused } from '../platform/backup/refused.ts'
import { type Progress, readMigration, readSequences } from '../platform/backup/write.ts'
import { type CopySession, databaseOf } from '../platform/postgres/copy.ts'
import type { Database } from '../platform/postgres/database.ts'
import { ownMigrations } from '../platform/postgres/migrate.ts'
import {
  finishTables,
  gatherStatistics,
  makeEmptyTables,
  readState,
  requireAlone,
  setSequences,
  withoutIndexes,
} from '../platform/postgres/rebuild.ts'
import {
  copyLaterRows,
  copyLivingRows,
  findRelocation,
  type Mark,
  putMark,
  putUnfinished,
  readMark,
  readUnfinished,
  removeUnfinished,
} from '../platform/postgres/relocation.ts'

interface MoveOptions {
  target: CopySession
  /** The new place, for people: without the password. */
  movedTo: string
  /** Makes the old database refuse to write, and opens it. */
  takeSource: () => Promise<CopySession>
  now: Date
  onProgress: Progress
  signal: AbortSignal
}

export interface Moved {
  rows: number
  /**
   * From the first write that was refused to the mark. It is null if it was marked already, and only the rest followed.
   */
  heldMs: number | null
  /** Copies what may come later. The new database may be in use meanwhile. */
  finish(onProgress: Progress): Promise<{ rows: number }>
}

/** Throws BackupRefused; then the old database is as it was, and the new one as well. */
export async function move(options: MoveOptions): Promise<Moved> {
  const { target, movedTo, takeSource, onProgress, signal } = options
  const state = await readState(target, movedTo)
  const isUnfinished = (await readUnfinished(target)) !== null
  if (state.hasAccounts && !isUnfinished)
    throw new BackupRefused('has accounts already: name an empty database', movedTo)
  if (!isUnfinished) await requireAlone(target)
  if (isUnfinished) {
    const source = await takeSource()
    const mark = await readMark(source)
    if (mark !== null) return { rows: 0, heldMs: null, finish: await finishLater(source, mark, options) }
    await requireAlone(target)
    return copyAndMark(source, performance.now(), options)
  }
  onProgress('preparing', 0)
  await prepare(options)
  signal.throwIfAborted()
  const heldSince = performance.now()
  return copyAndMark(await takeSource(), heldSince, options)
}

async function finishLater(source: CopySession, mark: Mark, options: MoveOptions): Promise<Moved['finish']> {
  if (mark.movedTo === options.movedTo) return finishing(source, options)
  await source.close()
  throw new BackupRefused(`was moved to ${mark.movedTo}: name that place`, 'the data')
}

async function prepare({ target, movedTo, now }: MoveOptions): Promise<void> {
  await target.query('begin')
  await target.query(`set local lock_timeout = '10s'`)
  await makeEmptyTables(target, { count: ownMigrations.length, now, subject: movedTo })
}

async function copyAndMark(source: CopySession, heldSince: number, options: MoveOptions): Promise<Moved> {
  const { target, movedTo, now, onProgress, signal } = options
  try {
    if ((await readMark(source)) !== null) throw new BackupRefused('was moved away already', 'the data')
    await readMigration(source)
    // Prepared before, unless an earlier move was interrupted.
    if ((await readUnfinished(target)) !== null) await prepare(options)
    await source.query('begin isolation level repeatable read read only')
    let rows = 0
    await withoutIndexes(target, async () => {
      onProgress('copying what signing in needs', 0.1)
      rows = await copyLivingRows(source, target)
      onProgress('making indexes', 0.7)
    })
    await setSequences(target, await readSequences(source))
    await finishTables(target, ownMigrations.length, now)
    await putUnfinished(target, { movedTo, movedAt: now })
    signal.throwIfAborted()
    await target.query('commit')
    await source.query('commit')
    await putMark(source, { movedTo, movedAt: now })
    return { rows, heldMs: Math.round(performance.now() - heldSince), finish: finishing(source, options) }
  } catch (error) {
    await target.query('rollback').catch(() => {})
    await source.query('rollback').catch(() => {})
    await source.close()
    throw error
  }
}

const finishing =
  (source: CopySession, { target, movedTo }: MoveOptions) =>
  async (onProgress: Progress): Promise<{ rows: number }> => {
    try {
      let tables = 0
      const rows = await copyLaterRows(source, target, (name) => onProgress(`copying ${name}`, tables++ / 3))
      await gatherStatistics(target)
      const event = { type: 'backup.moved' as const, account: null, data: { moved_to: movedTo } }
      await target.query('begin')
      await databaseOf(target).all(forgetErasedAgain, {})
      await removeUnfinished(target)
      await createEventStore(databaseOf(target), { retentionSeconds: 0, addressRetentionSeconds: 0 }).add(
        [event],
        new Date(),
      )
      await target.query('commit')
      return { rows }
    } finally {
      await source.close()
    }
  }

/** Throws, in one line, where the data was moved away: a service that starts with it would lose what it writes. */
export async function requireNotMoved(database: Database): Promise<void> {
  const mark = await findRelocation(database)
  if (mark === null) return
  throw new Error(
    `the data of this database was moved to ${mark.movedTo} at ${mark.movedAt.toISOString()}: start poterne with ${newLines(mark.movedTo)}, or take the mark off with \`poterne move --undo\``,
  )
}

const EMBEDDED = 'embedded in '

export const embeddedName = (dataDir: string): string => `${EMBEDDED}${dataDir}`

/** The mark says it on one line. */
function newLines(movedTo: string): string {
  return movedTo.startsWith(EMBEDDED)
    ? `storage.data_dir = "${movedTo.slice(EMBEDDED.length)}" and without database.url`
    : `database.url = "${movedTo}" (with its password) and the same server.secret`
}
