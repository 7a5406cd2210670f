/** What calls with an `Idempotency-Key` made; PostgreSQL in every shape, for all replicas. */

export interface IdempotentCall {
  /** Of caller and key. */
  hash: Uint8Array
  /** Of path and body. */
  requestHash: Uint8Array
}

export interface KeptAnswer {
  requestHash: Uint8Array
  /** Null: the call is under way. */
  answeredAt: Date | null
  status: number | null
  madeId: string | null
}

export interface Claim {
  holder: string
  /** The id that what is made is to have, where the operation can choose it. */
  madeId: string
  /** Another caller held it before, and was cut off: what it was to make may be there. */
  isTakenOver: boolean
}

export interface IdempotencyStore {
  /**
   * Of any number of callers one gets the claim, until `heldUntil`. Null where somebody holds it, or where it was
   * answered; a key from before `forgotten` is free.
   */
  claim(call: IdempotentCall, heldUntil: Date, forgotten: Date, now: Date): Promise<Claim | null>
  find(hash: Uint8Array, forgotten: Date): Promise<KeptAnswer | null>
  finish(
    hash: Uint8Array,
    holder: string,
    made: { id: string | null; status: number },
    now: Date,
  ): Promise<void>
  /** It failed, and made nothing. */
  release(hash: Uint8Array, holder: string): Promise<void>
  /** It failed, and nobody knows what it made; it is not under way any more, and the next caller looks. */
  abandon(hash: Uint8Array, holder: string, now: Date): Promise<void>
  sweep(now: Date, limit: number): Promise<number>
}
