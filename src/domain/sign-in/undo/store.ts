/** The undo links of replaced contacts, in PostgreSQL. */
import type { Account } from '../../accounts/accounts/account.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

export interface Undoable {
  /** As it is now. */
  account: Account
  kind: Identifier['kind']
  /** The contact that can come back, and its comparable form. */
  destination: string
  destinationKey: string
  isUsed: boolean
  /** Another account verified the contact meanwhile. */
  isTaken: boolean
}

export interface UndoStore {
  /** Null: no link has this hash, or it is too old. */
  find(hash: Uint8Array, now: Date): Promise<Undoable | null>
  /**
   * Puts the contact back as it was. In the same transaction all sessions end, all devices are forgotten and the password goes, what sessions added
   * goes, an authenticator app, two factors and an administrator's recovery code that came after the change go, other claims to the contact end, and so do
   * the links of contacts that were verified later. Queues the notices. Of any number of calls one succeeds; `taken`
   * changes nothing.
   */
  restore(
    hash: Uint8Array,
    undoable: Undoable,
    notices: NewMessage[],
    now: Date,
  ): Promise<'restored' | 'used' | 'taken'>
  /** Removes replaced contacts that can no longer come back, and their links; returns their number. */
  sweep(now: Date, limit: number): Promise<number>
}
