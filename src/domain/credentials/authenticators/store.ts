/**
 * The factors besides sent codes, as they are used, in PostgreSQL in every shape. The promise: of any number of
 * callers with the same code exactly one succeeds. The tables are `totp_factors` and `recovery_codes`.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import {
  accounts,
  passkeys,
  recoveryCodes,
  totpFactors,
  twoFactorRemovals,
} from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders } from '../../../platform/postgres/statement.ts'
import type { SetUpFactor } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import { changeAndRecord } from '../../foundation/events/event-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { noticeParams, queueNotices, queueOwnersNotice } from '../../messages/outbox/queue-sql.ts'
import { deleteRemovals } from './factors-sql.ts'

/** The stored factors that an attempt matched; null for each that it did not match. */
export interface FactorTry {
  /** The app whose code it was, and the time step of the code. */
  totp: { sealedSecret: Uint8Array; step: number } | null
  /** The hash as it is stored. */
  recoveryHash: Uint8Array | null
  /** The app that the recovery code replaces, because its secret cannot be decrypted any more. */
  lostApp: Uint8Array | null
}

/** It goes to the verified e-mail address, else to the phone; at most ten go before new codes are made. */
const recoveryNotice = ({ now }: Placeholders<'now'>) =>
  queueOwnersNotice({
    now,
    source: sql`owner where email_confirmed_at is not null or phone_confirmed_at is not null`,
    channel: sql`case when email_confirmed_at is not null then 'email' else 'sms' end`,
    destination: sql`case when email_confirmed_at is not null then email else phone end`,
    purpose: 'recovery_code_used',
    language: sql`language`,
    values: sql`jsonb_build_object('left', codes_left::text)`,
    accountUuid: sql`uuid`,
  })

const storedRow = {
  /** Of the app in use; null where there is none. */
  sealedSecret: 'bytea?',
  confirmedAt: 'timestamptz?',
  /** The owner was notified then that the app in use cannot be opened any more. */
  lossToldAt: 'timestamptz?',
  /** A recovery code was used then in place of an app that cannot be opened. */
  recoveredAt: 'timestamptz?',
  /** Of the recovery codes left: JSON, in hex. */
  recoveryHashes: 'text',
  /** It says whether there is one for the relying party that was asked for. */
  hasPasskey: 'boolean',
  /** Somebody asked then for two factors to be turned off, which their owner can still stop; null if nobody has. */
  removalAt: 'timestamptz?',
} as const

/** The factors of each account that is asked for. */
const storedOf = (asked: SQL, p: Placeholders<'rpId'>) => sql`
         app.sealed_secret, app.confirmed_at, app.loss_told_at, app.recovered_at,
         coalesce((select json_agg(encode(hash, 'hex')) from unnest(codes.hashes) hash), '[]')::text
           as recovery_hashes,
         exists (select 1 from ${passkeys} where account_id = asked.id and rp_id = ${p.rpId}) as has_passkey,
         (select due_at from ${twoFactorRemovals} where account_id = asked.id) as removal_at
    from (${asked}) asked
    left join ${totpFactors} app on app.account_id = asked.id
    left join ${recoveryCodes} codes on codes.account_id = asked.id`

/** One row in any case. */
const find = defineStatement({
  name: 'authenticators.find',
  params: { rpId: 'text?', accountId: 'bigint' },
  row: storedRow,
  sql: (p) => sql`
  select ${storedOf(sql`select ${p.accountId} as id`, p)}`,
})

const findAll = defineStatement({
  name: 'authenticators.find_all',
  /** `accountIds`: JSON. */
  params: { rpId: 'text?', accountIds: 'text' },
  row: { accountId: 'bigint', ...storedRow },
  sql: (p) => sql`
  select asked.id as account_id, ${storedOf(
    sql`select value::bigint as id from jsonb_array_elements_text(${p.accountIds}::jsonb)`,
    p,
  )}`,
})

const noteLoss = defineStatement({
  name: 'authenticators.note_loss',
  params: { now: 'timestamptz', accountId: 'bigint', sealedSecret: 'bytea', notices: 'text' },
  row: { accountId: 'bigint' },
  sql: (p) => sql`
  with lost as (
    update ${totpFactors} set loss_told_at = ${p.now}
     where account_id = ${p.accountId} and sealed_secret = ${p.sealedSecret} and loss_told_at is null
    returning account_id),
  notices as (${queueNotices(p, sql`lost`)})
  select account_id from lost`,
})

const listApps = defineStatement({
  name: 'authenticators.list_apps',
  params: { accountId: 'bigint', limit: 'int' },
  row: { accountId: 'bigint', sealedSecret: 'bytea' },
  sql: (p) => sql`
  select account_id, sealed_secret from ${totpFactors}
   where account_id > ${p.accountId} order by account_id limit ${p.limit}`,
})

const putSealed = defineStatement({
  name: 'authenticators.put_sealed',
  params: { accountId: 'bigint', was: 'bytea', is: 'bytea' },
  sql: (p) => sql`
  update ${totpFactors} set sealed_secret = ${p.is}
   where account_id = ${p.accountId} and sealed_secret = ${p.was}`,
})

