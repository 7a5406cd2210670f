/**
 * The sessions of browsers, rows of `sessions` whose kind is `browser`. A cookie of the pages names one; its
 * SHA-256 is `family_hash`.
 */
import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { retryConflicts } from '../../../platform/postgres/failure.ts'
import { accounts, sessions } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { accountRow } from '../../accounts/core/account-sql.ts'
import { eventOrigin, eventOriginTypes } from '../../foundation/events/event-sql.ts'
import {
  endSessions,
  lives,
  moveSessionsBelow,
  renewBrowserSession,
  touchBrowserSession,
} from '../core/session-sql.ts'

/** Reads the session with its account. A request moves the idle end, at most once a minute. */
const visit = defineStatement({
  name: 'browser_sessions.visit',
  params: {
    cookieHash: 'bytea',
    now: 'timestamptz',
    minuteAgo: 'timestamptz',
    usual: 'timestamptz',
    stays: 'timestamptz',
    address: 'text',
  },
  row: {
    ...accountRow,
    sessionId: 'uuid',
    startedAt: 'timestamptz',
    amr: 'text',
    deviceName: 'text?',
    deviceFingerprint: 'text?',
    signInIp: 'text?',
    stays: 'boolean',
  },
  sql: (p) => sql`
  with touched as (${touchBrowserSession(p)})
  select ${accounts}.*, ${sessions}.id as session_id, ${sessions}.created_at as started_at, ${sessions}.amr,
         device_name, device_fingerprint, sign_in_ip, stays
    from ${sessions} join ${accounts} on ${accounts}.id = ${sessions}.account_id
   where family_hash = ${p.cookieHash} and kind = 'browser' and ${lives(p)} and locked_at is null`,
})

/** Forms that one browser sends at once replace the same session, one after the other. */
const lockFormer = defineStatement({
  name: 'browser_sessions.lock_former',
  params: { cookieHash: 'bytea' },
  row: { id: 'uuid' },
  sql: (p) => sql`
  select id from ${sessions} where family_hash = ${p.cookieHash} and kind = 'browser' for update`,
})

/**
 * The former session ends, and so do those that other forms of this browser opened at the same time: the newest one stays. The
 * sessions below them go on below the newest, if the same person signed in; otherwise a trigger ends them.
 */
const replace = defineStatement({
  name: 'browser_sessions.replace',
  params: { cookieHash: 'bytea', newCookieHash: 'bytea', now: 'timestamptz', ...eventOriginTypes },
  sql: (p) => sql`
  with opened as (
    select account_id, device_fingerprint from ${sessions}
     where family_hash = ${p.newCookieHash} and kind = 'browser'),
  mine as (
    select ${sessions}.id, ${sessions}.account_id, ${sessions}.created_at,
           family_hash = ${p.cookieHash} as is_former
      from ${sessions}, opened
     where kind = 'browser' and ${lives(p)}
       and (family_hash = ${p.cookieHash}
            or ${sessions}.account_id = opened.account_id
               and ${sessions}.device_fingerprint = opened.device_fingerprint)),
  newest as (
    select id, account_id from mine where not is_former order by created_at desc, id desc limit 1),
  former as (
    select id, account_id from mine where not exists (select from newest where newest.id = mine.id)),
  moved as (${moveSessionsBelow(sql`newest`, sql`former`)}),
  ${endSessions(p, 'browser', sql`${sessions}.id = former.id and revoked_at is null`, sql`former`)}
  select 1 from ended_sessions`,
})

/** Of any number of callers with one cookie, one gets the next. */
const renew = defineStatement({
  name: 'browser_sessions.renew',
  params: { sessionId: 'uuid', cookieHash: 'bytea', newCookieHash: 'bytea', now: 'timestamptz' },
  row: { id: 'uuid' },
  sql: (p) => sql`
  ${renewBrowserSession(p)} returning id`,
})

const end = defineStatement({
  name: 'browser_sessions.end',
  params: { cookieHash: 'bytea', now: 'timestamptz', ...eventOriginTypes },
  sql: (p) => sql`
  with ${endSessions(p, 'sign_out', sql`family_hash = ${p.cookieHash} and kind = 'browser' and ${lives(p)}`)}
  select 1 from ended_sessions`,
})

export type BrowserSessionStore = ReturnType<typeof createBrowserSessionStore>

export function createBrowserSessionStore(database: Database) {
  const after = (now: Date, seconds: number) => new Date(now.getTime() + seconds * 1000)
  return {
    /**
     * Null where the session is over, or its account is locked or erased. `idle`: the seconds that it lasts after its last
     * request to a page, usually and with "stay signed in".
     */
    visit: (cookieHash: Uint8Array, address: string, idle: { usual: number; stays: number }, now: Date) =>
      database.first(visit, {
        cookieHash,
        address,
        now,
        minuteAgo: after(now, -60),
        usual: after(now, idle.usual),
        stays: after(now, idle.stays),
      }),
    /** Ends what the same browser had before a sign-in: one session of a browser stays. */
    replace: (cookieHash: Uint8Array, newCookieHash: Uint8Array, now: Date): Promise<void> =>
      retryConflicts(() =>
        database.transaction(async (transaction) => {
          await transaction.all(lockFormer, { cookieHash })
          await transaction.run(replace, { cookieHash, newCookieHash, now, ...eventOrigin() })
        }),
      ),
    /** Replaces the cookie, whose sessions below stay. It returns false if that cookie names the session no more. */
    renew: async (sessionId: string, cookieHash: Uint8Array, newCookieHash: Uint8Array, now: Date) =>
      (await database.first(renew, { sessionId, cookieHash, newCookieHash, now })) !== null,
    /** A trigger ends the sessions of the applications below it. */
    end: (cookieHash: Uint8Array, now: Date): Promise<void> =>
      database.run(end, { cookieHash, now, ...eventOrigin() }),
  }
}
