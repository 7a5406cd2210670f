/**
 * Turning two factors on and off, in PostgreSQL in every shape. The promise: an app stays in use until the next one is
 * confirmed; each change is atomic, including the sessions that it ends and the notices to the owner. The tables are
 * `totp_enrolments`, `totp_factors` and `recovery_codes`.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts, recoveryCodes, totpEnrolments, totpFactors } from '../../../platform/postgres/schema.ts'
import {
  defineStatement,
  type Placeholders,
  type Statement,
  type ValuesOf,
} from '../../../platform/postgres/statement.ts'
import { createAgeSweep, daysBefore } from '../../../platform/postgres/sweep.ts'
import type { AccountSession } from '../../accounts/core/account.ts'
import { sessionLives, updateLockedAccount } from '../../accounts/core/account-sql.ts'
import { setTwoFactors } from '../../accounts/core/changes-sql.ts'
import { forgetDevices } from '../../accounts/devices/known-devices-sql.ts'
import type { EventType, NewEvent } from '../../foundation/events/event.ts'
import type { EventData } from '../../foundation/events/event-data-schema.ts'
import { eventOrigin, eventOriginTypes } from '../../foundation/events/event-sql.ts'
import { forgetSecondStep } from '../../messages/codes/code-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { noticeParams, noticeParamTypes, queueNotices } from '../../messages/outbox/queue-sql.ts'
import { endSessionsOf, isOfSameBrowser, keepTwoFactorSession } from '../../sessions/core/session-sql.ts'
import { dropFactors } from './factors-sql.ts'
import { deleteRemovals } from './removals-sql.ts'
import type { FactorTry } from './store.ts'

/** Turning two-factor sign-in on: the session stays and has verified both factors (RFC 8176 values). */
export interface Enabling {
  amr: string[]
  recoveryHashes: Uint8Array[]
  /** The tag of the session's device: the only one that stays known. */
  keptDevice: Uint8Array | null
  notices: NewMessage[]
}

const putEnrolment = defineStatement({
  name: 'authenticators.put_enrolment',
  params: { sealedSecret: 'bytea', now: 'timestamptz', accountId: 'bigint', sessionId: 'uuid' },
  row: { id: 'bigint' },
  sql: (p) => sql`
  insert into ${totpEnrolments} (account_id, sealed_secret, created_at)
  select id, ${p.sealedSecret}, ${p.now} from ${accounts} where id = ${p.accountId} and ${sessionLives(p)}
  on conflict (account_id) do update
     set sealed_secret = excluded.sealed_secret, created_at = excluded.created_at
  returning account_id as id`,
})

const findEnrolment = defineStatement({
  name: 'authenticators.find_enrolment',
  params: { accountId: 'bigint', since: 'timestamptz' },
  row: { sealedSecret: 'bytea' },
  sql: (p) => sql`
  select sealed_secret from ${totpEnrolments}
   where account_id = ${p.accountId} and created_at >= ${p.since}`,
})

/** `recoveryHashes`: JSON, in hex. */
const setRecoveryCodes = (p: Placeholders<'recoveryHashes'>, owner: SQL) => sql`
  insert into ${recoveryCodes} (account_id, hashes)
  select id, array(
           select decode(hash, 'hex') from jsonb_array_elements_text(${p.recoveryHashes}::jsonb) hash)
    from ${owner}
  on conflict (account_id) do update set hashes = excluded.hashes`

/**
 * The parameters of what follows when two factors were turned on for the account in `enabled`. From then on no session
 * of the account goes back to a single factor. All other devices are forgotten: a device that was known by a guessed
 * password would outlive this remedy.
 */
const enablingParamTypes = {
  accountId: 'bigint',
  sessionId: 'uuid',
  amr: 'text',
  recoveryHashes: 'text',
  keptDevice: 'bytea?',
  now: 'timestamptz',
  ...noticeParamTypes,
  ...eventOriginTypes,
} as const

