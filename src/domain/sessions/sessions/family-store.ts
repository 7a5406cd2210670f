/**
 * The refresh tokens of the sessions: a session has one family of them, of which one generation is current. In PostgreSQL
 * in every storage shape.
 */
import type { Account } from '../../accounts/accounts/account.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import type { TokenSubject } from '../tokens/claims.ts'

export interface Rotation {
  familyHash: Uint8Array
  /** The generation of the presented token. */
  generation: number
  address: string
  /** The new idle expiry; the absolute expiry if that is earlier. */
  expiresAt: Date
}

/** A session found by one of its refresh tokens, alive or not, of any account. */
export interface SessionFamily {
  subject: TokenSubject
  account: Account
  deviceName: string | null
  deviceFingerprint: string | null
  /** The addresses of the last refresh and of the sign-in. */
  ip: string | null
  signInIp: string | null
  /** The generation of the token that is expected next. */
  generation: number
  /** Null until the first token was used. */
  rotatedAt: Date | null
  expiresAt: Date
  revokedAt: Date | null
}

export interface RecentSession {
  familyHash: Uint8Array
  /** The generation of the presented token. */
  generation: number
  sessionId: string
  since: Date
  /** Passkeys added later than that are young. */
  youngSince: Date
}

export interface FamilyStore {
  /**
   * Moves the family on to the generation after the presented one, in one statement. Returns null and changes nothing
   * unless the session is alive, its account is not locked, and the presented generation is the current one: of many
   * callers with one token, one succeeds. A generation that is newer than the row was issued by this service and lost
   * in a crash of the database; it counts as the current one.
   */
  rotate(rotation: Rotation, now: Date): Promise<TokenSubject | null>
  /**
   * Counts the late reuse of a token; false if there were `most` of them since then, or if the session is at another
   * generation now.
   */
  takeLateRetry(
    sessionId: string,
    generation: number,
    limit: { since: Date; most: number },
    now: Date,
  ): Promise<boolean>
  /**
   * Whether the session is alive, began since then, and has no newer refresh token than the presented one. One that a
   * passkey opened is not, while its account has a young passkey that was added by a session alone.
   */
  isRecent(session: RecentSession, now: Date): Promise<boolean>
  findFamily(familyHash: Uint8Array): Promise<SessionFamily | null>
  /** Ends a session and queues the notices with it; false if it was not alive. */
  endReused(sessionId: string, notices: NewMessage[], now: Date): Promise<boolean>
  /** By any of its refresh tokens. */
  endFamily(familyHash: Uint8Array, now: Date): Promise<void>
}
