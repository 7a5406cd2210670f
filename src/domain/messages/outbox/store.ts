/**
 * The outbox, as those who add messages and the worker that sends them see it. The table is `messages` (logged; a row
 * stays until it is finished and swept). Promises: a message is added in the statement or the transaction of its
 * cause; a claimed message belongs to its worker until the lease ends; what is finished stays finished. A row never
 * contains a code, only the seed from which the worker derives it.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { accounts, messages } from '../../../platform/postgres/schema.ts'
import {
  column,
  defineStatement,
  json,
  type ParamsOf,
  type Placeholders,
  pick,
  type RowOf,
  rowOf,
} from '../../../platform/postgres/statement.ts'
import { createAgeSweep } from '../../../platform/postgres/sweep.ts'
import { changeAndRecord } from '../../foundation/events/event-sql.ts'
import type { CallerGroup } from '../../foundation/limits/callers.ts'
import type { SentCodePurpose } from '../codes/store.ts'
import { type Channel, DECOYS_LANE, LANES, type NewMessage, type OutboxChannel } from './message.ts'
import { messageParams, messageParamTypes, queueMessage, supersedePending } from './queue-sql.ts'

/**
 * `unknown`: a server or gateway may have taken it; `expired`: the time or the lifetime of its code ended; `replaced`:
 * superseded by a message with a newer code.
 */
export type FinalOutcome = 'sent' | 'refused' | 'unknown' | 'expired' | 'replaced'

export type CodeMessage = NewMessage & Required<Pick<NewMessage, 'code'>>

/** The number of messages of each kind that may be taken. */
export interface LaneLimits {
  owners: number
  strangers: number
}

const add = defineStatement({
  name: 'outbox.add',
  params: { ...messageParamTypes, now: 'timestamptz' },
  sql: (p) => queueMessage(p),
})

const addCode = defineStatement({
  name: 'outbox.add_code',
  params: { ...messageParamTypes, now: 'timestamptz' },
  row: { id: 'bigint' },
  sql: (p) => sql`with replaced as (${supersedePending(p)}) ${queueMessage(p)} returning id`,
})

/** The first waiting messages of a way within that range, unless somebody else has them. */
const firstWaiting = (way: SQL, range: SQL, limit: SQL) => sql`
    select id from ${messages}
     where finished_at is null and ${way} and ${range}
     order by next_attempt_at
     limit ${limit}
       for update skip locked`

/** The attempts after which a message waits for less than `LONGEST_WAIT_MS`. */
const QUICK_ATTEMPTS = 5

const isDue = (p: Placeholders<'now'>) => sql`next_attempt_at <= ${p.now}`
const isTooFarAhead = (p: Placeholders<'latestDueAt'>) => sql`
  next_attempt_at > ${p.latestDueAt}
  and (attempts <= ${sql.raw(String(QUICK_ATTEMPTS))} or next_attempt_at > ${p.latestDueAt} + interval '65 minutes')`

const claimParamTypes = {
  now: 'timestamptz',
  ownersLimit: 'int',
  latestDueAt: 'timestamptz',
  strangersLimit: 'int',
  leaseUntil: 'timestamptz',
} as const

const claimed = {
  id: 'bigint',
  /** See `LANES`. */
  lane: 'smallint',
  requestId: 'text?',
  accountUuid: 'uuid?',
  channel: column<OutboxChannel>('text'),
  destination: 'text',
  purpose: 'text',
  language: 'text',
  values: json<Record<string, string>>(),
  codeSubject: 'uuid?',
  codePurpose: column<SentCodePurpose | null>('text'),
  /** The group that asked for the code; 'stranger' where there is none. */
  codeGroup: column<CallerGroup>('text'),
  codeSeed: 'bytea?',
  createdAt: 'timestamptz',
  /** This attempt included. */
  attempts: 'int',
  /** The first attempt that counts began then. */
  firstAttemptAt: 'timestamptz',
  /** The failure of the last attempt; null while none was recorded. */
  detail: 'text?',
} as const

/**
 * The first attempt is the first one that was recorded or is under way: one whose process died before it was recorded
 * does not count. No waiting message is ever due later than a retry or a lease allows; one that is was written before
 * the clock was set back, and is due now. CTEs, because a subquery with LIMIT may run more than once, and one for
 * each range, so that no other waiting message is read. Their ids are an array, see `supersedePending`.
 */
