/**
 * Changing and removing the e-mail address and the phone number of an account, in PostgreSQL. The changes that wait
 * are in `contact_changes`.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts, contactChanges } from '../../../platform/postgres/schema.ts'
import {
  column,
  defineStatement,
  type Placeholders,
  type RowOf,
} from '../../../platform/postgres/statement.ts'
import type { Account, AccountSession } from '../../accounts/core/account.ts'
import {
  endClaimsTo,
  isSessionAlive,
  sessionLives,
  unqualifiedColumns,
  updateLockedAccount,
  verifyIdentifier,
  withHeldAccount,
} from '../../accounts/core/account-sql.ts'
import { contactsOf, putContacts } from '../../accounts/core/contacts-sql.ts'
import {
  signInMethodParamTypes,
  type UsableMethods,
  usableIdentities,
  usablePasskeys,
} from '../../accounts/core/sign-in-methods-sql.ts'
import { recordEvents } from '../../foundation/events/event-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { EndCodes } from '../../messages/codes/service.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import {
  addNotices,
  messageParams,
  messageParamTypes,
  queueMessage,
  queueOwnersNotice,
  supersedeAll,
  supersedeCodes,
} from '../../messages/outbox/queue-sql.ts'
import {
  deleteContactChange,
  putContactChange,
  sweepContactChanges,
} from '../../sign-in/undo/contact-changes-sql.ts'
import { type Keeping, rememberReplaced } from '../../sign-in/undo/undo-sql.ts'

/** The parts of a change beside the contact itself: the notices, and how the contact before it can come back. */
export interface ContactNotices extends Keeping {
  notices: NewMessage[]
}

interface Ends extends ContactNotices {
  endCodes: EndCodes
}

const isThatChange = (p: Placeholders<'accountId' | 'kind'>) =>
  sql`account_id = ${p.accountId} and kind = ${p.kind}`

const requestOf = (of: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[of]
  const destination = sql.raw(of)
  return defineStatement({
    name: `contacts.request_of_${of}`,
    params: {
      key: 'text',
      accountId: 'bigint',
      sessionId: 'uuid',
      kind: 'text',
      destination: 'text',
      subject: 'uuid',
      now: 'timestamptz',
      ...messageParamTypes,
    },
    row: { outcome: column<'asked' | 'taken'>('text') },
    sql: (p) => sql`
    with owner as (
      select uuid, ${destination} as destination, language from ${accounts}
       where ${keyColumn} = ${p.key} and ${verifiedAt} is not null and id <> ${p.accountId} and ${sessionLives(p)}),
    asked as (${putContactChange(p, sql`${accounts} where id = ${p.accountId} and ${sessionLives(p)}`)}),
    replaced as (${supersedeAll({
      now: p.now,
      codeSubject: sql`(select code_subject from ${contactChanges}
                          where ${isThatChange(p)} and exists (select 1 from asked))`,
    })}),
    code as (${queueMessage(
      { ...p, accountUuid: sql`(select uuid from ${accounts} where id = ${p.accountId})` },
      sql`asked where not exists (select 1 from owner)`,
    )}),
    notice as (${queueOwnersNotice({
      now: p.now,
      source: sql`owner`,
      channel: p.messageChannel,
      destination: sql`owner.destination`,
      purpose: 'contact_claimed',
      language: sql`owner.language`,
      accountUuid: sql`owner.uuid`,
      causedBy: p,
    })})
    select case when exists (select 1 from owner) then 'taken' else 'asked' end as outcome from asked`,
  })
}

const request = { email: requestOf('email'), phone: requestOf('phone') }

const find = defineStatement({
  name: 'contacts.find',
  params: { accountId: 'bigint', kind: 'text' },
  row: {
    kind: column<Identifier['kind']>('text'),
    /** The exact new value, and its comparable form. */
    destination: 'text',
    destinationKey: 'text',
    /** The subject of its code: a new one for each request, so that two requests never share a code. */
    codeSubject: 'uuid',
  },
  sql: (p) => sql`
  select kind, destination, destination_key, code_subject from ${contactChanges} where ${isThatChange(p)}`,
})

/** The pending change of an account; there is at most one of each kind. */
export type ContactChange = RowOf<typeof find>

const takeChange = defineStatement({
  name: 'contacts.take_change',
  params: { accountId: 'bigint', kind: 'text', subject: 'uuid', key: 'text', sessionId: 'uuid' },
  row: { destination: 'text' },
  sql: (p) =>
    deleteContactChange(
      sql`${isThatChange(p)} and code_subject = ${p.subject} and destination_key = ${p.key} and ${sessionLives(p)}`,
    ),
})

/** A contact is verified or opens nothing by a code, so that `codesOpen` makes no difference here. */
const { codesOpen: _, ...goingParamTypes } = signInMethodParamTypes

/**
 * The last verified contact stays whatever else opens the account: notices and resets go there. A contact that nobody
 * verified is removed unless it is all that the owner can type beside the password.
 */
const isLastMethodOf = (of: Identifier['kind']) => {
  const { verifiedAt } = unqualifiedColumns[of]
  const other = unqualifiedColumns[of === 'email' ? 'phone' : 'email']
  return defineStatement({
    name: `contacts.is_last_method_of_${of}`,
    params: goingParamTypes,
    row: { isLast: 'boolean' },
    sql: (p) => sql`
    select not (${other.verifiedAt} is not null
                or ${verifiedAt} is null and (
                  (password_digest is not null and ${other.key} is not null)
                  or exists (${usablePasskeys(p)}) or exists (${usableIdentities(p)}))) as is_last
      from ${accounts} where id = ${p.accountId}`,
  })
}

