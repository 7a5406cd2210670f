/** How a password is replaced, and what ends with the old one: PostgreSQL, each method one transaction. */

import type { MatchedCode } from '../../accounts/account-codes/service.ts'
import type { Account, AccountSession } from '../../accounts/accounts/account.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

export interface NewPassword {
  digest: string
  /** The tag of the caller's device, which stays known where it is. */
  keptDevice: Uint8Array | null
  /** Queued when, and only when, the password was replaced. */
  notices: NewMessage[]
}

export interface PasswordStore {
  /**
   * For somebody who has just verified the identifier. The account gets the password and is confirmed, the identifier
   * becomes its own, every other claim to it ends, and failures and all known devices but the caller's are forgotten. All
   * its sessions, pending contact changes and messages with codes end, including a session that is being opened with the
   * old password. What a session added within the last seven days, after this identifier was verified, is removed, and the
   * notices name it. Returns false if the account does not have, or wait for, the identifier any more.
   */
  reset(account: Account, identifier: Identifier, password: NewPassword, now: Date): Promise<boolean>
  /**
   * The same for somebody with a code that an administrator made, which is used up. It proves the contact to which it was
   * sent, and no other. Of passkeys and
   * identities a recovery code removes all if the administrator said so, and otherwise none. Returns false if somebody else used it first.
   */
  resetByCode(matched: MatchedCode, password: NewPassword, now: Date): Promise<boolean>
  /**
   * For somebody who knows the old password: the same ends as with `reset` but the caller's session, and nothing is
   * removed. `other_password` means that the account has a different password now.
   */
  change(
    signedIn: AccountSession,
    password: NewPassword,
    now: Date,
  ): Promise<'changed' | 'other_password' | 'session_over'>
}
