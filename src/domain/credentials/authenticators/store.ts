/**
 * The factors besides sent codes, as they are used, in PostgreSQL in every shape. The promise: of any number of callers
 * with the same code exactly one succeeds.
 */
import type { Account } from '../../accounts/accounts/account.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

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
  /** When somebody has asked for two factors to be turned off, and who has them can still stop that; null: nobody has. */
  removalAt: Date | null
}

/** The factor whose use shows that nobody lost it. */
export type RemovalEnd = 'totp' | 'passkey'

/** What an attempt matched when it was compared with the stored factors; null for what it did not match. */
export interface FactorTry {
  /** The app whose code it was, and the time step of the code. */
  totp: { sealedSecret: Uint8Array; step: number } | null
  /** As stored. */
  recoveryHash: Uint8Array | null
  /** The app that the recovery code replaces, because its secret cannot be decrypted any more. */
  lostApp: Uint8Array | null
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
  /** Ends a removal of two factors that waits, and queues the notices. False where none waits: of any callers one ends it. */
  endRemoval(account: Account, by: RemovalEnd, notices: NewMessage[], now: Date): Promise<boolean>
}
