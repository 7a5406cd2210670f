/**
 * The counts of SMS, and the receipts of gateways: in PostgreSQL, in every storage shape. The tables are `sms_funnel`,
 * `sms_prefixes` and `early_receipts`.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import {
  accounts,
  earlyReceipts,
  messages,
  sessions,
  smsFunnel,
  smsPrefixes,
} from '../../../platform/postgres/schema.ts'
import {
  column,
  defineStatement,
  type Placeholders,
  type RowOf,
} from '../../../platform/postgres/statement.ts'
import { createAgeSweep, createSweep, daysBefore, type SweptBatch } from '../../../platform/postgres/sweep.ts'
import type { CodePurpose } from '../codes/store.ts'
import { noteReceipt, noteVerified } from '../outbox/queue-sql.ts'

/** `given_up`: no gateway took it, and it is not tried again; `unknown`: one gave no readable answer, and may have. */
export const stages = [
  'asked',
  'given_up',
  'handed_over',
  'unknown',
  'accepted',
  'delivered',
  'failed',
  'verified',
] as const
export type Stage = (typeof stages)[number]

export interface PrefixCount {
  prefix: string
  codes: number
  verified: number
}

export type Receipt = 'delivered' | 'failed'

/** A code that was right, and when. */
export interface TypedCode {
  subject: string
  /** The account whose message carried it: of a new contact the code has a subject of its own. */
  owner: string
  purpose: CodePurpose
  destination: string
  at: Date
}

const today = (p: Placeholders<'now'>) => sql`(${p.now} at time zone 'UTC')::date`

/** Rows in one order, so that two replicas never wait for each other in a circle. */
const addCounts = defineStatement({
  name: 'sms_funnel.add_counts',
  params: { now: 'timestamptz', counts: 'text' },
  sql: (p) => sql`
  insert into ${smsFunnel} as total (day, gateway, country, stage, count)
  select ${today(p)}, gateway, country, stage, count
    from jsonb_to_recordset(${p.counts}::jsonb)
         as added (gateway text, country text, stage text, count bigint)
   order by gateway, country, stage
  on conflict (day, gateway, country, stage) do update set count = total.count + excluded.count`,
})

const report = defineStatement({
  name: 'sms_funnel.report',
  params: { since: 'timestamptz' },
  row: {
    /** It is empty before a gateway was chosen. */
    gateway: 'text',
    /** It is empty for a number of no single country. */
    country: 'text',
    stage: column<Stage>('text'),
    count: 'bigint',
  },
  sql: (p) => sql`
  select gateway, country, stage, sum(count)::bigint as count from ${smsFunnel}
   where day >= (${p.since} at time zone 'UTC')::date
   group by gateway, country, stage order by gateway, country, stage`,
})

export type StageCount = RowOf<typeof report>

const addPrefixes = defineStatement({
  name: 'sms_funnel.add_prefixes',
  params: { now: 'timestamptz', counts: 'text' },
  sql: (p) => sql`
  insert into ${smsPrefixes} as total (prefix, day, codes, verified)
  select prefix, ${today(p)}, codes, verified
    from jsonb_to_recordset(${p.counts}::jsonb) as added (prefix text, codes int, verified int)
   order by prefix
  on conflict (prefix, day) do update
     set codes = total.codes + excluded.codes, verified = total.verified + excluded.verified`,
})

/** Fewer than these, and chance could close a prefix. */
const LEAST_CODES = 50

/**
 * Tells whether nobody needed this code, a row of `messages` named `message`: its account signed in while the code was
 * valid, by another factor or another code.
 */
const endedOtherwise = (p: Placeholders<'lifetimeSeconds'>) => sql`
  (message.code_purpose in ('login_code', 'two_factor') and exists (
    select from ${accounts} join ${sessions} on ${sessions}.account_id = ${accounts}.id
     where ${accounts}.uuid = message.code_subject and ${sessions}.created_at >= message.created_at
       and ${sessions}.created_at < message.created_at + ${p.lifetimeSeconds} * interval '1 second'))`

