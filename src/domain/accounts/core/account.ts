/** The account as it is stored; account-schema.ts has the record that clients see. */

import type { ValuesOf } from '../../../platform/postgres/statement.ts'
import { AppError } from '../../../texts/errors.ts'
import { type Identifier, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { accountRow } from './account-sql.ts'

/** A row of the table `accounts`: its columns, and what each of them means, are in platform/postgres/schema.ts. */
export type Account = ValuesOf<typeof accountRow>

/** An account and the session acting for it. If the session ends before a change commits, the change is refused. */
export interface AccountSession {
  account: Account
  sessionId: string
}

/** The account's contact of that kind, verified or claimed; null if it has none. */
export function contactOf(account: Account, kind: Identifier['kind']): string | null {
  return kind === 'email' ? account.email : account.phone
}

/** The destination of a message to the identifier: as the account has it, or in its comparable form. */
export const destinationOf = (account: Account | null, { kind, key }: Identifier): string =>
  (account && contactOf(account, kind)) ?? key

/** The identifier that an account which nobody confirmed waits for; null once it is confirmed. */
export const waitingIdentifier = (
  { accountConfirmedAt, waitingFor }: Account,
  defaultCountry: string,
): Identifier | null =>
  accountConfirmedAt === null ? parseIdentifier(waitingFor ?? '', defaultCountry) : null

/** The part of an account by which a message reaches its owner. */
export type Addressee = Pick<
  Account,
  'uuid' | 'language' | 'email' | 'emailConfirmedAt' | 'phone' | 'phoneConfirmedAt'
>

export interface Contact {
  channel: 'email' | 'sms'
  destination: string
}

/** The contact to which messages for that identifier go. */
export function waitingContact(account: Account, defaultCountry: string): Contact | null {
  const identifier = waitingIdentifier(account, defaultCountry)
  return (
    identifier && { channel: channelOf(identifier.kind), destination: destinationOf(account, identifier) }
  )
}

/** The contacts to which codes for this account may go: the verified ones, the named kind first. */
export function verifiedContacts(
  account: Omit<Addressee, 'uuid' | 'language'>,
  first: Identifier['kind'] = 'email',
): Contact[] {
  const contacts: Contact[] = []
  if (account.email !== null && account.emailConfirmedAt !== null) {
    contacts.push({ channel: 'email', destination: account.email })
  }
  if (account.phone !== null && account.phoneConfirmedAt !== null) {
    contacts.push({ channel: 'sms', destination: account.phone })
  }
  return first === 'phone' ? contacts.reverse() : contacts
}

/** The verified identifiers of the account in comparable form, the e-mail address first. */
export function verifiedKeys(account: Account): string[] {
  const keys = [account.emailConfirmedAt && account.emailKey, account.phoneConfirmedAt && account.phone]
  return keys.filter((key) => key !== null)
}

/** Tells whether the account has verified this identifier, so that nobody else can have it. */
export function hasVerified(account: Account, { kind, key }: Identifier): boolean {
  return kind === 'email'
    ? account.emailKey === key && account.emailConfirmedAt !== null
    : account.phone === key && account.phoneConfirmedAt !== null
}

/**
 * Tells whether the account has a contact of that kind that can go. The only verified one stays, since notices and resets go
 * there, and so does the one for which a registration waits.
 */
export function mayRemoveContact(account: Account, kind: Identifier['kind']): boolean {
  const { emailKey, emailConfirmedAt, phone, phoneConfirmedAt, waitingFor } = account
  const [key, verifiedAt, otherVerifiedAt] =
    kind === 'email'
      ? [emailKey, emailConfirmedAt, phoneConfirmedAt]
      : [phone, phoneConfirmedAt, emailConfirmedAt]
  if (key === null || key === waitingFor) return false
  return verifiedAt === null || otherVerifiedAt !== null
}

/** It refuses an account that a test identity opened, because its code is published. */
export function requireOrdinary({ testIdentity }: Pick<Account, 'testIdentity'>): void {
  if (testIdentity) throw new AppError('test_identity')
}

/** A contact as other programs are told of it. */
export const provedContact = (
  { kind }: Identifier,
  destination: string,
): { email: string } | { phone: string } =>
  kind === 'email' ? { email: destination } : { phone: destination }

export const channelOf = (kind: Identifier['kind']): 'email' | 'sms' => (kind === 'email' ? 'email' : 'sms')
