/**
 * The SQL by which statements of other rooms queue and replace messages. It is part of the statement of their cause, so
 * that both are stored or neither. Each fragment takes the SQL of what it needs; the placeholders of a statement that
 * declares `messageParamTypes` or `noticeParamTypes` are such a record.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { messages } from '../../../platform/postgres/schema.ts'
import {
  column,
  defineStatement,
  type Placeholders,
  type ValuesOf,
} from '../../../platform/postgres/statement.ts'
import { addressOfPerson, currentRequest } from '../../../platform/request-context.ts'
import { decoyDestination } from '../../foundation/decoys/decoys.ts'
import type { CallerGroup } from '../../foundation/limits/callers.ts'
import type { SentCodePurpose } from '../codes/store.ts'
import { DECOYS_LANE, isToNewContact, LANES, type NewMessage } from './message.ts'

/** The name under which statements announce that a trigger may have queued messages to applications. */
export const LOGOUTS = 'logouts'

/** Stands in a statement that ends sessions: it inserts nothing itself. */
export const mayQueueLogouts = sql.raw(`/* insert into "${LOGOUTS}", by a trigger */`)

/** The parameters of a message, beside `now`; `messageParams` makes their values. */
export const messageParamTypes = {
  messageChannel: 'text',
  messageDestination: 'text',
  messagePurpose: 'text',
  messageLanguage: 'text',
  messageValues: column<Record<string, string>>('jsonb'),
  codeSubject: 'uuid?',
  codePurpose: column<SentCodePurpose | null>('text'),
  codeGroup: column<CallerGroup>('text'),
  codeSeed: 'bytea?',
  messageLane: 'int',
  messageRequestId: 'text?',
} as const

/** The account a message is about: its code's subject where it does not say. */
export const aboutAccount = sql`coalesce(account_uuid, code_subject)`

/** A notice is in the lane of owners. */
const laneOf = ({ destination, code }: Pick<NewMessage, 'destination' | 'code'>): number =>
  destination === decoyDestination ? DECOYS_LANE : LANES[code?.group ?? 'owner']

/**
 * From where an owner's code was asked for: by the password or in a session, and sent to an e-mail address of the account. All
 * others tell nothing: whoever types a wrong address would tell its owner theirs, and an SMS has no space for it.
 */
function askedFrom({ channel, code, purpose }: NewMessage): Record<string, string> {
  if (channel !== 'email' || code === undefined || code.group === 'stranger' || isToNewContact(purpose))
    return {}
  const [device, address] = [currentRequest()?.deviceName, addressOfPerson()]
  return { ...(device && { device }), ...(address && { address }) }
}

export function messageParams(message: NewMessage): ValuesOf<typeof messageParamTypes> {
  return {
    messageChannel: message.channel,
    messageDestination: message.destination,
    messagePurpose: message.purpose,
    messageLanguage: message.language,
    messageValues: { ...askedFrom(message), ...message.values },
    codeSubject: message.code?.subject ?? null,
    codePurpose: message.code?.purpose ?? null,
    codeGroup: message.code?.group ?? 'stranger',
    codeSeed: message.code?.seed ?? null,
    messageLane: laneOf(message),
    messageRequestId: currentRequest()?.requestId ?? null,
  }
}

type MessageColumns = Placeholders<keyof typeof messageParamTypes | 'now'> & { accountUuid?: SQL }

/**
 * The insert of one message for each row of `source` (a CTE or table in FROM, with its WHERE if need be), or of one
 * message without it. An example is `with account as (…), queued as (${queueMessage(p, sql`account`)}) select …`.
 */
