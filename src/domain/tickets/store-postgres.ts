/**
 * Tickets in PostgreSQL: unlogged table `tickets` (a crash of the server forgets them), until swept after
 * `expires_at`. One statement a method.
 */
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { tickets } from '../../platform/postgres/schema.ts'
import { createSweep } from '../../platform/postgres/sweep.ts'
import type { TicketStore } from './store.ts'

type TicketRow = { value: Record<string, unknown> }

const key = param('key', 'text')
const now = param('now', 'timestamptz')

const put = statement<{ key: string; value: string; expiresAt: Date }>(sql`
  insert into ${tickets} (key, value, expires_at)
  values (${key}, ${param('value', 'text')}::jsonb, ${param('expiresAt', 'timestamptz')})
  on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at`)

const find = statement<{ key: string; now: Date }, TicketRow>(sql`
  select value from ${tickets} where key = ${key} and expires_at > ${now}`)

const take = statement<{ key: string; now: Date }, TicketRow>(sql`
  delete from ${tickets} where key = ${key} and expires_at > ${now} returning value`)

const remove = statement<{ key: string }>(sql`delete from ${tickets} where key = ${key}`)

const sweep = createSweep<{ now: Date }>({
  table: tickets,
  key: sql`key`,
  where: sql`expires_at <= ${now}`,
  order: sql`expires_at`,
})

export function createPostgresTicketStore(database: Database): TicketStore {
  return {
    put: async (name, value, expiresAt) => {
      await database.all(put, { key: name, value: JSON.stringify(value), expiresAt })
    },
    find: async (name, at) => (await database.first(find, { key: name, now: at }))?.value ?? null,
    take: async (name, at) => (await database.first(take, { key: name, now: at }))?.value ?? null,
    remove: async (name) => {
      await database.all(remove, { key: name })
    },
    sweep: (at, limit) => sweep(database, { now: at, limit }),
  }
}
