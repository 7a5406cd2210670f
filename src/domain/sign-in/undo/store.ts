/**
 * The undo links of replaced contacts, in PostgreSQL. The tables are `replaced_contacts` and `undo_links`.
 */

import { sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { accounts, replacedContacts, undoLinks } from '../../../platform/postgres/schema.ts'
import { column, defineStatement, type RowOf } from '../../../platform/postgres/statement.ts'
import { createAgeSweep, daysBefore } from '../../../platform/postgres/sweep.ts'
import { deleteAccountCodes } from '../../accounts/account-codes/account-code-sql.ts'
import type { Account } from '../../accounts/core/account.ts'
import {
  accountRow,
  endClaimsTo,
  verifyIdentifier,
  withHeldAccount,
} from '../../accounts/core/account-sql.ts'
import { setPassword, setTwoFactors } from '../../accounts/core/changes-sql.ts'
import { contactsOf, otherOf, putContacts } from '../../accounts/core/contacts-sql.ts'
import { dropApp, dropEnrolment } from '../../credentials/authenticators/factors-sql.ts'
import { recordEvents } from '../../foundation/events/event-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { EndCodes } from '../../messages/codes/service.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { addNotices } from '../../messages/outbox/queue-sql.ts'
import { isRecent, naming, recentSince, removeAdditions } from './additions-sql.ts'
import { endOld } from './endings.ts'
import { endLaterLinks, rememberReplaced, UNDO_DAYS } from './undo-sql.ts'

/** Tells whether another account verified the contact of `replaced` meanwhile. */
const isTaken = sql`
         case replaced.kind
           when 'email' then exists (
             select 1 from ${accounts} other
              where other.email_key = replaced.destination_key and other.email_confirmed_at is not null
                and other.id <> replaced.account_id)
           else exists (
             select 1 from ${accounts} other
              where other.phone = replaced.destination_key and other.phone_confirmed_at is not null
                and other.id <> replaced.account_id)
         end`

const changesOf = defineStatement({
  name: 'undo.changes_of',
  params: { accountId: 'bigint', after: 'timestamptz' },
  row: {
    id: 'bigint',
    kind: column<Identifier['kind']>('text'),
    destination: 'text',
    replacedAt: 'timestamptz',
    /** The hash of the link that brings the contact back; null where none is open. */
    hash: 'bytea?',
    isTaken: 'boolean',
  },
  sql: (p) => sql`
  select replaced.id, replaced.kind, replaced.destination, replaced.replaced_at,
         (select hash from ${undoLinks} where replaced_id = replaced.id and used_at is null limit 1) as hash,
         ${isTaken} as is_taken
    from ${replacedContacts} replaced
   where replaced.account_id = ${p.accountId} and replaced.replaced_at > ${p.after}
   order by replaced.id desc`,
})

const find = defineStatement({
  name: 'undo.find',
  params: { hash: 'bytea', after: 'timestamptz' },
  row: {
    ...accountRow,
    replacedKind: column<Identifier['kind']>('text'),
    /** The contact that can come back. */
    destination: 'text',
    isUsed: 'boolean',
    /** Another account verified the contact meanwhile. */
    isTaken: 'boolean',
  },
  sql: (p) => sql`
  select ${accounts}.*, replaced.kind as replaced_kind, replaced.destination,
         used_at is not null as is_used, ${isTaken} as is_taken
    from ${undoLinks} join ${replacedContacts} replaced on replaced.id = replaced_id
    join ${accounts} on ${accounts}.id = replaced.account_id
   where hash = ${p.hash} and replaced.replaced_at > ${p.after}`,
})

const takeLink = defineStatement({
  name: 'undo.take_link',
  params: { hash: 'bytea', after: 'timestamptz', accountId: 'bigint', now: 'timestamptz' },
  row: {
    kind: column<Identifier['kind']>('text'),
    destination: 'text',
    key: 'text',
    verifiedAt: 'timestamptz',
    replacedAt: 'timestamptz',
    sessionId: 'uuid',
    addedAt: 'timestamptz?',
    addedBy: 'uuid?',
    hadTwoFactors: 'boolean',
    hadApp: 'boolean',
  },
  sql: (p) => sql`
  update ${undoLinks} set used_at = ${p.now} from ${replacedContacts} replaced
   where hash = ${p.hash} and used_at is null and replaced.id = replaced_id
     and replaced.account_id = ${p.accountId} and replaced.replaced_at > ${p.after}
  returning replaced.kind, replaced.destination, replaced.destination_key as key, replaced.verified_at,
            replaced.replaced_at, replaced.session_id, added_at, added_by, had_two_factors, had_app`,
})

const dropLaterCodes = defineStatement({
  name: 'undo.drop_later_codes',
  params: { accountId: 'bigint', replacedAt: 'timestamptz' },
  sql: (p) => deleteAccountCodes(sql`account_id = ${p.accountId} and created_at >= ${p.replacedAt}`),
})

/** Nobody undoes the undoing. */
const withoutLink = { knownClient: true, undoHash: null, undoKey: null }

/**
 * Gives an account that is held back to the holder of the contact that was replaced. Additions count from seven days before
 * the change: an intruder may have begun with a passkey, and the owner may take seven days to see the notice.
 */
async function restore(
  transaction: Executor,
  account: Account,
  link: RowOf<typeof takeLink>,
  notices: NewMessage[],
  now: Date,
): Promise<void> {
  const { kind, key, verifiedAt, replacedAt, sessionId, hadTwoFactors } = link
  const { id: accountId, uuid } = account
  const of = { accountId, now }
  const contacts = contactsOf(account)
  const other = otherOf(kind)
  const since = recentSince(replacedAt, verifiedAt)
  const lost = isRecent(contacts[other], since) ? [other] : []
  const gone = lost.length > 0 ? { [other]: null } : {}
  const [removed] = await Promise.all([
    removeAdditions(transaction, accountId, since),
    putContacts(transaction, accountId, { ...contacts, ...gone, [kind]: link }, now),
    transaction.run(setPassword, { ...of, digest: null, forgives: true }),
    transaction.run(setTwoFactors, { ...of, isOn: hadTwoFactors }),
    contacts[kind]?.key !== key &&
      rememberReplaced(transaction, account, kind, { sessionId, ...withoutLink }, now),
    link.hadApp || transaction.run(dropApp, { accountId, keepsCodes: hadTwoFactors }),
    transaction.run(dropEnrolment, { accountId }),
    transaction.run(dropLaterCodes, { accountId, replacedAt }),
    transaction.run(endLaterLinks, { ...of, verifiedAt }),
    endClaimsTo(transaction, accountId, [{ kind, key }]),
    endOld(transaction, account, 'undo', {}, now),
    recordEvents(transaction, [{ type: 'undo.used', account: uuid, data: { contact: kind } }], now),
  ])
  await addNotices(transaction, naming([...lost, ...removed], notices), now)
}

const sweep = createAgeSweep(replacedContacts, 'undo.sweep', sql`id`, sql`replaced_at`)

export type Undoable = NonNullable<Awaited<ReturnType<UndoStore['find']>>>
export type UndoStore = ReturnType<typeof createUndoStore>

export function createUndoStore(database: Database) {
  async function findUndoable(hash: Uint8Array, now: Date) {
    const row = await database.first(find, { hash, after: daysBefore(now, UNDO_DAYS) })
    if (row === null) return null
    const { replacedKind: kind, destination, isUsed, isTaken, ...account } = row
    return { account, kind, destination, isUsed, isTaken }
  }

  return {
    /** The changes and removals of verified contacts that are not too old, newest first. */
    changesOf: (accountId: number, now: Date): Promise<RowOf<typeof changesOf>[]> =>
      database.all(changesOf, { accountId, after: daysBefore(now, UNDO_DAYS) }),
    /** It returns null if no link has this hash, or if it is too old. */
    find: findUndoable,
    /**
     * Puts the contact back as it was. In the same transaction all sessions end, all devices are forgotten, and the
     * password and what sessions added go. An authenticator app, two factors and a temporary access code that came after
     * the change go, too. Other claims to the contact end, and so do the links of contacts that were verified later.
     * Queues the notices. One of any number of calls succeeds; `taken` changes nothing.
     */
    async restore(
      hash: Uint8Array,
      { account, kind }: NonNullable<Awaited<ReturnType<typeof findUndoable>>>,
      { notices, endCodes }: { notices: NewMessage[]; endCodes: EndCodes },
      now: Date,
    ): Promise<'restored' | 'used' | 'taken'> {
      const done = await verifyIdentifier(kind, () =>
        withHeldAccount(database, account.id, async (transaction, held) => {
          const taking = { hash, after: daysBefore(now, UNDO_DAYS), accountId: account.id, now }
          const [present, link] = await Promise.all([held, transaction.first(takeLink, taking)])
          if (present === null || link === null) return null
          await restore(transaction, present, link, notices, now)
          await endCodes(transaction)
          return 'restored' as const
        }),
      )
      if (done !== null) return done
      return (await findUndoable(hash, now))?.isUsed === false ? 'taken' : 'used'
    },
    /** Removes replaced contacts that can no longer come back, and their links; returns their number. */
    sweep: (now: Date, limit: number) => sweep(database, { before: daysBefore(now, UNDO_DAYS), limit }),
  }
}
