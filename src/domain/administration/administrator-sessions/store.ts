/** The sessions of the page of administration: sessions of the account with a cookie. PostgreSQL, in every shape. */
import type { Account } from '../../accounts/accounts/account.ts'
import type { NewSession } from '../../sessions/sessions/store.ts'
import type { Role } from '../access/access.ts'

export interface PageSession {
  sessionId: string
  uuid: string
  email: string | null
  phone: string | null
  role: Role
  /** When password and second factor were last proved. */
  provedAt: Date
  /** The end that no use moves. */
  endsAt: Date
}

export interface PageSessionStore {
  /**
   * As SessionStore.signIn, for an account that is an administrator. Null when it is not what was judged any more, or
   * no administrator.
   */
  open(account: Account, session: NewSession, cookieHash: Uint8Array, now: Date): Promise<Account | null>
  /**
   * By its cookie, and counts as a use. Null unless the session lives, was used since `idleSince`, and its account is
   * an administrator and not locked.
   */
  find(cookieHash: Uint8Array, idleSince: Date, now: Date): Promise<PageSession | null>
  /** Password and second factor were proved again. */
  prove(sessionId: string, now: Date): Promise<void>
}
