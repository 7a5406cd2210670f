/**
 * Where counters live: Redis, or an unlogged table. The promise: a charge on several counters is evaluated and
 * counted in one atomic step, all or none; a refused charge counts nowhere; waiting the time it gives admits; every counter has
 * an expiry; a store that does not answer throws (the caller answers 503, never "unlimited").
 *
 * Time is the caller's `now`. A clock set back never locks out for longer than the rule does and never refills a
 * counter: what a counter noted in what is now the future counts as noted just now.
 */
export type Rule =
  /** A bucket of `burst`, refilled one each `intervalMs` (GCRA). */
  | { kind: 'bucket'; burst: number; intervalMs: number }
  /**
   * At most `count` in a window of `windowMs` that begins with the first of them; none at all where `count` is 0. A
   * counter is two numbers, however many it counts.
   */
  | { kind: 'window'; count: number; windowMs: number }
  /**
   * Failures. A try is counted when it is admitted, before it is checked; `clear` on success. `count` tries are
   * admitted in a window of `windowMs` that begins with the first; the last of them starts a refusal of `refusalMs`.
   * After a refusal one try is admitted, and starts the next one, twice as long, up to `maximumMs`. A `windowMs`
   * without a try after the end of a refusal starts afresh.
   */
  | { kind: 'failures'; count: number; windowMs: number; refusalMs: number; maximumMs: number }

export interface Charge {
  /**
   * `<what>:<keyed tag or address>`: no clear identifier stands in a counter's name. A key belongs to one kind of
   * rule; its numbers may change from one start of the service to the next.
   */
  key: string
  rule: Rule
}

export interface LimitStore {
  /**
   * Milliseconds until the whole charge would be admitted: 0 when it just was, and for no charges. Each key once
   * (RangeError otherwise); numbers are at least 1, but for `count`, fractions of a millisecond are rounded up.
   */
  charge(charges: Charge[], now: Date): Promise<number>
  /** Forgets the counters: after a success. */
  clear(keys: string[]): Promise<void>
  /** Removes up to `limit` counters that no longer matter; how many it removed. Redis does so by itself: 0. */
  sweep(now: Date, limit: number): Promise<number>
}
