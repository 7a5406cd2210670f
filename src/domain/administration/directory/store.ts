/** What an operator sees and changes of accounts: PostgreSQL, in every storage shape. */
import type { Language } from '../../../texts/languages.ts'
import type { Account } from '../../accounts/accounts/account.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

/** An account with what only operators see. */
export interface AdministeredAccount extends Account {
  lockedReason: string | null
  /** A JSON object of the operator's own. */
  metadata: Record<string, unknown>
}

/** Which accounts an operator searches for. */
export type AccountSearch =
  | { by: 'email' | 'phone'; key: string }
  | { by: 'uuid'; uuid: string }
  | { by: 'id'; id: number }
  /** Of the e-mail address or of the phone number, in comparable form. */
  | { by: 'prefix'; prefix: string }
  | { by: 'locked' }
  | { by: 'role'; roleId: number }
  /** All of the filter's span of time. */
  | { by: 'creation' }
  | { by: 'all' }

export interface AccountFilter {
  locked?: boolean | undefined
  confirmed?: boolean | undefined
  roleId?: number | undefined
  createdAfter?: Date | undefined
  createdBefore?: Date | undefined
}

/** What is absent stays as it is. */
export interface AccountChange {
  roleId?: number | undefined
  accountableType?: string | undefined
  accountableId?: number | undefined
  metadata?: Record<string, unknown> | undefined
  language?: Language | undefined
  locked?: boolean | undefined
  lockedReason?: string | null | undefined
}

export interface AccountCounts {
  passkeys: number
  identities: number
  sessions: number
}

export interface AccountAdministrationStore {
  /** Newest first, those before the account with this number (null: from the newest one). */
  list(
    search: AccountSearch,
    filter: AccountFilter,
    before: number | null,
    limit: number,
  ): Promise<AdministeredAccount[]>
  find(uuid: string): Promise<AdministeredAccount | null>
  count(accountId: number, now: Date): Promise<AccountCounts>
  /**
   * Locking ends every session; unlocking forgets the reason and the failed attempts, and queues `notices`. `isRecorded`:
   * there was something to record. Null if the account is gone.
   */
  change(
    account: AdministeredAccount,
    change: AccountChange,
    notices: NewMessage[],
    now: Date,
  ): Promise<{ account: AdministeredAccount; isRecorded: boolean } | null>
}
