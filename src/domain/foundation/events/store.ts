/**
 * The recorded events: reading them, and deleting old ones. Rooms record theirs with event-sql.ts. The tables are `events` (a
 * trigger allows inserts only, except by the function that housekeeping calls) and `event_details` (addresses,
 * devices and counts of failures, which are deleted earlier).
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { retryConflicts, violates } from '../../../platform/postgres/failure.ts'
import { eventDetails, events } from '../../../platform/postgres/schema.ts'
import {
  column,
  defineStatement,
  type Placeholders,
  pick,
  type RowOf,
  type ValuesOf,
} from '../../../platform/postgres/statement.ts'
import { daysBefore } from '../../../platform/postgres/sweep.ts'
import { type Actor, type CountedType, type EventType, failureTypes, type NewEvent } from './event.ts'
import type { EventData } from './event-data-schema.ts'
import { recordEvents } from './event-sql.ts'

export interface EventFilter {
  account?: string | undefined
  /** Events of any of these types. */
  types?: readonly string[] | undefined
  /** The ids of actors: events of any of them. */
  actors?: readonly string[] | undefined
  actorType?: Actor['type'] | undefined
  since?: Date | undefined
  /** Only events before this time. */
  until?: Date | undefined
}

/** Failures of one kind, in one hour, from one address, since the last write. */
export interface GatheredFailures {
  type: CountedType
  account: string | null
  /** It is null if the account itself acted. */
  actor: Actor | null
  address: string | null
  count: number
  at: Date
}

/** `types`, `actors`: JSON. `type`: where there is one alone, by whose index it is found. */
const filterParamTypes = {
  type: 'text?',
  types: 'text?',
  actors: 'text?',
  actorType: 'text?',
  since: 'timestamptz?',
  until: 'timestamptz?',
  limit: 'int',
} as const
type FilterParams = Omit<ValuesOf<typeof filterParamTypes>, 'limit'> & { account: string | null }

/**
 * The time of an event may lie so far behind that of one with a smaller id. Replicas' clocks differ, transactions take a
 * while, and failures are written a second later.
 */
const DISORDER = sql.raw(`interval '1 hour'`)

/**
 * An id before which all events are older than `since`; null without `since`. Bisection: each look reads one row by the
 * key, so that the events before are not read, however many they are.
 */
export const firstSince = (p: Placeholders<'since'>) => sql`(
  with recursive looked (low, high) as (
    select (select id from ${events} order by id limit 1), (select id + 1 from ${events} order by id desc limit 1)
     where ${p.since} is not null
    union all
    select case when is_older then middle.id + 1 else low end, case when is_older then high else (low + high) / 2 end
      from looked, lateral (
        select id, created_at < ${p.since} - ${DISORDER} as is_older from ${events}
         where id >= (low + high) / 2 order by id limit 1) middle
     where low < high)
  select max(low) from looked)`

/** The `select` keeps `since` from the planner, which would start parallel workers for the few rows that it expects. */
const filter = (p: Placeholders<keyof typeof filterParamTypes>) => sql`(${p.type} is null or type = ${p.type})
     and (${p.types} is null or type = any (array(select jsonb_array_elements_text(${p.types}::jsonb))))
     and (${p.actors} is null or actor_id = any (array(select jsonb_array_elements_text(${p.actors}::jsonb))))
     and (${p.actorType} is null or actor_type = ${p.actorType})
     and (${p.since} is null or created_at >= (select ${p.since})) and id >= coalesce(${firstSince(p)}, 0)
     and (${p.until} is null or created_at < ${p.until})`

const columns = sql`id, type, created_at, outcome, account, actor_type, actor_id, actor_name, session_id, request_id,
         data::text as data, address, device, count`

const read = (p: Placeholders<keyof typeof filterParamTypes>, condition: SQL, order: SQL) => sql`
  select ${columns} from (
    select * from ${events} where ${condition} and ${filter(p)} order by ${order} limit ${p.limit}) event
    left join ${eventDetails} on event_id = id
   order by ${order}`

const isBefore = (p: Placeholders<'before'>) => sql`(${p.before} is null or id < ${p.before})`
const eventRow = {
  id: 'bigint',
  type: column<EventType>('text'),
  createdAt: 'timestamptz',
  outcome: column<'success' | 'failure'>('text'),
  account: 'uuid?',
  actorType: column<Actor['type']>('text'),
  actorId: 'text?',
  actorName: 'text?',
  sessionId: 'uuid?',
  requestId: 'text?',
  data: 'text',
  address: 'text?',
  device: 'text?',
  count: 'int?',
} as const

