/**
 * Small values that live for minutes, such as "the password of this account was verified" or the state of a social
 * login; in Redis or in an unlogged table. `take` reads and removes in one atomic step, so that exactly one of many
 * callers gets the value. An expired value counts as absent. Values are plain JSON, whose strings must hold neither NUL
 * nor lone surrogates, because jsonb refuses these.
 */
export interface TicketStore {
  put(key: string, value: Record<string, unknown>, expiresAt: Date, now: Date): Promise<void>
  find(key: string, now: Date): Promise<Record<string, unknown> | null>
  take(key: string, now: Date): Promise<Record<string, unknown> | null>
  /** Removes up to `limit` expired values and returns how many it removed. Redis does this by itself and returns 0. */
  sweep(now: Date, limit: number): Promise<number>
}
