/**
 * Where the factors beside sent codes live: PostgreSQL, in every shape. The promise: among any number of callers with
 * one code exactly one succeeds; an app in use stays the one in use until the next one is confirmed; each change,
 * with the sessions it ends and the notices to the owner, is atomic.
 */
import type { AccountSession } from '../accounts/account.ts'
import type { NewMessage } from '../delivery/message.ts'

/** An authenticator app that waits. */
export interface TotpFactor {
  sealedSecret: Uint8Array
}

/** What is stored of an account's factors. */
export interface StoredFactors {
  /** Of the app in use; null where there is none. */
  sealedSecret: Uint8Array | null
  /** When the owner was told that the app in use cannot be opened any more. */
  lossToldAt: Date | null
  /** When a recovery code was used in place of an app that cannot be opened. */
  recoveredAt: Date | null
  /** Of the recovery codes left. */
  recoveryHashes: Uint8Array[]
  hasPasskey: boolean
}

/** What a try amounts to, once compared with what is stored; null: it is not that. */
export interface FactorTry {
  /** The app whose code it was, and the time step it was of. */
  totp: { sealedSecret: Uint8Array; step: number } | null
  /** As stored. */
  recoveryHash: Uint8Array | null
  /** The recovery code stands in for this app, which cannot be opened any more. */
  lostApp: Uint8Array | null
}

/** Two factors are on from now; the session stays, and has proved both of them (RFC 8176 values). */
export interface Enabling {
  amr: string[]
  recoveryHashes: Uint8Array[]
  notices: NewMessage[]
}

export interface FactorStore {
  /** Empty for an account without factors, and for an id that nobody has (0), in the same time. */
  find(accountId: number): Promise<StoredFactors>
  /** Notes that the owner is told of the loss of this app, and queues the notices: once for each app. */
  noteLoss(accountId: number, lostApp: Uint8Array, notices: NewMessage[], now: Date): Promise<boolean>
  /** The apps in use, by account, after that one: to count those that cannot be opened. */
  listApps(afterAccountId: number, limit: number): Promise<{ accountId: number; sealedSecret: Uint8Array }[]>
  /**
   * Uses the step or the recovery code up; false when it was used before. A recovery code's owner gets a notice that
   * says how many are left.
   */
  use(accountId: number, factorTry: FactorTry, now: Date): Promise<boolean>
  /** Replaces an app that waits; the one in use is not touched. False when the session ended meanwhile. */
  putEnrolment(signedIn: AccountSession, sealedSecret: Uint8Array, now: Date): Promise<boolean>
  /** The app that waits since no earlier than `since`. */
  findEnrolment(accountId: number, since: Date): Promise<TotpFactor | null>
  /**
   * Turns two factors on, sets the recovery codes, ends the other sessions that only one factor opened, one that is
   * being opened too. False when they were on already, or the session ended meanwhile.
   */
  enable(signedIn: AccountSession, enabling: Enabling, now: Date): Promise<boolean>
  /**
   * The waiting app becomes the one in use, its `step` used; then as `enable`, also where two factors were on already.
   * False when that app does not wait any more, or the session ended meanwhile.
   */
  confirmEnrolment(
    signedIn: AccountSession,
    enabling: Enabling & { totp: NonNullable<FactorTry['totp']> },
    now: Date,
  ): Promise<boolean>
  /** Turns two factors off, erases app and recovery codes. False when they were off, or the session ended meanwhile. */
  disable(signedIn: AccountSession, notices: NewMessage[], now: Date): Promise<boolean>
  /** Replaces them, and queues the notices. False when two factors are off, or the session ended meanwhile. */
  putRecoveryCodes(
    signedIn: AccountSession,
    recoveryHashes: Uint8Array[],
    notices: NewMessage[],
    now: Date,
  ): Promise<boolean>
  /** Removes apps whose first code never came; gives their number. */
  sweepEnrolments(now: Date, limit: number): Promise<number>
}
