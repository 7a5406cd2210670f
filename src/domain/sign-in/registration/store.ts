/**
 * The registrations that wait for the confirmation of their contact, in PostgreSQL in every shape: accounts that nobody
 * confirmed, and who named which contact.
 */
import type { Language } from '../../../texts/languages.ts'
import type { Account } from '../../accounts/accounts/account.ts'
import type { Email } from '../../foundation/identifiers/email.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Phone } from '../../foundation/identifiers/phone.ts'

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

/** A password that is sent with the code of a confirmation, and its tag, as in a registration. */
export interface NamedPassword {
  digest: string
  tag: Uint8Array
}

export interface RegistrationStore {
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
  /** Removes registrations that nobody confirmed within a week after the last one was sent; returns their number. */
  sweep(now: Date, limit: number): Promise<number>
  /** Removes the password tags of registrations after a week, unless an unconfirmed account still names the contact. */
  sweepClaims(now: Date, limit: number): Promise<number>
}
