/**
 * The counters, in Redis or in an unlogged table. The promise: a charge on several counters is evaluated and counted in
 * one atomic step, all or none, and a refused charge is not counted anywhere. It is admitted after waiting the returned
 * time. Every counter has an expiry. A store that does not answer throws (the caller answers 503, never "unlimited").
 *
 * Time is the caller's `now`. After the clock was set back, a rule never refuses for longer than it says and a counter
 * is never refilled. A count in what is now the future is taken for one of just now.
 */
export type Rule =
  /** A bucket of `burst`, refilled one each `intervalMs` (GCRA). */
  | { kind: 'bucket'; burst: number; intervalMs: number }
  /**
   * It allows at most `count` in a window of `windowMs` that begins with the first of them; none at all where `count`
   * is 0. A counter is two numbers, however many it counts.
   */
  | { kind: 'window'; count: number; windowMs: number }
  /**
   * Failures. An attempt is counted when it is admitted, before it is checked; `clear` it on success. `count` attempts
   * are admitted in a window of `windowMs` that begins with the first; the last of them starts a refusal of
   * `refusalMs`. One attempt is admitted after a refusal; it starts the next refusal, twice as long, up to `maximumMs`.
   * After a `windowMs` without an attempt since the end of a refusal, everything starts anew.
   */
  | { kind: 'failures'; count: number; windowMs: number; refusalMs: number; maximumMs: number }

/** The messages that strangers cause, for contacts that nobody needs to have verified and for those that an account did. */
export type SendingPool = 'sms' | 'sms_codes' | `${'sms' | 'email'}_${'newcomers' | 'verified'}`

export interface Charge {
  /**
   * `<what>:<keyed tag>`: the name of a counter contains no identifier, address or number in clear. A key belongs to one kind of
   * rule; the numbers of the rule may change between two starts of the service.
   */
  key: string
  rule: Rule
  /** Tried first: what the caller has to itself, whatever others have counted. Stores do not read it. */
  ownRule?: Rule
  /** It marks the counters of SMS by range of numbers, for the guard against pumping; stores do not read it. */
  range?: { name: string; closedCount: number; countsOnlyClosed?: true }
  /** The pool of messages that it counts: the operator is told when that runs dry. */
  pool?: SendingPool
}

/** Returns what `charge` would return. A key may occur more than once. */
export type NextMs = (charges: Charge[], now: Date) => number

export interface LimitStore {
  /**
   * Milliseconds until the whole charge would be admitted; 0 if it just was, and for no charges. Each key may occur once
   * (otherwise RangeError). Numbers other than `count` are at least 1; fractions of a millisecond are rounded up.
   */
  charge(charges: Charge[], now: Date): Promise<number>
  /** The same, for at least one. `nextMs` returns the wait of a charge after this one, if this one was admitted. */
  chargeAndForesee(charges: Charge[], now: Date): Promise<{ waitMs: number; nextMs: NextMs }>
  /** Returns the count of a `window`; 0 where there is none, or where its time is over. */
  countOf(key: string, now: Date): Promise<number>
  /** The milliseconds until each of these charges would be admitted, without counting any: 0 where it would be now. */
  waitsOf(charges: Charge[], now: Date): Promise<number[]>
  /** The first of these charges whose counter refuses it now, in their order; null where none does any more. */
  findRefusing(charges: Charge[], now: Date): Promise<Charge | null>
  /** Deletes the counters, after a success. */
  clear(keys: string[]): Promise<void>
  /** Deletes every counter whose name begins so. Looks at all of them: for what an administrator does by hand. */
  clearBeginning(beginning: string): Promise<void>
  /** Removes up to `limit` expired counters and returns how many it removed. Redis does this by itself and returns 0. */
  sweep(now: Date, limit: number): Promise<number>
}
