/**
 * The rows that belong to an account, counted, and erasing an account, in PostgreSQL and in one transaction. Rows that
 * belong to an account go with its row, by the foreign keys.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { retryConflicts } from '../../../platform/postgres/failure.ts'
import {
  contactChanges,
  identities,
  messages,
  passkeys,
  sessions,
} from '../../../platform/postgres/schema.ts'
import {
  defineStatement,
  type Placeholders,
  type RowOf,
  type Statement,
} from '../../../platform/postgres/statement.ts'
import type { AccountSession } from '../../accounts/core/account.ts'
import { holdAccount, sessionLives } from '../../accounts/core/account-sql.ts'
import { deleteAccounts } from '../../accounts/core/changes-sql.ts'
import { endMeansOf } from '../../credentials/administrator-means/means-sql.ts'
import { forgetEventDetails, recordEvents } from '../../foundation/events/event-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { deleteMessages, noticeParams, queueNotices } from '../../messages/outbox/queue-sql.ts'

/**
 * Codes in a store become useless with what they are bound to: the account's uuid, or that of the pending change. The
 * messages of the person are found by their codes and by their destinations, the contacts of the last seven days
 * included. A message to a contact that the account merely claims belongs to somebody else. The notice of the erasure
 * is added by this statement and stays; the worker removes its destination when it is sent. An application that has not
 * been told yet of a session that ended is told of it all the same.
 */
const eraseIf = (p: Placeholders<'accountId' | 'now' | 'notices'>, condition: SQL) => sql`
  with ${deleteAccounts(sql`id = ${p.accountId} and ${condition}`)},
  subjects as (
    select uuid from gone
    union select code_subject from ${contactChanges} join gone on gone.id = account_id),
  unwanted as materialized (
    select id from ${messages}
     where destination <> '' and lower(destination) in (select destination from destinations)
    union
    select id from ${messages} where outcome is null and code_subject in (select uuid from subjects)
    union
    select id from ${messages}
     where coalesce(account_uuid, code_subject) in (select uuid from gone)
       and (outcome is null or account_uuid is not null)
       and (channel <> 'application' or outcome is not null)),
  dropped as (${deleteMessages(sql`id in (select id from unwanted)`)}),
  notices as (${queueNotices(p, sql`gone`)}),
  ${forgetEventDetails(sql`gone`)}
  select uuid from gone`

const erase = defineStatement({
  name: 'me.erase',
  params: {
    accountId: 'bigint',
    sessionId: 'uuid',
    digestWhenChecked: 'text?',
    now: 'timestamptz',
    notices: 'text',
  },
  row: { uuid: 'uuid' },
  sql: (p) =>
    eraseIf(
      p,
      sql`${sessionLives(p)}
       and password_digest is not distinct from ${p.digestWhenChecked}`,
    ),
})

const eraseByOperator = defineStatement({
  name: 'me.erase_by_operator',
  params: { accountId: 'bigint', now: 'timestamptz', notices: 'text' },
  row: { uuid: 'uuid' },
  sql: (p) => eraseIf(p, sql`true`),
})

const count = defineStatement({
  name: 'me.count',
  params: { accountId: 'bigint', now: 'timestamptz' },
  row: { identities: 'int', passkeys: 'int', sessions: 'int' },
  sql: (p) => sql`
  select (select count(*)::int from ${identities} where account_id = ${p.accountId}) as identities,
         (select count(*)::int from ${passkeys} where account_id = ${p.accountId}) as passkeys,
         (select count(*)::int from ${sessions}
           where account_id = ${p.accountId} and revoked_at is null
             and expires_at > ${p.now}) as sessions`,
})

/** An administrator who is erased has these rights. */
const NOTHING = { scopes: [], seesCodes: false, removesTwoFactors: false }

export type SecurityCounts = RowOf<typeof count>

export type ErasureStore = ReturnType<typeof createErasureStore>

export function createErasureStore(database: Database) {
  const run = <Params extends { accountId: number; now: Date }>(
    statement: Statement<Params, { uuid: string }>,
    params: Params,
  ) =>
    retryConflicts(() =>
      database.transaction(async (transaction) => {
        await holdAccount(transaction, params.accountId)
        const gone = await transaction.first(statement, params)
        if (gone === null) return false
        const revoked = await endMeansOf(transaction, gone.uuid, NOTHING, params.now)
        await recordEvents(
          transaction,
          [{ type: 'account.erased', account: gone.uuid }, ...revoked],
          params.now,
        )
        return true
      }),
    )
  return {
    /** The linked identities, the passkeys and the living sessions. */
    count: async (accountId: number, now: Date): Promise<SecurityCounts> =>
      (await database.first(count, { accountId, now }))!,
    /**
     * Removes the account with everything that belongs to it: sessions, factors, identities, pending changes, and every
     * message to its verified contacts, sent or not. Queues the notices of the erasure. Its identifiers are free again.
     * It returns false if the account is already gone, if its password is not this one, or if the session has ended in
     * the meantime.
     */
    async erase({ account, sessionId }: AccountSession, notices: NewMessage[], now: Date): Promise<boolean> {
      const digestWhenChecked = account.passwordDigest
      const params = { accountId: account.id, sessionId, digestWhenChecked, now, ...noticeParams(notices) }
      return run(erase, params)
    },
    /** The same, without asking the owner. It returns false if the account is already gone. */
    eraseByOperator: (accountId: number, notices: NewMessage[], now: Date): Promise<boolean> =>
      run(eraseByOperator, { accountId, now, ...noticeParams(notices) }),
  }
}
