/**
 * The refresh tokens of the sessions: a session has one family of them, of which one generation is current. They are in
 * PostgreSQL in every storage shape. The table is `sessions`. No index holds what a refresh changes, so that it stays
 * within its page (a HOT update).
 */

import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts, passkeys, sessions } from '../../../platform/postgres/schema.ts'
import {
  defineStatement,
  type ParamsOf,
  type Placeholders,
  pick,
  type ValuesOf,
} from '../../../platform/postgres/statement.ts'
import type { Account } from '../../accounts/core/account.ts'
import { accountRow } from '../../accounts/core/account-sql.ts'
import { forgetTrustedOf } from '../../accounts/devices/trusted-devices-sql.ts'
import { changeAndRecord, eventOrigin, eventOriginTypes } from '../../foundation/events/event-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { noticeParams, queueNotices } from '../../messages/outbox/queue-sql.ts'
import { type ClaimAccount, claimColumns } from '../tokens/account-claims.ts'
import type { TokenSubject } from '../tokens/claims.ts'
import { endSessions, lives } from './session-sql.ts'

/** Parallel callers with the same token wait for the row and then see the retries that were added. */
const takeLateRetry = defineStatement({
  name: 'sessions.take_late_retry',
  params: { since: 'timestamptz', now: 'timestamptz', sessionId: 'uuid', generation: 'int', most: 'int' },
  row: { id: 'uuid' },
  sql: (p) => sql`
  update ${sessions}
     set late_retries = array(
           select at from unnest(late_retries) at where at > ${p.since}) || ${p.now}
   where id = ${p.sessionId} and generation = ${p.generation} and kind = 'direct' and ${lives(p)}
     and (select count(*) from unnest(late_retries) at where at > ${p.since})
         < ${p.most}
  returning id`,
})

const subjectColumns = sql`
  ${sessions}.id as session_id, coalesce(authenticated_at, ${sessions}.created_at) as started_at, ${sessions}.amr,
  client_id, scope, ${accounts}.uuid, ${accounts}.role_id`

const rotationParams = {
  /** The generation of the presented token. */
  generation: 'int',
  /** The generations that it moves on: 1, or 0 where the token stays the same. */
  step: 'int',
  now: 'timestamptz',
  /** Null: that of the browser stays, since the caller is the application's server. */
  address: 'text?',
  /** The new idle expiry; the absolute expiry if that is earlier. */
  expiresAt: 'timestamptz',
  familyHash: 'bytea',
  /** The kind of the sessions that it may be. */
  kind: 'text',
  /** The ids of the applications that it may be, with commas between them; `-` for none. */
  applications: 'text',
} as const
export type Rotation = Omit<ValuesOf<typeof rotationParams>, 'now'>
const presentedParams = pick(rotationParams, 'generation', 'now', 'familyHash', 'kind', 'applications')
/** The claims of an access token of the session. */
const subjectRow = {
  sessionId: 'uuid',
  startedAt: 'timestamptz',
  amr: 'text',
  clientId: 'text?',
  scope: 'text?',
  uuid: 'uuid',
  roleId: 'int',
} as const

/** An application may come back into the configuration, and then its sessions go on: until then none is rotated. */
const isPresented = (p: Placeholders<keyof typeof presentedParams>) => sql`
  family_hash = ${p.familyHash} and kind = ${p.kind} and generation <= ${p.generation} and ${lives(p)}
  and coalesce(client_id, '-') = any(string_to_array(${p.applications}, ','))
  and ${accounts}.id = ${sessions}.account_id and locked_at is null`

/**
 * Parallel callers with the same token wait for the row and then find that its generation has moved on. The database
 * does not wait for its disk here: a crash may lose the last moments, and a token that is newer than the row is still
 * accepted.
 */
const rotateReturning = (p: Placeholders<keyof typeof rotationParams>, unawaited: SQL, returned: SQL) => sql`
  with ${unawaited}
  update ${sessions}
     set generation = ${p.generation} + ${p.step}, rotated_at = ${p.now}, last_used_at = ${p.now},
         ip = coalesce(${p.address}, ip),
         expires_at = least(${p.expiresAt}, ends_at)
    from ${accounts}, unawaited
   where unawaited.off is not null and ${isPresented(p)}
  returning ${returned}`

