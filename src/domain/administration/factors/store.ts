/** Passkeys and identities as an administrator removes them: PostgreSQL, in every storage shape. */
import type { Account } from '../../accounts/accounts/account.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

export interface AdministeredIdentity {
  id: number
  provider: string
  subject: string
  email: string | null
  createdAt: Date
}

export interface AccountFactorStore {
  /** False if the account has no such passkey. */
  removePasskey(account: Account, id: string, notices: NewMessage[], now: Date): Promise<boolean>
  /** Oldest first. */
  listIdentities(accountId: number): Promise<AdministeredIdentity[]>
  removeIdentity(account: Account, id: number, notices: NewMessage[], now: Date): Promise<boolean>
}
