/** The changes of sessions, each one statement's part. No other file but family-store.ts writes the table. */
import { type SQL, sql } from 'drizzle-orm'
import { sessions } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'
import type { NewEvent } from '../../foundation/events/event.ts'

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

/** `source`: from where the condition reads, if it is more than the session. */
export const endSessions = (p: Placeholders<'now'>, where: SQL, source?: SQL): SQL => sql`
    update ${sessions} set revoked_at = ${p.now} ${source ? sql`from ${source}` : sql``}
     where ${where}`

/** A request to a page moves the idle end of its browser's session, at most once a minute. */
export const touchBrowserSession = (
  p: Placeholders<'cookieHash' | 'now' | 'minuteAgo' | 'usual' | 'stays' | 'address'>,
): SQL => sql`
    update ${sessions}
       set last_used_at = ${p.now}, ip = ${p.address},
           expires_at = least(case when stays then ${p.stays} else ${p.usual} end, ends_at)
     where family_hash = ${p.cookieHash} and kind = 'browser' and ${lives(p)} and last_used_at < ${p.minuteAgo}`

/**
 * The session of an application, below that of the browser: `found` has the columns of the browser's row and, of the code,
 * the account's `account_id`.
 */
export const openSessionBelow = (
  p: Placeholders<
    'id' | 'now' | 'address' | 'familyHash' | 'expiresAt' | 'endsAt' | 'clientId' | 'name' | 'endsWithBrowser'
  >,
  found: SQL,
): SQL => sql`
    insert into ${sessions} (id, account_id, device_type, device_name, device_os, device_fingerprint, ip, sign_in_ip,
                             amr, created_at, last_used_at, expires_at, ends_at, family_hash, parent_id, client_id,
                             authenticated_at)
    select ${p.id}, account_id, device_type, ${p.name}, device_os, device_fingerprint, ${p.address}, ${p.address},
           amr, ${p.now}, ${p.now}, least(${p.expiresAt}, life.ends), life.ends, ${p.familyHash}, session_id,
           ${p.clientId}, authenticated_at
      from ${found}, lateral (
        select case when ${p.endsWithBrowser} and not stays then least(${p.endsAt}, browser_ends)
                    else ${p.endsAt} end as ends) life`

/** An application has at most five sessions below one browser; the one that was opened first ends. */
export const endSurplusBelow = (p: Placeholders<'now' | 'clientId'>, found: SQL): SQL =>
  endSessions(
    p,
    sql`id in (
      select older.id from ${sessions} older, ${found}
       where older.account_id = ${found}.account_id and older.parent_id = ${found}.session_id
         and older.client_id = ${p.clientId} and older.revoked_at is null and older.expires_at > ${p.now}
       order by older.created_at desc, older.id offset 4)`,
  )

/** It returns true for a session of the same browser: its own, and those of the applications below it. */
export const isOfSameBrowser = (sessionId: SQL): SQL => sql`
  coalesce(${sessions}.parent_id, ${sessions}.id) = (
    select coalesce(own.parent_id, own.id) from ${sessions} own where own.id = ${sessionId})`

/** The sessions of applications below `former` go on below `next`, both rows of one account. */
export const moveSessionsBelow = (next: SQL, former: SQL): SQL => sql`
    update ${sessions} set parent_id = ${next}.id from ${former}, ${next}
     where parent_id = ${former}.id and ${former}.account_id = ${next}.account_id
       and ${sessions}.account_id = ${former}.account_id`

/** Every session of each row of `account`, but for those for which `kept` holds. */
export const endSessionsOf = (p: Placeholders<'now'>, account: SQL, kept?: SQL): SQL =>
  endSessions(
    p,
    sql`${sessions}.account_id = ${account}.id and ${sessions}.revoked_at is null ${kept ? sql`and not (${kept})` : sql``}`,
    account,
  )

/** The session that turned two factors on has proved both; those that proved one alone end. */
export const keepTwoFactorSession = (p: Placeholders<'amr' | 'sessionId'>, account: SQL): SQL => sql`
    update ${sessions} set amr = ${p.amr} from ${account}
     where ${isOfSameBrowser(p.sessionId)} and account_id = ${account}.id`

/** The event of a session that `endSessions` ended, which returned its id and the uuid of its account. */
export const sessionEnded = ({ id, uuid }: { id: string; uuid: string }): NewEvent => ({
  type: 'session.ended',
  account: uuid,
  sessionId: id,
})

export const deleteSessions = (where: SQL): SQL => sql`delete from ${sessions} where ${where}`
