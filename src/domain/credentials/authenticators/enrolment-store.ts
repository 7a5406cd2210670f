/**
 * Turning two factors on and off, in PostgreSQL in every shape. The promise: an app stays in use until the next one is
 * confirmed; each change is atomic, including the sessions that it ends and the notices to the owner. The tables are
 * `totp_enrolments`, `totp_factors` and `recovery_codes`.
 */

import { sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { accounts, recoveryCodes, totpEnrolments, totpFactors } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { createAgeSweep, daysBefore } from '../../../platform/postgres/sweep.ts'
import type { AccountSession } from '../../accounts/core/account.ts'
import {
  isSessionAlive,
  sessionLives,
  updateLockedAccount,
  withHeldAccount,
} from '../../accounts/core/account-sql.ts'
import { setTwoFactors } from '../../accounts/core/changes-sql.ts'
import { forgetDevices } from '../../accounts/devices/known-devices-sql.ts'
import { eventOrigin, recordEvents } from '../../foundation/events/event-sql.ts'
import { forgetSecondStep } from '../../messages/codes/code-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { addNotices } from '../../messages/outbox/queue-sql.ts'
import { endSessionsBy, keepTwoFactorSession } from '../../sessions/core/session-sql.ts'
import { deleteRemovals, dropFactors } from './factors-sql.ts'
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

/** `hashes`: JSON, in hex. */
const setRecoveryCodes = defineStatement({
  name: 'authenticators.set_recovery_codes',
  params: { accountId: 'bigint', hashes: 'text' },
  sql: (p) => sql`
  insert into ${recoveryCodes} (account_id, hashes)
  values (${p.accountId}, array(select decode(hash, 'hex') from jsonb_array_elements_text(${p.hashes}::jsonb) hash))
  on conflict (account_id) do update set hashes = excluded.hashes`,
})

const takeEnrolment = defineStatement({
  name: 'authenticators.take_enrolment',
  params: { accountId: 'bigint', sealedSecret: 'bytea', sessionId: 'uuid' },
  row: { id: 'bigint' },
  sql: (p) => sql`
  delete from ${totpEnrolments}
   where account_id = ${p.accountId} and sealed_secret = ${p.sealedSecret} and ${sessionLives(p)}
  returning account_id as id`,
})

const putApp = defineStatement({
  name: 'authenticators.put_app',
  params: {
    accountId: 'bigint',
    sealedSecret: 'bytea',
    now: 'timestamptz',
    sessionId: 'uuid',
    step: 'bigint',
  },
  sql: (p) => sql`
  insert into ${totpFactors} (account_id, sealed_secret, confirmed_at, added_by, last_step)
  values (${p.accountId}, ${p.sealedSecret}, ${p.now}, ${p.sessionId}, ${p.step})
  on conflict (account_id) do update
     set sealed_secret = excluded.sealed_secret, confirmed_at = excluded.confirmed_at,
         added_by = excluded.added_by, last_step = excluded.last_step, loss_told_at = null, recovered_at = null`,
})

const dropRemoval = defineStatement({
  name: 'authenticators.drop_removal',
  params: { accountId: 'bigint' },
  sql: (p) => deleteRemovals(sql`account_id = ${p.accountId}`),
})

const hex = (hashes: Uint8Array[]) => JSON.stringify(hashes.map((hash) => Buffer.from(hash).toString('hex')))

/**
 * Turns two factors on for an account that is held. From then on no session of the account goes back to a single factor. All
 * other devices are forgotten: a device that was known by a guessed password would outlive this remedy.
 */
async function turnOn(
  transaction: Executor,
  { account: { id: accountId, uuid }, sessionId }: AccountSession,
  method: 'code' | 'passkey' | 'totp',
  { amr, recoveryHashes, keptDevice, notices }: Enabling,
  now: Date,
): Promise<void> {
  const ending = { accountId, keptSession: sessionId, now, ...eventOrigin() }
  await Promise.all([
    transaction.run(setTwoFactors, { accountId, isOn: true, now }),
    transaction.run(setRecoveryCodes, { accountId, hashes: hex(recoveryHashes) }),
    transaction.run(keepTwoFactorSession, { accountId, sessionId, amr: amr.join(' ') }),
    transaction.run(endSessionsBy.two_factor, ending),
    transaction.run(forgetDevices, { accountId, keptDevice }),
    transaction.run(forgetSecondStep, { subject: uuid }),
    addNotices(transaction, notices, now),
    recordEvents(transaction, [{ type: 'two_factor.enabled', account: uuid, data: { method } }], now),
  ])
}

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
  /** Holds the account, and is false where the session has ended, or two factors are not as expected. */
  const change = (
    { account: { id: accountId }, sessionId }: AccountSession,
    isOn: boolean,
    work: (transaction: Executor) => Promise<unknown>,
  ): Promise<boolean> =>
    withHeldAccount(database, accountId, async (transaction, held) => {
      const living = isSessionAlive(transaction, { accountId, sessionId })
      const [account, isAlive] = await Promise.all([held, living])
      if (!isAlive || account?.twoFactorEnabled !== isOn) return false
      await work(transaction)
      return true
    })

  return {
    /** Replaces a waiting app; the one in use is not touched. It returns false if the session ended meanwhile. */
    putEnrolment: async (
      { account: { id: accountId }, sessionId }: AccountSession,
      sealedSecret: Uint8Array,
      now: Date,
    ) =>
      (await updateLockedAccount(database, putEnrolment, { accountId, sessionId, sealedSecret, now })) !==
      null,
    /** The app that waits for its first code, if it was created after `since`. */
    findEnrolment: (accountId: number, since: Date) => database.first(findEnrolment, { accountId, since }),
    /**
     * Turns two-factor sign-in on, sets the recovery codes, forgets the other devices, and ends the other sessions that one
     * factor opened, including one that is being opened. It returns false if it was already on, or if the session ended
     * meanwhile.
     */
    enable: (signedIn: AccountSession, method: 'code' | 'passkey', enabling: Enabling, now: Date) =>
      change(signedIn, false, (transaction) => turnOn(transaction, signedIn, method, enabling, now)),
    /**
     * Makes the waiting app the one in use, with its `step` used up; then does the same as `enable`, also if two-factor
     * sign-in was already on. It returns false if that app is not waiting any more, or if the session ended meanwhile.
     */
    confirmEnrolment: (
      signedIn: AccountSession,
      { totp, ...enabling }: Enabling & { totp: NonNullable<FactorTry['totp']> },
      now: Date,
    ): Promise<boolean> => {
      const owner = { accountId: signedIn.account.id, sessionId: signedIn.sessionId }
      return withHeldAccount(database, owner.accountId, async (transaction) => {
        const { sealedSecret } = totp
        if ((await transaction.first(takeEnrolment, { ...owner, sealedSecret })) === null) return false
        await Promise.all([
          transaction.run(putApp, { ...owner, ...totp, now }),
          turnOn(transaction, signedIn, 'totp', enabling, now),
        ])
        return true
      })
    },
    /**
     * Turns two-factor sign-in off and removes app and recovery codes. It returns false if it was off, or the session ended
     * meanwhile.
     */
    disable: (signedIn: AccountSession, notices: NewMessage[], now: Date) =>
      change(signedIn, true, async (transaction) => {
        const { id: accountId, uuid } = signedIn.account
        await Promise.all([
          transaction.run(setTwoFactors, { accountId, isOn: false, now }),
          dropFactors(transaction, accountId),
          transaction.run(dropRemoval, { accountId }),
          addNotices(transaction, notices, now),
          recordEvents(transaction, [{ type: 'two_factor.disabled', account: uuid }], now),
        ])
      }),
    /**
     * Replaces them and queues the notices. It returns false if two-factor sign-in is off, or if the session ended
     * meanwhile.
     */
    putRecoveryCodes: (signedIn: AccountSession, hashes: Uint8Array[], notices: NewMessage[], now: Date) =>
      change(signedIn, true, async (transaction) => {
        const { id: accountId, uuid } = signedIn.account
        await Promise.all([
          transaction.run(setRecoveryCodes, { accountId, hashes: hex(hashes) }),
          addNotices(transaction, notices, now),
          recordEvents(transaction, [{ type: 'recovery_codes.replaced', account: uuid }], now),
        ])
      }),
    /** Removes apps whose first code never came, and returns their number. */
    sweep: (now: Date, limit: number) => sweep(database, { before: daysBefore(now, ENROLMENT_DAYS), limit }),
  }
}
