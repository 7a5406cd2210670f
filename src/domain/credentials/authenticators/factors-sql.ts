/** The SQL by which other rooms remove the second factors of accounts. `account`: rows with the `id` of an account. */
import { type SQL, sql } from 'drizzle-orm'
import { recoveryCodes, totpEnrolments, totpFactors } from '../../../platform/postgres/schema.ts'

const always = sql`true`

export const dropApp = (account: SQL, where = always): SQL =>
  sql`delete from ${totpFactors} using ${account} where account_id = ${account}.id and ${where}`

export const dropRecoveryCodes = (account: SQL, where = always): SQL =>
  sql`delete from ${recoveryCodes} using ${account} where account_id = ${account}.id and ${where}`

export const dropEnrolment = (account: SQL): SQL =>
  sql`delete from ${totpEnrolments} using ${account} where account_id = ${account}.id`

/** Three CTEs that take all of them away. */
export const dropFactors = (account: SQL): SQL => sql`
  app as (${dropApp(account)}),
  waiting as (${dropEnrolment(account)}),
  codes as (${dropRecoveryCodes(account)})`
