/** Whose turn the next round of housekeeping is: one row in PostgreSQL, in every shape. */

export interface HousekeepingStore {
  /** True for one caller, of all replicas, until `nextAt`; `now` is when it asks. */
  claimRound(now: Date, nextAt: Date): Promise<boolean>
}
