/**
 * The rules of a place where people sign in. The services of signing in are made once for each place, so that none of them
 * opens a session of another one. Without a policy the account's own settings say what is asked for.
 */
import type { TwoFactorMethod } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { CountedType } from '../../foundation/events/event.ts'
import type { NewSession } from './session.ts'

export interface SignInPolicy {
  /**
   * The second factors. One of them is asked for after the password, whatever the account says. Codes that are sent, recovery
   * codes, trusted devices and providers open nothing.
   */
  factors: readonly TwoFactorMethod[]
  /** A session lasts that long at most. */
  lifetimeSeconds: number
  /** The event of a sign-in that failed. */
  failure: CountedType
  /** Tells whether the account may enter. One that may not is answered like a wrong password. */
  admits(account: Account | null): Promise<boolean>
  /** Tells whether the account has a passkey that works at the place's address. */
  hasPasskey(account: Account): Promise<boolean>
  /** Writes the session. It returns null if the account is not what was checked any more. */
  write(account: Account, session: NewSession, now: Date): Promise<Account | null>
}
