/** Tables `sms_funnel`, `sms_prefixes`, `early_receipts` and `refused_addresses`, and what receipts change in `messages`. */
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import {
  earlyReceipts,
  messages,
  refusedAddresses,
  smsFunnel,
  smsPrefixes,
} from '../../platform/postgres/schema.ts'
import { createSweep, daysBefore } from '../../platform/postgres/sweep.ts'
import type { CodePurpose } from '../codes/store.ts'
import type { DeliveryRecords, PrefixCount, Receipt, SentMessage, StageCount } from './records.ts'

const now = param('now', 'timestamptz')
const today = sql`(${now} at time zone 'UTC')::date`
const gateway = param('gateway', 'text')
const providerId = param('providerId', 'text')

/** Rows in one order, so that two replicas never wait for each other in a circle. */
const addCounts = statement<{ counts: string; now: Date }>(sql`
  insert into ${smsFunnel} as total (day, gateway, country, stage, count)
  select ${today}, gateway, country, stage, count
    from jsonb_to_recordset(${param('counts', 'text')}::jsonb)
         as added (gateway text, country text, stage text, count bigint)
   order by gateway, country, stage
  on conflict (day, gateway, country, stage) do update set count = total.count + excluded.count`)

const report = statement<{ since: Date }, StageCount>(sql`
  select gateway, country, stage, sum(count)::bigint as count from ${smsFunnel}
   where day >= (${param('since', 'timestamptz')} at time zone 'UTC')::date
   group by gateway, country, stage order by gateway, country, stage`)

const addPrefixes = statement<{ counts: string; now: Date }>(sql`
  insert into ${smsPrefixes} as total (prefix, day, codes, verified)
  select prefix, ${today}, codes, verified
    from jsonb_to_recordset(${param('counts', 'text')}::jsonb) as added (prefix text, codes int, verified int)
   order by prefix
  on conflict (prefix, day) do update
     set codes = total.codes + excluded.codes, verified = total.verified + excluded.verified`)

/** Fewer than these, and chance could close a prefix. */
const LEAST_CODES = 50

/** Codes that closed a prefix once do not close it again. */
const closePrefixes = statement<{ prefixes: string; now: Date; until: Date }, PrefixCount>(sql`
  with counted as (
    select prefix, sum(codes)::int as codes, sum(verified)::int as verified
      from ${smsPrefixes}
     where prefix in (select jsonb_array_elements_text(${param('prefixes', 'text')}::jsonb)) and day >= ${today} - 1
       and closed_until is null
     group by prefix
    having sum(codes) >= ${sql.raw(String(LEAST_CODES))} and sum(verified) * 100 < 2 * sum(codes))
  update ${smsPrefixes} set closed_until = ${param('until', 'timestamptz')}
    from counted where ${smsPrefixes}.prefix = counted.prefix and day = ${today} and closed_until is null
  returning counted.prefix, counted.codes, counted.verified`)

const closedPrefixes = statement<{ now: Date }, { prefix: string; closedUntil: Date }>(sql`
  select prefix, max(closed_until) as closed_until from ${smsPrefixes}
   where day >= ${today} - 2 and closed_until > ${now} group by prefix`)

const markVerified = statement<{ subject: string; purpose: CodePurpose; now: Date }, SentMessage>(sql`
  with sent as materialized (
    select id from ${messages}
     where code_subject = ${param('subject', 'uuid')} and code_purpose = ${param('purpose', 'text')}
       and gateway is not null and verified_at is null
     order by id desc limit 1)
  update ${messages} set verified_at = ${now}
   where id in (select id from sent) and verified_at is null
  returning gateway, destination`)

const conversion = statement<{ gateway: string; before: Date }, { codes: number; verified: number }>(sql`
  select count(*)::int as codes, count(verified_at)::int as verified from (
    select verified_at from ${messages}
     where gateway = ${gateway} and code_purpose is not null
       and (verified_at is not null or created_at < ${param('before', 'timestamptz')})
     order by id desc limit 200) last`)

/** Not found, it may come before the sending is recorded: it is kept, and the later of two early ones counts alike. */
const putReceipt = statement<
  { gateway: string; providerId: string; receipt: Receipt; now: Date },
  SentMessage & { changed: boolean }
