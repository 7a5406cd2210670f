/** Accounts that an administrator makes or repairs: PostgreSQL, in every storage shape. */

import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { PreparedCode } from '../../domain/accounts/account-codes/account-code.ts'
import { putAccountCode } from '../../domain/accounts/account-codes/account-code-sql.ts'
import { type Account, mayRemoveContact } from '../../domain/accounts/core/account.ts'
import {
  endClaimsTo,
  holder,
  unqualifiedColumns,
  withHeldAccount,
} from '../../domain/accounts/core/account-sql.ts'
import { contactsOf, type HeldContact, putContacts } from '../../domain/accounts/core/contacts-sql.ts'
import {
  addByAdministrator,
  addClaims,
  changeRegistration,
  endWaitingFor,
  madeAccountParamTypes,
} from '../../domain/accounts/core/opening-sql.ts'
import { isUsernameTaken, takeUsername } from '../../domain/accounts/core/usernames-sql.ts'
import type { NewEvent } from '../../domain/foundation/events/event.ts'
import { recordEvents } from '../../domain/foundation/events/event-sql.ts'
import type { Email } from '../../domain/foundation/identifiers/email.ts'
import type { Identifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { Phone } from '../../domain/foundation/identifiers/phone.ts'
import type { EndCodes } from '../../domain/messages/codes/service.ts'
import type { NewMessage } from '../../domain/messages/outbox/message.ts'
import { addNotices, supersedeCodes } from '../../domain/messages/outbox/queue-sql.ts'
import { dropContactChanges } from '../../domain/sign-in/undo/contact-changes-sql.ts'
import type { Database, Executor } from '../../platform/postgres/database.ts'
import { retryConflicts, violates } from '../../platform/postgres/failure.ts'
import { accounts, type Profile } from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'
import { AppError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'

export interface MadeAccount {
  uuid: string
  email: Email | null
  phone: Phone | null
  passwordDigest: string | null
  /** The administrator vouches for the contacts; the account is confirmed. */
  verified: boolean
  accountableType: string
  accountableId: number | null
  roleId: number
  metadata: Record<string, unknown> | undefined
  username: string | null
  groups: string[] | null
  profile: Profile | null
  language: Language
}

const endWaiting = defineStatement({
  name: 'people.end_waiting',
  params: { key: 'text' },
  sql: (p) => endWaitingFor(p),
})

const endWaitingElsewhere = defineStatement({
  name: 'people.end_waiting_elsewhere',
  params: { accountId: 'bigint', key: 'text' },
  sql: (p) => endWaitingFor(p, sql`id <> ${p.accountId}`),
})

const create = defineStatement({
  name: 'people.create',
  params: madeAccountParamTypes,
  row: { id: 'bigint' },
  sql: addByAdministrator,
})

/** Another account keeps others from it. */
const isElsewhereOf = (kind: Identifier['kind']) =>
  defineStatement({
    name: `people.is_elsewhere_by_${kind}`,
    params: { accountId: 'bigint', key: 'text' },
    row: { elsewhere: 'boolean?' },
    sql: (p) => sql`select ${holder(p, kind)} <> ${p.accountId} as elsewhere`,
  })

const isElsewhere = { email: isElsewhereOf('email'), phone: isElsewhereOf('phone') }

/** Some other account has the contact, or merely names it. */
const isNamedBy = (kind: Identifier['kind']) =>
  defineStatement({
    name: `people.is_named_by_${kind}`,
    params: { accountId: 'bigint', key: 'text' },
    row: { named: 'boolean' },
    sql: (p) => sql`
    select exists (
      select 1 from ${accounts} where ${unqualifiedColumns[kind].key} = ${p.key} and id <> ${p.accountId}) as named`,
  })

const isNamed = { email: isNamedBy('email'), phone: isNamedBy('phone') }

/**
 * Notes that the registration named the contact, with a password that counts as one that nobody else has: who registers
 * the contact after this contests it.
 */
const claim = defineStatement({
  name: 'people.claim',
  params: { now: 'timestamptz', emailKey: 'text?', emailTag: 'bytea?', phone: 'text?', phoneTag: 'bytea?' },
  sql: (p) => addClaims(p, sql`true`),
})

/** A registration waits for the contact that is not verified, or is confirmed. */
const putRegistration = defineStatement({
  name: 'people.put_registration',
  params: { accountId: 'bigint', key: 'text', verified: 'boolean', now: 'timestamptz' },
  sql: changeRegistration,
})

function newContact(
  before: HeldContact | null,
  { destination, key }: Email | Phone,
  verified: boolean,
  now: Date,
): HeldContact {
  const wasVerifiedAt = before?.key === key ? before.verifiedAt : null
  return {
    destination,
    key,
    verifiedAt: wasVerifiedAt ?? (verified ? now : null),
    addedAt: now,
    addedBy: null,
  }
}

/** Somebody registered it, and nobody confirmed it. */
const isRegistration = ({ accountConfirmedAt, origin }: Account) =>
  accountConfirmedAt === null && origin === null

/**
 * Tells whether an account is what somebody registered and nobody confirmed: whoever confirms it gets nothing from it that
 * an administrator, an import or an invitation gave.
 */
const isAsRegistered = (account: Account, roleId: number): boolean =>
  isRegistration(account) &&
  account.emailConfirmedAt === null &&
  account.phoneConfirmedAt === null &&
  account.invitationId === null &&
  account.roleId === roleId &&
  account.username === null &&
  (account.groups ?? []).length === 0

interface PutContact {
  /** An administrator vouches for it. */
  verified: boolean
  /** The role of registrations, where nothing but a registration may be changed, and only to a contact that nobody names. */
  corrects: number | null
}

async function refusalOfPut(
  executor: Executor,
  account: Account,
  { kind, key }: Identifier,
  { corrects }: PutContact,
): Promise<'not_theirs' | 'taken' | null> {
  const params = { accountId: account.id, key }
  if (corrects === null)
    return (await executor.first(isElsewhere[kind], params))?.elsewhere === true ? 'taken' : null
  if (!isAsRegistered(account, corrects)) return 'not_theirs'
  return (await executor.first(isNamed[kind], params))!.named ? 'taken' : null
}

const claimOf = ({ kind, key }: Identifier, now: Date) => ({
  now,
  emailKey: kind === 'email' ? key : null,
  emailTag: kind === 'email' ? randomBytes(2) : null,
  phone: kind === 'phone' ? key : null,
  phoneTag: kind === 'phone' ? randomBytes(2) : null,
})

/** What a change of the contacts ends, and the notices that tell of it. */
interface Ends {
  notices: NewMessage[]
  endCodes: EndCodes
}

async function endWithChange(
  transaction: Executor,
  { id: accountId, uuid }: Account,
  { notices, endCodes }: Ends,
  now: Date,
) {
  await Promise.all([
    transaction.run(dropContactChanges, { accountId }),
    transaction.run(supersedeCodes, { codeSubject: uuid, now }),
    addNotices(transaction, notices, now),
  ])
  await endCodes(transaction)
}

/** Somebody else has the contact. */
export const isTaken = (error: unknown) =>
  ['accounts_email_proved', 'accounts_phone_proved', 'accounts_waiting_for'].some((index) =>
    violates(error, index),
  )

async function unlessTaken<T>(write: () => Promise<T>, taken: T): Promise<T> {
  try {
    return await retryConflicts(write)
  } catch (error) {
    if (isTaken(error)) return taken
    throw error
  }
}

export type PeopleStore = ReturnType<typeof createPeopleStore>

export function createPeopleStore(database: Database) {
  return {
    isUsernameTaken: (name: string, uuid: string) => isUsernameTaken(database, name, uuid),
    /**
     * Registrations that wait for one of its contacts end, and with `verified` every claim to them. The invitation is
     * made with the account or not at all. It returns false if one of the contacts belongs to another account. A username
     * that is, or was, somebody else's: `username_taken`.
     */
    async create(
      account: MadeAccount,
      identifiers: Identifier[],
      invitation: PreparedCode | null,
      now: Date,
    ): Promise<boolean> {
      const write = () =>
        database.transaction(async (transaction) => {
          for (const { key } of identifiers) await transaction.all(endWaiting, { key })
          const made = (await transaction.first(create, paramsOf(account, identifiers, now)))!
          if (account.username && !(await takeUsername(transaction, account.username, account.uuid)))
            throw new AppError('username_taken')
          if (account.verified) await endClaimsTo(transaction, made.id, identifiers)
          await recordEvents(transaction, eventsOf(account), now)
          if (invitation) await putAccountCode(transaction, { ...made, uuid: account.uuid }, invitation, now)
          return true
        })
      return unlessTaken(write, false)
    },
    /** The refusal that `putContact` would give now. */
    refusalOfPut: (account: Account, identifier: Identifier, how: PutContact) =>
      refusalOfPut(database, account, identifier, how),
    /**
     * The contact in place of the one before, which stays verified where it is the same one. Pending changes of the account's
     * own end. An account that nobody confirmed waits for the new contact, or with `verified` is confirmed.
     */
    async putContact(
      { id: accountId, uuid }: Account,
      identifier: Email | Phone,
      how: PutContact,
      ends: Ends,
      now: Date,
    ): Promise<'put' | 'taken' | 'gone' | 'not_theirs'> {
      const { kind, key } = identifier
      const { verified, corrects } = how
      const write = () =>
        withHeldAccount(database, accountId, async (transaction, held) => {
          const account = await held
          if (account === null) return 'gone'
          const refusal = await refusalOfPut(transaction, account, identifier, how)
          if (refusal !== null) return refusal
          const contacts = contactsOf(account)
          const before = contacts[kind]
          const contact = newContact(before, identifier, verified, now)
          const type = before === null ? 'identifier.added' : 'identifier.changed'
          await Promise.all([
            corrects === null && transaction.run(endWaitingElsewhere, { accountId, key }),
            putContacts(transaction, accountId, { ...contacts, [kind]: contact }, now),
            transaction.run(putRegistration, { accountId, key, verified, now }),
            !verified && isRegistration(account) && transaction.run(claim, claimOf(identifier, now)),
            verified && endClaimsTo(transaction, accountId, [{ kind, key }]),
            recordEvents(transaction, [{ type, account: uuid, data: { contact: kind, verified } }], now),
          ])
          await endWithChange(transaction, account, ends, now)
          return 'put'
        })
      return unlessTaken(write, 'taken')
    },
    /** `last`: it must stay. */
    removeContact: (
      { id: accountId, uuid }: Account,
      kind: Identifier['kind'],
      ends: Ends,
      now: Date,
    ): Promise<'removed' | 'not_found' | 'last' | 'gone'> =>
      withHeldAccount(database, accountId, async (transaction, held) => {
        const account = await held
        if (account === null) return 'gone'
        const contacts = contactsOf(account)
        if (contacts[kind] === null) return 'not_found'
        if (!mayRemoveContact(account, kind)) return 'last'
        const event = { type: 'identifier.removed' as const, account: uuid, data: { contact: kind } }
        await Promise.all([
          putContacts(transaction, accountId, { ...contacts, [kind]: null }, now),
          recordEvents(transaction, [event], now),
        ])
        await endWithChange(transaction, account, ends, now)
        return 'removed'
      }),
  }
}

const paramsOf = (
  { email, phone, metadata, groups, profile, ...account }: MadeAccount,
  [primary]: Identifier[],
  now: Date,
) => ({
  ...account,
  email: email?.destination ?? null,
  emailKey: email?.key ?? null,
  phone: phone?.key ?? null,
  metadata: metadata === undefined ? null : JSON.stringify(metadata),
  groups: groups && JSON.stringify(groups),
  profile: profile && JSON.stringify(profile),
  waitingFor: account.verified ? null : (primary?.key ?? null),
  now,
})

const eventsOf = ({ uuid, verified, email, phone }: MadeAccount): NewEvent[] => {
  const contacts = [email && 'email', phone && 'phone'].filter((contact) => contact !== null)
  return [
    { type: 'account.created', account: uuid, data: { contacts } },
    ...(verified ? [{ type: 'account.confirmed' as const, account: uuid, data: { contacts } }] : []),
  ]
}
