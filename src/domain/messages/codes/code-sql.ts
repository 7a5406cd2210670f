/** The SQL by which other rooms forget codes and the attempts at them. */
import { sql } from 'drizzle-orm'
import { codeBudgets, codeFailures, codes } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'

/** A restored database forgets its codes. */
export const deleteCodes = sql`delete from ${codes}`

/**
 * Turning two-factor sign-in on forgets what was guessed while it was on before. Today's second step is not closed by the
 * guesses of anybody.
 */
export const forgetSecondStep = defineStatement({
  name: 'attempts.forget_second_step',
  params: { subject: 'uuid' },
  sql: (p) => sql`
  with reopened as (
    delete from ${codeBudgets}
     where subject = ${p.subject} and split_part(purpose, '/', 1) in ('two_factor', 'step_up'))
  delete from ${codeFailures}
   where subject = ${p.subject} and split_part(factor, '/', 1) in ('two_factor', 'step_up', 'totp')`,
})
