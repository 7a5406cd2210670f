/** How an account ends: PostgreSQL, one statement. */
import type { Account } from './account.ts'

export interface ErasureStore {
  /**
   * Removes the account with all that is its own: sessions, factors, identities, pending changes, and the codes that
   * wait to be sent. Its identifiers are free again. False when it is gone, or has another password than this.
   */
  erase(account: Account): Promise<boolean>
}
