/**
 * Numbers for the first screen of administration: PostgreSQL, in every storage shape. It counts over `accounts`,
 * `events`, `messages` and `two_factor_removals`.
 */

import { sql } from 'drizzle-orm'
import type { EventType } from '../../domain/foundation/events/event.ts'
import { DECOYS_LANE, type OutboxChannel } from '../../domain/messages/outbox/message.ts'
import type { Database } from '../../platform/postgres/database.ts'
import {
  accounts,
  eventDetails,
  events,
  messages,
  twoFactorRemovals,
} from '../../platform/postgres/schema.ts'
import { column, defineStatement, type RowOf } from '../../platform/postgres/statement.ts'
import { type MessageState, messageState } from '../message-log/store.ts'

const countAccounts = defineStatement({
  name: 'overview.count_accounts',
  params: {},
  row: { total: 'int', confirmed: 'int', locked: 'int' },
  sql: () => sql`
  select count(*)::int as total, count(account_confirmed_at)::int as confirmed, count(locked_at)::int as locked
    from ${accounts}`,
})

const countEvents = defineStatement({
  name: 'overview.count_events',
  params: { types: 'text', since: 'timestamptz' },
  row: { hour: 'timestamptz', type: column<EventType>('text'), count: 'int' },
  sql: (p) => sql`
  select date_trunc('hour', created_at, 'UTC') as hour, type, sum(coalesce(detail.count, 1))::int as count
    from ${events} left join ${eventDetails} detail on event_id = id
   where created_at >= ${p.since} and type in (select jsonb_array_elements_text(${p.types}::jsonb))
   group by 1, 2`,
})

/** Finished ones and waiting ones have an index each. */
const countMessages = defineStatement({
  name: 'overview.count_messages',
  params: { since: 'timestamptz' },
  row: {
    hour: 'timestamptz',
    state: column<MessageState>('text'),
    channel: column<OutboxChannel>('text'),
    /** It is null for e-mail, and where no gateway took it. */
    gateway: 'text?',
    count: 'int',
  },
  sql: (p) => sql`
  select date_trunc('hour', created_at, 'UTC') as hour, ${messageState} as state, channel, gateway, count(*)::int as count
    from (select * from ${messages} where finished_at >= ${p.since}
          union all
          select * from ${messages} where finished_at is null) message
   where created_at >= ${p.since} and lane <> ${sql.raw(String(DECOYS_LANE))}
   group by 1, 2, 3, 4`,
})

const IS_NO_DECOY = sql`lane <> ${sql.raw(String(DECOYS_LANE))}`

const readWaiting = defineStatement({
  name: 'overview.read_waiting',
  params: {},
  row: { count: 'int', oldestAt: 'timestamptz?' },
  sql: () => sql`
  select count(*)::int as count, min(created_at) as oldest_at
    from ${messages} where finished_at is null and ${IS_NO_DECOY}`,
})

/** A message that was tried at several gateways has the cause of each in `detail`: `acme:401,other:timeout`. */
const lastErrors = defineStatement({
  name: 'overview.last_errors',
  params: { since: 'timestamptz' },
  row: {
    channel: column<OutboxChannel>('text'),
    gateway: 'text?',
    cause: 'text',
    at: 'timestamptz',
    reply: 'text?',
  },
  sql: (p) => sql`
  select distinct on (channel, 2) channel, case when one.cause like '%:%' then split_part(one.cause, ':', 1) end as gateway,
         one.cause, coalesce(finished_at, created_at) as at, reply
    from (select * from ${messages} where finished_at >= ${p.since}
          union all
          select * from ${messages} where finished_at is null) message,
         unnest(string_to_array(detail, ',')) as one (cause)
   where (outcome is null or outcome in ('refused', 'unknown', 'expired')) and ${IS_NO_DECOY}
   order by channel, 2, id desc`,
})

/** So many are told. */
const MOST_REMOVALS = 20

const listRemovals = defineStatement({
  name: 'overview.list_removals',
  params: {},
  row: { account: 'uuid', dueAt: 'timestamptz' },
  sql: () => sql`
  select uuid as account, due_at from ${twoFactorRemovals} join ${accounts} account on account.id = account_id
   order by due_at limit ${sql.raw(String(MOST_REMOVALS))}`,
})

export type EventsOfHour = RowOf<typeof countEvents>
export type MessagesOfHour = RowOf<typeof countMessages>

export type OverviewStore = ReturnType<typeof createOverviewStore>

export function createOverviewStore(database: Database) {
  return {
    countAccounts: async () => (await database.first(countAccounts, {}))!,
    /** Counts by the hour in which they happened; gathered failures count as often as they happened. */
    countEvents: (types: readonly EventType[], since: Date): Promise<EventsOfHour[]> =>
      database.all(countEvents, { types: JSON.stringify(types), since }),
    /** Messages that wait to be sent, and since when the oldest does. */
    readWaiting: async () => (await database.first(readWaiting, {}))!,
    /** The newest failure of each gateway and of the mail servers, of messages that were not sent after all. */
    lastErrors: (since: Date): Promise<RowOf<typeof lastErrors>[]> => database.all(lastErrors, { since }),
    /** The removals of two factors that wait, the next first. */
    listRemovals: (): Promise<RowOf<typeof listRemovals>[]> => database.all(listRemovals, {}),
    /** Counts messages by the hour in which they were queued. */
    countMessages: (since: Date): Promise<MessagesOfHour[]> => database.all(countMessages, { since }),
  }
}
