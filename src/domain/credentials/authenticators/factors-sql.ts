/** The statements by which other rooms add and remove the second factors of accounts. */
import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import {
  recoveryCodes,
  totpEnrolments,
  totpFactors,
  twoFactorRemovals,
} from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders } from '../../../platform/postgres/statement.ts'

/** The recovery codes that came with the app go with it; with other two factors they stay. */
export const dropApp = defineStatement({
  name: 'authenticators.drop_app',
  params: { accountId: 'bigint', keepsCodes: 'boolean' },
  sql: (p) => sql`
  with app as (delete from ${totpFactors} where account_id = ${p.accountId} returning account_id)
  delete from ${recoveryCodes}
   where account_id = ${p.accountId} and (not ${p.keepsCodes} or exists (select 1 from app))`,
})

export const dropEnrolment = defineStatement({
  name: 'authenticators.drop_enrolment',
  params: { accountId: 'bigint' },
  sql: (p) => sql`delete from ${totpEnrolments} where account_id = ${p.accountId}`,
})

/** Takes all of them away. */
export async function dropFactors(transaction: Executor, accountId: number): Promise<void> {
  await Promise.all([
    transaction.run(dropApp, { accountId, keepsCodes: false }),
    transaction.run(dropEnrolment, { accountId }),
  ])
}

/** Apps that came with an import. `rows`: JSON, with the id of the account and the sealed secret in base64. */
export const addImportedApps = (p: Placeholders<'rows' | 'now'>): SQL => sql`
  insert into ${totpFactors} (account_id, sealed_secret, confirmed_at, last_step)
  select account, decode(sealed, 'base64'), ${p.now}, 0
    from jsonb_to_recordset(${p.rows}::jsonb) as line (account bigint, sealed text)`

/** A removal that waits for a day, for each row of `account`, which has the `id`. */
export const addRemoval = (
  p: Placeholders<'id' | 'dueAt' | 'now' | 'actorType' | 'actorId' | 'actorName'>,
  account: SQL,
): SQL => sql`
    insert into ${twoFactorRemovals} (account_id, id, due_at, created_at, actor_type, actor_id, actor_name)
    select id, ${p.id}, ${p.dueAt}, ${p.now}, ${p.actorType}, ${p.actorId}, ${p.actorName} from ${account}
    returning id, due_at`

/** `source`: from where the condition reads, if it is more than the removal. */
export const deleteRemovals = (where: SQL, source?: SQL): SQL =>
  sql`delete from ${twoFactorRemovals} ${source ? sql`using ${source}` : sql``} where ${where}`