const claimSql = (p: Placeholders<keyof typeof claimParamTypes>, wayOf: (lane: SQL) => SQL) => {
  const first = (lane: number, range: SQL, limit: SQL) =>
    firstWaiting(wayOf(sql.raw(String(lane))), range, limit)
  return sql`
  with owners as materialized (${first(LANES.owner, isDue(p), p.ownersLimit)}),
  owners_too_far_ahead as materialized (${first(LANES.owner, isTooFarAhead(p), p.ownersLimit)}),
  strangers as materialized (${first(LANES.stranger, isDue(p), p.strangersLimit)}),
  strangers_too_far_ahead as materialized (${first(LANES.stranger, isTooFarAhead(p), p.strangersLimit)})
  update ${messages} as message
     set attempts = message.attempts + 1,
         first_attempt_at = case when message.detail is null then ${p.now}
                                 else message.first_attempt_at end,
         next_attempt_at = ${p.leaseUntil}
   where message.id = any (array(
           (select id from owners union all select id from owners_too_far_ahead limit ${p.ownersLimit})
           union all
           (select id from strangers union all select id from strangers_too_far_ahead limit ${p.strangersLimit})))
  returning message.id, message.lane, message.request_id, message.account_uuid, message.channel,
            message.destination, message.purpose, message.language, message."values", message.code_subject,
            message.code_purpose, message.code_group, message.code_seed, message.created_at, message.attempts,
            message.first_attempt_at, message.detail`
}

const claim = defineStatement({
  name: 'outbox.claim',
  params: { ...claimParamTypes, channel: 'text' },
  row: claimed,
  sql: (p) => claimSql(p, (lane) => sql`channel = ${p.channel} and lane = ${lane}`),
})

/**
 * By `messages_due_of_application`, in which nobody meets what waits for another application: `lane + 0` is in no index, and the
 * channel is no parameter.
 */
const claimOfApplication = defineStatement({
  name: 'outbox.claim_of_application',
  params: { ...claimParamTypes, application: 'text' },
  row: claimed,
  sql: (p) =>
    claimSql(
      p,
      (lane) => sql`channel = 'application' and destination = ${p.application} and lane + 0 = ${lane}`,
    ),
})

/** A row as the worker claims it; purpose and language are what some version of the service wrote. */
export type QueuedMessage = RowOf<typeof claim>
/** One that is not to an application. */
export type PersonMessage = QueuedMessage & { channel: Channel }

/**
 * A message that was sent counts as sent, even if a newer code has replaced it in the meantime. The notice of an
 * erasure loses its destination, because it was the last thing that named the person.
 */
const finish = defineStatement({
  name: 'outbox.finish',
  params: {
    outcome: column<FinalOutcome>('text'),
    detail: 'text?',
    /** See SendOutcome `reason`. */
    reply: 'text?',
    /** The gateway that took an SMS, and the id it gave to it. */
    gateway: 'text?',
    providerId: 'text?',
    now: 'timestamptz',
    id: 'bigint',
  },
  row: { id: 'bigint', account: 'uuid?', channel: column<OutboxChannel>('text'), purpose: 'text' },
  sql: (p) => sql`
  update ${messages}
     set outcome = ${p.outcome}, detail = ${p.detail},
         code_seed = case when ${p.outcome} = any (array['refused', 'unknown']) then code_seed end,
         destination = case when purpose = 'account_erased' then '' else destination end,
         reply = case when purpose = 'account_erased' then null
                      when ${p.outcome} = 'sent' then ${p.reply}
                      else coalesce(${p.reply}, reply) end,
         gateway = ${p.gateway}, provider_id = ${p.providerId},
         finished_at = ${p.now}
   where id = ${p.id} and (outcome is null or outcome = 'replaced')
  returning id, channel, purpose,
            (select uuid from ${accounts}
              where uuid = coalesce(${messages}.account_uuid, ${messages}.code_subject)
                and account_confirmed_at is not null) as account`,
})

/** Both lanes that lead somewhere. */
const waiting = defineStatement({
  name: 'outbox.waiting',
  row: { ...pick(rowOf(messages), 'channel'), count: 'int', oldestAt: 'timestamptz' },
  sql: () => sql`
  select channel, count(*)::int as count, min(created_at) as oldest_at
    from ${messages}
   where finished_at is null and channel = any (array['email', 'sms', 'application'])
     and lane = any (array[${sql.raw(`${LANES.owner}, ${LANES.stranger}`)}])
   group by channel`,
})

const discard = defineStatement({
  name: 'outbox.discard',
  params: { limit: 'int' },
  row: { discarded: 'int' },
  sql: (p) => sql`
  with decoys as materialized (
    select id from ${messages}
     where finished_at is null and lane = ${sql.raw(String(DECOYS_LANE))} and channel = any (array['email', 'sms'])
     limit ${p.limit}
       for update skip locked),
  gone as (delete from ${messages} where id = any (array(select id from decoys)) returning 1)
  select count(*)::int as discarded from gone`,
})

