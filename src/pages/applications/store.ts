/** Codes of the hand-over, in the table `authorization_codes`, and the sessions that they open. */
import { type SQL, sql } from 'drizzle-orm'
import { accountRow } from '../../domain/accounts/core/account-sql.ts'
import { eventOrigin, eventOriginTypes } from '../../domain/foundation/events/event-sql.ts'
import { endSessions, lives, openSessionBelow } from '../../domain/sessions/core/session-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { retryConflicts } from '../../platform/postgres/failure.ts'
import { accounts, authorizationCodes, sessions } from '../../platform/postgres/schema.ts'
import {
  defineStatement,
  type ParamsOf,
  type Placeholders,
  type ValuesOf,
} from '../../platform/postgres/statement.ts'
import { daysBefore } from '../../platform/postgres/sweep.ts'

/** The values that come with a code; `challenge` is made from the verifier. */
const redemptionParamTypes = {
  codeHash: 'bytea',
  application: 'text',
  redirectUri: 'text',
  challenge: 'text',
} as const

/** The groups of which the account needs one, with commas between them; `*`: any account; null: not even that is asked. */
const admissionParamTypes = { groups: 'text?' } as const

const sessionBelowParamTypes = {
  id: 'uuid',
  kind: 'text',
  name: 'text',
  /** Null: that of the browser, since the caller is the application's server. */
  address: 'text?',
  familyHash: 'bytea',
  expiresAt: 'timestamptz',
  endsAt: 'timestamptz',
  /** True if it ends when the browser's session would, unless the person asked to stay signed in. */
  endsWithBrowser: 'boolean',
} as const

/** Tabs that are restored together ask at the same time, each for a code of its own. */
const MOST_LIVING = 5

/** It is asked here and not where codes are made: of parallel callers none sees the codes of the others. */
const isAmongNewest = sql`not exists (
  select from ${authorizationCodes} newer
   where newer.session_id = ${authorizationCodes}.session_id and newer.application = ${authorizationCodes}.application
     and newer.expires_at >= ${authorizationCodes}.expires_at
     and (newer.expires_at, newer.code_hash) > (${authorizationCodes}.expires_at, ${authorizationCodes}.code_hash)
  offset ${sql.raw(String(MOST_LIVING - 1))})`

/** The same rule as `mayEnter` of platform/config/applications.ts. */
const mayEnter = (p: Placeholders<'groups'>) => sql`
  (${p.groups} is null or not test_identity and (${p.groups} = '*'
    or coalesce(groups ?| string_to_array(${p.groups}, ','), false)))`

/** The time in which a code can be redeemed. */
export const CODE_SECONDS = 60

/** The browser in which a password is changed stays signed in, but a code that a copy of its former cookie got is worth nothing. */
const isNoOlderThan = (time: SQL) => sql`
  (${time} is null or ${authorizationCodes}.expires_at >= ${time} + interval '${sql.raw(String(CODE_SECONDS))} seconds')`

const issue = defineStatement({
  name: 'applications.issue_code',
  /** `sessionId`: of the browser. */
  params: {
    ...redemptionParamTypes,
    sessionId: 'uuid',
    nonce: 'text?',
    scope: 'text?',
    expiresAt: 'timestamptz',
  },
  sql: (p) => sql`
  insert into ${authorizationCodes} (code_hash, session_id, application, redirect_uri, challenge, nonce, scope,
                                    expires_at)
  values (${p.codeHash}, ${p.sessionId}, ${p.application}, ${p.redirectUri}, ${p.challenge}, ${p.nonce}, ${p.scope},
          ${p.expiresAt})`,
})

/** Says why a code was refused. */
const findCode = defineStatement({
  name: 'applications.find_code',
  params: { ...redemptionParamTypes, ...admissionParamTypes },
  row: {
    isOfApplication: 'boolean',
    isForAddress: 'boolean',
    isVerified: 'boolean',
    /** Null where the browser's session is gone. */
    mayEnter: 'boolean?',
    usedAt: 'timestamptz?',
    expiresAt: 'timestamptz',
  },
  sql: (p) => sql`
  select application = ${p.application} as is_of_application, redirect_uri = ${p.redirectUri} as is_for_address,
         challenge = ${p.challenge} as is_verified, used_at, expires_at,
         (select ${mayEnter(p)} from ${accounts} join ${sessions} on account_id = ${accounts}.id
           where ${sessions}.id = session_id) as may_enter
    from ${authorizationCodes} where code_hash = ${p.codeHash} and ${isAmongNewest}`,
})

