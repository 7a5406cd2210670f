/** A recovery or invitation code of an account, as it is made and as it is found. */
import type { AccountCodeKind } from '../../messages/codes/store.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

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
