/**
 * The SQL by which other rooms record events: in the statement or the transaction of the change that they record. The
 * actor and the address are taken from the current request.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { retryConflicts } from '../../../platform/postgres/failure.ts'
import { eventDetails, events } from '../../../platform/postgres/schema.ts'
import {
  defineStatement,
  type Placeholders,
  type Statement,
  type ValuesOf,
} from '../../../platform/postgres/statement.ts'
import { currentRequest } from '../../../platform/request-context.ts'
import type { Actor, EventType, NewEvent } from './event.ts'

/** The parameters of events; `eventParams` makes their values. `events`: JSON. */
export const eventParamTypes = {
  events: 'text',
  eventAddress: 'text?',
  eventDevice: 'text?',
  eventRequestId: 'text?',
  eventAt: 'timestamptz',
} as const

const eventDetailsCte = (address: SQL, device: SQL): SQL => sql`detailed as (
    insert into ${eventDetails} (event_id, address, device)
    select id, ${address}, ${device} from recorded
     where ${address} is not null or ${device} is not null)`

/**
 * Two CTEs that write the events of `eventParams` once for each row of `source`, a CTE of the caller's statement:
 * `with changed as (…), ${eventCtes(p, sql`changed`)} select …`.
 */
export const eventCtes = (p: Placeholders<keyof typeof eventParamTypes>, source: SQL) => sql`
  recorded as (
    insert into ${events} (type, outcome, created_at, account, actor_type, actor_id, actor_name, session_id, request_id, data)
    select event.type, 'success', ${p.eventAt}, event.account, event.actor_type, event.actor_id,
           event.actor_name, event.session_id, ${p.eventRequestId}, event.data
      from ${source} cross join jsonb_to_recordset(${p.events}::jsonb) as event (
           type text, account uuid, actor_type text, actor_id text, actor_name text, session_id uuid, data jsonb)
    returning id),
  ${eventDetailsCte(p.eventAddress, p.eventDevice)}`

/** The parameters of `eventOfEach`: who acts, in which request, from where. `eventOrigin` makes their values. */
export const eventOriginTypes = {
  originType: 'text?',
  originId: 'text?',
  originName: 'text?',
  originRequestId: 'text?',
  originAddress: 'text?',
  originDevice: 'text?',
} as const
export type EventOriginParam = keyof typeof eventOriginTypes

/**
 * Two CTEs that write an event for each of `rows`, a part of a query that begins behind `from`. `values` are the account's uuid,
 * the session's id and the data of a row. Without an actor of the request it is the account itself.
 */
export const eventOfEach = (
  p: Placeholders<EventOriginParam | 'now'>,
  type: EventType | SQL,
  { account, session, data }: { account: SQL; session: SQL; data: SQL },
  rows: SQL,
): SQL => sql`
  recorded as (
    insert into ${events} (type, outcome, created_at, account, actor_type, actor_id, actor_name, session_id, request_id, data)
    select ${typeof type === 'string' ? sql.raw(`'${type}'`) : type}, 'success', ${p.now}, ${account}, coalesce(${p.originType}, 'account'),
           case when ${p.originType} is null then ${account}::text else ${p.originId} end, ${p.originName},
           ${session}, ${p.originRequestId}, ${data}
      from ${rows}
    returning id),
  ${eventDetailsCte(p.originAddress, p.originDevice)}`

export function eventOrigin(): ValuesOf<typeof eventOriginTypes> {
  const { actor, requestId, address, deviceName } = currentRequest() ?? {}
  return {
    originType: actor?.type ?? null,
    originId: actor?.id ?? null,
    originName: actor?.name ?? null,
    originRequestId: requestId ?? null,
    originAddress: address ?? null,
    originDevice: deviceName ?? null,
  }
}

/** A CTE that deletes the addresses and devices in the events of the accounts in `gone`. */
export const forgetEventDetails = (gone: SQL): SQL => sql`
  forgotten as (${deleteEventDetails(sql`${events}.account = ${gone}.uuid and event_id = ${events}.id`, sql`${events}, ${gone}`)})`

const deleteEventDetails = (where: SQL, source: SQL): SQL =>
  sql`delete from ${eventDetails} using ${source} where ${where}`

/** Of an account that is erased. */
export const forgetDetails = defineStatement({
  name: 'events.forget_details',
  params: { account: 'uuid' },
  sql: (p) =>
    deleteEventDetails(sql`${events}.account = ${p.account} and event_id = ${events}.id`, sql`${events}`),
})

const record = defineStatement({
  name: 'events.record',
  params: eventParamTypes,
  sql: (p) => sql`with here as (select 1), ${eventCtes(p, sql`here`)} select 1 from recorded`,
})

/** `device`: if it is not the device of the request's session. */
export function eventParams(recorded: NewEvent[], at: Date, { device }: { device?: string | null } = {}) {
  const request = currentRequest()
  // Nothing about the person remains after an erasure, the address of their last call included.
  const isErasure = recorded.some(({ type }) => type === 'account.erased')
  return {
    events: JSON.stringify(
      recorded.map(({ type, account, sessionId = request?.sessionId ?? null, actor: given, data = {} }) => {
        const actor = given ?? request?.actor ?? actorOf(account)
        return {
          type,
          account,
          actor_type: actor.type,
          actor_id: actor.id,
          actor_name: actor.name,
          session_id: sessionId,
          data,
        }
      }),
    ),
    eventAddress: isErasure ? null : (request?.address ?? null),
    eventDevice: isErasure ? null : device === undefined ? (request?.deviceName ?? null) : device,
    eventRequestId: request?.requestId ?? null,
    eventAt: at,
  }
}

const actorOf = (account: string | null): Actor =>
  account === null ? { type: 'system', id: null, name: null } : { type: 'account', id: account, name: null }

/** Records events in the caller's transaction. */
export async function recordEvents(executor: Executor, recorded: NewEvent[], at: Date): Promise<void> {
  if (recorded.length > 0) await executor.run(record, eventParams(recorded, at))
}

/** Runs a statement and, if it returns a row, records the events of this row, in the caller's transaction. */
export async function changeWithEvents<Params extends object, Row extends object>(
  transaction: Executor,
  change: Statement<Params, Row>,
  params: Params,
  at: Date,
  eventsOf: (row: Row) => NewEvent | NewEvent[],
): Promise<Row | null> {
  const row = await transaction.first(change, params)
  if (row !== null) await recordEvents(transaction, [eventsOf(row)].flat(), at)
  return row
}

/** The same in a transaction of its own: both or neither. */
export function changeAndRecord<Params extends object, Row extends object>(
  database: Database,
  change: Statement<Params, Row>,
  params: Params,
  at: Date,
  eventsOf: (row: Row) => NewEvent | NewEvent[],
): Promise<Row | null> {
  return retryConflicts(() =>
    database.transaction((transaction) => changeWithEvents(transaction, change, params, at, eventsOf)),
  )
}
