/**
 * The sessions of the page of administration: sessions of the account with a cookie. PostgreSQL, in every shape. The
 * table is `administrator_sessions`. Whatever ends the session beside it ends the page's, too.
 */

import { sql } from 'drizzle-orm'
import type { Account } from '../../domain/accounts/core/account.ts'
import { accountRow } from '../../domain/accounts/core/account-sql.ts'
import type { NewEvent } from '../../domain/foundation/events/event.ts'
import type { NewSession } from '../../domain/sessions/core/session.ts'
import {
  endTooMany,
  otherSessions,
  signInCtes,
  signInParams,
  signInParamTypes,
} from '../../domain/sessions/core/sign-in-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { accounts, administratorSessions, administrators, sessions } from '../../platform/postgres/schema.ts'
import { column, defineStatement } from '../../platform/postgres/statement.ts'
import type { Role } from '../access/access.ts'
import { noteSignIn } from '../administrators/administrator-sql.ts'

const isAdministrator = sql`exists (
  select 1 from ${administrators} where ${administrators}.account_id = ${accounts}.id)`

const open = defineStatement({
  name: 'administration_sessions.open',
  params: { ...signInParamTypes, cookieHash: 'bytea' },
  row: { ...accountRow, others: 'int' },
  sql: (p) => sql`
  with ${signInCtes(p, isAdministrator)},
  page as (
    insert into ${administratorSessions} (session_id, cookie_hash, seen_at, proved_at)
    select ${p.id}, ${p.cookieHash}, ${p.now}, ${p.now} from signed_in),
  noted as (${noteSignIn(p, sql`signed_in`)})
  select signed_in.*, ${otherSessions(p, sql`signed_in`)} as others from signed_in`,
})

/** A use is written down once in a minute. */
const find = defineStatement({
  name: 'administration_sessions.find',
  params: { cookieHash: 'bytea', idleSince: 'timestamptz', writtenSince: 'timestamptz', now: 'timestamptz' },
  row: {
    ...accountRow,
    sessionId: 'uuid',
    startedAt: 'timestamptz',
    amr: 'text',
    deviceFingerprint: 'text?',
    signInIp: 'text?',
    role: column<Role>('text'),
    /** Password and second factor were last proved then. */
    provedAt: 'timestamptz',
    /** The end that no use moves. */
    endsAt: 'timestamptz',
  },
  sql: (p) => sql`
  with found as materialized (
    select account.id as account_id, page.session_id, page.seen_at, page.proved_at, session.ends_at, administrator.role,
           session.created_at as started_at, session.amr, session.device_fingerprint, session.sign_in_ip
      from ${administratorSessions} page
      join ${sessions} session on session.id = page.session_id
      join ${accounts} account on account.id = session.account_id
      join ${administrators} administrator on administrator.account_id = account.id
     where page.cookie_hash = ${p.cookieHash} and page.seen_at > ${p.idleSince} and session.revoked_at is null
       and session.expires_at > ${p.now} and account.locked_at is null),
  seen as (
    update ${administratorSessions} set seen_at = ${p.now} from found
     where ${administratorSessions}.session_id = found.session_id and found.seen_at < ${p.writtenSince})
  select ${accounts}.*, session_id, started_at, amr, device_fingerprint, sign_in_ip, role, proved_at, ends_at
    from found join ${accounts} on ${accounts}.id = account_id`,
})

const renew = defineStatement({
  name: 'administration_sessions.renew',
  params: { sessionId: 'uuid', cookieHash: 'bytea', newCookieHash: 'bytea', now: 'timestamptz?' },
  row: { sessionId: 'uuid' },
  sql: (p) => sql`
  update ${administratorSessions} set proved_at = coalesce(${p.now}, proved_at), cookie_hash = ${p.newCookieHash}
   where session_id = ${p.sessionId} and cookie_hash = ${p.cookieHash} returning session_id`,
})

const WRITTEN_MS = 60_000

export type AdministratorSessionStore = ReturnType<typeof createAdministratorSessionStore>

export function createAdministratorSessionStore(database: Database) {
  return {
    /**
     * Works like SessionStore.signIn, for an account that is an administrator. It returns null when it is not what was
     * checked any more, or no administrator.
     */
    async open(account: Account, session: NewSession, cookieHash: Uint8Array, now: Date) {
      const signedIn: NewEvent = {
        type: 'administrator.signed_in',
        account: account.uuid,
        sessionId: session.id,
        data: { amr: session.amr },
      }
      const params = { ...signInParams(account, session, now, [signedIn]), cookieHash }
      const row = await database.first(open, params)
      if (row === null) return null
      const { others, ...opened } = row
      await endTooMany(database, account.id, others, now)
      return opened
    },
    /**
     * By its cookie, and counts as a use. Null unless the session lives, was used since `idleSince`, and its account is
     * an administrator and not locked.
     */
    async find(cookieHash: Uint8Array, idleSince: Date, now: Date) {
      const writtenSince = new Date(now.getTime() - WRITTEN_MS)
      return database.first(find, { cookieHash, idleSince, writtenSince, now })
    },
    /**
     * The cookie is another one from now on; `now`: password and second factor were proved again. It returns false if that
     * cookie names the session no more: of any number of callers with one cookie, one gets the next.
     */
    renew: async (sessionId: string, cookieHash: Uint8Array, newCookieHash: Uint8Array, now: Date | null) =>
      (await database.first(renew, { sessionId, cookieHash, newCookieHash, now })) !== null,
  }
}
