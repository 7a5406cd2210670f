/** Accounts that an administrator makes: PostgreSQL, in every storage shape. */
import type { Language } from '../../../texts/languages.ts'
import type { Email, Identifier, Phone } from '../../identifiers/identifier.ts'

export interface MadeAccount {
  uuid: string
  email: Email | null
  phone: Phone | null
  passwordDigest: string | null
  /** The administrator vouches for the contacts; the account is confirmed. */
  verified: boolean
  accountableType: string
  accountableId: number | null
  roleId: number
  metadata: Record<string, unknown> | undefined
  language: Language
}

export interface PeopleStore {
  /**
   * Registrations that wait for one of its contacts end, and with `verified` every claim to them. False if one of them
   * belongs to another account.
   */
  create(account: MadeAccount, identifiers: Identifier[], now: Date): Promise<boolean>
}
