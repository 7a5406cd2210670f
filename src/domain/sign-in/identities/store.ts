/**
 * The identities, in PostgreSQL in every shape. The promise: an identity (issuer and subject) belongs to one account; an
 * account with an unverified claim keeps nothing from a stranger when its owner comes; no account is left without a
 * sign-in method.
 */
import type { Language } from '../../../texts/languages.ts'
import type { Account, AccountSession } from '../../accounts/accounts/account.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import type { LinkedIdentity, ProvedIdentity } from './identity.ts'

export interface NewSocialAccount {
  uuid: string
  language: Language
  accountableType: string
  roleId: number
}

/** Whether the e-mail address of a new account is verified by its identity, is a mere claim, or is missing. */
export type EmailOfNew = 'verified' | 'claimed' | 'none'

export interface IdentityStore {
  findAccount(identity: ProvedIdentity): Promise<Account | null>
  /**
   * Links the identity to the account and queues the notices. False if it is already linked to an account, if the account
   * has `limit` identities, if the session has ended, or if the password has changed since the account was read.
   */
  link(
    signedIn: AccountSession,
    identity: ProvedIdentity,
    limit: number,
    notices: NewMessage[],
    now: Date,
  ): Promise<boolean>
  /**
   * The same, based only on the provider's statement about the e-mail address. False also if the address is not verified
   * by the account any more, or if the account has another identity of that issuer: then the address was given to somebody
   * else.
   */
  linkByEmail(account: Account, identity: ProvedIdentity, notices: NewMessage[], now: Date): Promise<boolean>
  /**
   * A confirmed account without a password for the identity. If the e-mail address is `verified`, this is the
   * registration that waits for the address, without its password and phone, or else a new account; other claims to the
   * address end. Null if the identity or the address was
   * taken in the meantime.
   */
  open(
    identity: ProvedIdentity,
    account: NewSocialAccount,
    email: EmailOfNew,
    now: Date,
  ): Promise<Account | null>
  /** Oldest first. */
  list(accountId: number): Promise<LinkedIdentity[]>
  /** Whether nothing would open the account without the identities of that provider. */
  isLastMethod(
    accountId: number,
    provider: string,
    usable: { providers: string[]; rpId: string | null },
  ): Promise<boolean>
  /**
   * Removes every identity of that provider from the account and queues the notices, unless no sign-in method would be
   * left: a password with an identifier, a passkey of `usable.rpId`, or an identity of one of `usable.providers`.
   */
  unlink(
    signedIn: AccountSession,
    provider: string,
    usable: { providers: string[]; rpId: string | null },
    notices: NewMessage[],
    now: Date,
  ): Promise<'unlinked' | 'not_found' | 'last_sign_in_method' | 'session_over'>
}
