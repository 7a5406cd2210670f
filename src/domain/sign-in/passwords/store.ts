/**
 * The replacing of a password, and all that ends with the old one: in PostgreSQL, each method one transaction. The
 * digest is the column `password_digest` of `accounts`.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders } from '../../../platform/postgres/statement.ts'
import { spendAccountCode } from '../../accounts/account-codes/account-code-sql.ts'
import type { MatchedCode } from '../../accounts/account-codes/service.ts'
import { permitCtes, permitParamTypes } from '../../accounts/admission/permit-sql.ts'
import type { Permit } from '../../accounts/admission/service.ts'
import type { Account, AccountSession } from '../../accounts/core/account.ts'
import {
  endOtherClaims,
  sessionLives,
  unqualifiedColumns,
  updateLockedAccount,
  verifyIdentifier,
  withHeldAccount,
} from '../../accounts/core/account-sql.ts'
import { changePassword, replacePassword } from '../../accounts/core/changes-sql.ts'
import { resetByContact } from '../../accounts/core/contacts-sql.ts'
import { isContested } from '../../accounts/core/opening-sql.ts'
import { forgetDevices } from '../../accounts/devices/known-devices-sql.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import type { EventData } from '../../foundation/events/event-data-schema.ts'
import { eventOrigin, eventOriginTypes, recordEvents } from '../../foundation/events/event-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import {
  noticeParams,
  noticeParamTypes,
  queueNotices,
  supersedeAll,
} from '../../messages/outbox/queue-sql.ts'
import { endSessionsOf, isOfSameBrowser } from '../../sessions/core/session-sql.ts'
import { isRecentContact, removeAdditions, whatWent } from '../undo/additions-sql.ts'
import { dropContactChanges } from '../undo/contact-changes-sql.ts'
import { endLaterLinks } from '../undo/undo-sql.ts'

interface NewPassword {
  digest: string
  /** The tag of the caller's device, which stays known where it is. */
  keptDevice: Uint8Array | null
  /** Queued when, and only when, the password was replaced. */
  notices: NewMessage[]
}

/**
 * CTEs for what ends with the old password of the account in `proved`, and nobody but the caller's device is known any more.
 * `kept`: the sessions that do not end.
 */
const endings = (
  p: Placeholders<'now' | 'notices' | 'keptDevice' | 'eventOrigin'>,
  proved: SQL,
  kept: SQL,
  values?: SQL,
) => sql`
    ${endSessionsOf(p, 'password', proved, kept)},
    dropped as (${dropContactChanges(proved)}),
    replaced as (${supersedeAll({ now: p.now, codeSubject: sql`(select uuid from ${proved})` })}),
    unknown_devices as (${forgetDevices(proved, p.keptDevice)}),
    notices as (${queueNotices(p, proved, values)})`

const resetEndings = (p: Placeholders<'now' | 'notices' | 'keptDevice' | 'eventOrigin'>) =>
  endings(p, sql`proved`, sql`false`, whatWent)

/** The passkeys and identities that go: `recent` as with every reset, or as the administrator said who made the code. */
type Going = 'recent' | 'all' | 'none'

const byWish =
  ({ going }: Placeholders<'going'>) =>
  (recent: SQL) =>
    sql`(${going} = 'all' or ${going} = 'recent' and ${recent})`

const goingWith = ({ kind, removeFactors }: MatchedCode): Going => {
  if (kind !== 'recovery') return 'recent'
  return removeFactors ? 'all' : 'none'
}

const resetRow = { newlyConfirmed: 'boolean' } as const

/**
 * The other contact is removed if a session added it lately, or if the registration was never confirmed. Then it is
 * only a claim, perhaps a stranger's, and gets no notice.
 */
const resetBy = (kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  const otherKind = kind === 'email' ? 'phone' : 'email'
  return defineStatement({
    name: `passwords.reset_by_${kind}`,
    params: {
      now: 'timestamptz',
      accountId: 'bigint',
      key: 'text',
      digest: 'text',
      keptDevice: 'bytea?',
      going: 'text',
      ...permitParamTypes,
      ...noticeParamTypes,
      ...eventOriginTypes,
    },
    row: resetRow,
    sql: (p) => sql`
    with old as (
      select *, ${isRecentContact(p, otherKind, verifiedAt)} as has_recent from ${accounts}
       where id = ${p.accountId} and ${keyColumn} = ${p.key}
         and (${verifiedAt} is not null or (account_confirmed_at is null and waiting_for = ${p.key}))),
    candidate as (
      select account_confirmed_at is not null or origin is not null as exempt, not ${isContested(p.key)} as keeps,
             invitation_id, terms_version, terms_accepted_at
        from old),
    ${permitCtes(p, sql`candidate`)},
    proved as (${resetByContact(p, kind, sql`old`)}),
    ${endOtherClaims(p, kind, sql`proved`)},
    ${removeAdditions(p, sql`proved`, byWish(p))},
    overtaken as (${endLaterLinks(p, sql`proved`)}),
    ${resetEndings(p)}
    select newly_confirmed from proved`,
  })
}

const reset = { email: resetBy('email'), phone: resetBy('phone') }

/**
 * Resets by a code that proves no contact: an administrator knows who has it. The contacts stay, since no code says
 * which of them is the owner's.
 */
