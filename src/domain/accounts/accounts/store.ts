/**
 * The accounts, in PostgreSQL in every shape. The promise: a verified e-mail address or phone number belongs to one
 * account; an unverified claim keeps nobody from registering, confirming or resetting; each change is committed together
 * with the messages that it causes.
 */
import type { Language } from '../../../texts/languages.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Account, AccountSession } from './account.ts'

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

export interface AccountStore {
  findByIdentifier(identifier: Identifier, use: IdentifierUse): Promise<Account | null>
  findByUuid(uuid: string): Promise<Account | null>
  /** Whether one of them is a verified identifier, or belongs to an account that was made for somebody. */
  isTaken(identifiers: Identifier[]): Promise<boolean>
  /** The language of messages to the owner. Null if the session has ended or the account is gone. */
  changeLanguage(signedIn: AccountSession, language: Language, now: Date): Promise<Account | null>
  /** Counts like Devise's lockable. For an id that does not exist (0) it does nothing in the same time. */
  noteFailure(accountId: number): Promise<void>
}
