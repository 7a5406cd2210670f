/**
 * One-time codes in PostgreSQL: the unlogged table `codes` (a crash of the server empties it), one row for each
 * subject, purpose and group. The column `purpose` holds purpose and group (`two_factor/owner`), for strangers the
 * purpose alone. `used_at` is set once the code was used or ended; the row stays until it is swept after
 * `expires_at`. Each method is one statement.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { codes } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { createExpirySweep } from '../../../platform/postgres/sweep.ts'
import { type CodeStore, codeSlots, type TriedKey } from './store.ts'

const slotOf = ({ purpose, group }: Omit<TriedKey, 'subject'>) =>
  group === 'stranger' ? purpose : `${purpose}/${group ?? 'none'}`

const put = defineStatement({
  name: 'codes.put',
  params: {
    subject: 'uuid',
    slot: 'text',
    hash: 'bytea',
    expiresAt: 'timestamptz',
    messageId: 'bigint?',
    now: 'timestamptz',
  },
  sql: (p) => sql`
  insert into ${codes} as code (subject, purpose, hash, expires_at, message_id)
  values (${p.subject}, ${p.slot}, ${p.hash}, ${p.expiresAt}, coalesce(${p.messageId}, 0))
  on conflict (subject, purpose) do update
     set hash = excluded.hash, expires_at = excluded.expires_at, attempts = 0, used_at = null,
         message_id = coalesce(${p.messageId}, code.message_id)
   where ${p.messageId} is null or code.message_id <= ${p.messageId} or code.expires_at <= ${p.now}`,
})

/** It locks the rows in the order in which `take` does. */
const kill = defineStatement({
  name: 'codes.kill',
  params: { subject: 'uuid', hash: 'bytea', expiresAt: 'timestamptz' },
  sql: (p) => sql`
  insert into ${codes} as code (subject, purpose, hash, expires_at)
  select ${p.subject}, slot, ${p.hash}, ${p.expiresAt}
    from unnest(${sql.raw(`'{${codeSlots.map(slotOf)}}'`)}::text[]) as slot
   order by slot
  on conflict (subject, purpose) do update
     set expires_at = excluded.expires_at,
         hash = case when code.used_at is null then excluded.hash else code.hash end`,
})

const start = defineStatement({
  name: 'codes.start',
  params: { subject: 'uuid', slot: 'text', hash: 'bytea', expiresAt: 'timestamptz' },
  row: { subject: 'uuid' },
  sql: (p) => sql`
  insert into ${codes} as code (subject, purpose, hash, expires_at)
  values (${p.subject}, ${p.slot}, ${p.hash}, ${p.expiresAt})
  on conflict (subject, purpose) do update set expires_at = excluded.expires_at
   where code.hash = excluded.hash and code.used_at is null
  returning subject`,
})

/**
 * Compares, counts and uses up in one statement: the next caller waits for the rows, which all callers lock in the
 * same order, and then sees the result. A right attempt is not counted, so a used row with attempts left was used by
 * a right code.
 */
const take = defineStatement({
  name: 'codes.take',
  params: {
    hash: 'bytea',
    subject: 'uuid',
    attempts: 'int',
    now: 'timestamptz',
    purpose: 'text',
    slot: 'text',
  },
  row: { isRight: 'boolean', isSpent: 'boolean' },
  sql: (p) => sql`
  with found as materialized (
    select purpose, hash = ${p.hash} as is_right, used_at is not null as is_used
      from ${codes}
     where subject = ${p.subject} and attempts < ${p.attempts} and expires_at > ${p.now}
       and purpose in (${p.purpose}, ${p.purpose} || '/password',
                       ${p.purpose} || '/owner')
       and (purpose = ${p.slot} or hash = ${p.hash})
     order by purpose
       for update),
  compared as (
    update ${codes} as code
       set attempts = attempts + case when is_right then 0 else 1 end,
           used_at = case when is_right or attempts + 1 >= ${p.attempts} then ${p.now} end
      from found
     where code.subject = ${p.subject} and code.purpose = found.purpose and not is_used
    returning is_right)
  select exists (select from compared where is_right) as is_right,
         exists (select from found where is_right and is_used) as is_spent`,
})

const holds = defineStatement({
  name: 'codes.holds',
  params: {
    hash: 'bytea',
    subject: 'uuid',
    attempts: 'int',
    now: 'timestamptz',
    purpose: 'text',
    orSpent: 'boolean',
  },
  row: { holds: 'boolean' },
  sql: (p) => sql`
  select exists (
    select 1 from ${codes}
     where subject = ${p.subject} and attempts < ${p.attempts} and expires_at > ${p.now}
       and (used_at is null or ${p.orSpent})
       and purpose in (${p.purpose}, ${p.purpose} || '/password', ${p.purpose} || '/owner')
       and hash = ${p.hash}) as holds`,
})

const sweep = createExpirySweep(codes, 'codes.sweep', sql`subject, purpose`)

const keyOf = ({ subject, ...slot }: TriedKey) => ({ subject, slot: slotOf(slot) })

export function createPostgresCodeStore(database: Database): CodeStore {
  return {
    put: (key, { messageId = null, ...code }, at) =>
      database.run(put, { ...keyOf(key), ...code, messageId, now: at }),
    start: async (key, code) => (await database.first(start, { ...keyOf(key), ...code })) !== null,
    async take(key, guess, limit, at) {
      const params = { ...keyOf(key), purpose: key.purpose, hash: guess, attempts: limit, now: at }
      const row = await database.first(take, params)
      return row?.isRight ? 'right' : row?.isSpent ? 'spent' : 'wrong'
    },
    holds: async ({ subject, purpose }, hash, attempts, at, orSpent = false) =>
      (await database.first(holds, { subject, purpose, hash, attempts, now: at, orSpent }))!.holds,
    kill: (subject, code, _, transaction = database) => transaction.run(kill, { subject, ...code }),
    sweep: (at, limit) => sweep(database, { now: at, limit }),
  }
}
