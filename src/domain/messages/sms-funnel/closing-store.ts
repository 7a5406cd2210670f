/** Numbers that are closed, by hand or by the guard: in PostgreSQL, in every storage shape. */
import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { smsClosings, smsPrefixes } from '../../../platform/postgres/schema.ts'
import { defineStatement, type RowOf } from '../../../platform/postgres/statement.ts'
import { createAgeSweep } from '../../../platform/postgres/sweep.ts'
import type { Actor, NewEvent } from '../../foundation/events/event.ts'
import { changeAndRecord } from '../../foundation/events/event-sql.ts'

const put = defineStatement({
  name: 'sms_closings.put',
  params: {
    prefix: 'text',
    reason: 'text',
    closedUntil: 'timestamptz',
    now: 'timestamptz',
    creatorType: 'text',
    creatorId: 'text?',
    creatorName: 'text?',
  },
  row: { prefix: 'text' },
  sql: (p) => sql`
  insert into ${smsClosings} as closing (prefix, reason, closed_until, created_at, creator_type, creator_id, creator_name)
  values (${p.prefix}, ${p.reason}, ${p.closedUntil}, ${p.now}, ${p.creatorType}, ${p.creatorId}, ${p.creatorName})
  on conflict (prefix) do update
     set reason = excluded.reason, closed_until = excluded.closed_until, created_at = excluded.created_at,
         creator_type = excluded.creator_type, creator_id = excluded.creator_id, creator_name = excluded.creator_name
  returning closing.prefix`,
})

/** Codes for which the guard closed a range do not close it again. */
const remove = defineStatement({
  name: 'sms_closings.remove',
  params: { prefix: 'text', now: 'timestamptz' },
  row: { prefix: 'text' },
  sql: (p) => sql`
  with removed as (delete from ${smsClosings} where prefix = ${p.prefix} returning prefix, closed_until),
  opened as (
    update ${smsPrefixes} set closed_until = ${p.now}
     where prefix = ${p.prefix} and closed_until > ${p.now} returning prefix)
  select prefix from removed where closed_until > ${p.now} union select prefix from opened`,
})

const list = defineStatement({
  name: 'sms_closings.list',
  params: { now: 'timestamptz' },
  row: {
    prefix: 'text',
    closedUntil: 'timestamptz',
    /** Null where the guard closed it, and so is what follows. */
    reason: 'text?',
    createdAt: 'timestamptz?',
    creatorType: 'text?',
    creatorId: 'text?',
    creatorName: 'text?',
  },
  sql: (p) => sql`
  select prefix, closed_until, reason, created_at, creator_type, creator_id, creator_name
    from ${smsClosings} where closed_until > ${p.now}
  union all
  select prefix, max(closed_until), null, null, null, null, null
    from ${smsPrefixes}
   where day >= (${p.now} at time zone 'UTC')::date - 2 and closed_until > ${p.now} group by prefix
  order by 1, 3`,
})

const sweep = createAgeSweep(smsClosings, 'sms_closings.sweep', sql`prefix`, sql`closed_until`)

export type SmsClosing = RowOf<typeof list>

export type SmsClosingStore = ReturnType<typeof createSmsClosingStore>

export function createSmsClosingStore(database: Database) {
  return {
    /** Closes a prefix, also one that is closed already. */
    async put(
      closing: { prefix: string; reason: string; closedUntil: Date; creator: Actor },
      now: Date,
    ): Promise<void> {
      const { prefix, reason, closedUntil, creator } = closing
      const params = {
        ...{ prefix, reason, closedUntil, now },
        creatorType: creator.type,
        creatorId: creator.id,
        creatorName: creator.name,
      }
      const data = { prefix, reason, expires_at: closedUntil.toISOString() }
      const event: NewEvent = { type: 'prefix.closed', account: null, data }
      await changeAndRecord(database, put, params, now, () => event)
    },
    /** It returns false where the prefix is open. */
    async remove(prefix: string, now: Date): Promise<boolean> {
      const event: NewEvent = { type: 'prefix.opened', account: null, data: { prefix } }
      return (await changeAndRecord(database, remove, { prefix, now }, now, () => event)) !== null
    },
    /** Those that are closed at this time, by hand first where both closed one. */
    list: (now: Date): Promise<SmsClosing[]> => database.all(list, { now }),
    /** Forgets those that ended. */
    sweep: (now: Date, limit: number) => sweep(database, { before: now, limit }),
  }
}