/**
 * Codes that closed a prefix once do not close it again. The codes that nobody needed are read from the messages only
 * where the prefix would be closed, since that is slow and seldom.
 */
const closePrefixes = defineStatement({
  name: 'sms_funnel.close_prefixes',
  params: { prefixes: 'text', now: 'timestamptz', until: 'timestamptz', lifetimeSeconds: 'int' },
  row: { prefix: 'text', codes: 'int', verified: 'int', isClosed: 'boolean' },
  sql: (p) => sql`
  with counted as (
    select prefix, sum(codes)::int as codes, sum(verified)::int as verified
      from ${smsPrefixes}
     where prefix in (select jsonb_array_elements_text(${p.prefixes}::jsonb)) and day >= ${today(p)} - 1
       and closed_until is null
     group by prefix
    having sum(codes) >= ${sql.raw(String(LEAST_CODES))} and sum(verified) * 100 < 2 * sum(codes)),
  evaluated as materialized (
    select counted.prefix, verified, codes - (
             select count(*)::int from ${messages} message
              where finished_at >= (${today(p)} - 1)::timestamp at time zone 'UTC' and gateway is not null
                and verified_at is null and left(destination, length(counted.prefix)) = counted.prefix
                and ${endedOtherwise(p)}) as codes
      from counted),
  closed as (
    update ${smsPrefixes} set closed_until = ${p.until}
      from evaluated
     where ${smsPrefixes}.prefix = evaluated.prefix and day = ${today(p)} and closed_until is null
       and evaluated.codes >= ${sql.raw(String(LEAST_CODES))} and evaluated.verified * 100 < 2 * evaluated.codes
    returning evaluated.prefix)
  select prefix, codes, verified, prefix in (select prefix from closed) as is_closed from evaluated`,
})

/** Of each code the last message before it was typed. */
const markVerified = defineStatement({
  name: 'sms_funnel.mark_verified',
  params: { codes: 'text' },
  row: { gateway: 'text?', destination: 'text' },
  sql: (p) => sql`
  with sent as materialized (
    select at, (
        select id from ${messages}
         where coalesce(account_uuid, code_subject) in (typed.subject, typed.owner) and code_subject = typed.subject
           and code_purpose = typed.purpose and destination = typed.destination and created_at <= typed.at
           and verified_at is null
         order by id desc limit 1) as id
      from jsonb_to_recordset(${p.codes}::jsonb)
        as typed (subject uuid, owner uuid, purpose text, destination text, at timestamptz))
  ${noteVerified(sql`sent`)}
  returning message.gateway, message.destination`,
})

const conversion = defineStatement({
  name: 'sms_funnel.conversion',
  params: { gateway: 'text', before: 'timestamptz', lifetimeSeconds: 'int' },
  row: { codes: 'int', verified: 'int' },
  sql: (p) => sql`
  select count(*)::int as codes, count(verified_at)::int as verified from (
    select verified_at from ${messages} message
     where gateway = ${p.gateway} and code_purpose is not null
       and (verified_at is not null or (created_at < ${p.before} and not ${endedOtherwise(p)}))
     order by id desc limit 200) last`,
})

/** Not found, it may come before the sending is recorded: it is kept, and the later of two early ones counts alike. */
const putReceipt = defineStatement({
  name: 'sms_funnel.put_receipt',
  params: { gateway: 'text', providerId: 'text', receipt: 'text', now: 'timestamptz' },
  row: { gateway: 'text', destination: 'text' },
  sql: (p) => sql`
  with known as materialized (
    select id, receipt as before from ${messages} where gateway = ${p.gateway} and provider_id = ${p.providerId}
       for update),
  changed as (
    ${noteReceipt(p.receipt, sql`known`)}
    returning message.gateway, message.destination),
  early as (
    insert into ${earlyReceipts} as early (gateway, provider_id, receipt, received_at)
    select ${p.gateway}, ${p.providerId}, ${p.receipt}, ${p.now} where not exists (select 1 from known)
    on conflict (gateway, provider_id) do update
       set receipt = case when early.receipt = 'delivered' then early.receipt else excluded.receipt end)
  select * from changed`,
})

