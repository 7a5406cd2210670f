/** Makes a temporary access or invitation code the open one of its kind, in the transaction of what it belongs to. */
import { sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { accountCodes, accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import { recordEvents } from '../../foundation/events/event-sql.ts'
import {
  noticeParams,
  noticeParamTypes,
  queueNotices,
  supersedeAll,
} from '../../messages/outbox/queue-sql.ts'
import type { NewAccountCode, PreparedCode } from './account-code.ts'

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
    ...noticeParamTypes,
  },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  with account as (select id, uuid from ${accounts} where id = ${p.accountId}),
  older as (select id from ${accountCodes} where account_id = ${p.accountId} and kind = ${p.kind}),
  put as (
    insert into ${accountCodes} (account_id, kind, id, hash, sent_to, created_at, expires_at, remove_factors)
    select id, ${p.kind}, ${p.id}, ${p.hash}, ${p.sentTo}, ${p.now}, ${p.expiresAt}, ${p.removeFactors} from account
    on conflict (account_id, kind) do update
       set id = excluded.id, hash = excluded.hash, sent_to = excluded.sent_to, created_at = excluded.created_at,
           expires_at = excluded.expires_at, remove_factors = excluded.remove_factors),
  replaced as (${supersedeAll({ now: p.now, codeSubject: sql`(select id from older)` })}),
  queued as (${queueNotices(p, sql`account`)})
  select uuid from account`,
})

/** Queues its messages and records its event. It returns false if the account is gone. */
export async function putAccountCode(
  transaction: Executor,
  { id: accountId, uuid }: { id: number; uuid: string },
  { code, messages }: Pick<PreparedCode, 'code' | 'messages'>,
  now: Date,
): Promise<boolean> {
  const found = await transaction.first(put, { ...code, accountId, now, ...noticeParams(messages) })
  if (found === null) return false
  await recordEvents(transaction, [eventOf(uuid, code)], now)
  return true
}

const eventOf = (account: string, { kind, sentTo, expiresAt, removeFactors }: NewAccountCode): NewEvent => ({
  type: kind === 'recovery' ? 'recovery.created' : 'account.invited',
  account,
  data: {
    sent_by: sentTo === null ? null : sentTo.startsWith('+') ? 'sms' : 'email',
    expires_at: expiresAt.toISOString(),
    ...(removeFactors && { remove_factors: true }),
  },
})
