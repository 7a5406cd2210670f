/**
 * The outbox: table `messages` (logged; a row lives until it is finished and swept). Promises: a message is added in
 * the transaction, or the very statement, of what causes it; a claimed message is nobody else's until its lease
 * ends; what is finished stays finished. No row ever holds a code, only the seed the worker derives it from.
 */
import { type SQL, sql } from 'drizzle-orm'
import { type Database, type Executor, param } from '../../platform/postgres/database.ts'
import { messages } from '../../platform/postgres/schema.ts'
import { column, defineStatement, json, pick, rowOf } from '../../platform/postgres/statement.ts'
import { currentDeviceName, currentRequestId } from '../../platform/request-context.ts'
import type { CodePurpose } from '../codes/store.ts'
import type { CallerGroup } from '../limits/callers.ts'
import { type Channel, type NewMessage, NOBODY } from './message.ts'
import type { LaneRoom, MessageStore } from './store.ts'

/** The parameters `queueMessage` names, beside `now`; made by `messageParams`. */
export type MessageParams = {
  messageChannel: string
  messageDestination: string
  messagePurpose: string
  messageLanguage: string
  messageValues: Record<string, string>
  codeSubject: string | null
  codePurpose: CodePurpose | null
  codeGroup: CallerGroup
  codeSeed: Uint8Array | null
  messageLane: number
  messageRequestId: string | null
}

/** The lanes of the worker, by number: column `lane`. */
const LANES = { owner: 0, password: 0, stranger: 1 }
const NOBODYS_LANE = 2

/** A notice is the owner's. */
const laneOf = ({ destination, code }: Pick<NewMessage, 'destination' | 'code'>): number =>
  destination === NOBODY ? NOBODYS_LANE : LANES[code?.group ?? 'owner']

export function messageParams(message: NewMessage): MessageParams {
  return {
    messageChannel: message.channel,
    messageDestination: message.destination,
    messagePurpose: message.purpose,
    messageLanguage: message.language,
    messageValues: message.values ?? {},
    codeSubject: message.code?.subject ?? null,
    codePurpose: message.code?.purpose ?? null,
    codeGroup: message.code?.group ?? 'stranger',
    codeSeed: message.code?.seed ?? null,
    messageLane: laneOf(message),
    messageRequestId: currentRequestId(),
  }
}

export const messageRequestId = param('messageRequestId', 'text')
/** The lane of what a stranger caused. */
export const strangersLane = sql`${sql.raw(String(LANES.stranger))}`

/** Where each column comes from when it is not the parameter of `messageParams`, e.g. `sql`account.uuid``. */
export type MessageColumns = Partial<
  Record<
    | 'channel'
    | 'destination'
    | 'purpose'
    | 'language'
    | 'values'
    | 'codeSubject'
    | 'codePurpose'
    | 'codeGroup'
    | 'codeSeed'
    | 'accountUuid'
    | 'lane'
    | 'requestId'
    | 'now',
    SQL
  >
>

/**
 * The insert of one outbox row for each row of `source` (a CTE or table in FROM, with its WHERE if need be), to stand
 * in the caller's statement: `with account as (…), queued as (${queueMessage(sql`account`)}) select …`. Without
 * `source`, one row. Columns not given are the parameters of `messageParams`, and `now`; a message with a
 * destination of its own stands in the owners' lane and names no request, if it does not say otherwise.
 */
export function queueMessage(source?: SQL, columns: MessageColumns = {}): SQL {
  const now = columns.now ?? param('now', 'timestamptz')
  const isOwn = columns.destination !== undefined
  return sql`
    insert into ${messages} (channel, destination, purpose, language, "values",
                             code_subject, code_purpose, code_group, code_seed, lane, request_id, account_uuid,
                             created_at, next_attempt_at)
    select ${columns.channel ?? param('messageChannel', 'text')},
           ${columns.destination ?? param('messageDestination', 'text')},
           ${columns.purpose ?? param('messagePurpose', 'text')},
           ${columns.language ?? param('messageLanguage', 'text')},
           ${columns.values ?? param('messageValues', 'jsonb')},
           ${columns.codeSubject ?? param('codeSubject', 'uuid')},
           ${columns.codePurpose ?? param('codePurpose', 'text')},
           ${columns.codeGroup ?? (columns.codePurpose ? sql`'stranger'` : param('codeGroup', 'text'))},
           ${columns.codeSeed ?? param('codeSeed', 'bytea')},
           ${columns.lane ?? (isOwn ? sql`0` : param('messageLane', 'int'))},
           ${columns.requestId ?? (isOwn ? sql`null` : messageRequestId)},
           ${columns.accountUuid ?? sql`null::uuid`},
           ${now}, ${now}
    ${source === undefined ? sql`` : sql`from ${source}`}`
}

