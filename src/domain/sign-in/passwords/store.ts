/**
 * The replacing of a password, and all that ends with the old one: in PostgreSQL, each method one transaction. The
 * digest is the column `password_digest` of `accounts`.
 */

import { sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { spendAccountCode } from '../../accounts/account-codes/account-code-sql.ts'
import type { MatchedCode } from '../../accounts/account-codes/service.ts'
import { permitCtes, permitParamTypes } from '../../accounts/admission/permit-sql.ts'
import type { Permit } from '../../accounts/admission/service.ts'
import type { Account, AccountSession } from '../../accounts/core/account.ts'
import {
  endClaimsTo,
  isSessionAlive,
  verifyIdentifier,
  withHeldAccount,
} from '../../accounts/core/account-sql.ts'
import { setPassword } from '../../accounts/core/changes-sql.ts'
import { contactsOf, otherOf, putContacts } from '../../accounts/core/contacts-sql.ts'
import { isContested, openByReset } from '../../accounts/core/opening-sql.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import type { EventData } from '../../foundation/events/event-data-schema.ts'
import { recordEvents } from '../../foundation/events/event-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { EndCodes } from '../../messages/codes/service.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { addNotices } from '../../messages/outbox/queue-sql.ts'
import { isRecent, naming, recentSince, removeAdditions } from '../undo/additions-sql.ts'
import { endOld } from '../undo/endings.ts'
import { endLaterLinks } from '../undo/undo-sql.ts'

interface NewPassword {
  digest: string
  /** The tag of the caller's device, which stays known where it is. */
  keptDevice: Uint8Array | null
  /** Queued when, and only when, the password was replaced. */
  notices: NewMessage[]
  endCodes: EndCodes
}

/** The passkeys and identities that go: `recent` as with every reset, or as the administrator said who made the code. */
type Going = 'recent' | 'all' | 'none'

const goingWith = ({ kind, removeFactors }: Omit<MatchedCode, 'account'>): Going => {
  if (kind !== 'recovery') return 'recent'
  return removeFactors ? 'all' : 'none'
}

/** Opens the registration that waits for the contact, if it may be opened. */
const openRegistration = defineStatement({
  name: 'passwords.open_registration',
  params: { now: 'timestamptz', accountId: 'bigint', key: 'text', ...permitParamTypes },
  row: { id: 'bigint' },
  sql: (p) => sql`
  with candidate as (
    select origin is not null as exempt, not ${isContested(p.key)} as keeps, invitation_id, terms_version,
           terms_accepted_at
      from ${accounts} where id = ${p.accountId}),
  ${permitCtes(p, sql`candidate`)}
  ${openByReset(p)}`,
})

const eventsOfReset = (account: string, data: EventData, newlyConfirmed: boolean): NewEvent[] => [
  ...(newlyConfirmed
    ? (['account.registered', 'account.confirmed'] as const).map((type) => ({ type, account, data }))
    : []),
  { type: 'password.reset', account, data },
]

interface Reset extends NewPassword {
  going: Going
  permit: Permit
  /** What the events say of it. */
  data: EventData
  now: Date
}

/**
 * A new password for an account that is held. Additions are recent since `since`; `lost`: the contact that went. Returns
 * the names of what was removed.
 */
async function replacePassword(
  transaction: Executor,
  account: Account,
  { digest, keptDevice, notices, going, data, now }: Reset,
  { since, lost = [], newlyConfirmed = false }: { since: Date; lost?: string[]; newlyConfirmed?: boolean },
): Promise<string[]> {
  const { id: accountId, uuid } = account
  const [removed] = await Promise.all([
    going === 'none' ? [] : removeAdditions(transaction, accountId, since, { all: going === 'all' }),
    transaction.run(setPassword, { accountId, digest, forgives: true, now }),
    endOld(transaction, account, 'password', { keptDevice }, now),
    recordEvents(transaction, eventsOfReset(uuid, data, newlyConfirmed), now),
  ])
  const gone = [...lost, ...removed]
  await addNotices(transaction, naming(gone, notices), now)
  return gone
}

/**
 * Resets by a code that proves no contact: an administrator knows who has it. The contacts stay, since no code says
 * which of them is the owner's.
 */
const resetByAdministrator = (transaction: Executor, account: Account, reset: Reset) =>
  replacePassword(transaction, account, reset, { since: recentSince(reset.now, null) })

/**
 * Resets by a code that proves a contact. The other contact is removed if a session added it lately, or if the registration
 * was never confirmed. Then it is only a claim, perhaps a stranger's, and gets no notice. It returns null, and changes
 * nothing, if the account neither has nor waits for the contact any more, or if nothing permits to open a registration.
 */
async function resetByContact(
  transaction: Executor,
  account: Account,
  { kind, key }: Identifier,
  reset: Reset,
): Promise<string[] | null> {
  const { now, permit } = reset
  const { id: accountId, accountConfirmedAt, waitingFor } = account
  const contacts = contactsOf(account)
  const [proved, other] = [contacts[kind], otherOf(kind)]
  const isNew = accountConfirmedAt === null
  if (proved?.key !== key || (proved.verifiedAt === null && !(isNew && waitingFor === key))) return null
  if (isNew && (await transaction.first(openRegistration, { accountId, key, now, ...permit })) === null)
    return null
  const verifiedAt = proved.verifiedAt ?? now
  const since = recentSince(now, verifiedAt)
  const lost = isRecent(contacts[other], since) ? [other] : []
  const gone = isNew || lost.length > 0 ? { [other]: null } : {}
  const [removed] = await Promise.all([
    replacePassword(transaction, account, reset, { since, lost, newlyConfirmed: isNew }),
    putContacts(transaction, accountId, { ...contacts, ...gone, [kind]: { ...proved, verifiedAt } }, now),
    transaction.run(endLaterLinks, { accountId, verifiedAt, now }),
    endClaimsTo(transaction, accountId, [{ kind, key }]),
  ])
  return removed
}

export type PasswordStore = ReturnType<typeof createPasswordStore>

export function createPasswordStore(database: Database) {
  /** Uses the code up and sets the password, or does neither. */
  const resetOnce = (
    { account: { id: accountId }, ...matched }: MatchedCode,
    proved: Identifier | null,
    password: NewPassword,
    permit: Permit,
    now: Date,
  ): Promise<string[] | null> =>
    withHeldAccount(database, accountId, async (transaction, held) => {
      const spending = spendAccountCode(transaction, accountId, matched, now)
      const [account, isSpent] = await Promise.all([held, spending])
      if (account === null || !isSpent) return null
      const data = { code: matched.kind, ...(proved && { contact: proved.kind }) }
      const reset = { ...password, going: goingWith(matched), permit, data, now }
      // The contact may have gone since the code was sent there; the account it was made for is the same.
      const byContact = proved && (await resetByContact(transaction, account, proved, reset))
      const removed = byContact ?? (await resetByAdministrator(transaction, account, reset))
      await password.endCodes(transaction)
      return removed
    })

  return {
    /**
     * Resets the password of somebody who has just verified the identifier. The account gets the password and is
     * confirmed, the identifier becomes its own, every other claim to it ends, and failures and all known devices but the
     * caller's are forgotten. All its sessions, pending contact changes and messages with codes end, including a session
     * that is being opened with the old password. Additions of a session within the last seven days, after this
     * identifier was verified, are removed, and the notices name them, as does the answer. Returns null if the account does not have, or
     * wait for, the identifier any more, or if nothing permits to open a registration: then it stays as it was.
     */
    async reset(
      { id: accountId }: Account,
      identifier: Identifier,
      password: NewPassword,
      permit: Permit,
      now: Date,
    ): Promise<string[] | null> {
      const { kind } = identifier
      const reset = { ...password, going: 'recent' as const, permit, data: { contact: kind }, now }
      return verifyIdentifier(kind, () =>
        withHeldAccount(database, accountId, async (transaction, held) => {
          const account = await held
          const removed = account && (await resetByContact(transaction, account, identifier, reset))
          if (removed !== null) await password.endCodes(transaction)
          return removed
        }),
      )
    },
    /**
     * The same for somebody with a code that an administrator made, which is used up. It proves the contact to which it
     * was sent, and no other. A temporary access code removes all passkeys and identities if the administrator said so,
     * and otherwise none. Returns null if somebody else used it first.
     */
    async resetByCode(matched: MatchedCode, password: NewPassword, permit: Permit, now: Date) {
      const { sentTo } = matched
      const done =
        sentTo &&
        (await verifyIdentifier(sentTo.kind, () => resetOnce(matched, sentTo, password, permit, now)))
      return done ?? resetOnce(matched, null, password, permit, now)
    },
    /**
     * Changes the password for somebody who knows the old password. The same ends as with `reset` but the caller's
     * session, and nothing is removed. `other_password` means that the account has a different password now.
     */
    async change(
      { account, sessionId }: AccountSession,
      { digest, keptDevice, notices, endCodes }: NewPassword,
      now: Date,
    ): Promise<'changed' | 'other_password' | 'session_over'> {
      const { id: accountId, uuid } = account
      return withHeldAccount(database, accountId, async (transaction, held) => {
        const living = isSessionAlive(transaction, { accountId, sessionId })
        const [present, isAlive] = await Promise.all([held, living])
        if (present === null || !isAlive) return 'session_over'
        if (present.passwordDigest !== account.passwordDigest) return 'other_password'
        await Promise.all([
          transaction.run(setPassword, { accountId, digest, forgives: false, now }),
          endOld(transaction, account, 'password', { keptSession: sessionId, keptDevice }, now),
          addNotices(transaction, notices, now),
          recordEvents(transaction, [{ type: 'password.changed', account: uuid }], now),
        ])
        await endCodes(transaction)
        return 'changed'
      })
    },
  }
}