export function queueMessage(columns: MessageColumns, source?: SQL): SQL {
  return sql`
    insert into ${messages} (channel, destination, purpose, language, "values",
                             code_subject, code_purpose, code_group, code_seed, lane, request_id, account_uuid,
                             created_at, next_attempt_at)
    select ${columns.messageChannel}, ${columns.messageDestination}, ${columns.messagePurpose},
           ${columns.messageLanguage}, ${columns.messageValues}, ${columns.codeSubject}, ${columns.codePurpose},
           ${columns.codeGroup}, ${columns.codeSeed}, ${columns.messageLane}, ${columns.messageRequestId},
           ${columns.accountUuid ?? sql`null::uuid`}, ${columns.now}, ${columns.now}
    ${source === undefined ? sql`` : sql`from ${source}`}`
}

/** The columns of a notice that the statement itself addresses, to the owner of an account it finds. */
interface OwnersNotice {
  now: SQL
  /** It has the columns that the other fields name. */
  source: SQL
  channel: SQL
  destination: SQL
  purpose: string
  language: SQL
  values?: SQL
  accountUuid: SQL
  /** The stranger who caused it: it then waits in the lane of strangers, and names the stranger's request. */
  causedBy?: { messageRequestId: SQL }
  /** Where it holds, the message is a decoy, which is not sent; its destination must be that of decoys then. */
  isForNobody?: SQL
}

const laneOfNotice = ({ causedBy, isForNobody }: OwnersNotice): SQL => {
  const lane = sql.raw(String(causedBy ? LANES.stranger : LANES.owner))
  return isForNobody
    ? sql`case when ${isForNobody} then ${sql.raw(String(DECOYS_LANE))} else ${lane} end`
    : lane
}

/** Works like `queueMessage`, for a notice to the owner of an account that the statement finds. */
export const queueOwnersNotice = (notice: OwnersNotice): SQL =>
  queueMessage(
    {
      now: notice.now,
      messageChannel: notice.channel,
      messageDestination: notice.destination,
      messagePurpose: sql.raw(`'${notice.purpose}'`),
      messageLanguage: notice.language,
      messageValues: notice.values ?? sql`'{}'::jsonb`,
      codeSubject: sql`null::uuid`,
      codePurpose: sql`null::text`,
      codeGroup: sql`'stranger'`,
      codeSeed: sql`null::bytea`,
      messageLane: laneOfNotice(notice),
      messageRequestId: notice.causedBy?.messageRequestId ?? sql`null`,
      accountUuid: notice.accountUuid,
    },
    notice.source,
  )

/**
 * The parameter of notices, beside `now`: JSON, made by `noticeParams`. A notice has no code; beside notices there may be
 * one of the codes of 16 letters, which may go out, as they do, as soon as it is committed.
 */
export const noticeParamTypes = { notices: 'text' } as const

export function noticeParams(notices: NewMessage[]): ValuesOf<typeof noticeParamTypes> {
  const request = currentRequest()
  const request_id = request?.requestId ?? null
  const device = request?.deviceName ?? null
  return {
    notices: JSON.stringify(
      notices.map(({ channel, destination, purpose, language, values = {}, accountUuid = null, code }) => ({
        ...{ channel, destination, purpose, language, request_id },
        values: device === null ? values : { device, ...values },
        account_uuid: accountUuid,
        lane: laneOf({ destination }),
        ...(code && {
          code_subject: code.subject,
          code_purpose: code.purpose,
          code_group: code.group,
          code_seed: Buffer.from(code.seed).toString('hex'),
        }),
      })),
    ),
  }
}

/** The insert of these notices, once for each row of `source`. `values`: more values for the templates, a jsonb object. */
export function queueNotices(p: Placeholders<'notices' | 'now'>, source: SQL, values = sql`'{}'::jsonb`) {
  return sql`
    insert into ${messages} (channel, destination, purpose, language, "values", lane, request_id, account_uuid,
                             code_subject, code_purpose, code_group, code_seed, created_at, next_attempt_at)
    select notice.channel, notice.destination, notice.purpose, notice.language, notice."values" || ${values}, notice.lane,
           notice.request_id, notice.account_uuid, notice.code_subject, notice.code_purpose,
           coalesce(notice.code_group, 'stranger'), decode(notice.code_seed, 'hex'), ${p.now}, ${p.now}
      from ${source} cross join jsonb_to_recordset(${p.notices}::jsonb)
           as notice (channel text, destination text, purpose text, language text, "values" jsonb, lane int,
                      request_id text, account_uuid uuid, code_subject uuid, code_purpose text,
                      code_group text, code_seed text)`
}

