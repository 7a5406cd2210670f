/** The changes of messages that other rooms make, beside queuing and replacing them (queue-sql.ts). */
import { type SQL, sql } from 'drizzle-orm'
import { messages } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'
import { LANES } from './lanes.ts'

export const deleteMessages = (where: SQL): SQL => sql`delete from ${messages} where ${where}`

/**
 * The message is queued as if it had never been tried. An administrator asks for it, even if a stranger caused it. The
 * server's words stay until the next attempt.
 */
export const queueAgain = (p: Placeholders<'now'>, where: SQL): SQL => sql`
  update ${messages}
     set outcome = null, finished_at = null, attempts = 0, detail = null, first_attempt_at = null,
         lane = ${sql.raw(String(LANES.owner))},
         next_attempt_at = ${p.now}, gateway = null, provider_id = null, receipt = null
   where ${where}`

/** The code of the message was typed. */
export const noteVerified = (p: Placeholders<'now'>, where: SQL): SQL => sql`
  update ${messages} set verified_at = ${p.now}
   where ${where} and verified_at is null`

/** `delivered` is the last word, whatever comes later. `source`: rows with the `id` of the message. */
export const noteReceipt = (receipt: SQL, source: SQL): SQL => sql`
    update ${messages} message set receipt = ${receipt}
      from ${source}
     where message.id = ${source}.id
       and (message.receipt is null or (message.receipt = 'failed' and ${receipt} = 'delivered'))`