/**
 * The rows of the account and of the browser are locked, so that what ends either one comes before or after. The account
 * comes first, as in every statement that ends its sessions: the other order would be a deadlock.
 */
const redeem = defineStatement({
  name: 'applications.redeem_code',
  params: {
    ...redemptionParamTypes,
    ...admissionParamTypes,
    ...sessionBelowParamTypes,
    now: 'timestamptz',
    ...eventOriginTypes,
  },
  row: { ...accountRow, authenticatedAt: 'timestamptz', amr: 'text', nonce: 'text?', scope: 'text?' },
  sql: (p) => sql`
  with owner as (
    select id, uuid, password_changed_at from ${accounts}
     where id = (select account_id from ${authorizationCodes} join ${sessions} on ${sessions}.id = session_id
                  where ${authorizationCodes}.code_hash = ${p.codeHash})
       and account_confirmed_at is not null and locked_at is null and ${mayEnter(p)}
       for update),
  found as (
    select ${authorizationCodes}.code_hash, session_id, account_id, owner.uuid as account_uuid, device_type, device_os, device_fingerprint,
           ip as browser_ip, sign_in_ip as browser_sign_in_ip, amr, stays, nonce, ${authorizationCodes}.scope,
           ${sessions}.created_at as authenticated_at, ${sessions}.expires_at as browser_ends
      from ${authorizationCodes}
      join ${sessions} on ${sessions}.id = session_id
      join owner on owner.id = account_id
     where ${authorizationCodes}.code_hash = ${p.codeHash} and used_at is null
       and ${authorizationCodes}.expires_at > ${p.now} and application = ${p.application}
       and redirect_uri = ${p.redirectUri} and challenge = ${p.challenge} and ${isAmongNewest}
       and kind = 'browser' and revoked_at is null and ${sessions}.expires_at > ${p.now}
       and ${isNoOlderThan(sql`owner.password_changed_at`)}
       for update of ${sql.raw('sessions, authorization_codes')}),
  used as (
    update ${authorizationCodes} set used_at = ${p.now}, opened = ${p.id} from found
     where ${authorizationCodes}.code_hash = found.code_hash),
  ${openSessionBelow({ ...p, clientId: p.application }, sql`found`)}
  select ${accounts}.*, authenticated_at, amr, nonce, scope from found join ${accounts} on ${accounts}.id = found.account_id`,
})

/** A code that is used again, long after its use, was stolen by one of the two that used it. */
const endReused = defineStatement({
  name: 'applications.end_reused',
  params: {
    codeHash: 'bytea',
    application: 'text',
    challenge: 'text',
    now: 'timestamptz',
    before: 'timestamptz',
    since: 'timestamptz',
    ...eventOriginTypes,
  },
  sql: (p) => sql`
  with reused as (
    select opened from ${authorizationCodes}
     where code_hash = ${p.codeHash} and application = ${p.application} and challenge = ${p.challenge}
       and used_at < ${p.before} and used_at > ${p.since}),
  ${endSessions(p, 'reuse', sql`id = reused.opened and ${lives(p)}`, sql`reused`)}
  select 1 from ended_sessions`,
})

const sweep = defineStatement({
  name: 'applications.sweep',
  params: { before: 'timestamptz', limit: 'int' },
  row: { codeHash: 'bytea' },
  sql: (p) => sql`
  delete from ${authorizationCodes} where code_hash in (
    select code_hash from ${authorizationCodes} where expires_at < ${p.before} limit ${p.limit})
  returning code_hash`,
})

/** The session of an application by what its tokens have in common, or by its id. */
const nameParamTypes = { familyHash: 'bytea?', sessionId: 'uuid?', kind: 'text' } as const

