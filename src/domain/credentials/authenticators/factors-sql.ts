/** The SQL by which other rooms remove the second factors of accounts. `account`: rows with the `id` of an account. */
import { type SQL, sql } from 'drizzle-orm'
import { recoveryCodes, totpEnrolments, totpFactors } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'

/** Three CTEs that take all of them away. */
export const dropFactors = (account: SQL): SQL => sql`
  app as (delete from ${totpFactors} using ${account} where account_id = ${account}.id),
  waiting as (delete from ${totpEnrolments} using ${account} where account_id = ${account}.id),
  codes as (delete from ${recoveryCodes} using ${account} where account_id = ${account}.id)`

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
