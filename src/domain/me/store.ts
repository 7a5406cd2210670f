/** What belongs to an account, counted, and erasing an account, in PostgreSQL and in one transaction. */
import type { AccountSession } from '../accounts/account.ts'

export interface SecurityCounts {
  identities: number
  sessions: number
}

export interface ErasureStore {
  /** The linked identities and the living sessions. */
  count(accountId: number, now: Date): Promise<SecurityCounts>
  /**
   * Removes the account with everything that belongs to it: sessions, factors, identities, pending changes, and codes
   * that wait to be sent. Its identifiers are free again. False if the account is already gone, if its password is not
   * this one, or if the session has ended in the meantime.
   */
  erase(signedIn: AccountSession, now: Date): Promise<boolean>
}
