/** What the counters of an account are looked for by: what it signs in with, and from where somebody failed lately. */

import { type SQL, sql } from 'drizzle-orm'
import { firstSince } from '../../domain/foundation/events/store.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { accounts, eventDetails, events, sessions } from '../../platform/postgres/schema.ts'
import { defineStatement, json, type Placeholders, type RowOf } from '../../platform/postgres/statement.ts'

/** The failures that count on an account. */
const failures = sql.raw(`array['login.failed', 'login.locked_out', 'two_factor.failed']`)
/** So many are read: of one account, and of everybody. */
const [MOST_OF_ONE, MOST] = [100, 5000]

const failureRow = { account: 'uuid', address: 'text?' } as const

const isFailure = (p: Placeholders<'since'>) => sql`
  type = any (${failures}) and created_at >= (select ${p.since}) and id >= coalesce(${firstSince(p)}, 0)`

const withAddress = (newest: SQL) => sql`
  select distinct account, address from (${newest}) failure left join ${eventDetails} on event_id = id`

const listFailures = defineStatement({
  name: 'limit_lifts.list_failures',
  params: { since: 'timestamptz' },
  row: failureRow,
  sql: (p) =>
    withAddress(sql`
    select id, account from ${events}
     where account is not null and ${isFailure(p)} order by id desc limit ${sql.raw(String(MOST))}`),
})

/** By the index of each account. */
const listFailuresOf = defineStatement({
  name: 'limit_lifts.list_failures_of',
  params: { uuids: 'text', since: 'timestamptz' },
  row: failureRow,
  sql: (p) =>
    withAddress(sql`
    select newest.id, newest.account from jsonb_array_elements_text(${p.uuids}::jsonb) one, lateral (
      select id, account from ${events}
       where account = one.value::uuid and ${isFailure(p)} order by id desc limit ${sql.raw(String(MOST_OF_ONE))}) newest`),
})

const listAbout = defineStatement({
  name: 'limit_lifts.list_about',
  params: { uuids: 'text' },
  row: {
    uuid: 'uuid',
    email: 'text?',
    phone: 'text?',
    sessions: json<string[]>(),
    fingerprints: json<string[]>(),
  },
  sql: (p) => sql`
  select uuid, email, phone,
         (select coalesce(jsonb_agg(id), '[]') from ${sessions}
           where account_id = account.id and revoked_at is null) as sessions,
         (select coalesce(jsonb_agg(distinct device_fingerprint), '[]') from ${sessions}
           where account_id = account.id and device_fingerprint is not null) as fingerprints
    from ${accounts} account
   where uuid = any (array(select jsonb_array_elements_text(${p.uuids}::jsonb)::uuid))`,
})

export type AboutAccount = RowOf<typeof listAbout>

export type LimitLiftStore = ReturnType<typeof createLimitLiftStore>

export function createLimitLiftStore(database: Database) {
  return {
    /** The accounts at which somebody failed since then, with each address once; of everybody where `uuids` is null. */
    listFailures: (uuids: string[] | null, since: Date): Promise<RowOf<typeof listFailures>[]> =>
      uuids === null
        ? database.all(listFailures, { since })
        : database.all(listFailuresOf, { uuids: JSON.stringify(uuids), since }),
    /** The contacts and the devices of accounts; none of those that are gone. */
    listAbout: (uuids: string[]): Promise<AboutAccount[]> =>
      database.all(listAbout, { uuids: JSON.stringify(uuids) }),
  }
}