/** The parameter `queueNotices` names. Every notice is a message without code. */
export type NoticeParams = { notices: string }

export function noticeParams(notices: NewMessage[]): NoticeParams {
  const request_id = currentRequestId()
  const device = currentDeviceName()
  return {
    notices: JSON.stringify(
      notices.map(({ channel, destination, purpose, language, values = {}, accountUuid = null }) => ({
        ...{ channel, destination, purpose, language, request_id },
        values: device === null ? values : { device, ...values },
        account_uuid: accountUuid,
        lane: laneOf({ destination }),
      })),
    ),
  }
}

/**
 * The insert of the notices in the parameter of `noticeParams`, once for each row of `source`; `now` is a parameter.
 * `values`: more values for the templates, a jsonb object.
 */
export function queueNotices(source: SQL, values = sql`'{}'::jsonb`): SQL {
  return sql`
    insert into ${messages} (channel, destination, purpose, language, "values", lane, request_id, account_uuid,
                             created_at, next_attempt_at)
    select notice.channel, notice.destination, notice.purpose, notice.language, notice."values" || ${values}, notice.lane,
           notice.request_id, notice.account_uuid, ${param('now', 'timestamptz')}, ${param('now', 'timestamptz')}
      from ${source} cross join jsonb_to_recordset(${param('notices', 'text')}::jsonb)
           as notice (channel text, destination text, purpose text, language text, "values" jsonb, lane int,
                      request_id text, account_uuid uuid)`
}

/**
 * The update that finishes, as replaced, every waiting message of one code, to stand in the caller's statement beside
 * `queueMessage`: all parts of a statement see the rows as they were before it, so the new message is not touched.
 * Rows are locked in the order of their ids, so that two callers cannot deadlock. Prepared plans are cached, so one that was
 * made on an empty table must still be good with thousands of rows: the array of ids, the condition on `outcome` instead of
 * `finished_at`, and the sum prevent the planner from choosing any index but messages_code and the primary key.
 * Without `columns`, the parameters are `codeSubject`, `codePurpose`, `codeGroup` and `now`; `codePurpose` null means
 * every purpose and group. A code replaces the waiting one of its own group alone.
 */
export function supersedePending(
  columns: { codeSubject?: SQL; codePurpose?: SQL | null; codeGroup?: SQL; now?: SQL } = {},
): SQL {
  const { codePurpose = param('codePurpose', 'text'), codeGroup = param('codeGroup', 'text') } = columns
  return sql`
    update ${messages}
       set outcome = 'replaced', finished_at = ${columns.now ?? param('now', 'timestamptz')}
     where id = any (array(
       select older.id from ${messages} older
        where older.outcome is null
          and older.code_subject = ${columns.codeSubject ?? param('codeSubject', 'uuid')}
          ${codePurpose === null ? sql`` : sql`and older.code_purpose = ${codePurpose} and older.code_group = ${codeGroup}`}
        order by older.id + 0
          for update))`
}

const add = defineStatement({
  name: 'delivery.add',
  params: {
    messageChannel: 'text',
    messageDestination: 'text',
    messagePurpose: 'text',
    messageLanguage: 'text',
    messageValues: 'jsonb',
    codeSubject: 'uuid?',
    codePurpose: 'text?',
    codeGroup: 'text',
    codeSeed: 'bytea?',
    messageLane: 'int',
    messageRequestId: 'text?',
    now: 'timestamptz',
  },
  sql: () => queueMessage(),
})

const addCode = defineStatement({
  name: 'delivery.add_code',
  params: {
    now: 'timestamptz',
    codeSubject: 'uuid?',
    codePurpose: 'text?',
    codeGroup: 'text',
    messageChannel: 'text',
    messageDestination: 'text',
    messagePurpose: 'text',
    messageLanguage: 'text',
    messageValues: 'jsonb',
    codeSeed: 'bytea?',
    messageLane: 'int',
    messageRequestId: 'text?',
  },
  row: { id: 'bigint' },
  sql: () => sql`with replaced as (${supersedePending()}) ${queueMessage()} returning id`,
})

