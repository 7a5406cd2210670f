/**
 * Which identity tokens have opened something. Always in PostgreSQL (logged), so that neither a Redis flush nor a
 * restart makes one good again.
 */
export interface SpentTokenStore {
  /** True for one caller; false for all others until `expiresAt`, when the token is refused for its age. */
  spend(hash: Uint8Array, expiresAt: Date): Promise<boolean>
  /** Removes up to `limit` that expired a day ago (the clock may be set back); how many it removed. */
  sweep(now: Date, limit: number): Promise<number>
}
