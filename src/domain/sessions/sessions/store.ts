/**
 * The sessions, in PostgreSQL in every storage shape. One is alive until it is revoked or reaches its idle or absolute
 * expiry.
 */
import type { Account } from '../../accounts/accounts/account.ts'
import type { DeviceTags } from '../../accounts/devices/service.ts'

/** Of one account: more than a person would read through. A sign-in ends the surplus. */
export const MAXIMUM_SESSIONS = 100

/** What a client may send about its device at login. */
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
  /** The tags by which the device is recognised later. */
  tags: DeviceTags
  amr: string[]
  /** See tokens/refresh-token.ts; its first token has generation 0. */
  familyHash: Uint8Array
  expiresAt: Date
  endsAt: Date
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

/** `isNewDevice`: neither its device nor its address was known. */
export type SignedInAccount = Account & { isNewDevice: boolean }

export interface SessionStore {
  /** The account of a session that is alive, and its device; null also if the account is locked or erased. */
  findSignedIn(
    sessionId: string,
    accountUuid: string,
    now: Date,
  ): Promise<
    | (Account & { deviceFingerprint: string | null; deviceName: string | null; signInIp: string | null })
    | null
  >
  /**
   * Counts the sign-in (like Devise's trackable) and adds the session, in one statement. Null if the account has
   * changed since it was read: erased, locked, another password, or two-factor login turned on or off. `newDigest`
   * replaces a digest that has older parameters. Of more than 100 sessions those not used for longest end.
   */
  signIn(
    account: Account,
    session: NewSession,
    newDigest: string | null,
    now: Date,
  ): Promise<SignedInAccount | null>
  /** False if this account has no such session. */
  end(sessionId: string, accountUuid: string, now: Date): Promise<boolean>
  endAll(accountId: number, now: Date): Promise<void>
  /** The fingerprints of the devices of its sessions, ended ones included. */
  listFingerprints(accountId: number): Promise<string[]>
  /** The sessions that are alive, last used first. */
  list(accountId: number, limit: number, now: Date): Promise<ListedSession[]>
  /** The living ones whose newest refresh token was made until then, and when the last of them ends unless it is refreshed. */
  countUnrefreshed(until: Date, now: Date): Promise<{ count: number; lastEnd: Date | null }>
  /** Ends the living ones among `limit` sessions after this id; `last` is null at the end of the table. */
  endEverybodys(
    after: string | null,
    limit: number,
    now: Date,
  ): Promise<{ ended: number; last: string | null }>
  /**
   * Looks at the next `limit` sessions and removes those that ended 30 days ago. Continues where the last call stopped;
   * there are no `more` at the end of the table.
   */
  sweep(now: Date, limit: number): Promise<{ removed: number; more: boolean }>
}