const isNamed = (p: Placeholders<keyof typeof nameParamTypes>) => sql`
  (family_hash = ${p.familyHash} or ${sessions}.id = ${p.sessionId}) and kind = ${p.kind}`

const findSession = defineStatement({
  name: 'applications.find_session',
  params: { ...nameParamTypes, now: 'timestamptz' },
  row: {
    ...accountRow,
    sessionId: 'uuid',
    clientId: 'text?',
    scope: 'text?',
  },
  sql: (p) => sql`
  select ${accounts}.*, ${sessions}.id as session_id, client_id, scope
    from ${sessions} join ${accounts} on ${accounts}.id = account_id
   where ${isNamed(p)} and ${lives(p)} and locked_at is null`,
})

const findBelow = defineStatement({
  name: 'applications.find_below',
  params: { sessionId: 'uuid', browser: 'uuid' },
  row: { id: 'uuid' },
  sql: (p) => sql`select id from ${sessions} where id = ${p.sessionId} and parent_id = ${p.browser}`,
})

/** Its time may be over: it ends all the same, so that whoever waits for its end is told. */
const revoke = defineStatement({
  name: 'applications.revoke',
  params: { ...nameParamTypes, application: 'text', now: 'timestamptz', ...eventOriginTypes },
  sql: (p) => sql`
    with ${endSessions(p, 'sign_out', sql`${isNamed(p)} and client_id = ${p.application}`)}
    select 1 from ended_sessions`,
})

type Redemption = ValuesOf<typeof redemptionParamTypes & typeof admissionParamTypes>
type SessionName = { familyHash: Uint8Array } | { sessionId: string }
/** Which session is meant. Own applications have rows of kind `direct`, others of kind `application`. */
export type ApplicationSession = SessionName & { kind: 'direct' | 'application' }

const nameParams = ({ kind, ...name }: ApplicationSession) => ({
  familyHash: null,
  sessionId: null,
  ...name,
  kind,
})

export type ApplicationStore = ReturnType<typeof createApplicationStore>

export function createApplicationStore(database: Database) {
  return {
    /** Of an application's codes in one browser, the five newest can be used. */
    issue: (code: ParamsOf<typeof issue>): Promise<void> => database.run(issue, code),
    /**
     * The account and how it was authenticated. Null where the code was used, is too old or belongs to another request, or
     * where the browser's session is over.
     */
    redeem: (redemption: Redemption, session: ValuesOf<typeof sessionBelowParamTypes>, now: Date) =>
      retryConflicts(() => database.first(redeem, { ...redemption, ...session, now, ...eventOrigin() })),
    /** Ends what the code opened, if it was used more than ten seconds and less than ten minutes ago. */
    async endReused({ redirectUri: _, groups: __, ...code }: Redemption, now: Date): Promise<void> {
      const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
      await database.run(endReused, { ...code, now, before: ago(10), since: ago(600), ...eventOrigin() })
    },
    /** Says in one word why `redeem` refused the code. */
    async causeOf(redemption: Redemption, now: Date): Promise<string> {
      const code = await database.first(findCode, redemption)
      if (code === null) return 'code_unknown'
      if (!code.isOfApplication) return 'code_of_another_application'
      if (!code.isForAddress) return 'redirect_uri_differs'
      if (!code.isVerified) return 'verifier_wrong'
      if (code.usedAt !== null) return 'code_used'
      if (code.mayEnter === false) return 'may_not_enter'
      return code.expiresAt <= now ? 'code_expired' : 'session_over'
    },
    /** A living session of an application, with its account; null also if the account is locked. */
    findSession: (named: ApplicationSession, now: Date) =>
      database.first(findSession, { ...nameParams(named), now }),
    isBelow: async (sessionId: string, browser: string): Promise<boolean> =>
      (await database.first(findBelow, { sessionId, browser })) !== null,
    /** Ends it if it is of this application. */
    revoke: (named: ApplicationSession, application: string, now: Date): Promise<void> =>
      database.run(revoke, { ...nameParams(named), application, now, ...eventOrigin() }),
    sweep: async (now: Date, limit: number): Promise<number> =>
      (await database.all(sweep, { before: daysBefore(now, 1), limit })).length,
  }
}
