/**
 * Table `sessions`: see store.ts for what each method promises. No index holds what a refresh changes, so that it
 * stays within its page (a HOT update).
 */
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { accounts, sessions } from '../../platform/postgres/schema.ts'
import { daysBefore } from '../../platform/postgres/sweep.ts'
import type { Account } from '../accounts/account.ts'
import { type NoticeParams, noticeParams, queueNotices } from '../delivery/store-postgres.ts'
import type { EventType, NewEvent } from '../events/event.ts'
import { changeAndRecord } from '../events/event-sql.ts'
import {
  endTooMany,
  lives,
  otherSessions,
  type SignInParams,
  signInCtes,
  signInParams,
} from './sign-in-sql.ts'
import type { ListedSession, SessionFamily, SessionStore } from './store.ts'

const now = param('now', 'timestamptz')
const familyHash = param('familyHash', 'bytea')

const signIn = statement<SignInParams, Account & { others: number }>(sql`
  with ${signInCtes()} select signed_in.*, ${otherSessions} as others from signed_in`)

/** Callers with one token wait for the row, and then see what the others added. */
const takeLateRetry = statement<
  { sessionId: string; generation: number; since: Date; most: number; now: Date },
  { id: string }
>(sql`
  update ${sessions}
     set late_retries = array(
           select at from unnest(late_retries) at where at > ${param('since', 'timestamptz')}) || ${now}
   where id = ${param('sessionId', 'uuid')} and generation = ${param('generation', 'int')} and ${lives}
     and (select count(*) from unnest(late_retries) at where at > ${param('since', 'timestamptz')})
         < ${param('most', 'int')}
  returning id`)

const findSignedIn = statement<
  { sessionId: string; accountUuid: string; now: Date },
  Account & { deviceFingerprint: string | null; deviceName: string | null }
>(sql`
  select ${accounts}.*, device_fingerprint, device_name
    from ${sessions} join ${accounts} on ${accounts}.id = ${sessions}.account_id
   where ${sessions}.id = ${param('sessionId', 'uuid')} and ${accounts}.uuid = ${param('accountUuid', 'uuid')}
     and ${lives} and locked_at is null`)

type RotateParams = {
  familyHash: Uint8Array
  generation: number
  address: string
  expiresAt: Date
  now: Date
  /** A value of synchronous_commit. */
  commit: 'on' | 'off'
}

/** What an access token of the session says. */
type SubjectRow = { sessionId: string; startedAt: Date; amr: string; uuid: string; roleId: number }

const subjectColumns = sql`
  ${sessions}.id as session_id, ${sessions}.created_at as started_at, ${sessions}.amr, ${accounts}.uuid,
  ${accounts}.role_id`

/**
 * Callers with the same token wait for the row, and then find its generation gone. A server does not wait for its disk
 * here: a crash may take back the last moments (wal_writer_delay, three times at most), and a token that is newer than
 * the row is one of ours all the same. Embedded, nothing would write them down until the next commit that waits.
 */
const rotate = statement<RotateParams, SubjectRow>(sql`
  with commit as materialized (select set_config('synchronous_commit', ${param('commit', 'text')}, true))
  update ${sessions}
     set generation = ${param('generation', 'int')} + 1, rotated_at = ${now}, last_used_at = ${now}, ip = ${param('address', 'text')},
         expires_at = least(${param('expiresAt', 'timestamptz')}, ends_at)
    from ${accounts}, commit
   where family_hash = ${familyHash} and generation <= ${param('generation', 'int')} and ${lives}
     and ${accounts}.id = ${sessions}.account_id and locked_at is null
  returning ${subjectColumns}`)

type FamilyRow = Account & SubjectRow & Omit<SessionFamily, 'subject' | 'account'>

const findFamily = statement<{ familyHash: Uint8Array }, FamilyRow>(sql`
  select ${accounts}.*, ${subjectColumns}, device_name, device_fingerprint,
         ip, sign_in_ip, generation, rotated_at, expires_at, revoked_at
    from ${sessions} join ${accounts} on ${accounts}.id = ${sessions}.account_id
   where family_hash = ${familyHash}`)

const endReused = statement<{ sessionId: string; now: Date } & NoticeParams, EndedRow>(sql`
  with revoked as (
    update ${sessions} set revoked_at = ${now} where id = ${param('sessionId', 'uuid')} and ${lives}
    returning id, account_id),
  notices as (${queueNotices(sql`revoked`)})
  select revoked.id, uuid from revoked join ${accounts} on ${accounts}.id = account_id`)

type EndedRow = { id: string; uuid: string }

const endFamily = statement<{ familyHash: Uint8Array; now: Date }, EndedRow>(sql`
  update ${sessions} set revoked_at = ${now} from ${accounts}
   where family_hash = ${familyHash} and revoked_at is null and ${accounts}.id = account_id
  returning ${sessions}.id, uuid`)

const end = statement<{ sessionId: string; accountUuid: string; now: Date }, EndedRow>(sql`
  update ${sessions} set revoked_at = ${now} from ${accounts}
   where ${sessions}.id = ${param('sessionId', 'uuid')} and ${lives}
     and ${accounts}.id = ${sessions}.account_id and ${accounts}.uuid = ${param('accountUuid', 'uuid')}
  returning ${sessions}.id, uuid`)

const endAll = statement<{ accountId: number; now: Date }, { uuid: string; ended: number }>(sql`
  with ended as (
    update ${sessions} set revoked_at = ${now}
     where account_id = ${param('accountId', 'bigint')} and revoked_at is null
    returning 1)
  select uuid, (select count(*)::int from ended) as ended from ${accounts}
   where id = ${param('accountId', 'bigint')}`)

const list = statement<{ accountId: number; limit: number; now: Date }, ListedSession>(sql`
  select id, device_type, device_name, device_os, ip, created_at, last_used_at, expires_at
    from ${sessions}
   where account_id = ${param('accountId', 'bigint')} and ${lives}
   order by last_used_at desc, created_at desc, id
   limit ${param('limit', 'int')}`)

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
const sweep = statement<
  { after: string | null; before: Date; limit: number },
  { removed: number; last: string | null }
>(sql`
  with slice as materialized (
    select id, expires_at < ${param('before', 'timestamptz')} or revoked_at < ${param('before', 'timestamptz')} as over from ${sessions}
     where ${param('after', 'uuid')} is null or id > ${param('after', 'uuid')} order by id limit ${param('limit', 'int')}),
  gone as (
    delete from ${sessions} where id in (select id from slice where over) returning 1)
  select (select count(*)::int from gone) as removed,
         (select id from slice order by id offset ${param('limit', 'int')} - 1) as last`)

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
    list: (accountId, limit, now) => database.all(list, { accountId, limit, now }),
    async sweep(now, limit) {
      const before = daysBefore(now, KEPT_DAYS)
      const batch = (await database.first(sweep, { after: sweptTo, before, limit }))!
      sweptTo = batch.last
      return { removed: batch.removed, more: sweptTo !== null }
    },
  }
}