const replace = defineStatement({
  name: 'delivery.replace',
  params: { now: 'timestamptz', codeSubject: 'uuid', codePurpose: 'text', codeGroup: 'text' },
  sql: () => supersedePending(),
})

/** The first waiting messages of a lane of a channel within that range, unless somebody else has them. */
const firstWaiting = (lane: number, range: SQL, limit: SQL) => sql`
    select id from ${messages}
     where finished_at is null and channel = ${param('channel', 'text')} and lane = ${sql.raw(String(lane))}
       and ${range}
     order by next_attempt_at
     limit ${limit}
       for update skip locked`

const isDue = sql`next_attempt_at <= ${param('now', 'timestamptz')}`
const isAstray = sql`next_attempt_at > ${param('horizon', 'timestamptz')}`

/**
 * The first attempt is the first one noted or under way: one that died before it was noted did not count.
 * No waiting message is ever due further ahead than a retry or a lease allows: one that is was written before the
 * clock was set back, and is due. CTEs, since a subquery with LIMIT may run more than once, and one for each range, so
 * that no other waiting message is read; their ids as an array, see `supersedePending`.
 */
const claim = defineStatement({
  name: 'delivery.claim',
  params: {
    channel: 'text',
    now: 'timestamptz',
    ownersLimit: 'int',
    horizon: 'timestamptz',
    strangersLimit: 'int',
    leaseUntil: 'timestamptz',
  },
  row: {
    id: 'bigint',
    lane: 'smallint',
    requestId: 'text?',
    accountUuid: 'uuid?',
    channel: column<Channel>('text'),
    destination: 'text',
    purpose: 'text',
    language: 'text',
    values: json<Record<string, string>>(),
    codeSubject: 'uuid?',
    codePurpose: column<CodePurpose | null>('text'),
    codeGroup: column<CallerGroup>('text'),
    codeSeed: 'bytea?',
    createdAt: 'timestamptz',
    attempts: 'int',
    firstAttemptAt: 'timestamptz',
    detail: 'text?',
  },
  sql: (p) => sql`
  with owners as materialized (${firstWaiting(LANES.owner, isDue, p.ownersLimit)}),
  owners_astray as materialized (${firstWaiting(LANES.owner, isAstray, p.ownersLimit)}),
  strangers as materialized (${firstWaiting(LANES.stranger, isDue, p.strangersLimit)}),
  strangers_astray as materialized (${firstWaiting(LANES.stranger, isAstray, p.strangersLimit)})
  update ${messages} as message
     set attempts = message.attempts + 1,
         first_attempt_at = case when message.detail is null then ${p.now}
                                 else message.first_attempt_at end,
         next_attempt_at = ${p.leaseUntil}
   where message.id = any (array(
           (select id from owners union all select id from owners_astray limit ${p.ownersLimit})
           union all
           (select id from strangers union all select id from strangers_astray limit ${p.strangersLimit})))
  returning message.id, message.lane, message.request_id, message.account_uuid, message.channel,
            message.destination, message.purpose, message.language, message."values", message.code_subject,
            message.code_purpose, message.code_group, message.code_seed, message.created_at, message.attempts,
            message.first_attempt_at, message.detail`,
})

/**
 * What went out went out, also where a newer code replaced the message meanwhile. A notice of an erasure was the last
 * thing that named the person.
 */
const finish = defineStatement({
  name: 'delivery.finish',
  params: {
    outcome: 'text',
    detail: 'text?',
    gateway: 'text?',
    providerId: 'text?',
    now: 'timestamptz',
    id: 'bigint',
  },
  sql: (p) => sql`
  update ${messages}
     set outcome = ${p.outcome}, detail = ${p.detail}, code_seed = null,
         destination = case when purpose = 'account_erased' then '' else destination end,
         gateway = ${p.gateway}, provider_id = ${p.providerId},
         finished_at = ${p.now}
   where id = ${p.id} and (outcome is null or outcome = 'replaced')`,
})

