/**
 * Where identities live: PostgreSQL, in every shape. The promise: an identity (issuer and subject) belongs to one
 * account; an account that somebody merely claimed keeps nothing of theirs when its owner comes; no account is left
 * without a way in.
 */
import type { Language } from '../../texts/languages.ts'
import type { Account, AccountSession } from '../accounts/account.ts'
import type { NewMessage } from '../delivery/message.ts'
import type { LinkedIdentity, ProvedIdentity } from './identity.ts'

export interface NewSocialAccount {
  uuid: string
  language: Language
  accountableType: string
  roleId: number
}

/** Whether a new account verifies the e-mail of its identity, has it as a mere claim, or has none. */
export type EmailOfNew = 'verified' | 'claimed' | 'none'

export interface IdentityStore {
  findAccount(identity: ProvedIdentity): Promise<Account | null>
  /**
   * Adds the identity to the account and queues the notices. False: it is an account's already, or the session has
   * ended, or the account has another password than when it was read: whoever chose that does not know of the identity.
   */
  link(signedIn: AccountSession, identity: ProvedIdentity, notices: NewMessage[], now: Date): Promise<boolean>
  /**
   * The same on the provider's word for the e-mail alone. False also when the account has not verified this e-mail any
   * more, or has another identity of that issuer: whom the address was given to then is somebody else.
   */
  linkByEmail(account: Account, identity: ProvedIdentity, notices: NewMessage[], now: Date): Promise<boolean>
  /**
   * A confirmed account without password for the identity. With its e-mail `verified` it is that of an account that
   * claims the address and has verified nothing, emptied of password, sessions, factors and every other thing a
   * stranger may have put there; other claims to the address end. Null: the identity, or the address, has become
   * somebody's meanwhile.
   */
  open(
    identity: ProvedIdentity,
    account: NewSocialAccount,
    email: EmailOfNew,
    now: Date,
  ): Promise<Account | null>
  /** The oldest first. */
  list(accountId: number): Promise<LinkedIdentity[]>
  /**
   * Removes every identity of that provider from the account, unless nothing would be left to sign in with: a password
   * with an identifier, a passkey, or an identity of one of `usableProviders`.
   * Queues the notices with it.
   */
  unlink(
    signedIn: AccountSession,
    provider: string,
    usableProviders: string[],
    notices: NewMessage[],
    now: Date,
  ): Promise<'unlinked' | 'not_found' | 'last_sign_in_method' | 'session_over'>
}
