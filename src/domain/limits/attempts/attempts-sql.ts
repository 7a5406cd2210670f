/** The SQL by which turning two factors on forgets what was guessed while they were on before. */
import { type SQL, sql } from 'drizzle-orm'
import { codeBudgets, codeFailures } from '../../../platform/postgres/schema.ts'

/** Two CTEs for the uuid in each row of `account`. Today's second step is not closed by the guesses of anybody. */
export const forgetSecondStep = (account: SQL): SQL => sql`
  reopened as (
    delete from ${codeBudgets} using ${account}
     where subject = ${account}.uuid and split_part(purpose, '/', 1) in ('two_factor', 'step_up')),
  begun_anew as (
    delete from ${codeFailures} using ${account}
     where subject = ${account}.uuid and split_part(factor, '/', 1) in ('two_factor', 'step_up', 'totp'))`
