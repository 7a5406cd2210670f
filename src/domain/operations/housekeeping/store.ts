/** Which process runs the next round of housekeeping: one row in PostgreSQL, in every shape. */

export interface HousekeepingStore {
  /** True for one caller among all replicas, until `nextAt`. */
  claimRound(now: Date, nextAt: Date): Promise<boolean>
}
