/**
 * The statement that ends a sign-in, as fragments: a sign-in by passkey uses up its challenge in the same statement
 * (sign-in/passkeys/store.ts).
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { sessions } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders, type ValuesOf } from '../../../platform/postgres/statement.ts'
import type { Account } from '../../accounts/core/account.ts'
import { signInAccount } from '../../accounts/core/changes-sql.ts'
import { forgetOldDevices, isNewDevice, rememberDevice } from '../../accounts/devices/known-devices-sql.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import {
  eventCtes,
  eventOrigin,
  eventOriginTypes,
  eventParams,
  eventParamTypes,
} from '../../foundation/events/event-sql.ts'
import { MAXIMUM_SESSIONS, type NewSession } from './session.ts'
import { endSessions, lives, newSessionParamTypes, openSession } from './session-sql.ts'

export const signInParamTypes = {
  ...newSessionParamTypes,
  accountId: 'bigint',
  digestWhenChecked: 'text?',
  expectedTwoFactor: 'boolean',
  deviceTag: 'bytea?',
  addressTag: 'bytea?',
  ...eventParamTypes,
} as const

type SignInParams = ValuesOf<typeof signInParamTypes>

/**
 * CTEs. `signed_in` is the account, if it has not changed since it was read and `condition` holds; the session, its
 * device and address, and the events are written with it.
 */
export const signInCtes = (p: Placeholders<keyof typeof signInParamTypes>, condition = sql`true`): SQL => sql`
  signed_in as (${signInAccount(p, condition)}),
  opened as (${openSession(p, sql`signed_in`)}),
  remembered as (${rememberDevice(sql`signed_in`, { device: p.deviceTag, address: p.addressTag, now: p.now })}),
  forgotten as (${forgetOldDevices(sql`signed_in`, { device: p.deviceTag })}),
  ${eventCtes(p, sql`signed_in`)}`

/** Tells whether the owner is to be told of the device. The statement sees the devices as they were before it. */
export const isFromNewDevice = (p: Placeholders<'deviceTag' | 'addressTag' | 'now'>, signedIn: SQL) =>
  isNewDevice(signedIn, { device: p.deviceTag, address: p.addressTag, now: p.now })

/** Counts the sessions that the account had before this one: for `endTooMany`. */
export const otherSessions = (p: Placeholders<'now'>, signedIn: SQL) => sql`
  (select count(*)::int from ${sessions} where account_id = ${signedIn}.id and parent_id is null and ${lives(p)})`

/** `happened`: further events of this sign-in. */
export function signInParams(
  account: Account,
  { device, tags, amr, ...session }: NewSession,
  at: Date,
  happened: NewEvent[] = [],
): SignInParams {
  const login: NewEvent = {
    type: 'login.succeeded',
    account: account.uuid,
    sessionId: session.id,
    data: { amr },
  }
  return {
    ...session,
    ...eventParams([...happened, { ...login, type: 'session.started' }, login], at, {
      device: device.name ?? device.os,
    }),
    now: at,
    accountId: account.id,
    digestWhenChecked: account.passwordDigest,
    expectedTwoFactor: account.twoFactorEnabled,
    deviceType: device.type,
    deviceName: device.name,
    deviceOs: device.os,
    deviceFingerprint: device.fingerprint,
    deviceTag: tags.device,
    addressTag: tags.address,
    amr: amr.join(' '),
  }
}

/** Parallel sign-ins do not see each other's sessions; the next sign-in ends the surplus. */
const endOldest = defineStatement({
  name: 'sessions.end_oldest',
  params: { now: 'timestamptz', accountId: 'bigint', kept: 'int', ...eventOriginTypes },
  sql: (p) => sql`
  with ${endSessions(
    p,
    'too_many',
    sql`id in (
     select id from ${sessions} where account_id = ${p.accountId} and parent_id is null and ${lives(p)}
      order by last_used_at desc, created_at desc, id offset ${p.kept})`,
  )}
  select 1 from ended_sessions`,
})

/** Ends the sessions that were not used for longest, if a sign-in found too many `others`. */
export async function endTooMany(database: Database, accountId: number, others: number, at: Date) {
  if (others < MAXIMUM_SESSIONS) return
  await database.run(endOldest, { accountId, kept: MAXIMUM_SESSIONS, now: at, ...eventOrigin() })
}
