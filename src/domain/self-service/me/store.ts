/** What belongs to an account, counted, and erasing an account, in PostgreSQL and in one transaction. */
import type { AccountSession } from '../../accounts/accounts/account.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

export interface SecurityCounts {
  identities: number
  passkeys: number
  sessions: number
}

export interface ErasureStore {
  /** The linked identities, the passkeys and the living sessions. */
  count(accountId: number, now: Date): Promise<SecurityCounts>
  /**
   * Removes the account with everything that belongs to it: sessions, factors, identities, pending changes, and every
   * message to its verified contacts, sent or not. Queues the notices of the erasure. Its identifiers are free again.
   * False if the account is already gone, if its password is not this one, or if the session has ended in the meantime.
   */
  erase(signedIn: AccountSession, notices: NewMessage[], now: Date): Promise<boolean>
  /** The same, without asking the owner. False if the account is already gone. */
  eraseByOperator(accountId: number, notices: NewMessage[], now: Date): Promise<boolean>
}
