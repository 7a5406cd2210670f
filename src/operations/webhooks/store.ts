/**
 * How far each endpoint of `[[webhooks]]` was told, and what was set aside, in PostgreSQL in every shape. One process
 * holds an endpoint at a time, and only its writes count. The tables are `webhook_endpoints` and `webhook_retries`.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../platform/postgres/database.ts'
import { events, webhookEndpoints, webhookRetries } from '../../platform/postgres/schema.ts'
import {
  defineStatement,
  type ParamsOf,
  type Placeholders,
  type RowOf,
} from '../../platform/postgres/statement.ts'

const namesIn = (names: SQL) => sql`(select jsonb_array_elements_text(${names}::jsonb))`

/** A lease that ends later was written before a clock was set back. */
const LONGEST_LEASE = sql.raw(`interval '1 minute'`)

const add = defineStatement({
  name: 'webhooks.add',
  params: { names: 'text', now: 'timestamptz' },
  sql: (p) => sql`
  insert into ${webhookEndpoints} (name, position, held_until)
  select name, coalesce(pg_sequence_last_value(pg_get_serial_sequence('events', 'id')::regclass), 0), ${p.now}
    from jsonb_array_elements_text(${p.names}::jsonb) as name
  on conflict do nothing`,
})

const claim = defineStatement({
  name: 'webhooks.claim',
  params: { names: 'text', holder: 'uuid', now: 'timestamptz', until: 'timestamptz' },
  row: { name: 'text', position: 'bigint', awaySince: 'timestamptz?', lastAcceptedAt: 'timestamptz?' },
  sql: (p) => sql`
  update ${webhookEndpoints} set holder = ${p.holder}, held_until = ${p.until}
   where name in ${namesIn(p.names)}
     and (holder is null or holder = ${p.holder} or held_until <= ${p.now}
          or held_until > ${p.now} + ${LONGEST_LEASE})
  returning name, position, away_since, last_accepted_at`,
})

/** The position before tells whether somebody moved it meanwhile. */
const save = defineStatement({
  name: 'webhooks.save',
  params: {
    name: 'text',
    holder: 'uuid',
    before: 'bigint',
    position: 'bigint',
    awaySince: 'timestamptz?',
    lastAcceptedAt: 'timestamptz?',
    until: 'timestamptz',
  },
  row: { name: 'text' },
  sql: (p) => sql`
  update ${webhookEndpoints}
     set position = ${p.position}, away_since = ${p.awaySince}, last_accepted_at = ${p.lastAcceptedAt},
         held_until = ${p.until}
   where name = ${p.name} and holder = ${p.holder} and position = ${p.before}
  returning name`,
})

const release = defineStatement({
  name: 'webhooks.release',
  params: { holder: 'uuid', now: 'timestamptz' },
  sql: (p) => sql`
  update ${webhookEndpoints} set holder = null, held_until = ${p.now} where holder = ${p.holder}`,
})

const isHeld = (p: Placeholders<'name' | 'holder'>) => sql`exists (
  select from ${webhookEndpoints} where name = ${p.name} and holder = ${p.holder})`

/** One that was given up comes again only where the position went back. */
const setAside = defineStatement({
  name: 'webhooks.set_aside',
  params: { name: 'text', holder: 'uuid', rows: 'text', now: 'timestamptz' },
  sql: (p) => sql`
  insert into ${webhookRetries} as before (endpoint, event_id, attempts, set_aside_at, due_at, last_failure)
  select ${p.name}, event_id, attempts, ${p.now}, due_at, last_failure
    from jsonb_to_recordset(${p.rows}::jsonb) as failed (
         event_id bigint, attempts int, due_at timestamptz, last_failure text)
   where ${isHeld(p)}
  on conflict (endpoint, event_id) do update
     set attempts = excluded.attempts, set_aside_at = excluded.set_aside_at, due_at = excluded.due_at,
         last_failure = excluded.last_failure
   where before.due_at is null`,
})

/** Of these accounts those about which something is set aside. No account is the empty text. */
const findAside = defineStatement({
  name: 'webhooks.find_aside',
  params: { name: 'text', accounts: 'text' },
  row: { account: 'text' },
  sql: (p) => sql`
  select distinct coalesce(account::text, '') as account from ${webhookRetries} join ${events} on id = event_id
   where endpoint = ${p.name} and due_at is not null and coalesce(account::text, '') in ${namesIn(p.accounts)}`,
})

const dueRow = { eventId: 'bigint', attempts: 'int', account: 'text' } as const
const dueColumns = sql`event_id, attempts, coalesce(account::text, '') as account`

