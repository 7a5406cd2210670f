/**
 * Where accounts live: PostgreSQL, in every shape. The promise: a verified e-mail or phone belongs to one account; a
 * claim that nobody verified keeps nobody from registering, confirming or resetting; each change and the messages it
 * causes are one atomic statement.
 */
import type { Language } from '../../texts/languages.ts'
import type { Email, Identifier, Phone } from '../identifiers/identifier.ts'
import type { Account } from './account.ts'

export interface Registration {
  /** Taken when the registration is the first one that waits for its identifier. */
  uuid: string
  email: Email | null
  phone: Phone | null
  passwordDigest: string
  /** For each contact a short keyed tag of the password: two tags tell that two people may have named the contact. */
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

/** A password that comes with the code of a confirmation, and its tag, as a registration has it. */
export interface NamedPassword {
  digest: string
  tag: Uint8Array
}

export interface AccountStore {
  findByIdentifier(identifier: Identifier, use: IdentifierUse): Promise<Account | null>
  findByUuid(uuid: string): Promise<Account | null>
  /** True when one of them is somebody's verified identifier, or one of an account that was made for somebody. */
  isTaken(identifiers: Identifier[]): Promise<boolean>
  /**
   * Adds the registration, or replaces the one that waits for the same identifier, and queues its code; when the
   * identifier is taken, queues a notice to the owner instead. Both give the subject of the code and the id of the
   * message.
   */
  register(registration: Registration, now: Date): Promise<{ uuid: string; messageId: number }>
  /**
   * The verified identifier becomes the account's own, every other claim to it ends; null when the account was
   * confirmed or registered again since `updatedAt`, or somebody else verified the identifier first. `password`, where
   * the caller named one, becomes the account's; otherwise the registered one, unless registrations named the
   * identifier with different passwords: then none, and no other unverified contact stays either.
   */
  confirm(
    account: Account,
    identifier: Identifier,
    password: NamedPassword | null,
    now: Date,
  ): Promise<Account | null>
  /** As Devise's lockable counts. Nothing happens for an id that does not exist (0), in the same time. */
  noteFailure(accountId: number): Promise<void>
  /** Removes registrations that nobody confirmed within a week after they were last sent; gives their number. */
  sweepRegistrations(now: Date, limit: number): Promise<number>
  /** Removes after a week with which passwords registrations named a contact, unless an unconfirmed account still names it. */
  sweepRegistrationClaims(now: Date, limit: number): Promise<number>
}
