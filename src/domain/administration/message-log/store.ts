/** The messages of the outbox as an administrator sees them: never a code. PostgreSQL, in every storage shape. */
import type { Channel } from '../../messages/outbox/message.ts'

/** `refused`: for good, or by a receipt that says so; `expired`: it was given up, or a newer code took its place. */
export const messageStates = ['waiting', 'sent', 'delivered', 'refused', 'expired'] as const
export type MessageState = (typeof messageStates)[number]

export interface ListedMessage {
  id: number
  channel: Channel
  purpose: string
  state: MessageState
  /** Empty where the person it went to was erased. */
  destination: string
  account: string | null
  gateway: string | null
  /** Which server took it, or the cause code of the last failure. */
  detail: string | null
  attempts: number
  createdAt: Date
  finishedAt: Date | null
}

export interface MessageFilter {
  account?: string | undefined
  state?: MessageState | undefined
  channel?: Channel | undefined
  gateway?: string | undefined
  since?: Date | undefined
}

export interface MessageAdministrationStore {
  /** Newest first, those before the message with this id (null: from the newest one). */
  list(filter: MessageFilter, before: number | null, limit: number): Promise<ListedMessage[]>
  exists(id: number): Promise<boolean>
  /** False where it was not refused, where its code is dead, or where nobody is left to send it to. */
  retry(id: number, codeLifetimeSeconds: number, now: Date): Promise<boolean>
}
