/**
 * The rows that belong to an account, counted, and erasing an account, in PostgreSQL and in one transaction. Rows that
 * belong to an account go with its row, by the foreign keys.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import {
  accounts,
  contactChanges,
  identities,
  messages,
  passkeys,
  replacedContacts,
  sessions,
} from '../../../platform/postgres/schema.ts'
import { defineStatement, type RowOf } from '../../../platform/postgres/statement.ts'
import { forgetNotes } from '../../accounts/admission/permit-sql.ts'
import type { Account } from '../../accounts/core/account.ts'
import { isSessionAlive, withHeldAccount } from '../../accounts/core/account-sql.ts'
import { deleteAccount } from '../../accounts/core/changes-sql.ts'
import { endMeansOf } from '../../credentials/administrator-means/means-sql.ts'
import { forgetDetails, recordEvents } from '../../foundation/events/event-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { addNotices, deleteMessages } from '../../messages/outbox/queue-sql.ts'

/**
 * Codes in a store become useless with what they are bound to: the account's uuid, or that of the pending change. The
 * messages of the person are found by their codes and by their destinations, the contacts of the last seven days
 * included. A message to a contact that the account merely claims belongs to somebody else. An application that has not
 * been told yet of a session that ended is told of it all the same.
 */
const dropMessages = defineStatement({
  name: 'me.drop_messages',
  params: { accountId: 'bigint', uuid: 'uuid' },
  sql: (p) => sql`
  with destinations as (
    select email_key as destination from ${accounts} where id = ${p.accountId} and email_confirmed_at is not null
    union select phone from ${accounts} where id = ${p.accountId} and phone_confirmed_at is not null
    union select destination_key from ${replacedContacts} where account_id = ${p.accountId}),
  unwanted as materialized (
    select id from ${messages}
     where destination <> '' and lower(destination) in (select destination from destinations)
    union
    select id from ${messages}
     where outcome is null
       and code_subject in (
           select ${p.uuid} union select code_subject from ${contactChanges} where account_id = ${p.accountId})
    union
    select id from ${messages}
     where coalesce(account_uuid, code_subject) = ${p.uuid}
       and (outcome is null or account_uuid is not null)
       and (channel <> 'application' or outcome is not null))
  ${deleteMessages(sql`id in (select id from unwanted)`)}`,
})

const forgetNote = defineStatement({
  name: 'me.forget_note',
  params: { accountId: 'bigint' },
  sql: (p) => sql`
  with gone as (select invitation_id from ${accounts} where id = ${p.accountId}) ${forgetNotes(sql`gone`)}`,
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

interface Owner {
  account: Account
  sessionId: string | null
}

export type ErasureStore = ReturnType<typeof createErasureStore>

export function createErasureStore(database: Database) {
  return {
    /** The linked identities, the passkeys and the living sessions. */
    count: async (accountId: number, now: Date): Promise<SecurityCounts> =>
      (await database.first(count, { accountId, now }))!,
    /**
     * Removes the account with everything that belongs to it: sessions, factors, identities, pending changes, and every
     * message to its verified contacts, sent or not. Queues the notices of the erasure, which stay; the worker removes their
     * destinations when they are sent. Its identifiers are free again. It returns false if the account is already gone, and
     * for its owner, if its password is not this one, or if the session has ended in the meantime. `sessionId`: null where the
     * owner is not asked.
     */
    erase: (
      { account: { id: accountId, uuid, passwordDigest }, sessionId }: Owner,
      notices: NewMessage[],
      now: Date,
    ): Promise<boolean> =>
      withHeldAccount(database, accountId, async (transaction, held) => {
        const [account, lives] = await Promise.all([
          held,
          sessionId === null || isSessionAlive(transaction, { accountId, sessionId }),
        ])
        if (account === null || !lives) return false
        if (sessionId !== null && account.passwordDigest !== passwordDigest) return false
        await Promise.all([
          transaction.run(dropMessages, { accountId, uuid }),
          transaction.run(forgetDetails, { account: uuid }),
          transaction.run(forgetNote, { accountId }),
          transaction.run(deleteAccount, { accountId }),
          addNotices(transaction, notices, now),
        ])
        const revoked = await endMeansOf(transaction, uuid, NOTHING, now)
        await recordEvents(transaction, [{ type: 'account.erased', account: uuid }, ...revoked], now)
        return true
      }),
  }
}
