/**
 * Where accounts live: PostgreSQL, in every shape. The promise: a proved e-mail or phone belongs to one account; a
 * claim that nobody proved blocks nobody; each change and the messages it causes are one atomic statement.
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
  /** For each contact a short keyed tag of the password, equal for equal ones: tells who named the contact apart. */
  emailTag: Uint8Array | null
  phoneTag: Uint8Array | null
  address: string
  language: Language
  accountableType: string
  roleId: number
  codeSeed: Uint8Array
}

export interface AccountStore {
  /**
   * Who is meant by an identifier: whoever proved it; else the registration that waits for it; else the newest
   * confirmed account, else the newest registration, that claims it.
   */
  findByIdentifier(identifier: Identifier): Promise<Account | null>
  findByUuid(uuid: string): Promise<Account | null>
  /** True when one of them is somebody's proved identifier. */
  anyVerified(identifiers: Identifier[]): Promise<boolean>
  /**
   * Adds the registration, or replaces the one that waits for the same identifier, and queues its code; when the
   * identifier is somebody's already, queues a notice to the owner instead. Both give the subject of the code and the
   * id of the message.
   */
  register(registration: Registration, now: Date): Promise<{ uuid: string; messageId: number }>
  /**
   * The proved identifier becomes the account's own, every other claim to it ends; null when the account was
   * confirmed or registered again since `updatedAt`, or somebody else proved the identifier first. Where two strangers
   * named the identifier in registrations, with two passwords, the account is left without any.
   */
  confirm(account: Account, identifier: Identifier, now: Date): Promise<{ hasPassword: boolean } | null>
  /** As Devise's lockable counts. Nothing happens for an id that does not exist (0), in the same time. */
  noteFailure(accountId: number): Promise<void>
}
