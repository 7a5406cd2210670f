/**
 * Tables `events` (inserts only: a trigger refuses everything else, but for the function that housekeeping calls) and
 * `event_details` (addresses, devices and counts of failures, which go earlier): see store.ts.
 */
import { type SQL, sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { retryDeadlocks, violates } from '../../platform/postgres/failure.ts'
import { eventDetails, events } from '../../platform/postgres/schema.ts'
import { daysBefore } from '../../platform/postgres/sweep.ts'
import { type Actor, failureTypes, type StoredEvent } from './event.ts'
import { recordEvents } from './event-sql.ts'
import type { EventFilter, EventStore, GatheredFailures } from './store.ts'

type FilterParams = { account: string | null; type: string | null; actor: string | null; since: Date | null }
type EventRow = Omit<StoredEvent, 'actor' | 'data'> & {
  actorType: Actor['type']
  actorId: string | null
  actorName: string | null
  data: string
  count: number | null
}

const filter = sql`(${param('type', 'text')} is null or type = ${param('type', 'text')})
     and (${param('actor', 'text')} is null or actor_id = ${param('actor', 'text')})
     and (${param('since', 'timestamptz')} is null or created_at >= ${param('since', 'timestamptz')})`

const columns = sql`id, type, created_at, outcome, account, actor_type, actor_id, actor_name, session_id, request_id,
         data::text as data, address, device, count`

const read = (condition: SQL, order: SQL) => sql`
  select ${columns} from (
    select * from ${events} where ${condition} and ${filter} order by ${order} limit ${param('limit', 'int')}) event
    left join ${eventDetails} on event_id = id
   order by ${order}`

const before = sql`(${param('before', 'bigint')} is null or id < ${param('before', 'bigint')})`

type ListParams = FilterParams & { before: number | null; limit: number }
const listAll = statement<ListParams, EventRow>(read(before, sql`id desc`))
/** A statement of its own, whose plan uses the index of the account. */
const listOfAccount = statement<ListParams, EventRow>(
  read(sql`account = ${param('account', 'uuid')} and ${before}`, sql`id desc`),
)

const follow = statement<FilterParams & { after: number; limit: number }, EventRow>(
  read(
    sql`transaction < pg_snapshot_xmin(pg_current_snapshot())
     and (transaction, id) > (
           coalesce((select transaction from ${events} where id = ${param('after', 'bigint')}), '0'::xid8),
           ${param('after', 'bigint')})
     and (${param('account', 'uuid')} is null or account = ${param('account', 'uuid')})`,
    sql`transaction, id`,
  ),
)

/** Failures of one account, type and address group in one hour have one key, and one event with a count. */
const addFailures = statement<{ failures: string }>(sql`
  with gathered as materialized (
    select * from jsonb_to_recordset(${param('failures', 'text')}::jsonb) as failure (
           key text, type text, outcome text, account uuid, address text, count int, at timestamptz)),
  counted as (
    update ${eventDetails} set count = ${eventDetails}.count + gathered.count
      from gathered where failure_key = gathered.key
    returning failure_key),
  fresh as materialized (
    select nextval(pg_get_serial_sequence('events', 'id')) as id, gathered.* from gathered
     where key not in (select failure_key from counted)),
  written as (
    insert into ${events} (id, type, outcome, created_at, account, actor_type, actor_id, data)
    overriding system value
    select id, type, outcome, at, account, case when account is null then 'system' else 'account' end,
           account::text, '{}' from fresh)
  insert into ${eventDetails} (event_id, address, count, failure_key)
  select id, address, count, key from fresh`)

const adoptRestored = statement<object, { adopted: number }>(sql`select adopt_restored_events() as adopted`)

const sweep = statement<{ before: Date; limit: number }, { removed: number }>(
  sql`select sweep_events(${param('before', 'timestamptz')}, ${param('limit', 'int')}) as removed`,
)

/** The count of failures stays with its event; nothing else does. */
const sweepDetails = statement<{ before: Date; limit: number }, { removed: number }>(sql`
  with old as materialized (
    select event_id, count from ${eventDetails} join ${events} on id = event_id
     where (address is not null or device is not null) and created_at < ${param('before', 'timestamptz')}
     order by event_id limit ${param('limit', 'int')}),
  emptied as (
    update ${eventDetails} set address = null, device = null from old
     where ${eventDetails}.event_id = old.event_id and old.count is not null returning 1),
  gone as (
    delete from ${eventDetails} using old
     where ${eventDetails}.event_id = old.event_id and old.count is null returning 1)
  select ((select count(*) from emptied) + (select count(*) from gone))::int as removed`)

interface Retention {
  retentionSeconds: number
  addressRetentionSeconds: number
}

export function createEventStore(database: Database, retention: Retention): EventStore {
  const secondsBefore = (now: Date, seconds: number) => daysBefore(now, seconds / 86_400)
  return {
    add: (recorded, at) => recordEvents(database, recorded, at),
    async list(wanted, before, limit) {
      const query = wanted.account === undefined ? listAll : listOfAccount
      return (await database.all(query, { ...filterParams(wanted), before, limit })).map(toEvent)
    },
    follow: async (wanted, after, limit) =>
      (await database.all(follow, { ...filterParams(wanted), after, limit })).map(toEvent),
    async addFailures(failures) {
      const rows = JSON.stringify(
        failures.map((failure) => ({ ...failure, outcome: outcomeOf(failure), key: keyOf(failure) })),
      )
      const write = () => database.all(addFailures, { failures: rows })
      // Another replica wrote the event of this hour first: then the count is added to its event.
      await retryDeadlocks(write).catch((error) => {
        if (!violates(error, 'event_details_failure_key')) throw error
        return write()
      })
    },
    adoptRestored: async () => (await database.first(adoptRestored, {}))?.adopted ?? 0,
    async sweep(now, limit) {
      const params = { before: secondsBefore(now, retention.retentionSeconds), limit }
      return (await database.first(sweep, params))?.removed ?? 0
    },
    async sweepDetails(now, limit) {
      const params = { before: secondsBefore(now, retention.addressRetentionSeconds), limit }
      return (await database.first(sweepDetails, params))?.removed ?? 0
    },
  }
}

const filterParams = ({ account, type, actor, since }: EventFilter): FilterParams => ({
  account: account ?? null,
  type: type ?? null,
  actor: actor ?? null,
  since: since ?? null,
})

const outcomeOf = ({ type }: GatheredFailures) =>
  (failureTypes as readonly string[]).includes(type) ? 'failure' : 'success'

const keyOf = ({ type, account, address, at }: GatheredFailures) =>
  `${at.toISOString().slice(0, 13)} ${type} ${account ?? '-'} ${address ?? '-'}`

function toEvent({ actorType, actorId, actorName, data, count, ...row }: EventRow): StoredEvent {
  return {
    ...row,
    actor: { type: actorType, id: actorId, name: actorName },
    data: { ...JSON.parse(data), ...(count !== null && { count }) },
  }
}
