/**
 * The sessions, in PostgreSQL in every storage shape. One is alive until it is revoked or reaches its idle or absolute
 * expiry. The table is `sessions`.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts, sessions } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { daysBefore } from '../../../platform/postgres/sweep.ts'
import type { Account } from '../../accounts/core/account.ts'
import { accountRow } from '../../accounts/core/account-sql.ts'
import { forgetTrusted, forgetTrustedOf } from '../../accounts/devices/trusted-devices-sql.ts'
import type { SessionEnd } from '../../foundation/events/event-data-schema.ts'
import { eventOrigin, eventOriginTypes } from '../../foundation/events/event-sql.ts'
import { listedRow, type NewSession, type SignedInAccount } from './session.ts'
import { deleteSessions, endSessions, endUnrecorded, lives } from './session-sql.ts'
import {
  endTooMany,
  isFromNewDevice,
  otherSessions,
  signInCtes,
  signInParams,
  signInParamTypes,
} from './sign-in-sql.ts'

const signIn = defineStatement({
  name: 'sessions.sign_in',
  params: signInParamTypes,
  row: { ...accountRow, others: 'int', isNewDevice: 'boolean' },
  sql: (p) => sql`
  with ${signInCtes(p)}
  select signed_in.*, ${otherSessions(p, sql`signed_in`)} as others, ${isFromNewDevice(p, sql`signed_in`)} as is_new_device from signed_in`,
})

const findSignedIn = defineStatement({
  name: 'sessions.find_signed_in',
  params: { sessionId: 'uuid', accountUuid: 'uuid', now: 'timestamptz' },
  row: { ...accountRow, deviceFingerprint: 'text?', deviceName: 'text?', signInIp: 'text?' },
  sql: (p) => sql`
  select ${accounts}.*, device_fingerprint, device_name, sign_in_ip
    from ${sessions} join ${accounts} on ${accounts}.id = ${sessions}.account_id
   where ${sessions}.id = ${p.sessionId} and ${accounts}.uuid = ${p.accountUuid}
     and kind = 'direct' and ${lives(p)} and locked_at is null`,
})

const endBy = (name: string, cause: SessionEnd) =>
  defineStatement({
    name,
    params: {
      now: 'timestamptz',
      sessionId: 'uuid',
      accountUuid: 'uuid',
      bySelf: 'boolean',
      ...eventOriginTypes,
    },
    row: { id: 'uuid' },
    sql: (p) => sql`
    with ${endSessions(
      p,
      cause,
      sql`${sessions}.id = ${p.sessionId} and ${lives(p)}
       and ${accounts}.id = ${sessions}.account_id and ${accounts}.uuid = ${p.accountUuid}`,
      sql`${accounts}`,
    )},
    untrusted as (${forgetTrustedOf(sql`ended_sessions`, sql`not (select ${p.bySelf})`)})
    select id from ended_sessions`,
  })

/** `application`: the account may not enter any longer. */
const ends = {
  sign_out: endBy('sessions.end', 'sign_out'),
  application: endBy('sessions.end_at_application', 'application'),
}

const endAll = defineStatement({
  name: 'sessions.end_all',
  params: { now: 'timestamptz', accountId: 'bigint', ...eventOriginTypes },
  sql: (p) => sql`
  with ${endSessions(p, 'sign_out_all', sql`account_id = ${p.accountId}`)},
  untrusted as (${forgetTrusted(sql`account_id = ${p.accountId}`)})
  select 1 from ended_sessions`,
})

const list = defineStatement({
  name: 'sessions.list',
  params: { accountId: 'bigint', now: 'timestamptz', limit: 'int' },
  row: listedRow,
  sql: (p) => sql`
  select id, device_type, device_name, device_os, ip, created_at, last_used_at, expires_at, client_id
    from ${sessions}
   where account_id = ${p.accountId} and ${lives(p)}
   order by last_used_at desc, created_at desc, id
   limit ${p.limit}`,
})

/** A device counts as unknown after this time, and an old refresh token as any text. */
const KEPT_DAYS = 30

/**
 * By the primary key, since no index may hold when a session ends (see schema.ts). An application of somebody else has a
 * refresh token only if it asked for one.
 */