const listAll = defineStatement({
  name: 'events.list_all',
  params: { before: 'bigint?', ...filterParamTypes },
  row: eventRow,
  sql: (p) => read(p, isBefore(p), sql`id desc`),
})
/** A statement of its own, whose plan uses the index of the account. */
const listOfAccount = defineStatement({
  name: 'events.list_of_account',
  params: {
    account: 'uuid?',
    before: 'bigint?',
    ...filterParamTypes,
  },
  row: eventRow,
  sql: (p) => read(p, sql`account = ${p.account} and ${isBefore(p)}`, sql`id desc`),
})

const follow = defineStatement({
  name: 'events.follow',
  params: { after: 'bigint', upTo: 'bigint', account: 'uuid?', ...filterParamTypes },
  row: eventRow,
  sql: (p) =>
    read(
      p,
      sql`id > ${p.after} and id <= ${p.upTo} and (${p.account} is null or account = ${p.account})`,
      sql`id`,
    ),
})

const news = defineStatement({
  name: 'events.news',
  params: { after: 'bigint', upTo: 'bigint', limit: 'int' },
  row: pick(eventRow, 'id', 'type', 'account', 'actorType', 'actorId', 'createdAt'),
  sql: (p) => sql`
  select id, type, account, actor_type, actor_id, created_at from ${events}
   where id > ${p.after} and id <= ${p.upTo} order by id limit ${p.limit}`,
})

export type NewsOfEvent = RowOf<typeof news>

const idSince = defineStatement({
  name: 'events.id_since',
  params: { since: 'timestamptz' },
  row: { id: 'bigint?' },
  sql: (p) => sql`
  select min(id) as id from ${events}
   where id >= coalesce(${firstSince(p)}, 0) and created_at >= (select ${p.since})`,
})

const lastId = defineStatement({
  name: 'events.last_id',
  row: { lastId: 'bigint' },
  sql: () => sql`
  select coalesce(pg_sequence_last_value(pg_get_serial_sequence('events', 'id')::regclass), 0) as last_id`,
})

/** An insert takes this lock before it draws an id, and its transaction gives it back when it has ended. */
const openWriters = defineStatement({
  name: 'events.open_writers',
  row: { writer: 'text' },
  sql: () => sql`
  select distinct virtualtransaction as writer from pg_locks
   where locktype = 'relation' and relation = 'events'::regclass and mode = 'RowExclusiveLock'
     and database = (select oid from pg_database where datname = current_database())`,
})

/** The failures of one account, type, hour and address group share one key, and one event with a count. */
const addFailures = defineStatement({
  name: 'events.add_failures',
  params: { failures: 'text' },
  sql: (p) => sql`
  with gathered as materialized (
    select * from jsonb_to_recordset(${p.failures}::jsonb) as failure (
           key text, type text, outcome text, account uuid, actor_type text, actor_id text, actor_name text, address text,
           count int, at timestamptz)),
  counted as (
    update ${eventDetails} set count = ${eventDetails}.count + gathered.count
      from gathered where failure_key = gathered.key
    returning failure_key),
  fresh as materialized (
    select nextval(pg_get_serial_sequence('events', 'id')) as id, gathered.* from gathered
     where key not in (select failure_key from counted)),
  written as (
    insert into ${events} (id, type, outcome, created_at, account, actor_type, actor_id, actor_name, data)
    overriding system value
    select id, type, outcome, at, account, actor_type, actor_id, actor_name, '{}' from fresh)
  insert into ${eventDetails} (event_id, address, count, failure_key)
  select id, address, count, key from fresh`,
})

const sweep = defineStatement({
  name: 'events.sweep',
  params: { before: 'timestamptz', limit: 'int' },
  row: { removed: 'int' },
  sql: (p) => sql`select sweep_events(${p.before}, ${p.limit}) as removed`,
})

/** The count of failures stays with its event; everything else is deleted. */
const sweepDetails = defineStatement({
  name: 'events.sweep_details',
  params: { before: 'timestamptz', limit: 'int' },
  row: { removed: 'int' },
  sql: (p) => sql`
  with old as materialized (
    select event_id, count from ${eventDetails} join ${events} on id = event_id
     where (address is not null or device is not null) and created_at < ${p.before}
     order by event_id limit ${p.limit}),
  emptied as (
    update ${eventDetails} set address = null, device = null, failure_key = null from old
     where ${eventDetails}.event_id = old.event_id and old.count is not null returning 1),
  gone as (
    delete from ${eventDetails} using old
     where ${eventDetails}.event_id = old.event_id and old.count is null returning 1)
  select ((select count(*) from emptied) + (select count(*) from gone))::int as removed`,
})

