/**
 * Table `sessions`: see store.ts for what each method promises. No index holds what a refresh changes, so that it
 * stays within its page (a HOT update).
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../platform/postgres/database.ts'
import { retryDeadlocks } from '../../platform/postgres/failure.ts'
import { accounts, sessions } from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'
import { daysBefore } from '../../platform/postgres/sweep.ts'
import { accountRow } from '../accounts/account-sql.ts'
import type { EventType, NewEvent } from '../events/event.ts'
import { changeAndRecord, recordEvents } from '../events/event-sql.ts'
import { noticeParams, queueNotices } from '../outbox/queue-sql.ts'
import {
  endTooMany,
  isFromNewDevice,
  lives,
  otherSessions,
  signInCtes,
  signInParams,
  signInParamTypes,
} from './sign-in-sql.ts'
import type { SessionStore } from './store.ts'

const signIn = defineStatement({
  name: 'sessions.sign_in',
  params: signInParamTypes,
  row: { ...accountRow, others: 'int', isNewDevice: 'boolean' },
  sql: (p) => sql`
  with ${signInCtes(p)}
  select signed_in.*, ${otherSessions(p)} as others, ${isFromNewDevice(p)} as is_new_device from signed_in`,
})

/** Parallel callers with the same token wait for the row and then see the retries that were added. */
const takeLateRetry = defineStatement({
  name: 'sessions.take_late_retry',
  params: { since: 'timestamptz', now: 'timestamptz', sessionId: 'uuid', generation: 'int', most: 'int' },
  row: { id: 'uuid' },
  sql: (p) => sql`
  update ${sessions}
     set late_retries = array(
           select at from unnest(late_retries) at where at > ${p.since}) || ${p.now}
   where id = ${p.sessionId} and generation = ${p.generation} and ${lives(p)}
     and (select count(*) from unnest(late_retries) at where at > ${p.since})
         < ${p.most}
  returning id`,
})

const findSignedIn = defineStatement({
  name: 'sessions.find_signed_in',
  params: { sessionId: 'uuid', accountUuid: 'uuid', now: 'timestamptz' },
  row: { ...accountRow, deviceFingerprint: 'text?', deviceName: 'text?' },
  sql: (p) => sql`
  select ${accounts}.*, device_fingerprint, device_name
    from ${sessions} join ${accounts} on ${accounts}.id = ${sessions}.account_id
   where ${sessions}.id = ${p.sessionId} and ${accounts}.uuid = ${p.accountUuid}
     and ${lives(p)} and locked_at is null`,
})

/** The claims of an access token of the session. */
type SubjectRow = { sessionId: string; startedAt: Date; amr: string; uuid: string; roleId: number }

const subjectColumns = sql`
  ${sessions}.id as session_id, ${sessions}.created_at as started_at, ${sessions}.amr, ${accounts}.uuid,
  ${accounts}.role_id`

/**
 * Parallel callers with the same token wait for the row and then find that its generation has moved on. The server
 * does not wait for its disk here: a crash may lose the last moments (at most three times wal_writer_delay), and a
 * token that is newer than the row is still accepted. The embedded database does wait, because nothing else would
 * write the row to disk until the next commit that waits.
 */
const rotate = defineStatement({
  name: 'sessions.rotate',
  params: {
    commit: 'text',
    generation: 'int',
    now: 'timestamptz',
    address: 'text',
    expiresAt: 'timestamptz',
    familyHash: 'bytea',
  },
  row: { sessionId: 'uuid', startedAt: 'timestamptz', amr: 'text', uuid: 'uuid', roleId: 'int' },
  sql: (p) => sql`
  with commit as materialized (select set_config('synchronous_commit', ${p.commit}, true))
  update ${sessions}
     set generation = ${p.generation} + 1, rotated_at = ${p.now}, last_used_at = ${p.now}, ip = ${p.address},
         expires_at = least(${p.expiresAt}, ends_at)
    from ${accounts}, commit
   where family_hash = ${p.familyHash} and generation <= ${p.generation} and ${lives(p)}
     and ${accounts}.id = ${sessions}.account_id and locked_at is null
  returning ${subjectColumns}`,
})

