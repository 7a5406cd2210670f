/**
 * Changing and removing the e-mail address and the phone number of an account, in PostgreSQL. The changes that wait
 * are in `contact_changes`.
 */

import { type SQL, sql } from 'drizzle-orm'
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
  accountRow,
  endOtherClaims,
  sessionLives,
  unqualifiedColumns,
  updateLockedAccount,
  verifyIdentifier,
} from '../../accounts/core/account-sql.ts'
import { changeContact, removeContact } from '../../accounts/core/contacts-sql.ts'
import {
  signInMethodParamTypes,
  type UsableMethods,
  usableIdentities,
  usablePasskeys,
} from '../../accounts/core/sign-in-methods-sql.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import {
  messageParams,
  messageParamTypes,
  noticeParams,
  queueMessage,
  queueNotices,
  queueOwnersNotice,
  supersedeAll,
} from '../../messages/outbox/queue-sql.ts'
import {
  deleteContactChange,
  putContactChange,
  sweepContactChanges,
} from '../../sign-in/undo/contact-changes-sql.ts'
import { contactBefore, type KeepParams, keepParamTypes, keepReplaced } from '../../sign-in/undo/undo-sql.ts'

/** The parts of a change beside the contact itself: the notices, and how the contact before it can come back. */
export interface ContactNotices extends KeepParams {
  notices: NewMessage[]
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

const confirmOf = (of: Identifier['kind']) =>
  defineStatement({
    name: `contacts.confirm_of_${of}`,
    params: {
      accountId: 'bigint',
      subject: 'uuid',
      key: 'text',
      notices: 'text',
      ...keepParamTypes,
    },
    row: accountRow,
    sql: (p) => sql`
    with asked as (
      ${deleteContactChange(sql`${isThatChange(p)} and code_subject = ${p.subject} and destination_key = ${p.key} and ${sessionLives(p)}`)}),
    ${contactBefore(p, of, sql`true`)},
    proved as (${changeContact(p, of, sql`asked`, sql`before`)}),
    ${keepReplaced(
      p,
      sql`before`,
      sql`before join proved on proved.id = before.id
      where before.verified_at is not null and before.key <> ${p.key}`,
    )},
    ${endOtherClaims(p, of, sql`proved`)},
    replaced as (${supersedeAll({ now: p.now, codeSubject: sql`(select uuid from proved)` })}),
    notices as (${queueNotices(p, sql`proved`)})
    select * from proved`,
  })

const confirm = { email: confirmOf('email'), phone: confirmOf('phone') }

/** `id` is null if the contact was not removed. */
type RemoveRow = { found: boolean } & (Account | { id: null })

/** A contact is verified or opens nothing by a code, so that `codesOpen` makes no difference here. */
const { codesOpen: _, ...goingParamTypes } = signInMethodParamTypes

const mayGo = (p: Placeholders<keyof typeof goingParamTypes>, of: Identifier['kind'], wasVerified: SQL) => {
  const other = unqualifiedColumns[of === 'email' ? 'phone' : 'email']
  return sql`(${accounts}.${other.verifiedAt} is not null
              or not ${wasVerified} and (
                (${accounts}.password_digest is not null and ${accounts}.${other.key} is not null)
                or exists (${usablePasskeys(p)}) or exists (${usableIdentities(p)})))`
}

const isLastMethodOf = (of: Identifier['kind']) =>
  defineStatement({
    name: `contacts.is_last_method_of_${of}`,
    params: goingParamTypes,
    row: { isLast: 'boolean' },
    sql: (p) => sql`
    select not ${mayGo(p, of, sql`(${unqualifiedColumns[of].verifiedAt} is not null)`)} as is_last
      from ${accounts} where id = ${p.accountId}`,
  })

const isLastMethod = { email: isLastMethodOf('email'), phone: isLastMethodOf('phone') }

/**
 * The last verified contact stays whatever else opens the account: notices and resets go there. A contact that nobody
 * verified is removed unless it is all that the owner can type beside the password.
 */
const removeOf = (of: Identifier['kind']) => {
  const { key: keyColumn } = unqualifiedColumns[of]
  return defineStatement({
    name: `contacts.remove_of_${of}`,
    params: { ...goingParamTypes, notices: 'text', ...keepParamTypes },
    row: { ...accountRow, found: 'boolean' },
    sql: (p) => sql`
    with ${contactBefore(p, of, sessionLives(p))},
    removed as (${removeContact(
      p,
      of,
      sql`before`,
      sql`${accounts}.${keyColumn} is not null and ${mayGo(p, of, sql`(before.verified_at is not null)`)}`,
      sql`${accounts}.*`,
    )}),
    ${keepReplaced(
      p,
      sql`before`,
      sql`before join removed on removed.id = before.id
      where before.verified_at is not null`,
    )},
    replaced as (${supersedeAll({ now: p.now, codeSubject: sql`(select uuid from removed)` })}),
    notices as (${queueNotices(p, sql`removed`)})
    select before.key is not null as found, removed.* from before left join removed on removed.id = before.id`,
  })
}

const remove = { email: removeOf('email'), phone: removeOf('phone') }

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
      { account, sessionId }: AccountSession,
      { kind, destinationKey, codeSubject }: ContactChange,
      { notices, ...kept }: ContactNotices,
      now: Date,
    ): Promise<Account | null> =>
      verifyIdentifier(kind, () =>
        updateLockedAccount(
          database,
          confirm[kind],
          {
            accountId: account.id,
            sessionId,
            kind,
            key: destinationKey,
            subject: codeSubject,
            now,
            ...kept,
            ...noticeParams(notices),
          },
          () => [
            {
              type: account[kind] === null ? 'identifier.added' : 'identifier.changed',
              account: account.uuid,
              data: { contact: kind },
            },
          ],
        ),
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
    async remove(
      { account, sessionId }: AccountSession,
      kind: Identifier['kind'],
      { providers, rpId }: Pick<UsableMethods, 'providers' | 'rpId'>,
      { notices, ...kept }: ContactNotices,
      now: Date,
    ): Promise<Account | 'not_found' | 'last_sign_in_method' | 'session_over'> {
      const usable = JSON.stringify(providers)
      const owner = { accountId: account.id, sessionId, usable, rpId }
      const params = { ...owner, kind, now, ...kept, ...noticeParams(notices) }
      const eventsOf = ({ id }: RemoveRow): NewEvent[] =>
        id === null ? [] : [{ type: 'identifier.removed', account: account.uuid, data: { contact: kind } }]
      const row = await updateLockedAccount(database, remove[kind], params, eventsOf)
      if (row === null) return 'session_over'
      if (!row.found) return 'not_found'
      return row.id === null ? 'last_sign_in_method' : row
    },
    /** Removes requests whose code expired long ago; returns their number. */
    sweep: (now: Date, limit: number) => sweepContactChanges(database, now, limit),
  }
}
