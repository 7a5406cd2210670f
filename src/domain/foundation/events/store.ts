/** The recorded events: reading them, and deleting old ones. Rooms record theirs with event-sql.ts. */
import type { Actor, EventType, NewEvent, StoredEvent } from './event.ts'

export interface EventFilter {
  account?: string | undefined
  type?: string | undefined
  /** The id of the actor. */
  actor?: string | undefined
  since?: Date | undefined
}

export type NewsOfEvent = Pick<StoredEvent, 'id' | 'type' | 'account' | 'createdAt'> & {
  actorId: string | null
}

/** Failures of one kind, in one hour, from one address, since the last write. */
export interface GatheredFailures {
  type: EventType
  account: string | null
  /** Null: the account. */
  actor: Actor | null
  address: string | null
  count: number
  at: Date
}

export interface EventStore {
  /** Events that change no row, such as looking at an account. */
  add(recorded: NewEvent[], at: Date): Promise<void>
  /** Newest first: the events before the one with this id (null: from the newest one). */
  list(filter: EventFilter, before: number | null, limit: number): Promise<StoredEvent[]>
  /** Oldest first: the events after the one with this id, up to the one with the other. */
  follow(filter: EventFilter, after: number, upTo: number, limit: number): Promise<StoredEvent[]>
  /** The same for everybody, without what a filter does not look at. */
  news(after: number, upTo: number, limit: number): Promise<NewsOfEvent[]>
  /** The last id that any transaction has drawn, committed or not; 0 before the first one. */
  lastId(): Promise<number>
  /**
   * The transactions that are open now and may have drawn an id. One that is not among them and draws an id later draws
   * a greater one than `lastId` returned before; one that has drawn an id and is not among them has ended, and what it
   * committed is seen by every later statement.
   */
  openWriters(): Promise<string[]>
  /** Adds to the count of this hour, or writes its event; lists of people are counted in the same way. */
  addFailures(failures: GatheredFailures[]): Promise<void>
  sweep(now: Date, limit: number): Promise<number>
  /** Deletes addresses and devices. */
  sweepDetails(now: Date, limit: number): Promise<number>
}
