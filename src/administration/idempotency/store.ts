/**
 * The records that calls with an `Idempotency-Key` made; in PostgreSQL in every shape, for all replicas. The table is
 * `idempotency_keys`.
 */

import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Database } from '../../platform/postgres/database.ts'
import { idempotencyKeys } from '../../platform/postgres/schema.ts'
import { defineStatement, type RowOf } from '../../platform/postgres/statement.ts'
import { createAgeSweep, daysBefore } from '../../platform/postgres/sweep.ts'

export interface IdempotentCall {
  /** The hash of caller and key. */
  hash: Uint8Array
  /** The hash of path and body. */
  requestHash: Uint8Array
}

export interface Claim {
  holder: string
  /** The id that what is made is to have, where the operation can choose it. */
  madeId: string
  /** Another caller held it before, and was cut off: what it was to make may be there. */
  isTakenOver: boolean
}

/** A call that was forgotten begins anew; one that was cut off is taken over with the id that it had. */
const claim = defineStatement({
  name: 'idempotency.claim',
  params: {
    hash: 'bytea',
    requestHash: 'bytea',
    holder: 'uuid',
    madeId: 'text',
    heldUntil: 'timestamptz',
    forgotten: 'timestamptz',
    now: 'timestamptz',
  },
  row: { madeId: 'text', createdAt: 'timestamptz' },
  sql: (p) => sql`
  insert into ${idempotencyKeys} as kept (hash, request_hash, created_at, held_until, holder, made_id)
  values (${p.hash}, ${p.requestHash}, ${p.now}, ${p.heldUntil}, ${p.holder}, ${p.madeId})
  on conflict (hash) do update
     set holder = excluded.holder, held_until = excluded.held_until,
         request_hash = excluded.request_hash, answered_at = null, status = null,
         made_id = case when kept.created_at <= ${p.forgotten} then excluded.made_id else kept.made_id end,
         created_at = case when kept.created_at <= ${p.forgotten} then excluded.created_at else kept.created_at end
   where kept.created_at <= ${p.forgotten}
      or (kept.answered_at is null and kept.held_until <= ${p.now} and kept.request_hash = excluded.request_hash)
  returning made_id, created_at`,
})

const find = defineStatement({
  name: 'idempotency.find',
  params: { hash: 'bytea', forgotten: 'timestamptz' },
  /** `answeredAt` is null while the call is under way. */
  row: { requestHash: 'bytea', answeredAt: 'timestamptz?', status: 'int?', madeId: 'text?' },
  sql: (p) => sql`
  select request_hash, answered_at, status, made_id from ${idempotencyKeys}
   where hash = ${p.hash} and created_at > ${p.forgotten}`,
})

const finish = defineStatement({
  name: 'idempotency.finish',
  params: { hash: 'bytea', holder: 'uuid', madeId: 'text?', status: 'int', now: 'timestamptz' },
  sql: (p) => sql`
  update ${idempotencyKeys} set answered_at = ${p.now}, status = ${p.status}, made_id = ${p.madeId}
   where hash = ${p.hash} and holder = ${p.holder}`,
})

const release = defineStatement({
  name: 'idempotency.release',
  params: { hash: 'bytea', holder: 'uuid' },
  sql: (p) => sql`
  delete from ${idempotencyKeys} where hash = ${p.hash} and holder = ${p.holder} and answered_at is null`,
})

const abandon = defineStatement({
  name: 'idempotency.abandon',
  params: { hash: 'bytea', holder: 'uuid', now: 'timestamptz' },
  sql: (p) => sql`
  update ${idempotencyKeys} set held_until = ${p.now}
   where hash = ${p.hash} and holder = ${p.holder} and answered_at is null`,
})

const KEPT_DAYS = 1

const sweep = createAgeSweep(idempotencyKeys, 'idempotency.sweep', sql`hash`, sql`created_at`)

export type KeptAnswer = RowOf<typeof find>

export type IdempotencyStore = ReturnType<typeof createIdempotencyStore>

export function createIdempotencyStore(database: Database) {
  return {
    /**
     * Of any number of callers one gets the claim, until `heldUntil`. It returns null where somebody holds it, or where
     * it was answered; a key from before `forgotten` is free.
     */
    async claim(call: IdempotentCall, heldUntil: Date, forgotten: Date, now: Date): Promise<Claim | null> {
      const holder = randomUUID()
      const ownId = randomUUID()
      const params = { ...call, holder, madeId: ownId, heldUntil, forgotten, now }
      const row = await database.first(claim, params)
      return row && { holder, madeId: row.madeId, isTakenOver: row.madeId !== ownId }
    },
    find: (hash: Uint8Array, forgotten: Date): Promise<KeptAnswer | null> =>
      database.first(find, { hash, forgotten }),
    async finish(
      hash: Uint8Array,
      holder: string,
      { id, status }: { id: string | null; status: number },
      now: Date,
    ): Promise<void> {
      await database.all(finish, { hash, holder, madeId: id, status, now })
    },
    /** It failed, and made nothing. */
    async release(hash: Uint8Array, holder: string): Promise<void> {
      await database.all(release, { hash, holder })
    },
    /** It failed, and nobody knows what it made; it is not under way any more, and the next caller looks. */
    async abandon(hash: Uint8Array, holder: string, now: Date): Promise<void> {
      await database.all(abandon, { hash, holder, now })
    },
    sweep: (now: Date, limit: number) => sweep(database, { before: daysBefore(now, KEPT_DAYS), limit }),
  }
}
