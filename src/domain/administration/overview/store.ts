/** Numbers for the first screen of administration: PostgreSQL, in every storage shape. */

import type { EventType } from '../../foundation/events/event.ts'
import type { MessageState } from '../message-log/store.ts'

export interface AccountTotals {
  total: number
  confirmed: number
  locked: number
}

export interface EventsOfHour {
  hour: Date
  type: EventType
  count: number
}

export interface MessagesOfHour {
  hour: Date
  state: MessageState
  /** Null for e-mail, and where no gateway took it. */
  gateway: string | null
  count: number
}

export interface OverviewStore {
  countAccounts(): Promise<AccountTotals>
  /** By the hour in which they happened; gathered failures count as often as they happened. */
  countEvents(types: readonly EventType[], since: Date): Promise<EventsOfHour[]>
  /** By the hour in which they were queued. */
  countMessages(since: Date): Promise<MessagesOfHour[]>
}