const rotate = defineStatement({
  name: 'sessions.rotate',
  params: rotationParams,
  row: subjectRow,
  mayBeForgotten: true,
  sql: (p, unawaited) => rotateReturning(p, unawaited, subjectColumns),
})

/** The columns for claims are read only where claims are configured. */
const claimRow = pick(accountRow, ...claimColumns)
const columnsForClaims = sql.join(
  claimColumns.filter((name) => !(name in subjectRow)).map((name) => sql`${getTableColumns(accounts)[name]}`),
  sql`, `,
)

const rotateWithClaims = defineStatement({
  name: 'sessions.rotate_with_claims',
  params: rotationParams,
  row: { ...claimRow, ...subjectRow },
  mayBeForgotten: true,
  sql: (p, unawaited) => rotateReturning(p, unawaited, sql`${subjectColumns}, ${columnsForClaims}`),
})

/** Holds the account, so that what is decided of it holds until the session is rotated. */
const findPresented = defineStatement({
  name: 'sessions.find_presented',
  params: presentedParams,
  row: accountRow,
  sql: (p) => sql`
  select ${accounts}.* from ${sessions}, ${accounts}
   where ${isPresented(p)} for share of ${accounts}`,
})

/** `hwk`, `swk`: a passkey opened it. */
const isRecent = defineStatement({
  name: 'sessions.is_recent',
  params: {
    ...pick(rotationParams, 'familyHash', 'generation'),
    sessionId: 'uuid',
    since: 'timestamptz',
    /** Passkeys added later than that are young. */
    youngSince: 'timestamptz',
    now: 'timestamptz',
  },
  row: { id: 'uuid' },
  sql: (p) => sql`
  select id from ${sessions}
   where family_hash = ${p.familyHash} and id = ${p.sessionId} and generation <= ${p.generation}
     and kind <> 'application'
     and coalesce(authenticated_at, created_at) >= ${p.since} and ${lives(p)}
     and not (string_to_array(amr, ' ') && '{hwk,swk}'
              and exists (select 1 from ${passkeys}
                           where ${passkeys}.account_id = ${sessions}.account_id and not proved
                             and ${passkeys}.created_at > ${p.youngSince}))`,
})

const findFamily = defineStatement({
  name: 'sessions.find_family',
  params: { familyHash: 'bytea', kind: 'text' },
  row: {
    ...accountRow,
    ...subjectRow,
    deviceName: 'text?',
    deviceFingerprint: 'text?',
    /** The addresses of the last refresh and of the sign-in. */
    ip: 'text?',
    signInIp: 'text?',
    /** The generation of the token that is expected next. */
    generation: 'int',
    /** It is null until the first token was used. */
    rotatedAt: 'timestamptz?',
    expiresAt: 'timestamptz',
    revokedAt: 'timestamptz?',
  },
  sql: (p) => sql`
  select ${accounts}.*, ${subjectColumns}, device_name, device_fingerprint,
         ip, sign_in_ip, generation, rotated_at, expires_at, revoked_at
    from ${sessions} join ${accounts} on ${accounts}.id = ${sessions}.account_id
   where family_hash = ${p.familyHash} and kind = ${p.kind}`,
})

const endReused = defineStatement({
  name: 'sessions.end_reused',
  params: { now: 'timestamptz', sessionId: 'uuid', notices: 'text', ...eventOriginTypes },
  row: { id: 'uuid', uuid: 'uuid' },
  sql: (p) => sql`
  with ${endSessions(p, 'reuse', sql`id = ${p.sessionId} and ${lives(p)}`)},
  untrusted as (${forgetTrustedOf(sql`ended_sessions`)}),
  notices as (${queueNotices(p, sql`ended_sessions`)})
  select ended_sessions.id, uuid from ended_sessions join ${accounts} on ${accounts}.id = account_id`,
})