const afterEnabling = (p: Placeholders<keyof typeof enablingParamTypes>, enabled: SQL) => sql`
  codes as (${setRecoveryCodes(p, enabled)}),
  kept as (${keepTwoFactorSession(p, enabled)}),
  ${endSessionsOf(
    p,
    'two_factor',
    enabled,
    sql`${isOfSameBrowser(p.sessionId)} or string_to_array(amr, ' ') @> array['mfa']`,
  )},
  unknown_devices as (${forgetDevices(enabled, p.keptDevice)}),
  of_account as (select account.uuid from ${enabled} join ${accounts} account on account.id = ${enabled}.id),
  ${forgetSecondStep(sql`of_account`)},
  notices as (${queueNotices(p, enabled)})
  select id from ${enabled}`

const enable = defineStatement({
  name: 'authenticators.enable',
  params: enablingParamTypes,
  row: { id: 'bigint' },
  sql: (p) => sql`
  with enabled as (${setTwoFactors(
    true,
    p,
    sql`id = ${p.accountId} and not two_factor_enabled and ${sessionLives(p)}`,
  )}),
  ${afterEnabling(p, sql`enabled`)}`,
})

const confirmEnrolment = defineStatement({
  name: 'authenticators.confirm_enrolment',
  params: { ...enablingParamTypes, sealedSecret: 'bytea', step: 'bigint' },
  row: { id: 'bigint' },
  sql: (p) => sql`
  with enrolled as (
    delete from ${totpEnrolments}
     where account_id = ${p.accountId} and sealed_secret = ${p.sealedSecret} and ${sessionLives(p)}
    returning account_id),
  enabled as (${setTwoFactors(true, p, sql`id = enrolled.account_id`, sql`enrolled`)}),
  app as (
    insert into ${totpFactors} (account_id, sealed_secret, confirmed_at, added_by, last_step)
    select id, ${p.sealedSecret}, ${p.now}, ${p.sessionId}, ${p.step} from enabled
    on conflict (account_id) do update
       set sealed_secret = excluded.sealed_secret, confirmed_at = excluded.confirmed_at,
           added_by = excluded.added_by, last_step = excluded.last_step, loss_told_at = null, recovered_at = null),
  ${afterEnabling(p, sql`enabled`)}`,
})

const disable = defineStatement({
  name: 'authenticators.disable',
  params: { now: 'timestamptz', accountId: 'bigint', sessionId: 'uuid', notices: 'text' },
  row: { id: 'bigint' },
  sql: (p) => sql`
  with disabled as (${setTwoFactors(
    false,
    p,
    sql`id = ${p.accountId} and two_factor_enabled and ${sessionLives(p)}`,
  )}),
  ${dropFactors(sql`disabled`)},
  removal as (${deleteRemovals(sql`account_id = disabled.id`, sql`disabled`)}),
  notices as (${queueNotices(p, sql`disabled`)})
  select id from disabled`,
})

const putRecoveryCodes = defineStatement({
  name: 'authenticators.put_recovery_codes',
  params: {
    accountId: 'bigint',
    sessionId: 'uuid',
    recoveryHashes: 'text',
    now: 'timestamptz',
    notices: 'text',
  },
  row: { id: 'bigint' },
  sql: (p) => sql`
  with enabled as (
    select id from ${accounts} where id = ${p.accountId} and two_factor_enabled and ${sessionLives(p)}),
  codes as (${setRecoveryCodes(p, sql`enabled`)}),
  notices as (${queueNotices(p, sql`enabled`)})
  select id from enabled`,
})

const hex = (hashes: Uint8Array[]) => JSON.stringify(hashes.map((hash) => Buffer.from(hash).toString('hex')))

const ownerParams = ({ account, sessionId }: AccountSession) => ({ accountId: account.id, sessionId })

