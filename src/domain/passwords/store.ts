/** How a password is replaced, and what ends with the old one: PostgreSQL, each method one transaction. */

import type { Account, AccountSession } from '../accounts/account.ts'
import type { NewMessage } from '../delivery/message.ts'
import type { Identifier } from '../identifiers/identifier.ts'

export interface NewPassword {
  digest: string
  /** Queued when, and only when, the password was replaced. */
  notices: NewMessage[]
}

export interface PasswordStore {
  /**
   * For whoever proved the identifier, just now: the account gets the password and is confirmed, the identifier is its
   * own and every other claim to it ends, failures are forgotten; all its sessions, known devices, pending contact
   * changes and messages with codes end, a session that is being opened with the old password too. What a session added
   * within the last seven days, after this identifier was verified, goes, and the notices name it. Null when the account does not
   * have, or wait for, the identifier any more. `fingerprints`: its known devices, the newest first.
   */
  reset(
    account: Account,
    identifier: Identifier,
    password: NewPassword,
    now: Date,
  ): Promise<{ fingerprints: string[] } | null>
  /**
   * The same for somebody who knows the old password; the session that asks stays. `other_password`: it is not that
   * password now.
   */
  change(
    signedIn: AccountSession,
    password: NewPassword,
    now: Date,
  ): Promise<'changed' | 'other_password' | 'session_over'>
}
