/**
 * Where wrong codes are counted: PostgreSQL (logged) in every shape, so that neither a flush of Redis nor a restart
 * reopens what they closed. By the day, in UTC, and in a row.
 */
import type { CallerGroup } from '../limits/callers.ts'

/** So many wrong ones in a row are compared, then one a day. */
export const IN_A_ROW = 100

/** One counted thing: a budget of the day, and a count in a row that goes with it. */
export interface AttemptKey {
  /** The account's uuid, or what is counted like one. */
  subject: string
  /**
   * The purpose; of callers who pay apart, then a slash and their group, their device or their address, so that all
   * that was counted for a purpose of an account can be found and cleared.
   */
  budget: string
  group: CallerGroup
  /** What is counted in a row; where each address counts apart, then a slash and the address. */
  factor: string
}

export interface AttemptBounds {
  perDay: number
  /** So many wrong ones in a row; then one a day. */
  inARow: number
}

export interface CountedKey {
  /** Within the budget of the day, and within the bound in a row. */
  isOpen: boolean
}

export interface AttemptStore {
  /** Counts one attempt on each key, in one step, each on its own; a key that is not open is not counted further. */
  reserve(keys: AttemptKey[], bounds: AttemptBounds, now: Date): Promise<CountedKey[]>
  /**
   * Takes the counting back; `now` as `reserve` had it, which names the day. `wasRight` also ends the count in a row.
   * It does not wait for the disk: a crash that forgets it leaves an attempt less, never one more.
   */
  release(keys: AttemptKey[], wasRight: boolean, now: Date): Promise<void>
  /** Forgets the day's budgets of these purposes of an account, those of its devices aside; the counts in a row stay. */
  clearDay(subject: string, purposes: string[], now: Date): Promise<void>
  /** Forgets everything that was counted on these subjects. */
  forget(subjects: string[]): Promise<void>
  /** Another wrong one in a row, of what no day bounds: gives how many there are. */
  addInARow(key: Pick<AttemptKey, 'subject' | 'group' | 'factor'>, now: Date): Promise<number>
  clearInARow(key: Pick<AttemptKey, 'subject' | 'group' | 'factor'>): Promise<void>
  /**
   * Removes up to `limit` budgets older than yesterday's (the clock may be set back), and counts in a row that nobody
   * added to in 90 days; how many it removed. Those that strangers began on what is no account, or from one address, go as
   * soon as the budgets, unless there are as many as refuse: anybody can begin any number of them.
   */
  sweep(now: Date, limit: number): Promise<number>
}
