/**
 * The identity tokens that were used. Always in a logged table of PostgreSQL, so that neither a Redis flush nor a restart
 * makes one valid again.
 */
export interface SpentTokenStore {
  /** True for one caller, and false for all others until `expiresAt`, when the token is refused for its age. */
  spend(hash: Uint8Array, expiresAt: Date): Promise<boolean>
  /** Removes up to `limit` that expired a day ago (the clock may be set back) and returns how many it removed. */
  sweep(now: Date, limit: number): Promise<number>
}
