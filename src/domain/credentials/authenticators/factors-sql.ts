/** The statements by which other rooms remove the second factors of an account that is held. */
import { sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { recoveryCodes, totpEnrolments, totpFactors } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'

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