const queueAll = defineStatement({
  name: 'outbox.queue_notices',
  params: { ...noticeParamTypes, now: 'timestamptz' },
  sql: (p) => queueNotices(p, sql`(select 1) once`),
})

/** Queues them in the transaction of what they tell of. */
export async function addNotices(transaction: Executor, notices: NewMessage[], now: Date): Promise<void> {
  if (notices.length > 0) await transaction.run(queueAll, { ...noticeParams(notices), now })
}

interface Superseded {
  now: SQL
  codeSubject: SQL
  codePurpose: SQL
  codeGroup: SQL
}

/**
 * The update that finishes, as replaced, every waiting message of one code. It stands in the caller's statement beside
 * `queueMessage`: all parts of a statement see the rows as they were before it, so the new message is not touched. A
 * code replaces the waiting one of its own group alone. Rows are locked in the order of their ids, so that two callers
 * cannot deadlock. Prepared plans are cached, so one that was made on an empty table must still be good with thousands
 * of rows. The array of ids, the condition on `outcome` instead of `finished_at`, and the sum keep the planner to
 * messages_code and the primary key.
 */
export const supersedePending = ({ now, codeSubject, codePurpose, codeGroup }: Superseded): SQL =>
  supersede(
    now,
    codeSubject,
    sql`and older.code_purpose = ${codePurpose} and older.code_group = ${codeGroup}`,
  )

/** The same for the codes of every purpose and group. */
export const supersedeAll = ({ now, codeSubject }: Pick<Superseded, 'now' | 'codeSubject'>): SQL =>
  supersede(now, codeSubject, sql``)

const supersede = (now: SQL, codeSubject: SQL, narrowed: SQL) => sql`
    update ${messages}
       set outcome = 'replaced', finished_at = ${now}
     where id = any (array(
       select older.id from ${messages} older
        where older.outcome is null and older.code_subject = ${codeSubject} ${narrowed}
        order by older.id + 0
          for update))`

/** The same in a statement of its own. */
export const supersedeCodes = defineStatement({
  name: 'outbox.supersede_codes',
  params: { codeSubject: 'uuid', now: 'timestamptz' },
  sql: supersedeAll,
})

/** The changes of messages that other rooms make. */
export const deleteMessages = (where: SQL): SQL => sql`delete from ${messages} where ${where}`

/**
 * The message is queued as if it had never been tried. An administrator asks for it, even if a stranger caused it. The
 * server's words stay until the next attempt.
 */
export const queueAgain = (p: Placeholders<'now'>, where: SQL): SQL => sql`
  update ${messages}
     set outcome = null, finished_at = null, attempts = 0, detail = null, first_attempt_at = null,
         lane = ${sql.raw(String(LANES.owner))},
         next_attempt_at = ${p.now}, gateway = null, provider_id = null, receipt = null
   where ${where}`

/**
 * The codes of messages were typed. `source`: rows with the `id` of the message and the time, `at`. The ids are an array,
 * see `supersedePending`.
 */
export const noteVerified = (source: SQL): SQL => sql`
  update ${messages} message set verified_at = ${source}.at
    from ${source}
   where message.id = any (array(select id from ${source})) and message.id = ${source}.id and message.verified_at is null`

/** `delivered` is the last word, whatever comes later. `source`: rows with the `id` of the message. */
export const noteReceipt = (receipt: SQL, source: SQL): SQL => sql`
    update ${messages} message set receipt = ${receipt}
      from ${source}
     where message.id = ${source}.id
       and (message.receipt is null or (message.receipt = 'failed' and ${receipt} = 'delivered'))`