const enablingParams = (
  signedIn: AccountSession,
  { recoveryHashes, keptDevice, notices, amr }: Enabling,
  at: Date,
): ValuesOf<typeof enablingParamTypes> => ({
  ...ownerParams(signedIn),
  ...noticeParams(notices),
  amr: amr.join(' '),
  recoveryHashes: hex(recoveryHashes),
  keptDevice,
  now: at,
  ...eventOrigin(),
})

const about = ({ account }: AccountSession, type: EventType, data: EventData = {}): NewEvent => ({
  type,
  account: account.uuid,
  data,
})

/** An app that waits for its first code cannot be confirmed after half an hour. */
const ENROLMENT_DAYS = 1

const sweep = createAgeSweep(
  totpEnrolments,
  'authenticators.sweep_enrolments',
  sql`account_id`,
  sql`created_at`,
)

export type EnrolmentStore = ReturnType<typeof createEnrolmentStore>

export function createEnrolmentStore(database: Database) {
  /** It is true when the account was as the change expects it; then the event is recorded. */
  const change = async <Params extends { accountId: number; now: Date }>(
    query: Statement<Params, { id: number }>,
    params: Params,
    event?: NewEvent,
  ) => {
    return (await updateLockedAccount(database, query, params, () => event ?? [])) !== null
  }

  return {
    /** Replaces a waiting app; the one in use is not touched. It returns false if the session ended meanwhile. */
    putEnrolment: (signedIn: AccountSession, sealedSecret: Uint8Array, now: Date) =>
      change(putEnrolment, { ...ownerParams(signedIn), sealedSecret, now }),
    /** The app that waits for its first code, if it was created after `since`. */
    findEnrolment: (accountId: number, since: Date) => database.first(findEnrolment, { accountId, since }),
    /**
     * Turns two-factor sign-in on, sets the recovery codes, forgets the other devices, and ends the other sessions that one
     * factor opened, including one that is being opened. It returns false if it was already on, or if the session ended
     * meanwhile.
     */
    enable: (signedIn: AccountSession, method: 'code' | 'passkey', enabling: Enabling, now: Date) =>
      change(
        enable,
        enablingParams(signedIn, enabling, now),
        about(signedIn, 'two_factor.enabled', { method }),
      ),
    /**
     * Makes the waiting app the one in use, with its `step` used up; then does the same as `enable`, also if two-factor
     * sign-in was already on. It returns false if that app is not waiting any more, or if the session ended meanwhile.
     */
    confirmEnrolment: (
      signedIn: AccountSession,
      { totp, ...enabling }: Enabling & { totp: NonNullable<FactorTry['totp']> },
      now: Date,
    ) =>
      change(
        confirmEnrolment,
        { ...enablingParams(signedIn, enabling, now), ...totp },
        about(signedIn, 'two_factor.enabled', { method: 'totp' }),
      ),
    /**
     * Turns two-factor sign-in off and removes app and recovery codes. It returns false if it was off, or the session ended
     * meanwhile.
     */
    disable: (signedIn: AccountSession, notices: NewMessage[], now: Date) =>
      change(
        disable,
        { ...ownerParams(signedIn), ...noticeParams(notices), now },
        about(signedIn, 'two_factor.disabled'),
      ),
    /**
     * Replaces them and queues the notices. It returns false if two-factor sign-in is off, or if the session ended
     * meanwhile.
     */
    putRecoveryCodes: (signedIn: AccountSession, hashes: Uint8Array[], notices: NewMessage[], now: Date) =>
      change(
        putRecoveryCodes,
        { ...ownerParams(signedIn), ...noticeParams(notices), recoveryHashes: hex(hashes), now },
        about(signedIn, 'recovery_codes.replaced'),
      ),
    /** Removes apps whose first code never came, and returns their number. */
    sweep: (now: Date, limit: number) => sweep(database, { before: daysBefore(now, ENROLMENT_DAYS), limit }),
  }
}