interface Retention {
  retentionSeconds: number
  addressRetentionSeconds: number
}

export type EventStore = ReturnType<typeof createEventStore>

export function createEventStore(database: Database, retention: Retention) {
  const sweepBefore = (query: typeof sweep, seconds: number) => async (now: Date, limit: number) =>
    (await database.first(query, { before: daysBefore(now, seconds / 86_400), limit }))?.removed ?? 0
  return {
    /** Events that change no row, such as looking at an account. */
    add: (recorded: NewEvent[], at: Date): Promise<void> => recordEvents(database, recorded, at),
    /** Newest first: the events before the one with this id (null: from the newest one). */
    async list(wanted: EventFilter, before: number | null, limit: number): Promise<StoredEvent[]> {
      const query = wanted.account === undefined ? listAll : listOfAccount
      return (await database.all(query, { ...filterParams(wanted), before, limit })).map(toEvent)
    },
    /** Oldest first: the events after the one with this id, up to the one with the other. */
    follow: async (wanted: EventFilter, after: number, upTo: number, limit: number): Promise<StoredEvent[]> =>
      (await database.all(follow, { ...filterParams(wanted), after, upTo, limit })).map(toEvent),
    /** The same for everybody, without what a filter does not look at. */
    news: (after: number, upTo: number, limit: number) => database.all(news, { after, upTo, limit }),
    /** The id of the first event since then; null where there is none. */
    idSince: async (since: Date): Promise<number | null> =>
      (await database.first(idSince, { since }))?.id ?? null,
    /** The last id that any transaction has drawn, committed or not; 0 before the first one. */
    lastId: async (): Promise<number> => (await database.first(lastId, {}))?.lastId ?? 0,
    /**
     * The transactions that are open now and may have drawn an id. A transaction that is not among them and draws an id
     * later draws a greater one than `lastId` returned before. One that has drawn an id and is not among them has ended,
     * and every later statement sees what it committed.
     */
    openWriters: async () => (await database.all(openWriters, {})).map(({ writer }) => writer),
    /** Adds to the count of this hour, or writes its event; lists of people are counted in the same way. */
    async addFailures(failures: GatheredFailures[]): Promise<void> {
      const rows = JSON.stringify(
        failures.map(({ actor, ...failure }) => ({
          ...failure,
          actor_type: actor?.type ?? 'account',
          actor_id: actor?.id ?? failure.account,
          actor_name: actor?.name ?? null,
          outcome: outcomeOf(failure),
          key: keyOf({ actor, ...failure }),
        })),
      )
      const write = () => database.all(addFailures, { failures: rows })
      // Another replica wrote the event of this hour first: then the count is added to its event.
      await retryConflicts(write).catch((error) => {
        if (!violates(error, 'event_details_failure_key')) throw error
        return write()
      })
    },
    sweep: sweepBefore(sweep, retention.retentionSeconds),
    /** Deletes addresses and devices. */
    sweepDetails: sweepBefore(sweepDetails, retention.addressRetentionSeconds),
  }
}

const filterParams = ({ account, types, actors, actorType, since, until }: EventFilter): FilterParams => ({
  account: account ?? null,
  type: types?.length === 1 ? types[0]! : null,
  types: types === undefined || types.length === 1 ? null : JSON.stringify(types),
  actors: actors === undefined ? null : JSON.stringify(actors),
  actorType: actorType ?? null,
  since: since ?? null,
  until: until ?? null,
})

const outcomeOf = ({ type }: Pick<GatheredFailures, 'type'>) =>
  (failureTypes as readonly string[]).includes(type) ? 'failure' : 'success'

const keyOf = ({ type, account, actor, address, at }: Omit<GatheredFailures, 'count'>) =>
  `${at.toISOString().slice(0, 13)} ${type} ${account ?? actor?.id ?? '-'} ${address ?? '-'}`

function toEvent({ actorType, actorId, actorName, data, count, ...row }: ValuesOf<typeof eventRow>) {
  return {
    ...row,
    actor: { type: actorType, id: actorId, name: actorName },
    data: { ...JSON.parse(data), ...(count !== null && { count }) } as EventData,
  }
}

export type StoredEvent = ReturnType<typeof toEvent>