const resetByAdministrator = defineStatement({
  name: 'passwords.reset_by_administrator',
  params: {
    accountId: 'bigint',
    digest: 'text',
    keptDevice: 'bytea?',
    going: 'text',
    now: 'timestamptz',
    ...noticeParamTypes,
    ...eventOriginTypes,
  },
  row: resetRow,
  sql: (p) => sql`
    with proved as (${replacePassword(p)}),
    ${removeAdditions(p, sql`proved`, byWish(p))},
    ${resetEndings(p)}
    select false as newly_confirmed from proved`,
})

const change = defineStatement({
  name: 'passwords.change',
  params: {
    digest: 'text',
    now: 'timestamptz',
    accountId: 'bigint',
    digestWhenChecked: 'text?',
    sessionId: 'uuid',
    keptDevice: 'bytea?',
    notices: 'text',
    ...eventOriginTypes,
  },
  row: { lives: 'boolean', changed: 'boolean' },
  sql: (p) => sql`
  with proved as (${changePassword(
    p,
    sql`id = ${p.accountId} and password_digest is not distinct from ${p.digestWhenChecked} and ${sessionLives(p)}`,
  )}),
  ${endings(p, sql`proved`, isOfSameBrowser(p.sessionId))}
  select ${sessionLives(p)} as lives, exists (select 1 from proved) as changed`,
})

const eventsOfReset = (
  account: string,
  data: EventData,
  { newlyConfirmed }: { newlyConfirmed: boolean },
): NewEvent[] => [
  ...(newlyConfirmed
    ? (['account.registered', 'account.confirmed'] as const).map((type) => ({ type, account, data }))
    : []),
  { type: 'password.reset', account, data },
]

export type PasswordStore = ReturnType<typeof createPasswordStore>

export function createPasswordStore(database: Database) {
  /** Uses the code up and sets the password, or does neither. */
  const resetOnce = (
    matched: MatchedCode,
    proved: Identifier | null,
    { digest, keptDevice, notices }: NewPassword,
    permit: Permit,
    now: Date,
  ) =>
    withHeldAccount(database, matched.account.id, async (transaction) => {
      const { account, ...code } = matched
      const going = goingWith(matched)
      const params = {
        ...{ accountId: account.id, digest, keptDevice, going, now },
        ...noticeParams(notices),
        ...eventOrigin(),
      }
      if (!(await spendAccountCode(transaction, account.id, code, now))) return null
      // The contact may have gone since the code was sent there; the account it was made for is the same.
      const row =
        (proved &&
          (await transaction.first(reset[proved.kind], { ...params, ...permit, key: proved.key }))) ??
        (await transaction.first(resetByAdministrator, params))
      const data = { code: code.kind, ...(proved && { contact: proved.kind }) }
      if (row !== null) await recordEvents(transaction, eventsOfReset(account.uuid, data, row), now)
      return row
    })

  return {
    /**
     * Resets the password of somebody who has just verified the identifier. The account gets the password and is
     * confirmed, the identifier becomes its own, every other claim to it ends, and failures and all known devices but the
     * caller's are forgotten. All its sessions, pending contact changes and messages with codes end, including a session
     * that is being opened with the old password. Additions of a session within the last seven days, after this
     * identifier was verified, are removed, and the notices name them. Returns false if the account does not have, or
     * wait for, the identifier any more, or if nothing permits to open a registration: then it stays as it was.
     */
    async reset(
      { id: accountId, uuid }: Account,
      { kind, key }: Identifier,
      { digest, keptDevice, notices }: NewPassword,
      permit: Permit,
      now: Date,
    ): Promise<boolean> {
      const done = await verifyIdentifier(kind, () =>
        updateLockedAccount(
          database,
          reset[kind],
          {
            ...{ accountId, key, digest, keptDevice, going: 'recent', now },
            ...permit,
            ...noticeParams(notices),
            ...eventOrigin(),
          },
          (row) => eventsOfReset(uuid, { contact: kind }, row),
        ),
      )
      return done !== null
    },
    /**
     * The same for somebody with a code that an administrator made, which is used up. It proves the contact to which it
     * was sent, and no other. A temporary access code removes all passkeys and identities if the administrator said so,
     * and otherwise none. Returns false if somebody else used it first.
     */
    async resetByCode(matched: MatchedCode, password: NewPassword, permit: Permit, now: Date) {
      const { sentTo } = matched
      const done =
        sentTo &&
        (await verifyIdentifier(sentTo.kind, () => resetOnce(matched, sentTo, password, permit, now)))
      return (done ?? (await resetOnce(matched, null, password, permit, now))) !== null
    },
    /**
     * Changes the password for somebody who knows the old password. The same ends as with `reset` but the caller's
     * session, and nothing is removed. `other_password` means that the account has a different password now.
     */
    async change(
      { account, sessionId }: AccountSession,
      { digest, keptDevice, notices }: NewPassword,
      now: Date,
    ): Promise<'changed' | 'other_password' | 'session_over'> {
      const { id: accountId, uuid, passwordDigest: digestWhenChecked } = account
      const params = { accountId, sessionId, digestWhenChecked, digest, keptDevice, now }
      const changed = await updateLockedAccount(
        database,
        change,
        { ...params, ...noticeParams(notices), ...eventOrigin() },
        (row) => (row.changed ? { type: 'password.changed', account: uuid } : []),
      )
      if (changed?.changed) return 'changed'
      return changed?.lives ? 'other_password' : 'session_over'
    },
  }
}