/** A second caller waits for the row and then sees the step, or the code gone. */
const use = defineStatement({
  name: 'authenticators.use',
  params: {
    step: 'bigint?',
    accountId: 'bigint',
    sealedSecret: 'bytea?',
    recoveryHash: 'bytea?',
    now: 'timestamptz',
    lostApp: 'bytea?',
  },
  row: { accountId: 'bigint', recovered: 'uuid?' },
  sql: (p) => sql`
  with stepped as (
    update ${totpFactors} set last_step = ${p.step}
     where account_id = ${p.accountId} and sealed_secret = ${p.sealedSecret} and last_step < ${p.step}
    returning account_id),
  recovered as (
    update ${recoveryCodes} set hashes = array_remove(hashes, ${p.recoveryHash})
     where account_id = ${p.accountId} and ${p.recoveryHash} = any (hashes)
    returning account_id, cardinality(hashes) as codes_left),
  replaced as (
    update ${totpFactors} set recovered_at = ${p.now} from recovered
     where ${totpFactors}.account_id = recovered.account_id and sealed_secret = ${p.lostApp}),
  owner as (select account.*, codes_left from recovered join ${accounts} account on account.id = account_id),
  notice as (${recoveryNotice(p)})
  select account_id, null::uuid as recovered from stepped union all select id, uuid from owner`,
  mayInsert: ({ recoveryHash }) => recoveryHash !== null,
})

const endRemoval = defineStatement({
  name: 'authenticators.end_removal',
  params: { accountId: 'bigint', now: 'timestamptz', notices: 'text' },
  row: { accountId: 'bigint' },
  sql: (p) => sql`
  with ended as (${deleteRemovals(sql`account_id = ${p.accountId}`)} returning account_id),
  notices as (${queueNotices(p, sql`ended`)})
  select account_id from ended`,
})

export type FactorStore = ReturnType<typeof createFactorStore>
function readHashes<Row extends { recoveryHashes: string }>({ recoveryHashes, ...row }: Row) {
  const hashes: string[] = JSON.parse(recoveryHashes)
  return { ...row, recoveryHashes: hashes.map((hash): Uint8Array => Buffer.from(hash, 'hex')) }
}

/** The stored factors of an account. */
export type StoredFactors = Awaited<ReturnType<FactorStore['find']>>

export function createFactorStore(database: Database) {
  return {
    /** It returns empty for an account without factors, and for an id that no account has (0), in the same time. */
    async find(accountId: number, rpId: string | null) {
      return readHashes((await database.first(find, { accountId, rpId }))!)
    },
    /** The same for several accounts, in any order. */
    findAll: async (accountIds: number[], rpId: string | null) =>
      (await database.all(findAll, { accountIds: JSON.stringify(accountIds), rpId })).map(readHashes),
    /** Records that the owner was notified of the loss of this app, and queues the notices, once for each app. */
    async noteLoss(accountId: number, lostApp: Uint8Array, notices: NewMessage[], now: Date) {
      const params = { accountId, sealedSecret: lostApp, now, ...noticeParams(notices) }
      return (await database.first(noteLoss, params)) !== null
    },
    /** The apps in use, by account and after that one. */
    listApps: (afterAccountId: number, limit: number) =>
      database.all(listApps, { accountId: afterAccountId, limit }),
    /** Replaces the secret of the app in use by the same one sealed anew, unless it is not the same any more. */
    putSealed: (accountId: number, sealed: { was: Uint8Array; is: Uint8Array }): Promise<void> =>
      database.run(putSealed, { accountId, ...sealed }),
    /**
     * Uses up the time step or the recovery code; false if it was used before. A notice after a recovery code says how
     * many are left.
     */
    async use(accountId: number, { totp, recoveryHash, lostApp }: FactorTry, now: Date): Promise<boolean> {
      const params = {
        accountId,
        sealedSecret: totp?.sealedSecret ?? null,
        step: totp?.step ?? null,
        recoveryHash,
        lostApp,
        now,
      }
      if (recoveryHash === null) return (await database.first(use, params)) !== null
      const used = await changeAndRecord(database, use, params, now, ({ recovered }) =>
        recovered === null ? [] : { type: 'recovery_code.used', account: recovered },
      )
      return used !== null
    },
    /**
     * The use of the factor `by` ends a removal of two factors that waits, and queues the notices. It returns false where
     * none waits: of any callers one ends it.
     */
    endRemoval: async (
      { id: accountId, uuid }: Account,
      by: SetUpFactor,
      notices: NewMessage[],
      now: Date,
    ): Promise<boolean> => {
      const params = { accountId, now, ...noticeParams(notices) }
      const event: NewEvent = {
        type: 'undo.used',
        account: uuid,
        data: { stopped: 'two_factor_removal', by },
      }
      return (await changeAndRecord(database, endRemoval, params, now, () => event)) !== null
    },
  }
}
