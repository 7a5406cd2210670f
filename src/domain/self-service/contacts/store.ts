/** Changing and removing the e-mail address and the phone number of an account, in PostgreSQL. */

import type { Account, AccountSession } from '../../accounts/accounts/account.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import type { KeepParams } from '../../sign-in/undo/undo-sql.ts'

/** The pending change of an account; there is at most one of each kind. */
export interface ContactChange {
  kind: Identifier['kind']
  /** The exact new value, and its comparable form. */
  destination: string
  destinationKey: string
  /** What its code is bound to: a new one for each request, so that two requests never share a code. */
  codeSubject: string
}

/** What goes with a change: the notices, and how the contact before it can come back. */
export interface ContactNotices extends KeepParams {
  notices: NewMessage[]
}

export interface ContactStore {
  /**
   * Adds the request, replaces the previous one of that kind, and queues its code. If somebody else has verified the
   * identifier, everything is the same but that a notice to that owner is queued in place of the code.
   */
  request(
    signedIn: AccountSession,
    identifier: Identifier,
    code: { subject: string; seed: Uint8Array },
    now: Date,
  ): Promise<'asked' | 'taken' | 'session_over'>
  find(account: Account, kind: Identifier['kind']): Promise<ContactChange | null>
  /**
   * Replaces the old contact, which is kept for seven days, by the new one. Ends every other claim to it and all pending
   * messages with codes for the account, and queues the notices. Null, and nothing happens, if the request was replaced or
   * the session ended meanwhile, or if somebody else verified the identifier first.
   */
  confirm(
    signedIn: AccountSession,
    change: ContactChange,
    told: ContactNotices,
    now: Date,
  ): Promise<Account | null>
  /** Whether the contact, which the account has, is one that must stay. */
  isLastMethod(
    accountId: number,
    kind: Identifier['kind'],
    usable: { providers: string[]; rpId: string | null },
  ): Promise<boolean>
  /**
   * Removes the contact of that kind, ends pending messages with codes for the account, and queues the notices. A verified
   * contact is kept for seven days, so that it can come back. `last_sign_in_method`: it is the last verified one, or it is
   * not verified and nothing else opens the account; `usable` says which identities and passkeys do.
   */
  remove(
    signedIn: AccountSession,
    kind: Identifier['kind'],
    usable: { providers: string[]; rpId: string | null },
    told: ContactNotices,
    now: Date,
  ): Promise<Account | 'not_found' | 'last_sign_in_method' | 'session_over'>
  /** Removes requests whose code expired long ago; returns their number. */
  sweep(now: Date, limit: number): Promise<number>
}