const applyEarly = defineStatement({
  name: 'sms_funnel.apply_early',
  row: { gateway: 'text', destination: 'text', receipt: column<Receipt>('text') },
  sql: () => sql`
  with found as materialized (
    select message.id, early.gateway, early.provider_id, early.receipt
      from ${earlyReceipts} early
      join ${messages} message on message.gateway = early.gateway and message.provider_id = early.provider_id),
  gone as (
    delete from ${earlyReceipts} early using found
     where early.gateway = found.gateway and early.provider_id = found.provider_id returning found.id, found.receipt)
  ${noteReceipt(sql`gone.receipt`, sql`gone`)}
  returning message.gateway, message.destination, gone.receipt`,
})

const sweepPrefixes = createSweep({
  name: 'sms_funnel.sweep_prefixes',
  table: smsPrefixes,
  key: sql`prefix, day`,
  params: { before: 'timestamptz' },
  where: (p) => sql`day < (${p.before} at time zone 'UTC')::date`,
  order: sql`day`,
})
const sweepEarly = createAgeSweep(
  earlyReceipts,
  'sms_funnel.sweep_early',
  sql`gateway, provider_id`,
  sql`received_at`,
)

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

export type SmsFunnelStore = ReturnType<typeof createSmsFunnelStore>

export function createSmsFunnelStore(database: Database) {
  return {
    addCounts: (counts: StageCount[], now: Date): Promise<void> =>
      database.run(addCounts, { counts: JSON.stringify(counts), now }),
    /** Reports by gateway and country, from that day (UTC) on. */
    report: (since: Date): Promise<StageCount[]> => database.all(report, { since }),
    /** Adds to the counters of today. */
    addPrefixes: (counts: PrefixCount[], now: Date): Promise<void> =>
      database.run(addPrefixes, { counts: JSON.stringify(counts), now }),
    /**
     * Closes those of the prefixes whose codes are hardly ever verified. A code does not count if its account signed in
     * otherwise while it was valid. Gives the prefixes that had to be looked at closely.
     */
    closePrefixes: (prefixes: string[], lifetimeSeconds: number, now: Date) =>
      database.all(closePrefixes, {
        prefixes: JSON.stringify(prefixes),
        now,
        until: new Date(now.getTime() + DAY_MS),
        lifetimeSeconds,
      }),
    /** Notes at the last message with each of these codes that it was typed: once. Gives the messages. */
    markVerified: (codes: TypedCode[]) => database.all(markVerified, { codes: JSON.stringify(codes) }),
    /**
     * Returns the share of verified codes, of the last 200 that a gateway took and whose time is over. A code does not
     * count if its account signed in otherwise while it was valid.
     */
    async conversion(gateway: string, lifetimeSeconds: number, now: Date) {
      const before = new Date(now.getTime() - lifetimeSeconds * 1000)
      const found = await database.first(conversion, { gateway, before, lifetimeSeconds })
      return found ?? { codes: 0, verified: 0 }
    },
    /**
     * `delivered` is final, `failed` is not. It is null if that changes nothing: a repetition, or an id that nobody knows
     * (yet). The receipt is then kept for a minute.
     */
    putReceipt: (gateway: string, providerId: string, receipt: Receipt, now: Date) =>
      database.first(putReceipt, { gateway, providerId, receipt, now }),
    /** Gives the receipts that were kept, and whose sending was recorded since, to their messages. */
    applyEarlyReceipts: () => database.all(applyEarly, {}),
    async sweep(now: Date, limit: number): Promise<SweptBatch> {
      const removed = [
        await sweepEarly(database, { before: new Date(now.getTime() - MINUTE_MS), limit }),
        await sweepPrefixes(database, { before: daysBefore(now, 7), limit }),
      ]
      return { removed: removed.reduce((sum, each) => sum + each, 0), more: removed.includes(limit) }
    },
  }
}
