/**
 * Turning two factors on and off, in PostgreSQL in every shape. The promise: an app stays in use until the next one is
 * confirmed; each change is atomic, including the sessions that it ends and the notices to the owner.
 */
import type { AccountSession } from '../../accounts/accounts/account.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import type { FactorTry } from './store.ts'

/** An authenticator app that waits for its first code. */
export interface TotpFactor {
  sealedSecret: Uint8Array
}

/** Turning two-factor login on: the session stays and has verified both factors (RFC 8176 values). */
export interface Enabling {
  amr: string[]
  recoveryHashes: Uint8Array[]
  /** The tag of the session's device: the only one that stays known. */
  keptDevice: Uint8Array | null
  notices: NewMessage[]
}

export interface EnrolmentStore {
  /** Replaces a waiting app; the one in use is not touched. False if the session ended meanwhile. */
  putEnrolment(signedIn: AccountSession, sealedSecret: Uint8Array, now: Date): Promise<boolean>
  /** The waiting app, if it was created after `since`. */
  findEnrolment(accountId: number, since: Date): Promise<TotpFactor | null>
  /**
   * Turns two-factor login on, sets the recovery codes, forgets the other devices, and ends the other sessions that one
   * factor opened, including one that is being opened. False if it was already on, or if the session ended meanwhile.
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
  sweep(now: Date, limit: number): Promise<number>
}
