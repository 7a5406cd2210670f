/** The recorded events: reading them, and deleting old ones. Rooms record theirs with event-sql.ts. */
import type { Actor, EventType, NewEvent, StoredEvent } from './event.ts'

export interface EventFilter {
  account?: string | undefined
  type?: string | undefined
  /** The id of the actor. */
  actor?: string | undefined
  since?: Date | undefined
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
  /**
   * Oldest first: the events after the one with this id. Events are left out while an older transaction is still
   * open, so that a caller who continues after the last one never misses an event.
   */
  follow(filter: EventFilter, after: number, limit: number): Promise<StoredEvent[]>
  /** Adds to the count of this hour, or writes its event. */
  addFailures(failures: GatheredFailures[]): Promise<void>
  /**
   * Events that were restored from another server have its transaction numbers, and `follow` would wait for them.
   * Returns how many it renumbered.
   */
  adoptRestored(): Promise<number>
  sweep(now: Date, limit: number): Promise<number>
  /** Deletes addresses and devices. */
  sweepDetails(now: Date, limit: number): Promise<number>
}