/** Both lanes that lead to somebody. */
const waiting = defineStatement({
  name: 'delivery.waiting',
  params: {},
  row: { ...pick(rowOf(messages), 'channel'), count: 'int', oldestAt: 'timestamptz' },
  sql: () => sql`
  select channel, count(*)::int as count, min(created_at) as oldest_at
    from ${messages}
   where finished_at is null and channel = any (array['email', 'sms'])
     and lane = any (array[${sql.raw(`${LANES.owner}, ${LANES.stranger}`)}])
   group by channel`,
})

const discard = defineStatement({
  name: 'delivery.discard',
  params: { limit: 'int' },
  row: { discarded: 'int' },
  sql: (p) => sql`
  with nobodys as materialized (
    select id from ${messages}
     where finished_at is null and lane = ${sql.raw(String(NOBODYS_LANE))} and channel = any (array['email', 'sms'])
     limit ${p.limit}
       for update skip locked),
  gone as (delete from ${messages} where id = any (array(select id from nobodys)) returning 1)
  select count(*)::int as discarded from gone`,
})

const remove = defineStatement({
  name: 'delivery.remove',
  params: { id: 'bigint' },
  sql: (p) => sql`delete from ${messages} where id = ${p.id}`,
})

const retry = defineStatement({
  name: 'delivery.retry',
  params: { nextAttemptAt: 'timestamptz', detail: 'text', id: 'bigint' },
  sql: (p) => sql`
  update ${messages}
     set next_attempt_at = ${p.nextAttemptAt}, detail = ${p.detail}
   where id = ${p.id} and finished_at is null`,
})

const postpone = defineStatement({
  name: 'delivery.postpone',
  params: { nextAttemptAt: 'timestamptz', attempts: 'int', id: 'bigint' },
  sql: (p) => sql`
  update ${messages}
     set next_attempt_at = ${p.nextAttemptAt}, attempts = ${p.attempts}
   where id = ${p.id} and finished_at is null`,
})

const renew = defineStatement({
  name: 'delivery.renew',
  params: { leaseUntil: 'timestamptz', ids: column<string>('bigint[]') },
  sql: (p) => sql`
  update ${messages} set next_attempt_at = ${p.leaseUntil}
   where id = any (${p.ids}) and finished_at is null`,
})

const sweep = defineStatement({
  name: 'delivery.sweep',
  params: { finishedBefore: 'timestamptz', limit: 'int' },
  row: { id: 'bigint' },
  sql: (p) => sql`
  delete from ${messages} where id in (
    select id from ${messages}
     where finished_at is not null and finished_at < ${p.finishedBefore}
     order by finished_at limit ${p.limit})
  returning id`,
})

/** Beyond the longest delay (4 min and its jitter) and the lease. */
const HORIZON_MS = 600_000
const horizonOf = (now: Date) => new Date(now.getTime() + HORIZON_MS)

export function createMessageStore(database: Database): MessageStore {
  return {
    async add(executor: Executor, message: NewMessage, now: Date) {
      await executor.all(add, { ...messageParams(message), now })
    },
    async addCode(message, now) {
      const { id } = (await database.first(addCode, { ...messageParams(message), now }))!
      return id
    },
    async supersedePending(executor, codeSubject, codePurpose, codeGroup, now) {
      await executor.all(replace, { codeSubject, codePurpose, codeGroup, now })
    },
    async claim(channel, now, leaseMs, room: LaneRoom) {
      const leaseUntil = new Date(now.getTime() + leaseMs)
      const limits = { ownersLimit: room.owners, strangersLimit: room.strangers }
      return database.all(claim, { channel, now, leaseUntil, horizon: horizonOf(now), ...limits })
    },
    waiting: () => database.all(waiting, {}),
    async discard(limit) {
      return (await database.first(discard, { limit }))?.discarded ?? 0
    },
    async finish(id, { outcome, detail, gateway = null, providerId = null }, now) {
      await database.all(finish, { id, outcome, detail, gateway, providerId, now })
    },
    async remove(id) {
      await database.all(remove, { id })
    },
    async retry(id, nextAttemptAt, detail) {
      await database.all(retry, { id, nextAttemptAt, detail })
    },
    async postpone(id, nextAttemptAt, attempts) {
      await database.all(postpone, { id, nextAttemptAt, attempts })
    },
    async renew(ids, leaseUntil) {
      await database.all(renew, { ids: `{${ids.join(',')}}`, leaseUntil })
    },
    async sweep(finishedBefore, limit) {
      return (await database.all(sweep, { finishedBefore, limit })).length
    },
  }
}