const endFamily = defineStatement({
  name: 'sessions.end_family',
  params: { now: 'timestamptz', familyHash: 'bytea', ...eventOriginTypes },
  sql: (p) => sql`
  with ${endSessions(p, 'sign_out', sql`family_hash = ${p.familyHash} and kind = 'direct'`)}
  select 1 from ended_sessions`,
})

const subjectOf = ({
  sessionId,
  startedAt,
  amr,
  clientId,
  scope,
  uuid,
  roleId,
}: ValuesOf<typeof subjectRow>) => ({
  sessionId,
  accountUuid: uuid,
  roleId,
  authTime: startedAt,
  amr: amr.split(' '),
  clientId,
  scope,
})

export type FamilyStore = ReturnType<typeof createFamilyStore>
export type SessionFamily = NonNullable<Awaited<ReturnType<FamilyStore['findFamily']>>>

export function createFamilyStore(database: Database) {
  return {
    /**
     * Moves the family on to the generation after the presented one, in one statement. Returns null and changes nothing
     * unless the session is alive, its account is not locked, its application is in the configuration, and the presented
     * generation is the current one. So of many
     * callers with one token, one succeeds. A generation that is newer than the row was issued by this service and lost
     * in a crash of the database; it counts as the current one.
     */
    async rotate(rotation: Rotation, now: Date): Promise<TokenSubject | null> {
      const row = await database.first(rotate, { ...rotation, now })
      return row && subjectOf(row)
    },
    /** The same with what claims are made of. */
    async rotateWithClaims(
      rotation: Rotation,
      now: Date,
    ): Promise<{ subject: TokenSubject; account: ClaimAccount } | null> {
      const row = await database.first(rotateWithClaims, { ...rotation, now })
      return row && { subject: subjectOf(row), account: row }
    },
    /**
     * The same with the account. `admit` decides before anything is written, while the account cannot change: what it throws
     * leaves everything as it was.
     */
    rotateAdmitted: (
      rotation: Rotation,
      admit: (account: Account) => void,
      now: Date,
    ): Promise<{ subject: TokenSubject; account: Account } | null> =>
      database.transaction(async (transaction) => {
        const { expiresAt: _, address: __, step: ___, ...token } = rotation
        const account = await transaction.first(findPresented, { ...token, now })
        if (account === null) return null
        admit(account)
        const row = await transaction.first(rotate, { ...rotation, now })
        return row && { subject: subjectOf(row), account }
      }),
    /**
     * Counts the late reuse of a token; false if there were `most` of them since then, or if the session is at another
     * generation now.
     */
    takeLateRetry: async (late: ParamsOf<typeof takeLateRetry>): Promise<boolean> =>
      (await database.first(takeLateRetry, late)) !== null,
    /**
     * Tells whether the session is alive, began since then, and has no newer refresh token than the presented one. One
     * that a passkey opened is not, while its account has a young passkey that was added by a session alone.
     */
    isRecent: async (session: ParamsOf<typeof isRecent>): Promise<boolean> =>
      (await database.first(isRecent, session)) !== null,
    /** Finds a session of this kind by one of its refresh tokens, alive or not, of any account. */
    async findFamily(familyHash: Uint8Array, kind: string) {
      const row = await database.first(findFamily, { familyHash, kind })
      return row && { ...row, subject: subjectOf(row), account: row as Account }
    },
    /** Ends a session and queues the notices with it; false if it was not alive. */
    endReused: async (sessionId: string, notices: NewMessage[], now: Date): Promise<boolean> =>
      (await changeAndRecord(
        database,
        endReused,
        { sessionId, now, ...noticeParams(notices), ...eventOrigin() },
        now,
        ({ id, uuid }) => ({ type: 'session.reuse_detected', account: uuid, sessionId: id }),
      )) !== null,
    /** Ends it by any of its refresh tokens. */
    endFamily: (familyHash: Uint8Array, now: Date): Promise<void> =>
      database.run(endFamily, { familyHash, now, ...eventOrigin() }),
  }
}
