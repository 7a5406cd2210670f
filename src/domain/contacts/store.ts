/** Another e-mail address or phone for an account, asked for and then proved: PostgreSQL. */

import type { Account, AccountSession } from '../accounts/account.ts'
import type { NewMessage } from '../delivery/message.ts'
import type { Identifier } from '../identifiers/identifier.ts'

/** The one change of its kind that an account waits for. */
export interface ContactChange {
  kind: Identifier['kind']
  /** The exact new value, and its comparable form. */
  destination: string
  destinationKey: string
  /** What its code is bound to: another one for each request, so that two requests never share a code. */
  codeSubject: string
}

export interface ContactStore {
  /**
   * Adds the request, voids the one before of that kind, and queues its code; where the identifier is somebody
   * else's own already, queues a notice to that owner instead.
   */
  request(
    signedIn: AccountSession,
    identifier: Identifier,
    code: { subject: string; seed: Uint8Array },
    now: Date,
  ): Promise<'asked' | 'taken' | 'session_over'>
  find(account: Account, kind: Identifier['kind']): Promise<ContactChange | null>
  /**
   * The new contact becomes the account's own in place of the old one, which is kept for seven days; every other claim to it ends, messages with
   * codes that wait for the account end, the notices are queued. Null, and nothing happens, when the request was
   * voided or the session ended meanwhile, or somebody else proved the identifier first.
   */
  confirm(
    signedIn: AccountSession,
    change: ContactChange,
    notices: NewMessage[],
    now: Date,
  ): Promise<Account | null>
  /**
   * The account loses its contact of that kind, unless it is the last verified one; messages with codes that wait for
   * the account end, the notices are queued. A verified contact is kept for seven days, so that it can come back.
   */
  remove(
    signedIn: AccountSession,
    kind: Identifier['kind'],
    notices: NewMessage[],
    now: Date,
  ): Promise<Account | 'not_found' | 'last_sign_in_method' | 'session_over'>
  /** Removes requests whose code is long dead; gives their number. */
  sweep(now: Date, limit: number): Promise<number>
  /** Removes replaced contacts that can no longer come back; gives their number. */
  sweepReplaced(now: Date, limit: number): Promise<number>
}
