/** How an account ends: PostgreSQL, one statement. */
import type { AccountSession } from '../accounts/account.ts'

export interface ErasureStore {
  /**
   * Removes the account with all that is its own: sessions, factors, identities, pending changes, and the codes that
   * wait to be sent. Its identifiers are free again. False when it is gone, has another password than this,
   * or the session ended meanwhile.
   */
  erase(signedIn: AccountSession): Promise<boolean>
}
