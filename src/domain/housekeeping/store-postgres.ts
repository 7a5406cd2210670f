/** Table `housekeeping` (one row: when the next round is due), and what is swept from the others: see store.ts. */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import {
  accounts,
  contactChanges,
  housekeeping,
  registrationClaims,
  sessions,
  totpEnrolments,
} from '../../platform/postgres/schema.ts'
import { createSweep } from '../../platform/postgres/sweep.ts'
import type { HousekeepingStore } from './store.ts'

const now = param('now', 'timestamptz')
const before = param('before', 'timestamptz')
const limit = param('limit', 'int')

/** Far beyond any round: a time written before the clock was set back holds up nothing for long. */
const HORIZON_MS = 600_000

const claim = statement<{ now: Date; nextAt: Date; horizon: Date }, { id: number }>(sql`
  update ${housekeeping} set next_at = ${param('nextAt', 'timestamptz')}
   where id = 1 and (next_at <= ${now} or next_at > ${param('horizon', 'timestamptz')})
  returning id`)

const sweepOf = (table: SQLWrapper, key: SQL, where: SQL) =>
  createSweep<{ before: Date }>({ table, key, where, order: sql`created_at` })

/** A registration sent again is a new one; the index is on its creation, which is never later. */
const registrations = sweepOf(
  accounts,
  sql`id`,
  sql`account_confirmed_at is null and created_at < ${before} and updated_at < ${before}`,
)
/** What tells that a registration is contested stays as long as the registration. */
const claims = sweepOf(
  registrationClaims,
  sql`contact, address, password_tag`,
  sql`created_at < ${before}
    and not exists (select 1 from ${accounts} where account_confirmed_at is null and email_key = contact)
    and not exists (select 1 from ${accounts} where account_confirmed_at is null and phone = contact)`,
)
const changes = sweepOf(contactChanges, sql`account_id, kind`, sql`created_at < ${before}`)
const enrolments = sweepOf(totpEnrolments, sql`account_id`, sql`created_at < ${before}`)

/** By the primary key, since no index may hold when a session ends (see schema.ts). */
const sessionSlice = statement<
  { after: string | null; before: Date; limit: number },
  { removed: number; last: string | null }
>(sql`
  with slice as materialized (
    select id, expires_at < ${before} or revoked_at < ${before} as over from ${sessions}
     where ${param('after', 'uuid')} is null or id > ${param('after', 'uuid')} order by id limit ${limit}),
  gone as (
    delete from ${sessions} where id in (select id from slice where over) returning 1)
  select (select count(*)::int from gone) as removed,
         (select id from slice order by id offset ${limit} - 1) as last`)

export function createHousekeepingStore(database: Database): HousekeepingStore {
  const run =
    (sweep: typeof registrations) =>
    (time: Date, rows: number): Promise<number> =>
      sweep(database, { before: time, limit: rows })
  return {
    async claimRound(at, nextAt) {
      const horizon = new Date(at.getTime() + HORIZON_MS)
      return (await database.first(claim, { now: at, nextAt, horizon })) !== null
    },
    sweepRegistrations: run(registrations),
    sweepRegistrationClaims: run(claims),
    sweepContactChanges: run(changes),
    sweepTotpEnrolments: run(enrolments),
    sweepSessions: async (after, time, rows) =>
      (await database.first(sessionSlice, { after, before: time, limit: rows }))!,
  }
}
