/**
 * Small values that live for minutes: "this account's password was proved", the state of a social login. Redis, or
 * an unlogged table. `take` reads and removes in one atomic step: exactly one of many callers gets the value.
 * An expired value is an absent one. Values are plain JSON; their strings hold neither NUL nor lone surrogates, which
 * jsonb refuses.
 */
export interface TicketStore {
  put(key: string, value: Record<string, unknown>, expiresAt: Date, now: Date): Promise<void>
  find(key: string, now: Date): Promise<Record<string, unknown> | null>
  take(key: string, now: Date): Promise<Record<string, unknown> | null>
  remove(key: string): Promise<void>
  /** Removes up to `limit` expired values; how many it removed. Redis does so by itself: 0. */
  sweep(now: Date, limit: number): Promise<number>
}
