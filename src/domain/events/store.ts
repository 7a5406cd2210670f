/** The events that were written: who reads them, and when they go. Rooms write theirs with event-sql.ts. */
import type { EventType, NewEvent, StoredEvent } from './event.ts'

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
  address: string | null
  count: number
  at: Date
}

export interface EventStore {
  /** What changes no row, such as a look at an account. */
  add(recorded: NewEvent[], at: Date): Promise<void>
  /** Newest first, those before the event with this id (null: from the newest one). */
  list(filter: EventFilter, before: number | null, limit: number): Promise<StoredEvent[]>
  /**
   * Oldest first, those after the event with this id. Leaves out what was written while an older transaction is still
   * open, so that whoever continues after the last one never misses an event.
   */
  follow(filter: EventFilter, after: number, limit: number): Promise<StoredEvent[]>
  /** Adds to the count of the hour, or writes its event. */
  addFailures(failures: GatheredFailures[]): Promise<void>
  /** Events restored from another server carry its transaction numbers: `follow` would wait for them. Gives their number. */
  adoptRestored(): Promise<number>
  sweep(now: Date, limit: number): Promise<number>
  /** Forgets addresses and devices. */
  sweepDetails(now: Date, limit: number): Promise<number>
}
