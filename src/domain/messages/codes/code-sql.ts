/** The SQL by which other rooms forget codes and the attempts at them. */
import { type SQL, sql } from 'drizzle-orm'
import { codeBudgets, codeFailures, codes } from '../../../platform/postgres/schema.ts'

/** A restored database forgets its codes. */
export const deleteCodes = sql`delete from ${codes}`

/**
 * Turning two-factor sign-in on forgets what was guessed while it was on before: two CTEs for the uuid in each row of
 * `account`. Today's second step is not closed by the guesses of anybody.
 */
export const forgetSecondStep = (account: SQL): SQL => sql`
  reopened as (
    delete from ${codeBudgets} using ${account}
     where subject = ${account}.uuid and split_part(purpose, '/', 1) in ('two_factor', 'step_up')),
  begun_anew as (
    delete from ${codeFailures} using ${account}
     where subject = ${account}.uuid and split_part(factor, '/', 1) in ('two_factor', 'step_up', 'totp'))`
