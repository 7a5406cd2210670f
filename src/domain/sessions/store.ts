/** Where sessions live: PostgreSQL, in every shape. */
import type { Account } from '../accounts/account.ts'
import type { NewMessage } from '../delivery/message.ts'
import type { DeviceTags } from '../devices/service.ts'
import type { TokenSubject } from '../tokens/access-token.ts'

/** What a client may tell of its device at login. */
export interface Device {
  type: string | null
  name: string | null
  os: string | null
  fingerprint: string | null
}

export interface NewSession {
  id: string
  device: Device
  address: string
  /** What the sign-in makes known of its device. */
  tags: DeviceTags
  amr: string[]
  /** See tokens/refresh-token.ts; its first token has generation 0. */
  familyHash: Uint8Array
  expiresAt: Date
  endsAt: Date
}

/** A session lives while it is not revoked and neither of its ends has come. */
export interface Rotation {
  familyHash: Uint8Array
  /** Of the token presented. */
  generation: number
  address: string
  /** The new idle end, if the absolute one is not nearer. */
  expiresAt: Date
}

/** A session by its refresh tokens, living or not, of whatever account. */
export interface SessionFamily {
  subject: TokenSubject
  account: Account
  deviceName: string | null
  deviceFingerprint: string | null
  /** Where it was last refreshed, and where it was opened. */
  ip: string | null
  signInIp: string | null
  /** Of the token that is to be presented next. */
  generation: number
  /** Null until the first token was used. */
  rotatedAt: Date | null
  expiresAt: Date
  revokedAt: Date | null
}

export interface ListedSession {
  id: string
  deviceType: string | null
  deviceName: string | null
  deviceOs: string | null
  ip: string | null
  createdAt: Date
  lastUsedAt: Date
  expiresAt: Date
}

export interface SessionStore {
  /**
   * The account of a living session, and the session's device: not revoked, not idle for too long, not at its absolute
   * end, and the account neither locked nor gone.
   */
  findSignedIn(
    sessionId: string,
    accountUuid: string,
    now: Date,
  ): Promise<(Account & { deviceFingerprint: string | null; deviceName: string | null }) | null>
  /**
   * Counts the sign-in (as Devise's trackable) and adds the session, in one statement. Null when the account is not
   * what was judged any more: gone, locked, with another password, or with two factors on or off since. `newDigest`
   * replaces a digest of older parameters. Of more than 100 living sessions the ones used longest ago end.
   */
  signIn(account: Account, session: NewSession, newDigest: string | null, now: Date): Promise<Account | null>
  /**
   * Moves the family on to the generation after the one presented, in one statement. Null, and nothing happens, unless
   * the session lives, its account is not locked, and the generation presented is the family's: of many callers with
   * one token, one gets it. A newer one than the family's was made by us, and forgotten in a crash of the database: it
   * counts as the family's.
   */
  rotate(rotation: Rotation, now: Date): Promise<TokenSubject | null>
  /**
   * Counts a used token that is served again long after its use; false where `most` were since then, or where the
   * session is not at this generation any more.
   */
  takeLateRetry(
    sessionId: string,
    generation: number,
    limit: { since: Date; most: number },
    now: Date,
  ): Promise<boolean>
  findFamily(familyHash: Uint8Array): Promise<SessionFamily | null>
  /** Ends a living session and queues the notices with it; false when it was not living. */
  endReused(sessionId: string, notices: NewMessage[], now: Date): Promise<boolean>
  /** By any of its refresh tokens. */
  endFamily(familyHash: Uint8Array, now: Date): Promise<void>
  /** False when this account has no such living session. */
  end(sessionId: string, accountUuid: string, now: Date): Promise<boolean>
  endAll(accountId: number, now: Date): Promise<void>
  /** The living ones, last used first. */
  list(accountId: number, limit: number, now: Date): Promise<ListedSession[]>
  /**
   * Looks at the next `limit` sessions and removes those that ended 30 days ago. Continues where the last call stopped;
   * there are no `more` at the end of the table.
   */
  sweep(now: Date, limit: number): Promise<{ removed: number; more: boolean }>
}
