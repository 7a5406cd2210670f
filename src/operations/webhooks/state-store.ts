/** The state of endpoints as administration shows and changes it, whoever holds them. The tables are those of store.ts. */
import { sql } from 'drizzle-orm'
import type { NewEvent } from '../../domain/foundation/events/event.ts'
import { changeAndRecord } from '../../domain/foundation/events/event-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { events, webhookEndpoints, webhookRetries } from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'
import { daysBefore } from '../../platform/postgres/sweep.ts'
import type { EventType } from '../../texts/event-types.ts'

/** `untoldAt`: when the first event happened that the endpoint was not told yet. */
const state = defineStatement({
  name: 'webhooks.state',
  params: { name: 'text', types: 'text' },
  row: {
    untoldAt: 'timestamptz?',
    setAside: 'int',
    givenUp: 'int',
    lastAcceptedAt: 'timestamptz?',
    awaySince: 'timestamptz?',
  },
  sql: (p) => sql`
  select (select created_at from ${events}
           where id > position and type in (select jsonb_array_elements_text(${p.types}::jsonb))
           order by id limit 1) as untold_at,
         (select count(*)::int from ${webhookRetries} where endpoint = name and due_at is not null) as set_aside,
         (select count(*)::int from ${webhookRetries} where endpoint = name and due_at is null) as given_up,
         last_accepted_at, away_since
    from ${webhookEndpoints} where name = ${p.name}`,
})

const waiting = defineStatement({
  name: 'webhooks.waiting',
  params: { name: 'text', after: 'bigint?', limit: 'int' },
  row: { id: 'bigint', type: 'text?', attempts: 'int', dueAt: 'timestamptz?', lastFailure: 'text?' },
  sql: (p) => sql`
  select event_id as id, type, attempts, due_at, last_failure
    from ${webhookRetries} left join ${events} on id = event_id
   where endpoint = ${p.name} and (${p.after} is null or event_id < ${p.after})
   order by event_id desc limit ${p.limit}`,
})

const retry = defineStatement({
  name: 'webhooks.retry',
  params: { name: 'text', eventId: 'bigint?', now: 'timestamptz' },
  row: { count: 'int' },
  sql: (p) => sql`
  with due as (
    update ${webhookRetries} set due_at = ${p.now}
     where endpoint = ${p.name} and (${p.eventId} is null or event_id = ${p.eventId}) returning 1)
  select count(*)::int as count from due`,
})

/** What was set aside behind the new position comes from the log again. */
const replay = defineStatement({
  name: 'webhooks.replay',
  params: { name: 'text', position: 'bigint?' },
  row: { name: 'text' },
  sql: (p) => sql`
  with moved as (
    update ${webhookEndpoints} set position = least(position, ${p.position})
     where name = ${p.name} returning name, position),
  again as (
    delete from ${webhookRetries} using moved where endpoint = moved.name and event_id > moved.position)
  select name from moved`,
})

/** Endpoints that nobody held for a week, and what was set aside of events that are kept no longer. */
const sweep = defineStatement({
  name: 'webhooks.sweep',
  params: { names: 'text', before: 'timestamptz', limit: 'int' },
  row: { removed: 'int' },
  sql: (p) => sql`
  with forgotten as (
    delete from ${webhookEndpoints}
     where held_until < ${p.before} and name not in (select jsonb_array_elements_text(${p.names}::jsonb)) returning 1),
  old as materialized (
    select endpoint, event_id from ${webhookRetries}
     where event_id < (select min(id) from ${events}) limit ${p.limit}),
  gone as (
    delete from ${webhookRetries} using old
     where ${webhookRetries}.endpoint = old.endpoint and ${webhookRetries}.event_id = old.event_id returning 1)
  select ((select count(*) from forgotten) + (select count(*) from gone))::int as removed`,
})

const FORGOTTEN_DAYS = 7

export type WebhookStateStore = ReturnType<typeof createWebhookStateStore>

export function createWebhookStateStore(database: Database) {
  return {
    /** It is null where no process has stored the endpoint yet. */
    find: (name: string, types: readonly EventType[]) =>
      database.first(state, { name, types: JSON.stringify(types) }),
    /** What is set aside or given up, the newest event first. */
    waiting: (name: string, after: number | null, limit: number) =>
      database.all(waiting, { name, after, limit }),
    /** All of it, or one event, is due at once, given up or not; returns how many. */
    async retry(name: string, eventId: number | null, now: Date): Promise<number> {
      const found = await changeAndRecord(database, retry, { name, eventId, now }, now, ({ count }) => {
        const data = { webhook: name, events: count, ...(eventId !== null && { event: eventId }) }
        return count === 0 ? [] : { type: 'webhook.retried', account: null, data }
      })
      return found!.count
    },
    /** The position goes back to this one, unless it is behind it already (null: as it is). */
    async replay(name: string, position: number | null, since: Date, now: Date): Promise<void> {
      const data = { webhook: name, since: since.toISOString() }
      const event: NewEvent = { type: 'webhook.replayed', account: null, data }
      await changeAndRecord(database, replay, { name, position }, now, () => event)
    },
    /** `names`: those of the configuration. */
    sweep: async (names: string[], now: Date, limit: number): Promise<number> => {
      const before = daysBefore(now, FORGOTTEN_DAYS)
      return (await database.first(sweep, { names: JSON.stringify(names), before, limit }))!.removed
    },
  }
}
