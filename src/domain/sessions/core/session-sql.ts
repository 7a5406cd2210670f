/** The changes of sessions, each one statement's part. No other file but family-store.ts writes the table. */
import { type SQL, sql } from 'drizzle-orm'
import { accounts, sessions } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders } from '../../../platform/postgres/statement.ts'
import type { SessionEnd } from '../../foundation/events/event-data-schema.ts'
import { type EventOriginParam, eventOfEach, eventOriginTypes } from '../../foundation/events/event-sql.ts'
import { mayQueueLogouts } from '../../messages/outbox/queue-sql.ts'

/** `expires_at` is never after `ends_at`. */
export const lives = (p: Placeholders<'now'>) => sql`revoked_at is null and expires_at > ${p.now}`

export const newSessionParamTypes = {
  id: 'uuid',
  deviceType: 'text?',
  deviceName: 'text?',
  deviceOs: 'text?',
  deviceFingerprint: 'text?',
  address: 'text',
  amr: 'text',
  now: 'timestamptz',
  expiresAt: 'timestamptz',
  endsAt: 'timestamptz',
  familyHash: 'bytea',
  kind: 'text',
  stays: 'boolean',
} as const

/** One session for each row of `account`, which has the `id` of the account. */
export const openSession = (p: Placeholders<keyof typeof newSessionParamTypes>, account: SQL): SQL => sql`
    insert into ${sessions} (id, account_id, device_type, device_name, device_os, device_fingerprint, ip,
                             sign_in_ip, amr, created_at, last_used_at, expires_at, ends_at, family_hash, kind,
                             stays)
    select ${p.id}, ${account}.id, ${p.deviceType}, ${p.deviceName},
           ${p.deviceOs}, ${p.deviceFingerprint}, ${p.address},
           ${p.address}, ${p.amr}, ${p.now}, ${p.now}, ${p.expiresAt},
           ${p.endsAt}, ${p.familyHash}, ${p.kind}, ${p.stays}
      from ${account}`

/**
 * Ends sessions without their events: where one event says that everybody's end. `source`: from where the condition reads, if
 * it is more than the session. `isTold` is false where it gives way to newer ones: its application hears nothing of that.
 */
export const endUnrecorded = (p: Placeholders<'now'>, where: SQL, source?: SQL, isTold = true): SQL => sql`
    update ${sessions} set revoked_at = ${p.now} ${isTold ? mayQueueLogouts : sql`, ends_at = ${p.now}`} ${source ? sql`from ${source}` : sql``}
     where ${sessions}.revoked_at is null and ${where}`

/**
 * CTEs. `ended_sessions` has the `id` and `account_id` of each session that this ends; each that lived has its event. A
 * trigger ends the sessions below one of a browser, and records them as that one. Another one queues the message to the
 * application of a session: only one that gives way to newer ones goes without a word, which its `ends_at` says.
 */
export const endSessions = (
  p: Placeholders<EventOriginParam | 'now'>,
  cause: SessionEnd,
  where: SQL,
  source?: SQL,
): SQL => sql`ended_sessions as (${endUnrecorded(p, where, source, cause !== 'too_many')}
    returning ${sessions}.id, ${sessions}.account_id, ${sessions}.expires_at),
  ${eventOfEach(
    p,
    'session.ended',
    {
      account: sql`${accounts}.uuid`,
      session: sql`ended_sessions.id`,
      data: sql`${sql.raw(`'{"cause": "${cause}"}'`)}::jsonb`,
    },
    sql`ended_sessions join ${accounts} on ${accounts}.id = ended_sessions.account_id
     where ended_sessions.expires_at > ${p.now}`,
  )}`

/** A request to a page moves the idle end of its browser's session, at most once a minute. */
export const touchBrowserSession = (
  p: Placeholders<'cookieHash' | 'now' | 'minuteAgo' | 'usual' | 'stays' | 'address'>,
): SQL => sql`
    update ${sessions}
       set last_used_at = ${p.now}, ip = ${p.address},
           expires_at = least(case when stays then ${p.stays} else ${p.usual} end, ends_at)
     where family_hash = ${p.cookieHash} and kind = 'browser' and ${lives(p)} and last_used_at < ${p.minuteAgo}`

/** The cookie before is unknown from now on. */
export const renewBrowserSession = (
  p: Placeholders<'sessionId' | 'cookieHash' | 'newCookieHash' | 'now'>,
): SQL => sql`
    update ${sessions} set family_hash = ${p.newCookieHash}
     where id = ${p.sessionId} and family_hash = ${p.cookieHash} and kind = 'browser' and ${lives(p)}`

