/** The passkeys, in PostgreSQL in every shape. */
import type { Account, AccountSession } from '../../accounts/accounts/account.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import type { NewSession, SignedInAccount } from '../../sessions/sessions/store.ts'
import type { OpenedChallenge } from './challenge.ts'
import type { Passkey } from './passkey.ts'
import type { Assertion, NewCredential } from './verification.ts'

export interface PasskeyUse {
  passkey: Passkey
  account: Account
  /** Whether a removal of two factors waits that the use of this factor ends. */
  removalWaits: boolean
  challenge: OpenedChallenge
  assertion: Assertion
}

/** Why a valid signature is refused nevertheless. */
export type UseRefusal = 'challenge_spent' | 'counter_fell'

export interface NewPasskey extends NewCredential {
  id: string
  name: string
  userHandle: Uint8Array
  rpId: string
  proved: boolean
}

export interface PasskeyStore {
  /** The passkey of this credential and its account, whatever the state of the account. */
  find(credentialId: string): Promise<Pick<PasskeyUse, 'passkey' | 'account' | 'removalWaits'> | null>
  list(accountId: number): Promise<Passkey[]>
  /**
   * Stores a passkey and spends its challenge, in one transaction with the notices. Of any number of callers with one
   * challenge exactly one gets `added`. `account_changed`: the session ended, or the account got its first passkey in
   * the meantime, so that this one would carry another user handle.
   */
  add(
    owner: AccountSession,
    passkey: NewPasskey,
    challenge: OpenedChallenge,
    limit: number,
    notices: NewMessage[],
    now: Date,
  ): Promise<'added' | 'challenge_spent' | 'credential_known' | 'limit_reached' | 'account_changed'>
  /**
   * Uses the challenge up and stores the counter. A challenge whose counter went back is used up too, so that the
   * owner is notified only once.
   */
  use(use: PasskeyUse, now: Date): Promise<'used' | UseRefusal>
  /**
   * The same, and opens the session, in one statement. Null if the account has changed since it was read, as
   * SessionStore.signIn describes it.
   */
  signIn(use: PasskeyUse, session: NewSession, now: Date): Promise<SignedInAccount | null | UseRefusal>
  /** Queues the notices about a passkey whose counter went back. */
  tellCopy(passkeyId: string, notices: NewMessage[], now: Date): Promise<void>
  rename(account: Account, id: string, name: string, now: Date): Promise<Passkey | null>
  /** Whether nothing would open the account without this passkey. */
  isLastMethod(
    accountId: number,
    passkey: Pick<Passkey, 'id' | 'rpId'>,
    usableProviders: string[],
  ): Promise<boolean>
  /**
   * `last_sign_in_method`: without it nothing would open the account any more; passkeys of another relying party than
   * `passkey.rpId` open nothing.
   */
  remove(
    owner: AccountSession,
    passkey: Pick<Passkey, 'id' | 'rpId'>,
    usableProviders: string[],
    notices: NewMessage[],
    now: Date,
  ): Promise<'removed' | 'not_found' | 'last_sign_in_method' | 'session_over'>
  /** How many passkeys belong to another relying party than this one. */
  countForeign(rpId: string): Promise<number>
  /** Removes up to `limit` expired challenges and returns how many it removed. */
  sweep(now: Date, limit: number): Promise<number>
}
