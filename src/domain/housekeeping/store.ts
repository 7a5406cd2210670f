/** Rows whose time is over, of tables that are not swept elsewhere, and whose turn it is: PostgreSQL, in every shape. */

export interface HousekeepingStore {
  /** True for one caller, of all replicas, until `nextAt`; `now` is when it asks. */
  claimRound(now: Date, nextAt: Date): Promise<boolean>
  /** Registrations, last sent before that time, that nobody confirmed. Each sweep says how many it removed. */
  sweepRegistrations(before: Date, limit: number): Promise<number>
  /** With which passwords registrations named a contact, where no unconfirmed account names it any more. */
  sweepRegistrationClaims(before: Date, limit: number): Promise<number>
  sweepContactChanges(before: Date, limit: number): Promise<number>
  sweepTotpEnrolments(before: Date, limit: number): Promise<number>
  /**
   * Looks at the next `limit` sessions after that id (null: from the first one) and removes those that ended before
   * that time. `last` is null at the end of the table.
   */
  sweepSessions(
    after: string | null,
    before: Date,
    limit: number,
  ): Promise<{ removed: number; last: string | null }>
}
