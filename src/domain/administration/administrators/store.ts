/** The accounts that are administrators, in PostgreSQL in every shape. */
import type { Role } from '../access/access.ts'

export interface Administrator {
  /** Of the account. */
  id: number
  uuid: string
  email: string | null
  phone: string | null
  role: Role
  createdAt: Date
  lastSignedInAt: Date | null
}

export interface AdministratorStore {
  /** Oldest account last; those before the account with this number (null: from the newest one). */
  list(before: number | null, limit: number): Promise<Administrator[]>
  find(uuid: string): Promise<Administrator | null>
  /**
   * Makes the account an administrator, or changes the role of one. `was`: the role before. An account that becomes one
   * loses its open recovery and invitation codes, and a removal of two factors that waits; with another role the tokens
   * that they made and that may do more are revoked, and recovery codes that they saw and removals of two factors that they
   * asked for end where the role does not allow them. Null where the account is not confirmed, is locked, or has no password
   * or no verified contact.
   */
  put(
    account: { id: number; uuid: string },
    role: Role,
    now: Date,
  ): Promise<{ was: Role | null; revokedTokens: number } | null>
  /** The sessions of the page end with it, what they made, and what they began. Null where the account is none. */
  remove(uuid: string, now: Date): Promise<{ revokedTokens: number } | null>
}