const findFamily = defineStatement({
  name: 'sessions.find_family',
  params: { familyHash: 'bytea' },
  row: {
    ...accountRow,
    sessionId: 'uuid',
    startedAt: 'timestamptz',
    amr: 'text',
    deviceName: 'text?',
    deviceFingerprint: 'text?',
    ip: 'text?',
    signInIp: 'text?',
    generation: 'int',
    rotatedAt: 'timestamptz?',
    expiresAt: 'timestamptz',
    revokedAt: 'timestamptz?',
  },
  sql: (p) => sql`
  select ${accounts}.*, ${subjectColumns}, device_name, device_fingerprint,
         ip, sign_in_ip, generation, rotated_at, expires_at, revoked_at
    from ${sessions} join ${accounts} on ${accounts}.id = ${sessions}.account_id
   where family_hash = ${p.familyHash}`,
})

const endReused = defineStatement({
  name: 'sessions.end_reused',
  params: { now: 'timestamptz', sessionId: 'uuid', notices: 'text' },
  row: { id: 'uuid', uuid: 'uuid' },
  sql: (p) => sql`
  with revoked as (
    update ${sessions} set revoked_at = ${p.now} where id = ${p.sessionId} and ${lives(p)}
    returning id, account_id),
  notices as (${queueNotices(p, sql`revoked`)})
  select revoked.id, uuid from revoked join ${accounts} on ${accounts}.id = account_id`,
})

type EndedRow = { id: string; uuid: string }

const endFamily = defineStatement({
  name: 'sessions.end_family',
  params: { now: 'timestamptz', familyHash: 'bytea' },
  row: { id: 'uuid', uuid: 'uuid' },
  sql: (p) => sql`
  update ${sessions} set revoked_at = ${p.now} from ${accounts}
   where family_hash = ${p.familyHash} and revoked_at is null and ${accounts}.id = account_id
  returning ${sessions}.id, uuid`,
})

const end = defineStatement({
  name: 'sessions.end',
  params: { now: 'timestamptz', sessionId: 'uuid', accountUuid: 'uuid' },
  row: { id: 'uuid', uuid: 'uuid' },
  sql: (p) => sql`
  update ${sessions} set revoked_at = ${p.now} from ${accounts}
   where ${sessions}.id = ${p.sessionId} and ${lives(p)}
     and ${accounts}.id = ${sessions}.account_id and ${accounts}.uuid = ${p.accountUuid}
  returning ${sessions}.id, uuid`,
})

const endAll = defineStatement({
  name: 'sessions.end_all',
  params: { now: 'timestamptz', accountId: 'bigint' },
  row: { uuid: 'uuid', ended: 'int' },
  sql: (p) => sql`
  with ended as (
    update ${sessions} set revoked_at = ${p.now}
     where account_id = ${p.accountId} and revoked_at is null
    returning 1)
  select uuid, (select count(*)::int from ended) as ended from ${accounts}
   where id = ${p.accountId}`,
})

const listFingerprints = defineStatement({
  name: 'sessions.list_fingerprints',
  params: { accountId: 'bigint' },
  row: { fingerprint: 'text' },
  sql: (p) => sql`
  select distinct device_fingerprint as fingerprint from ${sessions}
   where account_id = ${p.accountId} and device_fingerprint is not null`,
})

const list = defineStatement({
  name: 'sessions.list',
  params: { accountId: 'bigint', now: 'timestamptz', limit: 'int' },
  row: {
    id: 'uuid',
    deviceType: 'text?',
    deviceName: 'text?',
    deviceOs: 'text?',
    ip: 'text?',
    createdAt: 'timestamptz',
    lastUsedAt: 'timestamptz',
    expiresAt: 'timestamptz',
  },
  sql: (p) => sql`
  select id, device_type, device_name, device_os, ip, created_at, last_used_at, expires_at
    from ${sessions}
   where account_id = ${p.accountId} and ${lives(p)}
   order by last_used_at desc, created_at desc, id
   limit ${p.limit}`,
})

const ended = ({ id, uuid }: EndedRow, type: EventType = 'session.ended'): NewEvent[] => [
  { type, account: uuid, sessionId: id },
]

const subjectOf = ({ sessionId, startedAt, amr, uuid, roleId }: SubjectRow) => ({
  sessionId,
  accountUuid: uuid,
  roleId,
  authTime: startedAt,
  amr: amr.split(' '),
})

/** After this a device counts as unknown, and an old refresh token as any text. */
const KEPT_DAYS = 30

/** By the primary key, since no index may hold when a session ends (see schema.ts). */
const countUnrefreshed = defineStatement({
  name: 'sessions.count_unrefreshed',
  params: { until: 'timestamptz', now: 'timestamptz' },
  row: { count: 'int', lastEnd: 'timestamptz?' },
  sql: (p) => sql`
  select count(*)::int as count, max(expires_at) as last_end from ${sessions}
   where ${lives(p)} and coalesce(rotated_at, created_at) <= ${p.until}`,
})