const remove = defineStatement({
  name: 'outbox.remove',
  params: { id: 'bigint' },
  sql: (p) => sql`delete from ${messages} where id = ${p.id}`,
})

const retry = defineStatement({
  name: 'outbox.retry',
  params: { nextAttemptAt: 'timestamptz', detail: 'text', reply: 'text?', id: 'bigint' },
  sql: (p) => sql`
  update ${messages}
     set next_attempt_at = ${p.nextAttemptAt}, detail = ${p.detail}, reply = ${p.reply}
   where id = ${p.id} and finished_at is null`,
})

const postpone = defineStatement({
  name: 'outbox.postpone',
  params: { nextAttemptAt: 'timestamptz', attempts: 'int', id: 'bigint' },
  sql: (p) => sql`
  update ${messages}
     set next_attempt_at = ${p.nextAttemptAt}, attempts = ${p.attempts}
   where id = ${p.id} and finished_at is null`,
})

const renew = defineStatement({
  name: 'outbox.renew',
  params: { leaseUntil: 'timestamptz', ids: column<string>('bigint[]') },
  sql: (p) => sql`
  update ${messages} set next_attempt_at = ${p.leaseUntil}
   where id = any (${p.ids}) and finished_at is null`,
})

const sweep = createAgeSweep(messages, 'outbox.sweep', sql`id`, sql`finished_at`)

/** It is beyond the delays of the first attempts (4 min and its jitter) and the lease; later ones add up to an hour. */
const LONGEST_WAIT_MS = 600_000
const latestDue = (now: Date) => new Date(now.getTime() + LONGEST_WAIT_MS)

export type MessageStore = ReturnType<typeof createMessageStore>

export function createMessageStore(database: Database) {
  return {
    /** Part of the caller's transaction. */
    add: (executor: Executor, message: NewMessage, now: Date): Promise<void> =>
      executor.run(add, { ...messageParams(message), now }),
    /** Adds a message with a code and marks pending ones of that code as replaced, in one statement. Returns its id. */
    async addCode(message: CodeMessage, now: Date): Promise<number> {
      const { id } = (await database.first(addCode, { ...messageParams(message), now }))!
      return id
    },
    /**
     * Claims due messages of a channel, or to one application, as many of each lane as is allowed. For `leaseMs` they
     * belong to this caller alone. The claim is committed when this returns, so that a process that dies while sending
     * loses none.
     */
    async claim(
      channel: OutboxChannel,
      now: Date,
      leaseMs: number,
      allowed: LaneLimits,
      application: string | null = null,
    ): Promise<QueuedMessage[]> {
      const leaseUntil = new Date(now.getTime() + leaseMs)
      const limits = { ownersLimit: allowed.owners, strangersLimit: allowed.strangers }
      const params = { now, leaseUntil, latestDueAt: latestDue(now), ...limits }
      return application === null
        ? database.all(claim, { ...params, channel })
        : database.all(claimOfApplication, { ...params, application })
    },
    /** Counts the messages that wait to be sent to somebody, by channel. */
    waiting: () => database.all(waiting, {}),
    /** Removes up to `limit` messages to nobody and returns how many it removed. */
    async discard(limit: number): Promise<number> {
      return (await database.first(discard, { limit }))?.discarded ?? 0
    },
    remove: (id: number): Promise<void> => database.run(remove, { id }),
    async finish(params: ParamsOf<typeof finish>): Promise<void> {
      const { outcome, detail, now } = params
      if (outcome !== 'refused') return database.run(finish, params)
      await changeAndRecord(database, finish, params, now, ({ account, id: message, channel, purpose }) => {
        // Only of accounts that somebody confirmed: strangers register whom they like.
        if (account === null) return []
        const actor = { type: 'system' as const, id: null, name: null }
        return { type: 'message.refused', account, actor, data: { message, channel, purpose, detail } }
      })
    },
    retry: (id: number, nextAttemptAt: Date, failure: { detail: string; reply: string | null }) =>
      database.run(retry, { id, nextAttemptAt, ...failure }),
    /** Like `retry`, but nothing was attempted; `attempts` is the number that counts so far. */
    postpone: (id: number, nextAttemptAt: Date, attempts: number): Promise<void> =>
      database.run(postpone, { id, nextAttemptAt, attempts }),
    /** Keeps claimed messages while their sending takes long. */
    renew: (ids: number[], leaseUntil: Date): Promise<void> =>
      database.run(renew, { ids: `{${ids.join(',')}}`, leaseUntil }),
    /** Removes up to `limit` messages that were finished before that time and returns how many it removed. */
    sweep: (before: Date, limit: number): Promise<number> => sweep(database, { before, limit }),
  }
}
