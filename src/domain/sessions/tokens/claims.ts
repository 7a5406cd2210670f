/** The claims of access tokens, and their sources. */
import type { ClaimValue } from './account-claims.ts'

export interface TokenSubject {
  accountUuid: string
  sessionId: string
  roleId: number
  /** The time of the login; the same for all tokens of a session. */
  authTime: Date
  /** The methods of the login, as RFC 8176 values. */
  amr: string[]
  /** The application that the session belongs to; null: none. */
  clientId?: string | null
  /** The scopes that it was granted, with spaces between them. */
  scope?: string | null
}

/** The subject that a token is signed for: `claims` are those of `[tokens.claims]`. */
export interface SignedSubject extends TokenSubject {
  claims?: Record<string, ClaimValue>
}

export interface AccessTokenClaims extends TokenSubject {
  tokenId: string
  issuedAt: Date
  expiresAt: Date
}
