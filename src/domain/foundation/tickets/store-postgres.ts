/**
 * Tickets in PostgreSQL: the unlogged table `tickets` (a crash of the server empties it), swept after `expires_at`. Each
 * method is one statement.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { tickets } from '../../../platform/postgres/schema.ts'
import { defineStatement, json } from '../../../platform/postgres/statement.ts'
import { createExpirySweep } from '../../../platform/postgres/sweep.ts'
import type { TicketStore } from './store.ts'

const row = { value: json<Record<string, unknown>>() }

const put = defineStatement({
  name: 'tickets.put',
  params: { key: 'text', value: 'text', expiresAt: 'timestamptz' },
  sql: (p) => sql`
  insert into ${tickets} (key, value, expires_at)
  values (${p.key}, ${p.value}::jsonb, ${p.expiresAt})
  on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at`,
})

const find = defineStatement({
  name: 'tickets.find',
  params: { key: 'text', now: 'timestamptz' },
  row,
  sql: (p) => sql`
  select value from ${tickets} where key = ${p.key} and expires_at > ${p.now}`,
})

const take = defineStatement({
  name: 'tickets.take',
  params: { key: 'text', now: 'timestamptz' },
  row,
  sql: (p) => sql`
  delete from ${tickets} where key = ${p.key} and expires_at > ${p.now} returning value`,
})

const sweep = createExpirySweep(tickets, 'tickets.sweep', sql`key`)

export function createPostgresTicketStore(database: Database): TicketStore {
  return {
    put: (name, value, expiresAt) =>
      database.run(put, { key: name, value: JSON.stringify(value), expiresAt }),
    find: async (name, at) => (await database.first(find, { key: name, now: at }))?.value ?? null,
    take: async (name, at) => (await database.first(take, { key: name, now: at }))?.value ?? null,
    sweep: (at, limit) => sweep(database, { now: at, limit }),
  }
}