>(sql`
  with known as materialized (
    select id, receipt as before from ${messages} where gateway = ${gateway} and provider_id = ${providerId}
       for update),
  changed as (
    update ${messages} message set receipt = ${param('receipt', 'text')}
      from known
     where message.id = known.id
       and (message.receipt is null or (message.receipt = 'failed' and ${param('receipt', 'text')} = 'delivered'))
    returning message.gateway, message.destination),
  early as (
    insert into ${earlyReceipts} as early (gateway, provider_id, receipt, received_at)
    select ${gateway}, ${providerId}, ${param('receipt', 'text')}, ${now} where not exists (select 1 from known)
    on conflict (gateway, provider_id) do update
       set receipt = case when early.receipt = 'delivered' then early.receipt else excluded.receipt end)
  select * from changed`)

const applyEarly = statement<Record<string, never>, SentMessage & { receipt: Receipt }>(sql`
  with found as materialized (
    select message.id, early.gateway, early.provider_id, early.receipt
      from ${earlyReceipts} early
      join ${messages} message on message.gateway = early.gateway and message.provider_id = early.provider_id),
  gone as (
    delete from ${earlyReceipts} early using found
     where early.gateway = found.gateway and early.provider_id = found.provider_id returning found.id, found.receipt)
  update ${messages} message set receipt = gone.receipt
    from gone
   where message.id = gone.id
     and (message.receipt is null or (message.receipt = 'failed' and gone.receipt = 'delivered'))
  returning message.gateway, message.destination, gone.receipt`)

const putRefused = statement<{ tag: Uint8Array; now: Date }>(sql`
  insert into ${refusedAddresses} (tag, refused_at) values (${param('tag', 'bytea')}, ${now})
  on conflict (tag) do update set refused_at = excluded.refused_at`)

const isRefused = statement<{ tag: Uint8Array; since: Date }, { refused: boolean }>(sql`
  select true as refused from ${refusedAddresses}
   where tag = ${param('tag', 'bytea')} and refused_at > ${param('since', 'timestamptz')}`)

const before = param('before', 'timestamptz')
const sweepPrefixes = createSweep<{ before: Date }>({
  table: smsPrefixes,
  key: sql`prefix, day`,
  where: sql`day < (${before} at time zone 'UTC')::date`,
  order: sql`day`,
})
const sweepEarly = createSweep<{ before: Date }>({
  table: earlyReceipts,
  key: sql`gateway, provider_id`,
  where: sql`received_at < ${before}`,
  order: sql`received_at`,
})
const sweepRefused = createSweep<{ before: Date }>({
  table: refusedAddresses,
  key: sql`tag`,
  where: sql`refused_at < ${before}`,
  order: sql`refused_at`,
})

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

export function createDeliveryRecords(database: Database): DeliveryRecords {
  return {
    async addCounts(counts, at) {
      await database.all(addCounts, { counts: JSON.stringify(counts), now: at })
    },
    report: (since) => database.all(report, { since }),
    async addPrefixes(counts, at) {
      await database.all(addPrefixes, { counts: JSON.stringify(counts), now: at })
      const prefixes = JSON.stringify(counts.map(({ prefix }) => prefix))
      return database.all(closePrefixes, { prefixes, now: at, until: new Date(at.getTime() + DAY_MS) })
    },
    closedPrefixes: (at) => database.all(closedPrefixes, { now: at }),
    markVerified: (code, at) => database.first(markVerified, { ...code, now: at }),
    async conversion(name, at) {
      return (await database.first(conversion, { gateway: name, before: at })) ?? { codes: 0, verified: 0 }
    },
    putReceipt: (name, id, receipt, at) =>
      database.first(putReceipt, { gateway: name, providerId: id, receipt, now: at }),
    applyEarlyReceipts: () => database.all(applyEarly, {}),
    async putRefusedAddress(tag, at) {
      await database.all(putRefused, { tag, now: at })
    },
    isAddressRefused: async (tag, since) => (await database.first(isRefused, { tag, since })) !== null,
    async sweep(at, limit) {
      const removed = [
        await sweepEarly(database, { before: new Date(at.getTime() - MINUTE_MS), limit }),
        await sweepRefused(database, { before: daysBefore(at, 1), limit }),
        await sweepPrefixes(database, { before: daysBefore(at, 7), limit }),
      ]
      return { removed: removed.reduce((sum, each) => sum + each, 0), more: removed.includes(limit) }
    },
  }
}
