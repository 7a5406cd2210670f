/** Everything that is stored about a person: PostgreSQL, in every storage shape. */
import type { Account } from '../accounts/account.ts'
import type { NewMessage } from '../delivery/message.ts'

/** By what it is; times as text. No hash, key, seed or token. */
export type ExportedDocument = Record<string, unknown>

export interface ExportStore {
  /** Records that it was exported, and queues the notices. Null if the account is gone. */
  read(account: Account, notices: NewMessage[], now: Date): Promise<ExportedDocument | null>
}
