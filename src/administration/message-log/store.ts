/** The messages of the outbox as an administrator sees them: never a code. PostgreSQL, in every storage shape. */

import { type SQL, sql } from 'drizzle-orm'
import { changeAndRecord } from '../../domain/foundation/events/event-sql.ts'
import { DECOYS_LANE, type OutboxChannel } from '../../domain/messages/outbox/message.ts'
import { aboutAccount, queueAgain } from '../../domain/messages/outbox/queue-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { messages } from '../../platform/postgres/schema.ts'
import {
  column,
  defineStatement,
  type Placeholders,
  type ValuesOf,
} from '../../platform/postgres/statement.ts'

/**
 * `refused`: for good, or by a receipt that says so; `unknown`: it may have been taken; `expired`: it was given up, or a
 * newer code took its place.
 */
export const messageStates = ['waiting', 'sent', 'delivered', 'unknown', 'refused', 'expired'] as const
export type MessageState = (typeof messageStates)[number]

export const messageState = sql`
  case when finished_at is null then 'waiting'
       when receipt = 'delivered' then 'delivered'
       when outcome = 'refused' or receipt = 'failed' then 'refused'
       when outcome = any (array['sent', 'unknown']) then outcome
       else 'expired' end`

const listParams = {
  state: 'text?',
  channel: 'text?',
  gateway: 'text?',
  since: 'timestamptz?',
  before: 'bigint?',
  limit: 'int',
  codeLifetimeSeconds: 'int',
  now: 'timestamptz',
} as const

/** How long a code lives after its sending, and now. */
interface CodeTime {
  codeLifetimeSeconds: number
  now: Date
}

export interface MessageFilter
  extends Omit<ValuesOf<typeof listParams>, 'before' | 'limit' | keyof CodeTime> {
  account?: string | undefined
  /** The whole of it, in any case. */
  destination?: string | undefined
}

/** What became of the code of a message: it is `open` also before it is sent. */
export const codeStates = ['open', 'used', 'replaced', 'expired'] as const
export type CodeState = (typeof codeStates)[number]

/** A code that an administrator made says when it ends, and its use leaves no trace at its message. */
const codeEnd = (p: Placeholders<'codeLifetimeSeconds'>) => sql`
  coalesce(("values" ->> 'expires_at')::timestamptz,
           first_attempt_at + make_interval(secs => ${p.codeLifetimeSeconds}))`

const codeState = (p: Placeholders<'codeLifetimeSeconds' | 'now'>) => sql`
  case when code_subject is null then null
       when verified_at is not null then 'used'
       when outcome is not distinct from 'replaced' or exists (
         select 1 from ${messages} newer
          where coalesce(newer.account_uuid, newer.code_subject) = coalesce(${messages}.account_uuid, ${messages}.code_subject)
            and newer.id > ${messages}.id and newer.code_subject = ${messages}.code_subject
            and newer.code_purpose = ${messages}.code_purpose and newer.code_group = ${messages}.code_group
            and newer.created_at < coalesce(${codeEnd(p)}, 'infinity')) then 'replaced'
       when outcome is not distinct from 'expired' or ${codeEnd(p)} <= ${p.now} then 'expired'
       else 'open' end`

const listedColumns = (p: Placeholders<'codeLifetimeSeconds' | 'now'>) => sql`
  id, channel, purpose, ${messageState} as state, destination, ${aboutAccount} as account, gateway, detail, reply, attempts,
  created_at, case when finished_at is null then next_attempt_at end as next_attempt_at, finished_at,
  outcome is not distinct from 'replaced' as is_replaced, ${codeState(p)} as code_state, verified_at as code_used_at`

const listWhere = (where: SQL, p: Placeholders<keyof typeof listParams>) => sql`
  select ${listedColumns(p)}
    from ${messages}
   where ${where} and lane <> ${sql.raw(String(DECOYS_LANE))}
     and (${p.before} is null or id < ${p.before})
     and (${p.state} is null or ${messageState} = ${p.state})
     and (${p.channel} is null or channel = ${p.channel})
     and (${p.gateway} is null or gateway = ${p.gateway})
     and (${p.since} is null or created_at >= ${p.since})
   order by id desc limit ${p.limit}`

