/** The table `contact_changes`: contacts that an owner asked for and has not verified yet. */
import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { contactChanges } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders } from '../../../platform/postgres/statement.ts'
import { createAgeSweep, daysBefore } from '../../../platform/postgres/sweep.ts'

/** Replaces the change of the same kind, for each row of `account`, which has the `id`. */
export const putContactChange = (
  p: Placeholders<'kind' | 'destination' | 'key' | 'subject' | 'now'>,
  account: SQL,
): SQL => sql`
      insert into ${contactChanges} (account_id, kind, destination, destination_key, code_subject, created_at)
      select id, ${p.kind}, ${p.destination}, ${p.key}, ${p.subject}, ${p.now}
        from ${account}
      on conflict (account_id, kind) do update
         set destination = excluded.destination, destination_key = excluded.destination_key,
             code_subject = excluded.code_subject, created_at = excluded.created_at
      returning code_subject`

export const deleteContactChange = (where: SQL): SQL => sql`
      delete from ${contactChanges}
       where ${where}
      returning destination`

/** All of the account. */
export const dropContactChanges = defineStatement({
  name: 'contacts.drop_changes',
  params: { accountId: 'bigint' },
  sql: (p) => sql`delete from ${contactChanges} where account_id = ${p.accountId}`,
})

/** Codes live ten minutes; a day covers every configuration that makes sense. */
const KEPT_DAYS = 1

const sweep = createAgeSweep(contactChanges, 'contacts.sweep', sql`account_id, kind`, sql`created_at`)

export const sweepContactChanges = (database: Database, now: Date, limit: number) =>
  sweep(database, { before: daysBefore(now, KEPT_DAYS), limit })