const endEverybodys = defineStatement({
  name: 'sessions.end_everybodys',
  params: { now: 'timestamptz', after: 'uuid?', limit: 'int' },
  row: { uuid: 'uuid?', ended: 'int', last: 'uuid?' },
  sql: (p) => sql`
  with slice as materialized (
    select id from ${sessions} where ${p.after} is null or id > ${p.after} order by id limit ${p.limit}),
  ended as (
    update ${sessions} set revoked_at = ${p.now} where id in (select id from slice) and ${lives(p)}
    returning account_id),
  by_account as (select account_id, count(*)::int as ended from ended group by account_id),
  page as (select (select id from slice order by id offset ${p.limit} - 1) as last)
  select uuid, coalesce(ended, 0) as ended, last
    from page left join (by_account join ${accounts} on id = account_id) on true`,
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
    delete from ${sessions} where id in (select id from slice where over) returning 1)
  select (select count(*)::int from gone) as removed,
         (select id from slice order by id offset ${p.limit} - 1) as last`,
})

export function createSessionStore(database: Database): SessionStore {
  let sweptTo: string | null = null
  const commit = database.kind === 'embedded' ? 'on' : 'off'
  return {
    findSignedIn: (sessionId, accountUuid, now) =>
      database.first(findSignedIn, { sessionId, accountUuid, now }),
    async signIn(account, session, newDigest, now) {
      const row = await database.first(signIn, signInParams(account, session, newDigest, now))
      if (row === null) return null
      const { others, ...signedIn } = row
      await endTooMany(database, account.id, others, now)
      return signedIn
    },
    takeLateRetry: async (sessionId, generation, { since, most }, now) =>
      (await database.first(takeLateRetry, { sessionId, generation, since, most, now })) !== null,
    async rotate(rotation, now) {
      const row = await database.first(rotate, { ...rotation, now, commit })
      return row && subjectOf(row)
    },
    async findFamily(familyHash) {
      const row = await database.first(findFamily, { familyHash })
      return row && { ...row, subject: subjectOf(row), account: row }
    },
    endReused: async (sessionId, notices, now) =>
      (await changeAndRecord(
        database,
        endReused,
        { sessionId, now, ...noticeParams(notices) },
        { at: now, eventsOf: (row) => ended(row, 'session.reuse_detected') },
      )) !== null,
    async endFamily(familyHash, now) {
      await changeAndRecord(
        database,
        endFamily,
        { familyHash, now },
        { at: now, eventsOf: (row) => ended(row) },
      )
    },
    end: async (sessionId, accountUuid, now) =>
      (await changeAndRecord(
        database,
        end,
        { sessionId, accountUuid, now },
        { at: now, eventsOf: (row) => ended(row) },
      )) !== null,
    async endAll(accountId, now) {
      await changeAndRecord(
        database,
        endAll,
        { accountId, now },
        {
          at: now,
          eventsOf: ({ uuid, ended: count }) =>
            count > 0 ? [{ type: 'session.ended', account: uuid, data: { sessions: count } }] : [],
        },
      )
    },
    listFingerprints: async (accountId) =>
      (await database.all(listFingerprints, { accountId })).map(({ fingerprint }) => fingerprint),
    countUnrefreshed: async (until, now) => (await database.first(countUnrefreshed, { until, now }))!,
    endEverybodys: (after, limit, now) =>
      retryDeadlocks(() =>
        database.transaction(async (transaction) => {
          const rows = await transaction.all(endEverybodys, { after, limit, now })
          const events = rows.flatMap(({ uuid, ended: count }): NewEvent[] =>
            uuid === null ? [] : [{ type: 'session.ended', account: uuid, data: { sessions: count } }],
          )
          await recordEvents(transaction, events, now)
          const ended = rows.reduce((sum, row) => sum + row.ended, 0)
          return { ended, last: rows[0]?.last ?? null }
        }),
      ),
    list: (accountId, limit, now) => database.all(list, { accountId, limit, now }),
    async sweep(now, limit) {
      const before = daysBefore(now, KEPT_DAYS)
      const batch = (await database.first(sweep, { after: sweptTo, before, limit }))!
      sweptTo = batch.last
      return { removed: batch.removed, more: sweptTo !== null }
    },
  }
}