const listedRow = {
  id: 'bigint',
  channel: column<OutboxChannel>('text'),
  purpose: 'text',
  state: column<MessageState>('text'),
  /** It is empty where the person it went to was erased. */
  destination: 'text',
  account: 'uuid?',
  gateway: 'text?',
  /** The server that took it, or the cause code of the last failure. */
  detail: 'text?',
  /** The reply of servers and gateways to the last attempt. */
  reply: 'text?',
  attempts: 'int',
  createdAt: 'timestamptz',
  /** It is tried again then at the latest; null where it is finished. */
  nextAttemptAt: 'timestamptz?',
  finishedAt: 'timestamptz?',
  isReplaced: 'boolean',
  /** It is null where the message carries no code. */
  codeState: column<CodeState | null>('text'),
  codeUsedAt: 'timestamptz?',
} as const

export type ListedMessage = ValuesOf<typeof listedRow>

const listAll = defineStatement({
  name: 'administration_messages.list',
  params: listParams,
  row: listedRow,
  sql: (p) => listWhere(sql`true`, p),
})

/** A statement of its own, whose plan uses the index of the account. */
const listOfAccount = defineStatement({
  name: 'administration_messages.list_of_account',
  params: { account: 'uuid', ...listParams },
  row: listedRow,
  sql: (p) => listWhere(sql`${aboutAccount} = ${p.account}`, p),
})

const listTo = defineStatement({
  name: 'administration_messages.list_to',
  params: { destination: 'text', ...listParams },
  row: listedRow,
  sql: (p) => listWhere(sql`lower(destination) = lower(${p.destination}) and destination <> ''`, p),
})

const find = defineStatement({
  name: 'administration_messages.find',
  params: { id: 'bigint', codeLifetimeSeconds: 'int', now: 'timestamptz' },
  row: listedRow,
  sql: (p) => sql`
  select ${listedColumns(p)} from ${messages} where id = ${p.id} and lane <> ${sql.raw(String(DECOYS_LANE))}`,
})

/**
 * A message that was given up is not one that a gateway refused: its time is over. The code of a message lives from its
 * first attempt, one of 16 letters until the end that it names.
 */
const retry = defineStatement({
  name: 'administration_messages.retry',
  params: { id: 'bigint', codeLifetimeSeconds: 'int', now: 'timestamptz' },
  row: { id: 'bigint', account: 'uuid?', channel: column<OutboxChannel>('text'), purpose: 'text' },
  sql: (p) => sql`
  ${queueAgain(
    p,
    sql`id = ${p.id} and destination <> ''
     and (outcome = any (array['refused', 'unknown']) or (outcome = 'sent' and receipt = 'failed'))
     and case when code_subject is null then true
              when code_seed is null then false
              when "values" ->> 'expires_at' is not null then ("values" ->> 'expires_at')::timestamptz > ${p.now}
              else first_attempt_at > ${p.now} - make_interval(secs => ${p.codeLifetimeSeconds}) end`,
  )}
  returning id, ${aboutAccount} as account, channel, purpose`,
})

export type MessageLogStore = ReturnType<typeof createMessageLogStore>

export function createMessageLogStore(database: Database) {
  return {
    /** Newest first, those before the message with this id (null: from the newest one). */
    list(
      { account, destination, ...filter }: MessageFilter,
      before: number | null,
      limit: number,
      time: CodeTime,
    ): Promise<ListedMessage[]> {
      const params = { ...filter, before, limit, ...time }
      if (destination !== undefined) return database.all(listTo, { destination, ...params })
      return account === undefined
        ? database.all(listAll, params)
        : database.all(listOfAccount, { account, ...params })
    },
    find: (id: number, time: CodeTime): Promise<ListedMessage | null> =>
      database.first(find, { id, ...time }),
    /** It returns false where it was neither refused nor unknown, where its code is dead, or where nobody is left to send it to. */
    async retry(id: number, codeLifetimeSeconds: number, now: Date): Promise<boolean> {
      const params = { id, codeLifetimeSeconds, now }
      const retried = await changeAndRecord(
        database,
        retry,
        params,
        now,
        ({ account, channel, purpose }) => ({
          type: 'message.retried',
          account,
          data: { message: id, channel, purpose },
        }),
      )
      return retried !== null
    },
  }
}