const countUnrefreshed = defineStatement({
  name: 'sessions.count_unrefreshed',
  params: { until: 'timestamptz', now: 'timestamptz' },
  row: { count: 'int', lastEnd: 'timestamptz?' },
  sql: (p) => sql`
  select count(*)::int as count, max(expires_at) as last_end from ${sessions}
   where ${lives(p)} and coalesce(rotated_at, created_at) <= ${p.until}
     and (kind <> 'application' or 'offline_access' = any(string_to_array(scope, ' ')))`,
})

const endEverybodys = defineStatement({
  name: 'sessions.end_everybodys',
  params: { now: 'timestamptz', after: 'uuid?', limit: 'int' },
  row: { ended: 'int', last: 'uuid?' },
  sql: (p) => sql`
  with slice as materialized (
    select id from ${sessions} where ${p.after} is null or id > ${p.after} order by id limit ${p.limit}),
  ended as (
    ${endUnrecorded(p, sql`id in (select id from slice) and ${lives(p)}`)}
    returning 1)
  select (select count(*)::int from ended) as ended,
         (select id from slice order by id offset ${p.limit} - 1) as last`,
})

const sweep = defineStatement({
  name: 'sessions.sweep',
  params: { before: 'timestamptz', after: 'uuid?', limit: 'int' },
  row: { removed: 'int', last: 'uuid?' },
  sql: (p) => sql`
  with slice as materialized (
    select id, expires_at < ${p.before} or revoked_at < ${p.before} as over from ${sessions}
     where ${p.after} is null or id > ${p.after} order by id limit ${p.limit}),
  gone as (
    ${deleteSessions(sql`id in (select id from slice where over)`)} returning 1)
  select (select count(*)::int from gone) as removed,
         (select id from slice order by id offset ${p.limit} - 1) as last`,
})

export type SessionStore = ReturnType<typeof createSessionStore>

export function createSessionStore(database: Database) {
  let sweptTo: string | null = null
  return {
    /** The account of a session that is alive, and its device; null also if the account is locked or erased. */
    findSignedIn: (sessionId: string, accountUuid: string, now: Date) =>
      database.first(findSignedIn, { sessionId, accountUuid, now }),
    /**
     * Counts the sign-in (like Devise's trackable) and adds the session, in one statement. It returns null if the account
     * has changed since it was read: erased, locked, another password, or two-factor sign-in turned on or off. An account keeps 100 sessions: those not used for longest end.
     */
    async signIn(account: Account, session: NewSession, now: Date): Promise<SignedInAccount | null> {
      const row = await database.first(signIn, signInParams(account, session, now))
      if (row === null) return null
      const { others, ...signedIn } = row
      await endTooMany(database, account.id, others, now)
      return signedIn
    },
    /**
     * It returns false if this account has no such session. Its device is trusted no longer, unless it signs out itself.
     */
    end: async (
      sessionId: string,
      accountUuid: string,
      now: Date,
      { bySelf = false, cause = 'sign_out' }: { bySelf?: boolean; cause?: keyof typeof ends } = {},
    ): Promise<boolean> =>
      (await database.first(ends[cause], { sessionId, accountUuid, now, bySelf, ...eventOrigin() })) !== null,
    endAll: (accountId: number, now: Date): Promise<void> =>
      database.run(endAll, { accountId, now, ...eventOrigin() }),
    /** The sessions that are alive, last used first. */
    list: (accountId: number, limit: number, now: Date) => database.all(list, { accountId, limit, now }),
    /** The living ones whose newest refresh token was made until then, and when the last of them ends unless it is refreshed. */
    countUnrefreshed: async (until: Date, now: Date) =>
      (await database.first(countUnrefreshed, { until, now }))!,
    /**
     * Ends the living ones among `limit` sessions after this id; `last` is null at the end of the table. The events
     * `key.revoked` say that everybody's end.
     */
    endEverybodys: async (after: string | null, limit: number, now: Date) =>
      (await database.first(endEverybodys, { after, limit, now }))!,
    /**
     * Looks at the next `limit` sessions and removes those that ended 30 days ago. Continues where the last call stopped;
     * there are no `more` at the end of the table.
     */
    async sweep(now: Date, limit: number): Promise<{ removed: number; more: boolean }> {
      const before = daysBefore(now, KEPT_DAYS)
      const batch = (await database.first(sweep, { after: sweptTo, before, limit }))!
      sweptTo = batch.last
      return { removed: batch.removed, more: sweptTo !== null }
    },
  }
}