/** An application has so many sessions below one browser at most; of more, those that were opened first end. */
const MOST_BELOW = 5

/**
 * CTEs. `opened` is the session of an application, below that of the browser; `surplus` gives way to it. `found` has the
 * columns of the browser's row, the account's `account_id` and `account_uuid` and, of the code, the granted `scope`. Without
 * an address the session has those of the browser.
 */
export const openSessionBelow = (
  p: Placeholders<
    | 'id'
    | 'now'
    | 'address'
    | 'familyHash'
    | 'expiresAt'
    | 'endsAt'
    | 'clientId'
    | 'name'
    | 'kind'
    | 'endsWithBrowser'
    | EventOriginParam
  >,
  found: SQL,
): SQL => sql`
  surplus as (
    ${endUnrecorded(
      p,
      sql`id in (
      select older.id from ${sessions} older, ${found}
       where older.account_id = ${found}.account_id and older.parent_id = ${found}.session_id
         and older.client_id = ${p.clientId} and older.revoked_at is null and older.expires_at > ${p.now}
       order by older.created_at desc, older.id offset ${sql.raw(String(MOST_BELOW - 1))})`,
      undefined,
      false,
    )}
    returning id),
  opened as (
    insert into ${sessions} (id, account_id, device_type, device_name, device_os, device_fingerprint, ip, sign_in_ip,
                             amr, created_at, last_used_at, expires_at, ends_at, family_hash, kind, parent_id, client_id,
                             scope, authenticated_at)
    select ${p.id}, account_id, device_type, ${p.name}, device_os, device_fingerprint,
           coalesce(${p.address}, browser_ip), coalesce(${p.address}, browser_sign_in_ip),
           amr, ${p.now}, ${p.now}, least(${p.expiresAt}, life.ends), life.ends, ${p.familyHash}, ${p.kind}, session_id,
           ${p.clientId}, scope, authenticated_at
      from ${found}, lateral (
        select case when ${p.endsWithBrowser} and not stays then least(${p.endsAt}, browser_ends)
                    else ${p.endsAt} end as ends) life
    returning id),
  ${eventOfEach(
    p,
    sql`changed.type`,
    { account: sql`${found}.account_uuid`, session: sql`changed.id`, data: sql`changed.data` },
    sql`${found} cross join (
        select 'session.ended' as type, id, '{"cause": "too_many"}'::jsonb as data from surplus
        union all
        select 'session.started', id, jsonb_build_object('application', ${p.clientId}) from opened) changed`,
  )}`

/** It returns true for a session of the same browser: its own, and those of the applications below it. */
export const isOfSameBrowser = (sessionId: SQL): SQL => sql`
  coalesce(${sessions}.parent_id, ${sessions}.id) = (
    select coalesce(own.parent_id, own.id) from ${sessions} own where own.id = ${sessionId})`

/** The sessions of applications below `former` go on below `next`, both rows of one account. */
export const moveSessionsBelow = (next: SQL, former: SQL): SQL => sql`
    update ${sessions} set parent_id = ${next}.id from ${former}, ${next}
     where parent_id = ${former}.id and ${former}.account_id = ${next}.account_id
       and ${sessions}.account_id = ${former}.account_id`

const endAllOf = (cause: SessionEnd, alsoKept = sql`false`) =>
  defineStatement({
    name: `sessions.end_by_${cause}`,
    params: { accountId: 'bigint', keptSession: 'uuid?', now: 'timestamptz', ...eventOriginTypes },
    sql: (p) => sql`
    with ${endSessions(
      p,
      cause,
      sql`account_id = ${p.accountId} and not (coalesce(${isOfSameBrowser(p.keptSession)}, false) or ${alsoKept})`,
    )}
    select 1 from ended_sessions`,
  })

/**
 * Each ends every session of the account but those of the browser of `keptSession`, if one is kept. Two factors that are turned on do not end
 * those that proved both.
 */
export const endSessionsBy = {
  undo: endAllOf('undo'),
  password: endAllOf('password'),
  lock: endAllOf('lock'),
  two_factor: endAllOf('two_factor', sql`string_to_array(amr, ' ') @> array['mfa']`),
}

/** The session that turned two factors on has proved both. */
export const keepTwoFactorSession = defineStatement({
  name: 'sessions.keep_two_factor',
  params: { accountId: 'bigint', sessionId: 'uuid', amr: 'text' },
  sql: (p) => sql`
  update ${sessions} set amr = ${p.amr} where ${isOfSameBrowser(p.sessionId)} and account_id = ${p.accountId}`,
})

export const deleteSessions = (where: SQL): SQL => sql`delete from ${sessions} where ${where}`
