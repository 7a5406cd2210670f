/**
 * Counters in PostgreSQL: unlogged table `limits` (a crash of the server empties it), one row for each counter, its
 * state as in charge.ts, until swept after `expires_at`. The SQL function limits_charge (drizzle/0000_initial.sql) evaluates and
 * counts, so that a charge is one round trip however many counters it names.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { limits } from '../../../platform/postgres/schema.ts'
import { defineStatement, json } from '../../../platform/postgres/statement.ts'
import { createExpirySweep } from '../../../platform/postgres/sweep.ts'
import { type CounterState, foresee, normalizeCharges, waitMsOf, windowCount } from './charge.ts'
import type { Charge, LimitStore } from './store.ts'

const charge = defineStatement({
  name: 'limits.charge',
  params: { charges: 'text', nowMs: 'bigint' },
  row: { waitMs: 'bigint' },
  sql: (p) => sql`
  select limits_charge(${p.charges}::jsonb, ${p.nowMs}) as wait_ms`,
})

const chargeAndRead = defineStatement({
  name: 'limits.charge_and_read',
  params: { charges: 'text', nowMs: 'bigint' },
  row: { waitMs: 'bigint', states: json<Record<string, CounterState>>() },
  sql: (p) => sql`
  select wait_ms, states from limits_charge_and_read(${p.charges}::jsonb, ${p.nowMs})`,
})

const read = defineStatement({
  name: 'limits.read',
  params: { keys: 'text' },
  row: { key: 'text', state: json<CounterState>() },
  sql: ({ keys }) => sql`
  select key, state from ${limits} where key in (select jsonb_array_elements_text(${keys}::jsonb))`,
})

/** Rows are locked in the order of their keys, as limits_charge does, so that two callers cannot deadlock. */
const clear = defineStatement({
  name: 'limits.clear',
  params: { keys: 'text' },
  sql: (p) => sql`
  delete from ${limits} where key in (
    select key from ${limits}
     where key in (select jsonb_array_elements_text(${p.keys}::jsonb))
     order by key
       for update)`,
})

const clearBeginning = defineStatement({
  name: 'limits.clear_beginning',
  params: { beginning: 'text' },
  sql: (p) => sql`
  delete from ${limits} where key in (
    select key from ${limits} where starts_with(key, ${p.beginning}) order by key for update)`,
})

const sweep = createExpirySweep(limits, 'limits.sweep', sql`key`)

export function createPostgresLimitStore(database: Database): LimitStore {
  async function statesOf(keys: string[]): Promise<Map<string, CounterState>> {
    const rows = await database.all(read, { keys: JSON.stringify(keys) })
    return new Map(rows.map(({ key, state }) => [key, state]))
  }

  async function waitsOf(charges: Charge[], now: Date): Promise<number[]> {
    const states = await statesOf(charges.map(({ key }) => key))
    return charges.map(({ key, rule }) => waitMsOf(rule, states.get(key) ?? {}, now))
  }

  return {
    charge: async (charges, now) => {
      if (charges.length === 0) return 0
      const text = JSON.stringify(normalizeCharges(charges))
      const row = await database.first(charge, { charges: text, nowMs: now.getTime() })
      if (row === null) throw new Error('limits_charge gave no answer')
      return row.waitMs
    },
    chargeAndForesee: async (charges, now) => {
      const text = JSON.stringify(normalizeCharges(charges))
      const row = await database.first(chargeAndRead, { charges: text, nowMs: now.getTime() })
      return { waitMs: row!.waitMs, nextMs: foresee(row!.states) }
    },
    countOf: async (key, now) => windowCount((await statesOf([key])).get(key) ?? {}, now),
    waitsOf,
    findRefusing: async (charges, now) =>
      charges[(await waitsOf(charges, now)).findIndex((ms) => ms > 0)] ?? null,
    clear: async (keys) => {
      if (keys.length > 0) await database.run(clear, { keys: JSON.stringify(keys) })
    },
    clearBeginning: (beginning) => database.run(clearBeginning, { beginning }),
    sweep: (now, limit) => sweep(database, { now, limit }),
  }
}
