/** The outbox, as those who add messages and the worker that sends them see it. */
import type { Executor } from '../../../platform/postgres/database.ts'
import type { CallerGroup } from '../../limits/limits/callers.ts'
import type { CodePurpose, SentCodePurpose } from '../codes/store.ts'
import type { Channel, NewMessage } from './message.ts'

/** `expired`: the attempts or the lifetime of its code ended; `replaced`: superseded by a message with a newer code. */
export type FinalOutcome = 'sent' | 'refused' | 'expired' | 'replaced'

export interface FinalResult {
  outcome: FinalOutcome
  detail: string | null
  /** The gateway that took an SMS, and the id it gave to it. */
  gateway?: string | null
  providerId?: string | null
}

/** A row as the worker claims it; purpose and language are what some version of the service wrote. */
export interface QueuedMessage {
  id: number
  channel: Channel
  destination: string
  /** See lanes.ts. */
  lane: number
  requestId: string | null
  accountUuid: string | null
  purpose: string
  language: string
  values: Record<string, string>
  codeSubject: string | null
  codePurpose: SentCodePurpose | null
  /** Who asked for the code; 'stranger' where there is none. */
  codeGroup: CallerGroup
  codeSeed: Uint8Array | null
  createdAt: Date
  /** This attempt included. */
  attempts: number
  /** When the first attempt that counts began. */
  firstAttemptAt: Date
  /** How the last attempt failed; null while none was recorded. */
  detail: string | null
}

export type CodeMessage = NewMessage & Required<Pick<NewMessage, 'code'>>

/** How many messages of each kind may be taken. */
export interface LaneRoom {
  owners: number
  strangers: number
}

export interface MessageStore {
  /** Part of the caller's transaction. */
  add(executor: Executor, message: NewMessage, now: Date): Promise<void>
  /** Adds a message with a code and marks pending ones of that code as replaced, in one statement. Returns its id. */
  addCode(message: CodeMessage, now: Date): Promise<number>
  /** Finishes as replaced the waiting messages of this code; call it before `add` in the same transaction. */
  supersedePending(
    executor: Executor,
    codeSubject: string,
    codePurpose: CodePurpose,
    codeGroup: CallerGroup,
    now: Date,
  ): Promise<void>
  /**
   * Claims due messages of a channel, as many of each lane as there is room for. For `leaseMs` they belong to this caller
   * alone. The claim is committed when this returns, so that a process that dies while sending loses none.
   */
  claim(channel: Channel, now: Date, leaseMs: number, room: LaneRoom): Promise<QueuedMessage[]>
  /** The uuid of the account that a message is about; null: of none, or there is no such message to anybody. */
  findAccount(id: number): Promise<string | null>
  /** What waits to be sent to somebody, by channel. */
  waiting(): Promise<{ channel: Channel; count: number; oldestAt: Date }[]>
  /** Removes up to `limit` messages to nobody and returns how many it removed. */
  discard(limit: number): Promise<number>
  remove(id: number): Promise<void>
  finish(id: number, result: FinalResult, now: Date): Promise<void>
  retry(id: number, nextAttemptAt: Date, detail: string): Promise<void>
  /** Like `retry`, but nothing was attempted; `attempts` is the number that counts so far. */
  postpone(id: number, nextAttemptAt: Date, attempts: number): Promise<void>
  /** Keeps claimed messages while their sending takes long. */
  renew(ids: number[], leaseUntil: Date): Promise<void>
  /** Removes up to `limit` messages that were finished before that time and returns how many it removed. */
  sweep(finishedBefore: Date, limit: number): Promise<number>
}
