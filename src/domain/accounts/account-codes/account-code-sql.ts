/** Temporary access and invitation codes, made and used up in the transaction of what they belong to or what they open. */
import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { accountCodes, accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import { recordEvents } from '../../foundation/events/event-sql.ts'
import { channelOfDestination } from '../../foundation/identifiers/identifier.ts'
import { addNotices, supersedeCodes } from '../../messages/outbox/queue-sql.ts'
import type { NewAccountCode, OpenAccountCode, PreparedCode } from './account-code.ts'

const put = defineStatement({
  name: 'account_codes.put',
  params: {
    accountId: 'bigint',
    kind: 'text',
    id: 'uuid',
    hash: 'bytea',
    sentTo: 'text?',
    expiresAt: 'timestamptz',
    removeFactors: 'boolean',
    now: 'timestamptz',
  },
  row: { replaced: 'uuid?' },
  sql: (p) => sql`
  with older as (select id from ${accountCodes} where account_id = ${p.accountId} and kind = ${p.kind})
  insert into ${accountCodes} (account_id, kind, id, hash, sent_to, created_at, expires_at, remove_factors)
  select id, ${p.kind}, ${p.id}, ${p.hash}, ${p.sentTo}, ${p.now}, ${p.expiresAt}, ${p.removeFactors}
    from ${accounts} where id = ${p.accountId}
  on conflict (account_id, kind) do update
     set id = excluded.id, hash = excluded.hash, sent_to = excluded.sent_to, created_at = excluded.created_at,
         expires_at = excluded.expires_at, remove_factors = excluded.remove_factors
  returning (select id from older) as replaced`,
})

/** Makes it the open one of its kind, queues its messages and records its event. It returns false if the account is gone. */
export async function putAccountCode(
  transaction: Executor,
  { id: accountId, uuid }: { id: number; uuid: string },
  { code, messages }: Pick<PreparedCode, 'code' | 'messages'>,
  now: Date,
): Promise<boolean> {
  const written = await transaction.first(put, { ...code, accountId, now })
  if (written === null) return false
  const { replaced } = written
  await Promise.all([
    replaced !== null && transaction.run(supersedeCodes, { codeSubject: replaced, now }),
    addNotices(transaction, messages, now),
    recordEvents(transaction, [eventOf(uuid, code)], now),
  ])
  return true
}

const eventOf = (account: string, { kind, sentTo, expiresAt, removeFactors }: NewAccountCode): NewEvent => ({
  type: kind === 'recovery' ? 'recovery.created' : 'account.invited',
  account,
  data: {
    sent_by: sentTo === null ? null : channelOfDestination(sentTo),
    expires_at: expiresAt.toISOString(),
    ...(removeFactors && { remove_factors: true }),
  },
})

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
