/** A temporary access or invitation code of an account, as it is made and as it is found. */
import type { AccountCodeKind } from '../../messages/codes/store.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

export interface NewAccountCode {
  id: string
  kind: AccountCodeKind
  hash: Uint8Array
  /** The comparable form; null if no message carries the code. */
  sentTo: string | null
  expiresAt: Date
  /** Its use removes every passkey and identity. */
  removeFactors: boolean
}

/** A code that is about to be made: the limits allow it, and its messages are written. */
export interface PreparedCode {
  code: NewAccountCode
  messages: NewMessage[]
  /** The caller is shown this; null where a message carries the code. */
  shown: string | null
}

export type OpenAccountCode = Pick<NewAccountCode, 'kind' | 'hash' | 'sentTo' | 'removeFactors'>
