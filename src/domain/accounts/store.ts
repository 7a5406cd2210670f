/**
 * The accounts, in PostgreSQL in every shape. The promise: a verified e-mail address or phone number belongs to one
 * account; an unverified claim keeps nobody from registering, confirming or resetting; each change is committed together
 * with the messages that it causes.
 */
import type { Language } from '../../texts/languages.ts'
import type { Email, Identifier, Phone } from '../identifiers/identifier.ts'
import type { Account, AccountSession } from './account.ts'

export interface Registration {
  /** Used if this is the first registration that waits for the identifier. */
  uuid: string
  email: Email | null
  phone: Phone | null
  passwordDigest: string
  /** A short keyed tag of the password for each contact. Two different tags mean that two people may have named it. */
  emailTag: Uint8Array | null
  phoneTag: Uint8Array | null
  language: Language
  accountableType: string
  roleId: number
  codeSeed: Uint8Array
}

/**
 * What the caller wants to do with the account that an identifier names:
 * - `login`: whoever verified it, else the oldest confirmed account that claims it, else the registration that waits;
 * - `second_step`: the same without the registration;
 * - `confirmation`: the registration that waits for it, where nobody has verified it;
 * - `reset`: whoever verified it, else the registration that waits for it, never a mere claim;
 * - `provider`: whoever verified it.
 * An anonymous registration never changes what an identifier means for somebody who signs in with it.
 */
export const identifierUses = ['login', 'second_step', 'confirmation', 'reset', 'provider'] as const
export type IdentifierUse = (typeof identifierUses)[number]

/** A password that is sent with the code of a confirmation, and its tag, as in a registration. */
export interface NamedPassword {
  digest: string
  tag: Uint8Array
}

export interface AccountStore {
  findByIdentifier(identifier: Identifier, use: IdentifierUse): Promise<Account | null>
  findByUuid(uuid: string): Promise<Account | null>
  /** Whether one of them is a verified identifier, or belongs to an account that was made for somebody. */
  isTaken(identifiers: Identifier[]): Promise<boolean>
  /**
   * Adds the registration, or replaces the one that waits for the same identifier, and queues its code. If the identifier
   * is taken, queues a notice to the owner instead. Returns the subject of the code and the id of the message in both
   * cases.
   */
  register(
    registration: Registration,
    now: Date,
  ): Promise<{ uuid: string; messageId: number; contested: boolean }>
  /**
   * Makes the verified identifier the account's own and ends every other claim to it. Null if the account was confirmed or
   * registered again since `updatedAt`, or if somebody else verified the identifier first. The account gets `password` if
   * the caller named one, otherwise the registered one; but if registrations named the identifier with different
   * passwords, it gets none, and no other unverified contact stays.
   */
  confirm(
    account: Account,
    identifier: Identifier,
    password: NamedPassword | null,
    now: Date,
  ): Promise<Account | null>
  /** The language of messages to the owner. Null if the session has ended or the account is gone. */
  changeLanguage(signedIn: AccountSession, language: Language, now: Date): Promise<Account | null>
  /** Counts like Devise's lockable. For an id that does not exist (0) it does nothing in the same time. */
  noteFailure(accountId: number): Promise<void>
  /** Removes registrations that nobody confirmed within a week after the last one was sent; returns their number. */
  sweepRegistrations(now: Date, limit: number): Promise<number>
  /** Removes the password tags of registrations after a week, unless an unconfirmed account still names the contact. */
  sweepRegistrationClaims(now: Date, limit: number): Promise<number>
}
