/**
 * Turning two factors off for somebody who lost them, at once or after a delay in which the owner can stop it: PostgreSQL,
 * in every storage shape. The promise: one removal waits for an account; it is stopped or done, by one of any number of
 * callers.
 */
import type { Account } from '../../accounts/accounts/account.ts'
import type { Actor } from '../../foundation/events/event.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

export interface WaitingRemoval {
  id: string
  dueAt: Date
}

export interface DueRemoval extends WaitingRemoval {
  account: Account
  /** Who asked for it. */
  actor: Actor
}

export interface TwoFactorRemovalStore {
  /**
   * Turns two factors off, removes the app and the recovery codes, and the removal that waits. With `id`: only if that one
   * still waits. False if they were off, or if it was stopped.
   */
  remove(account: Account, id: string | null, notices: NewMessage[], now: Date): Promise<boolean>
  /** The one that waits already stays: it is returned instead, and nobody is told again. Null if two factors are off. */
  request(
    account: Account,
    removal: WaitingRemoval & { actor: Actor },
    notices: NewMessage[],
    now: Date,
  ): Promise<WaitingRemoval | null>
  /** False where it does not wait any more. */
  stop(id: string, now: Date): Promise<boolean>
  find(accountId: number): Promise<WaitingRemoval | null>
  listDue(now: Date, limit: number): Promise<DueRemoval[]>
}
