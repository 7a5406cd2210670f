/** The tokens of administration, as hashes, in PostgreSQL in every shape. */
import type { Scope } from '../access/access.ts'

export interface TokenCreator {
  type: 'operator' | 'administrator' | 'token'
  id: string | null
  name: string | null
}

export interface NewToken {
  uuid: string
  hash: Uint8Array
  name: string
  scopes: readonly Scope[]
  /** Address ranges; empty: from everywhere. */
  addresses: readonly string[]
  createdAt: Date
  expiresAt: Date
  /** An administrator has no name here: what is listed is read from the account while there is one. */
  creator: TokenCreator
}

export interface StoredToken {
  id: number
  uuid: string
  name: string
  scopes: Scope[]
  addresses: string[]
  createdAt: Date
  expiresAt: Date
  creator: TokenCreator
  lastUsedAt: Date | null
  revokedAt: Date | null
}

export interface TokenStore {
  /** False where the token that makes it was revoked or expired meanwhile, or the administrator is no owner any more. */
  add(token: NewToken): Promise<boolean>
  findByHash(hash: Uint8Array): Promise<StoredToken | null>
  find(uuid: string): Promise<StoredToken | null>
  noteUse(uuid: string, now: Date): Promise<void>
  /** Those that were not revoked, newest first, before the one with this number (null: from the newest one). */
  list(before: number | null, limit: number): Promise<StoredToken[]>
  /** Revokes also what was made with it. False where there is no such token, or it was revoked or expired before. */
  revoke(uuid: string, now: Date): Promise<boolean>
  sweep(now: Date, limit: number): Promise<number>
}
