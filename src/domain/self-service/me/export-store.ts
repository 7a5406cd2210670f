/** Everything that is stored about a person: PostgreSQL, in every storage shape. */
import type { Account } from '../../accounts/accounts/account.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

export const exportedLists = [
  'sessions',
  'known_devices',
  'passkeys',
  'identities',
  'authenticator_apps',
  'contact_changes',
  'replaced_contacts',
  'administrators_codes',
  'administrators',
  'two_factor_removals',
  'messages',
  'events',
] as const
type Rows = Record<(typeof exportedLists)[number], Record<string, unknown>[]>

/** Times as text. No hash, key, seed or token. */
export interface ExportedDocument extends Rows {
  metadata: Record<string, unknown>
  locked_reason: string | null
  language: string
  email_verified_at: string | null
  phone_verified_at: string | null
  password_changed_at: string | null
  recovery_codes_left: number
}

export interface ExportStore {
  /** Records that it was exported, and queues the notices. Null if the account is gone. */
  read(account: Account, notices: NewMessage[], now: Date): Promise<ExportedDocument | null>
}
