/**
 * The recovery and invitation codes of accounts, in PostgreSQL in every shape. The promise: at most one of each kind is
 * open for an account; of any number of callers with one code exactly one has it; nothing but its use, its expiry and a
 * newer one of its kind ends it.
 */

import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { AccountCodeKind } from '../../messages/codes/store.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import type { Account } from '../accounts/account.ts'

export interface NewAccountCode {
  id: string
  kind: AccountCodeKind
  hash: Uint8Array
  /** In comparable form; null where it goes out with no message. */
  sentTo: string | null
  expiresAt: Date
  /** Its use removes every passkey and identity. */
  removeFactors: boolean
}

/** A code that is about to be made: the limits allow it, and its messages are written. */
export interface PreparedCode {
  code: NewAccountCode
  messages: NewMessage[]
  /** For whoever asked; null where a message has it. */
  shown: string | null
}

export interface OpenAccountCode {
  kind: AccountCodeKind
  hash: Uint8Array
  sentTo: string | null
  removeFactors: boolean
}

export interface AccountCodeStore {
  /**
   * Makes it the one of its kind, and queues its messages; one that waits with the code before is replaced. False if the
   * account is gone.
   */
  put(
    account: { id: number; uuid: string },
    prepared: Pick<PreparedCode, 'code' | 'messages'>,
    now: Date,
  ): Promise<boolean>
  /** The open codes of every account that the identifier may name, also of those that merely claim it. */
  findByIdentifier(identifier: Identifier, now: Date): Promise<(OpenAccountCode & { account: Account })[]>
  findByUuid(uuid: string, now: Date): Promise<(OpenAccountCode & { account: Account })[]>
  /** By the id of the code. Null where it was used, replaced or has expired. */
  findOpen(id: string, now: Date): Promise<{ accountUuid: string; hash: Uint8Array } | null>
  sweep(now: Date, limit: number): Promise<number>
}
