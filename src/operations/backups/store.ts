/**
 * Decides whose turn a scheduled backup is, and keeps how the last ones went: one row in PostgreSQL, in every shape.
 * The table is `backups`.
 */

import { sql } from 'drizzle-orm'
import type { NewEvent } from '../../domain/foundation/events/event.ts'
import { changeAndRecord } from '../../domain/foundation/events/event-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { backups } from '../../platform/postgres/schema.ts'
import { defineStatement, pick, rowOf } from '../../platform/postgres/statement.ts'

export interface FinishedBackup {
  /** The name of the file; null: standard output. */
  file: string | null
  bytes: number
  rows: number
  /** The fact that the operator should know, although the backup is good. */
  warning?: string | null | undefined
}

const get = defineStatement({
  name: 'backups.get',
  row: pick(rowOf(backups), 'takenFor', 'lastSuccessAt', 'lastFailureAt', 'lastFailure', 'lastWarning'),
  sql: () =>
    sql`select taken_for, last_success_at, last_failure_at, last_failure, last_warning from ${backups} where id = 1`,
})

/** A time further ahead than the next day was written before the clock was set back, and is ignored. */
const claim = defineStatement({
  name: 'backups.claim',
  params: { dueAt: 'timestamptz' },
  row: { id: 'int' },
  sql: (p) => sql`
  update ${backups} set taken_for = ${p.dueAt}
   where id = 1 and (taken_for is null or taken_for < ${p.dueAt} or taken_for > ${p.dueAt} + interval '1 day')
  returning id`,
})

const giveBack = defineStatement({
  name: 'backups.give_back',
  params: { dueAt: 'timestamptz' },
  row: { id: 'int' },
  sql: (p) => sql`
  update ${backups} set taken_for = ${p.dueAt} - interval '1 second' where id = 1 and taken_for = ${p.dueAt}
  returning id`,
})

const noteSuccess = defineStatement({
  name: 'backups.note_success',
  params: { at: 'timestamptz', warning: 'text?' },
  row: { id: 'int' },
  sql: (p) => sql`
  update ${backups} set last_success_at = ${p.at}, last_warning = ${p.warning} where id = 1 returning id`,
})

const noteFailure = defineStatement({
  name: 'backups.note_failure',
  params: { at: 'timestamptz', cause: 'text' },
  row: { id: 'int' },
  sql: (p) => sql`
  update ${backups} set last_failure_at = ${p.at}, last_failure = ${p.cause} where id = 1 returning id`,
})

export type BackupStore = ReturnType<typeof createBackupStore>

export function createBackupStore(database: Database) {
  return {
    /** The scheduled time that a replica took on last, and how the last ones went. */
    getState: async () =>
      (await database.first(get, {})) ?? {
        takenFor: null,
        lastSuccessAt: null,
        lastFailureAt: null,
        lastFailure: null,
        lastWarning: null,
      },
    /** It returns true for one caller among all replicas. */
    claimRound: async (dueAt: Date): Promise<boolean> => (await database.first(claim, { dueAt })) !== null,
    /** The process that claimed it and could not finish gives it back. */
    releaseRound: (dueAt: Date): Promise<void> => database.run(giveBack, { dueAt }),
    /** It writes the event `backup.created`. */
    async noteSuccess({ file, bytes, rows, warning = null }: FinishedBackup, at: Date): Promise<void> {
      const data = { file, bytes, rows, ...(warning !== null && { warning }) }
      const event: NewEvent = { type: 'backup.created', account: null, data }
      await changeAndRecord(database, noteSuccess, { at, warning }, at, () => event)
    },
    /** It writes the event `backup.failed`. */
    async noteFailure(cause: string, at: Date): Promise<void> {
      const event: NewEvent = { type: 'backup.failed', account: null, data: { cause } }
      await changeAndRecord(database, noteFailure, { at, cause }, at, () => event)
    },
  }
}
