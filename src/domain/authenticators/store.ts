/**
 * The factors besides sent codes, in PostgreSQL in every shape. The promise: of any number of callers with the same code
 * exactly one succeeds; an app stays in use until the next one is confirmed; each change is atomic, including the sessions
 * that it ends and the notices to the owner.
 */
import type { AccountSession } from '../accounts/account.ts'
import type { NewMessage } from '../outbox/message.ts'

/** An authenticator app that waits for its first code. */
export interface TotpFactor {
  sealedSecret: Uint8Array
}

/** What is stored of an account's factors. */
export interface StoredFactors {
  /** Of the app in use; null where there is none. */
  sealedSecret: Uint8Array | null
  /** When the owner was notified that the app in use cannot be opened any more. */
  lossToldAt: Date | null
  /** When a recovery code was used in place of an app that cannot be opened. */
  recoveredAt: Date | null
  /** Of the recovery codes left. */
  recoveryHashes: Uint8Array[]
  /** Of the relying party that was asked for. */
  hasPasskey: boolean
}

/** What an attempt matched when it was compared with the stored factors; null for what it did not match. */
export interface FactorTry {
  /** The app whose code it was, and the time step of the code. */
  totp: { sealedSecret: Uint8Array; step: number } | null
  /** As stored. */
  recoveryHash: Uint8Array | null
  /** The app that the recovery code replaces, because its secret cannot be decrypted any more. */
  lostApp: Uint8Array | null
}

/** Turning two-factor login on: the session stays and has verified both factors (RFC 8176 values). */
export interface Enabling {
  amr: string[]
  recoveryHashes: Uint8Array[]
  notices: NewMessage[]
}

export interface FactorStore {
  /** Empty for an account without factors, and for an id that no account has (0), in the same time. */
  find(accountId: number, rpId: string | null): Promise<StoredFactors>
  /** Records that the owner was notified of the loss of this app, and queues the notices, once for each app. */
  noteLoss(accountId: number, lostApp: Uint8Array, notices: NewMessage[], now: Date): Promise<boolean>
  /** The apps in use, by account and after that one. */
  listApps(afterAccountId: number, limit: number): Promise<{ accountId: number; sealedSecret: Uint8Array }[]>
  /** Replaces the secret of the app in use by the same one sealed anew, unless it is not the same any more. */
  putSealed(accountId: number, sealed: { was: Uint8Array; is: Uint8Array }): Promise<void>
  /**
   * Uses up the time step or the recovery code; false if it was used before. After a recovery code a notice says how
   * many are left.
   */
  use(accountId: number, factorTry: FactorTry, now: Date): Promise<boolean>
  /** Replaces a waiting app; the one in use is not touched. False if the session ended meanwhile. */
  putEnrolment(signedIn: AccountSession, sealedSecret: Uint8Array, now: Date): Promise<boolean>
  /** The waiting app, if it was created after `since`. */
  findEnrolment(accountId: number, since: Date): Promise<TotpFactor | null>
  /**
   * Turns two-factor login on, sets the recovery codes, and ends the other sessions that one factor opened, including one
   * that is being opened. False if it was already on, or if the session ended meanwhile.
   */
  enable(signedIn: AccountSession, enabling: Enabling, now: Date): Promise<boolean>
  /**
   * Makes the waiting app the one in use, with its `step` used up; then does the same as `enable`, also if two-factor login
   * was already on. False if that app is not waiting any more, or if the session ended meanwhile.
   */
  confirmEnrolment(
    signedIn: AccountSession,
    enabling: Enabling & { totp: NonNullable<FactorTry['totp']> },
    now: Date,
  ): Promise<boolean>
  /** Turns two-factor login off and removes app and recovery codes. False if it was off, or the session ended meanwhile. */
  disable(signedIn: AccountSession, notices: NewMessage[], now: Date): Promise<boolean>
  /** Replaces them and queues the notices. False if two-factor login is off, or if the session ended meanwhile. */
  putRecoveryCodes(
    signedIn: AccountSession,
    recoveryHashes: Uint8Array[],
    notices: NewMessage[],
    now: Date,
  ): Promise<boolean>
  /** Removes apps whose first code never came, and returns their number. */
  sweepEnrolments(now: Date, limit: number): Promise<number>
}
