/**
 * `Idempotency-Key`: a call that is sent again, because its answer was lost, makes nothing again. Kept for 24 hours are
 * hashes of caller, path and body, the status, and the id of what was made: never an answer, which would name people
 * and hold secrets. A repetition reads what was made, without its secret.
 */

import type { Ground } from '../../platform/ground.ts'
import { isUnavailable } from '../../platform/postgres/failure.ts'
import { AppError, errorStatus } from '../../texts/errors.ts'
import type { Claim, IdempotencyStore, IdempotentCall, KeptAnswer } from './store.ts'

/** The parts of a request that a route passes on, and what the call does. */
interface RepeatableCall<Answer> {
  /** Without `Idempotency-Key` the call is made, and nothing is kept. */
  headers: Record<string, string | undefined>
  caller: { type: string; id: string | null }
  /** The path with its query. */
  path: string
  body?: unknown
  /** `id`: for what it makes, where it can choose. */
  make(id: string): Promise<{ id: string | null; answer: Answer }>
  /**
   * The same answer, from what is there now, without its secret. Throws `…_not_found` where it is not there. `status`:
   * as it was answered; null where nobody knows whether it was made.
   */
  repeat(id: string, status: number | null): Promise<Answer>
}

/** A route calls it so: `once({ headers, caller, path, body, make, repeat })`. */
export type Once = ReturnType<typeof createIdempotency>['run']

interface Needs extends Pick<Ground, 'clock' | 'secret'> {
  stores: { idempotency: IdempotencyStore }
}

const KEPT_MS = 24 * 3_600_000
/** Longer than an operation takes; then another caller takes over. */
const HELD_MS = 60_000
const WAIT_MS = 20_000
const KEY = /^[\x21-\x7e]{1,255}$/

export function createIdempotency({ secret, clock, stores }: Needs) {
  const store = stores.idempotency
  const forgotten = () => new Date(clock.now().getTime() - KEPT_MS)

  /** Keyed: a body may hold a password, and a plain hash of it could be guessed. */
  function hashesOf({ caller, path, body }: RepeatableCall<unknown>, key: string): IdempotentCall {
    return {
      hash: secret.tag('idempotency key', caller.type, caller.id ?? '', key),
      requestHash: secret.tag('idempotent request', path, JSON.stringify(inOrder(body))),
    }
  }

  async function make<Answer extends { status: number }>(
    { hash }: IdempotentCall,
    { holder, madeId, isTakenOver }: Claim,
    operation: RepeatableCall<Answer>,
  ): Promise<Answer> {
    const keep = (id: string | null, { status }: Answer) =>
      store.finish(hash, holder, { id, status }, clock.now())
    const before = isTakenOver ? await whatIsThere(operation, madeId) : null
    if (before !== null) {
      await keep(madeId, before)
      return before
    }
    try {
      const { id, answer } = await operation.make(madeId)
      await keep(id, answer)
      return answer
    } catch (error) {
      // It is not known after anything else what was made. A later call with the same key looks first, and at once,
      // unless the database is away, which may still be at work.
      if (error instanceof AppError) await store.release(hash, holder)
      else if (!isUnavailable(error) && !isUnavailable((error as Error | null)?.cause))
        await store.abandon(hash, holder, clock.now())
      throw error
    }
  }

  /** Waits for the call that is under way. It returns null if the call failed, so that it is the next one's turn. */
  async function wait(call: IdempotentCall): Promise<KeptAnswer | null> {
    const endsAt = performance.now() + WAIT_MS
    for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, 250)) {
      const kept = await store.find(call.hash, forgotten())
      if (kept && !Buffer.from(kept.requestHash).equals(call.requestHash))
        throw new AppError('idempotency_key_reused')
      if (kept === null || kept.answeredAt !== null) return kept
      if (performance.now() > endsAt) throw new AppError('unavailable', { cause: 'idempotency' })
      await new Promise((done) => setTimeout(done, pauseMs))
    }
  }

  return {
    /** Refuses a key that another request has used, and a call behind one that takes too long. */
    async run<Answer extends { status: number }>(call: RepeatableCall<Answer>): Promise<Answer> {
      const key = call.headers['idempotency-key']
      if (key === undefined) return (await call.make(crypto.randomUUID())).answer
      if (!KEY.test(key))
        throw new AppError('validation_failed', {
          fields: [{ field: 'idempotency_key', code: 'invalid_value' }],
        })
      const hashes = hashesOf(call, key)
      for (;;) {
        const now = clock.now()
        const claim = await store.claim(hashes, new Date(now.getTime() + HELD_MS), forgotten(), now)
        if (claim !== null) return make(hashes, claim, call)
        const kept = await wait(hashes)
        if (kept !== null) return call.repeat(kept.madeId ?? '', kept.status)
      }
    },
  }
}

/** It returns null where it is not there. */
async function whatIsThere<Answer>(operation: RepeatableCall<Answer>, id: string): Promise<Answer | null> {
  try {
    return await operation.repeat(id, null)
  } catch (error) {
    if (error instanceof AppError && errorStatus[error.errorCode] === 404) return null
    throw error
  }
}

/** Two bodies that say the same are the same. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, inOrder(inner)]),
  )
}
