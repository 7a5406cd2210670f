/** Uses up a temporary access or invitation code, in the transaction of what it opens. */
import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { accountCodes } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import type { OpenAccountCode } from './account-code.ts'

/** `source`: from where the condition reads, if it is more than the code. */
export const deleteAccountCodes = (where: SQL, source?: SQL): SQL =>
  sql`delete from ${accountCodes} ${source ? sql`using ${source}` : sql``} where ${where}`

const spend = defineStatement({
  name: 'account_codes.spend',
  params: { accountId: 'bigint', kind: 'text', hash: 'bytea', now: 'timestamptz' },
  row: { kind: 'text' },
  sql: (p) => sql`
  ${deleteAccountCodes(
    sql`account_id = ${p.accountId} and kind = ${p.kind} and hash = ${p.hash} and expires_at > ${p.now}`,
  )}
  returning kind`,
})

/** It returns false where somebody else used it, or where it is not open any more. */
export async function spendAccountCode(
  transaction: Executor,
  accountId: number,
  { kind, hash }: Pick<OpenAccountCode, 'kind' | 'hash'>,
  now: Date,
): Promise<boolean> {
  return (await transaction.first(spend, { accountId, kind, hash, now })) !== null
}