const nextDue = defineStatement({
  name: 'webhooks.next_due',
  params: { name: 'text', now: 'timestamptz', passedOver: 'text', limit: 'int' },
  row: dueRow,
  sql: (p) => sql`
  select ${dueColumns} from ${webhookRetries} left join ${events} on id = event_id
   where endpoint = ${p.name} and due_at <= ${p.now}
     and coalesce(account::text, '') not in ${namesIn(p.passedOver)}
   order by due_at, event_id limit ${p.limit}`,
})

/** `tried`: how many of them were tried before, each in its turn. */
const longestAside = defineStatement({
  name: 'webhooks.longest_aside',
  params: { name: 'text', tried: 'int' },
  row: dueRow,
  sql: (p) => sql`
  select ${dueColumns} from ${webhookRetries} left join ${events} on id = event_id
   where endpoint = ${p.name} and due_at is not null
   order by set_aside_at, event_id
   limit 1 offset ${p.tried} % greatest(1, (
     select count(*)::int from ${webhookRetries} where endpoint = ${p.name} and due_at is not null))`,
})

const ofOne = { name: 'text', holder: 'uuid', eventId: 'bigint' } as const
const isThisOne = (p: Placeholders<keyof typeof ofOne>) =>
  sql`endpoint = ${p.name} and event_id = ${p.eventId} and ${isHeld(p)}`

const finish = defineStatement({
  name: 'webhooks.finish',
  params: ofOne,
  sql: (p) => sql`delete from ${webhookRetries} where ${isThisOne(p)}`,
})

const postpone = defineStatement({
  name: 'webhooks.postpone',
  params: { ...ofOne, attempts: 'int', dueAt: 'timestamptz?', lastFailure: 'text' },
  sql: (p) => sql`
  update ${webhookRetries} set attempts = ${p.attempts}, due_at = ${p.dueAt}, last_failure = ${p.lastFailure}
   where ${isThisOne(p)}`,
})

const makeAllDue = defineStatement({
  name: 'webhooks.make_all_due',
  params: { name: 'text', holder: 'uuid', now: 'timestamptz' },
  sql: (p) => sql`
  update ${webhookRetries} set due_at = ${p.now} where endpoint = ${p.name} and due_at > ${p.now} and ${isHeld(p)}`,
})

export type DueRetry = RowOf<typeof nextDue>
export type HeldEndpoint = RowOf<typeof claim>

export interface AsideRow {
  eventId: number
  attempts: number
  dueAt: Date
  lastFailure: string | null
}

export type WebhookStore = ReturnType<typeof createWebhookStore>

export function createWebhookStore(database: Database) {
  return {
    /** New endpoints begin after the last event. */
    add: (names: string[], now: Date): Promise<void> =>
      database.run(add, { names: JSON.stringify(names), now }),
    /** Returns those that nobody else holds; the caller holds them until then. */
    claim: (names: string[], holder: string, now: Date, until: Date) =>
      database.all(claim, { names: JSON.stringify(names), holder, now, until }),
    /** It returns false if somebody else holds it, or moved its position. */
    save: async (values: ParamsOf<typeof save>): Promise<boolean> =>
      (await database.first(save, values)) !== null,
    release: (holder: string, now: Date): Promise<void> => database.run(release, { holder, now }),
    setAside: (name: string, holder: string, rows: AsideRow[], now: Date): Promise<void> =>
      database.run(setAside, { name, holder, rows: JSON.stringify(rows.map(asideRecord)), now }),
    async findAside(name: string, accounts: string[]): Promise<Set<string>> {
      const rows = await database.all(findAside, { name, accounts: JSON.stringify(accounts) })
      return new Set(rows.map(({ account }) => account))
    },
    /** The ones due longest, but for those about these accounts. */
    nextDue: (name: string, now: Date, passedOver: string[], limit: number) =>
      database.all(nextDue, { name, now, passedOver: JSON.stringify(passedOver), limit }),
    longestAside: (name: string, tried: number) => database.first(longestAside, { name, tried }),
    finish: (name: string, holder: string, eventId: number): Promise<void> =>
      database.run(finish, { name, holder, eventId }),
    /** `dueAt` null: it is given up. */
    postpone: (
      name: string,
      holder: string,
      row: Omit<AsideRow, 'dueAt' | 'lastFailure'> & { dueAt: Date | null; lastFailure: string },
    ): Promise<void> => database.run(postpone, { name, holder, ...row }),
    makeAllDue: (name: string, holder: string, now: Date): Promise<void> =>
      database.run(makeAllDue, { name, holder, now }),
  }
}

const asideRecord = ({ eventId, dueAt, lastFailure, attempts }: AsideRow) => ({
  event_id: eventId,
  ...{ attempts, due_at: dueAt, last_failure: lastFailure },
})