const isLastMethod = { email: isLastMethodOf('email'), phone: isLastMethodOf('phone') }

export type ContactStore = ReturnType<typeof createContactStore>

export function createContactStore(database: Database) {
  return {
    /**
     * Adds the request, replaces the previous one of that kind, and queues its code. If somebody else has verified the
     * identifier, everything is the same but that a notice to that owner is queued in place of the code.
     */
    async request(
      { account, sessionId }: AccountSession,
      { kind, destination, key }: Identifier,
      { subject, seed }: { subject: string; seed: Uint8Array },
      now: Date,
    ): Promise<'asked' | 'taken' | 'session_over'> {
      const purpose = kind === 'email' ? 'email_change' : 'phone_change'
      const row = await updateLockedAccount(database, request[kind], {
        ...messageParams({
          channel: kind === 'email' ? 'email' : 'sms',
          destination,
          purpose,
          language: account.language,
          code: { subject, purpose, group: 'owner', seed },
        }),
        accountId: account.id,
        sessionId,
        kind,
        destination,
        key,
        subject,
        now,
      })
      return row?.outcome ?? 'session_over'
    },
    find: ({ id }: Account, kind: Identifier['kind']): Promise<ContactChange | null> =>
      database.first(find, { accountId: id, kind }),
    /**
     * Replaces the old contact, which is kept for seven days, by the new one. Ends every other claim to it and all pending
     * messages with codes for the account, and queues the notices. Null, and nothing happens, if the request was replaced or
     * the session ended meanwhile, or if somebody else verified the identifier first.
     */
    confirm: (
      { account: { id: accountId, uuid }, sessionId }: AccountSession,
      { kind, destinationKey: key, codeSubject: subject }: ContactChange,
      { notices, endCodes, ...keeping }: Ends,
      now: Date,
    ): Promise<Account | null> =>
      verifyIdentifier(kind, () =>
        withHeldAccount(database, accountId, async (transaction, held) => {
          const taking = transaction.first(takeChange, { accountId, kind, subject, key, sessionId })
          const [present, asked] = await Promise.all([held, taking])
          if (present === null || asked === null) return null
          const contacts = contactsOf(present)
          const before = contacts[kind]
          // The contact that is verified already, in another spelling at most, is not a new one.
          const isSame = before?.key === key && before.verifiedAt !== null
          const since = isSame ? before : { verifiedAt: now, addedAt: now, addedBy: sessionId }
          const contact = { ...since, destination: asked.destination, key }
          const type = before === null ? 'identifier.added' : 'identifier.changed'
          const [account] = await Promise.all([
            putContacts(transaction, accountId, { ...contacts, [kind]: contact }, now),
            isSame || rememberReplaced(transaction, present, kind, { sessionId, ...keeping }, now),
            endClaimsTo(transaction, accountId, [{ kind, key }]),
            transaction.run(supersedeCodes, { codeSubject: uuid, now }),
            addNotices(transaction, notices, now),
            recordEvents(transaction, [{ type, account: uuid, data: { contact: kind } }], now),
          ])
          await endCodes(transaction)
          return account
        }),
      ),
    /** Tells whether the contact, which the account has, is one that must stay. */
    async isLastMethod(
      accountId: number,
      kind: Identifier['kind'],
      { providers, rpId }: Pick<UsableMethods, 'providers' | 'rpId'>,
    ): Promise<boolean> {
      const params = { accountId, usable: JSON.stringify(providers), rpId }
      return (await database.first(isLastMethod[kind], params))?.isLast === true
    },
    /**
     * Removes the contact of that kind, ends pending messages with codes for the account, and queues the notices. A verified
     * contact is kept for seven days, so that it can come back. `last_sign_in_method`: it is the last verified one, or it is
     * not verified and nothing else opens the account; `usable` says which identities and passkeys do.
     */
    remove: (
      { account: { id: accountId, uuid }, sessionId }: AccountSession,
      kind: Identifier['kind'],
      { providers, rpId }: Pick<UsableMethods, 'providers' | 'rpId'>,
      { notices, endCodes, ...keeping }: Ends,
      now: Date,
    ): Promise<Account | 'not_found' | 'last_sign_in_method' | 'session_over'> =>
      withHeldAccount(database, accountId, async (transaction, held) => {
        const methods = { accountId, usable: JSON.stringify(providers), rpId }
        const [present, isAlive, going] = await Promise.all([
          held,
          isSessionAlive(transaction, { accountId, sessionId }),
          transaction.first(isLastMethod[kind], methods),
        ])
        if (present === null || !isAlive) return 'session_over'
        const contacts = contactsOf(present)
        if (contacts[kind] === null) return 'not_found'
        if (going?.isLast) return 'last_sign_in_method'
        const event = { type: 'identifier.removed' as const, account: uuid, data: { contact: kind } }
        const [account] = await Promise.all([
          putContacts(transaction, accountId, { ...contacts, [kind]: null }, now),
          rememberReplaced(transaction, present, kind, { sessionId, ...keeping }, now),
          transaction.run(supersedeCodes, { codeSubject: uuid, now }),
          addNotices(transaction, notices, now),
          recordEvents(transaction, [event], now),
        ])
        await endCodes(transaction)
        return account
      }),
    /** Removes requests whose code expired long ago; returns their number. */
    sweep: (now: Date, limit: number) => sweepContactChanges(database, now, limit),
  }
}
