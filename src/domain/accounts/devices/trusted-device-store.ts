/**
 * Devices on which a login needs no second step. PostgreSQL, in every shape. The table is `trusted_devices`. Whatever
 * protects the account is part of what a device is bound to, so that a device counts only while nothing of it changed.
 */
import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts, sessions, trustedDevices } from '../../../platform/postgres/schema.ts'
import {
  defineStatement,
  type ParamsOf,
  type Placeholders,
  type Statement,
} from '../../../platform/postgres/statement.ts'
import { createExpirySweep } from '../../../platform/postgres/sweep.ts'
import type { EventType } from '../../foundation/events/event.ts'
import { changeAndRecord } from '../../foundation/events/event-sql.ts'
import { boundTo, canHaveTrusted, forgetTrusted } from './trusted-devices-sql.ts'

/** One account has so many at most; a new one pushes the oldest out. */
const MAXIMUM_TRUSTED = 10

const add = defineStatement({
  name: 'trusted_devices.add',
  params: {
    hash: 'bytea',
    accountId: 'bigint',
    deviceTag: 'bytea',
    /** The session that proved two factors. */
    sessionId: 'uuid',
    expiresAt: 'timestamptz',
    now: 'timestamptz',
  },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  with account as (
    select * from ${accounts} where id = ${p.accountId}
       and exists (select from ${sessions} where ${sessions}.id = ${p.sessionId} and revoked_at is null)),
  older as (
    select hash from ${trustedDevices} where account_id = ${p.accountId}
     order by created_at desc, hash offset ${sql.raw(String(MAXIMUM_TRUSTED - 1))}),
  pushed_out as (${forgetTrusted(sql`hash in (select hash from older)`)}),
  added as (
    insert into ${trustedDevices} (hash, account_id, device_tag, bound, session_id, created_at, expires_at)
    select ${p.hash}, account.id, ${p.deviceTag}, ${boundTo(sql`account`)}, ${p.sessionId}, ${p.now}, ${p.expiresAt}
      from account where ${canHaveTrusted(sql`account`)}
    returning account_id)
  select uuid from added join ${accounts} on ${accounts}.id = account_id`,
})

const holds = (p: Placeholders<'accountId' | 'since' | 'now'>) => sql`
  ${trustedDevices}.account_id = ${p.accountId} and ${accounts}.id = ${trustedDevices}.account_id
  and ${trustedDevices}.expires_at > ${p.now} and ${trustedDevices}.created_at > ${p.since}
  and ${canHaveTrusted(sql`${accounts}`)} and bound = ${boundTo(sql`${accounts}`)}`

const use = defineStatement({
  name: 'trusted_devices.use',
  params: {
    hash: 'bytea',
    accountId: 'bigint',
    deviceTag: 'bytea',
    /** A device that was trusted before this counts no longer. */
    since: 'timestamptz',
    /** The session that is about to be opened. */
    sessionId: 'uuid',
    now: 'timestamptz',
  },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  update ${trustedDevices} set last_used_at = ${p.now}, last_session_id = ${p.sessionId} from ${accounts}
   where hash = ${p.hash} and device_tag = ${p.deviceTag} and ${holds(p)}
  returning uuid`,
})

const listSessions = defineStatement({
  name: 'trusted_devices.list_sessions',
  params: { accountId: 'bigint', since: 'timestamptz', now: 'timestamptz' },
  row: { sessionId: 'uuid', lastSessionId: 'uuid?' },
  sql: (p) => sql`select session_id, last_session_id from ${trustedDevices}, ${accounts} where ${holds(p)}`,
})

/** An id that clients may see, of half the hash of a token of 256 random bits. */
const idOf = sql`encode(substring(${trustedDevices}.hash from 1 for 16), 'hex')::uuid`

/** The device has the name that it gave at its last sign-in, or at that which made it trusted. */
const list = defineStatement({
  name: 'trusted_devices.list',
  params: { accountId: 'bigint', since: 'timestamptz', now: 'timestamptz' },
  row: { id: 'uuid', name: 'text?', createdAt: 'timestamptz', lastUsedAt: 'timestamptz?' },
  sql: (p) => sql`
  select ${idOf} as id, ${trustedDevices}.created_at, ${trustedDevices}.last_used_at,
         (select coalesce(device_name, device_os) from ${sessions}
           where ${sessions}.id in (session_id, last_session_id) and coalesce(device_name, device_os) is not null
           order by ${sessions}.created_at desc limit 1) as name
    from ${trustedDevices}, ${accounts} where ${holds(p)}
   order by ${trustedDevices}.created_at desc, ${trustedDevices}.hash`,
})

const removeById = defineStatement({
  name: 'trusted_devices.remove_by_id',
  params: { accountId: 'bigint', id: 'uuid' },
  row: { uuid: 'uuid', sessionId: 'uuid' },
  sql: (p) => sql`
  with gone as (
    ${forgetTrusted(sql`account_id = ${p.accountId} and ${idOf} = ${p.id}`)}
    returning account_id, coalesce(last_session_id, session_id) as session_id)
  select uuid, session_id from ${accounts}, gone where id = account_id`,
})

const remove = defineStatement({
  name: 'trusted_devices.remove',
  params: { accountId: 'bigint', sessionId: 'uuid' },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  with gone as (
    ${forgetTrusted(sql`account_id = ${p.accountId} and ${p.sessionId} in (session_id, last_session_id)`)}
    returning account_id)
  select uuid from ${accounts} where id in (select account_id from gone)`,
})

const sweep = createExpirySweep(trustedDevices, 'trusted_devices.sweep', sql`hash`)

export type TrustedDeviceStore = ReturnType<typeof createTrustedDeviceStore>

export function createTrustedDeviceStore(database: Database) {
  /** It is true if a device was changed, which is recorded then. */
  const change = async <Params extends object>(
    query: Statement<Params, { uuid: string }>,
    params: Params,
    { type, sessionId, now }: { type: EventType; sessionId: string; now: Date },
  ): Promise<boolean> =>
    (await changeAndRecord(database, query, params, now, ({ uuid }) => ({
      type,
      account: uuid,
      sessionId,
    }))) !== null

  return {
    /** False where the session ended meanwhile, or the account may have none. */
    add: (trust: ParamsOf<typeof add>) => change(add, trust, { ...trust, type: 'trusted_device.added' }),
    /** Tells whether it takes the place of the second step now; then the use is recorded. */
    use: (used: ParamsOf<typeof use>) => change(use, used, { ...used, type: 'trusted_device.used' }),
    /** The sessions of the account, among those that made or last used a device, whose device is trusted now. */
    listSessions: async (accountId: number, since: Date, now: Date): Promise<string[]> =>
      (await database.all(listSessions, { accountId, since, now })).flatMap(({ sessionId, lastSessionId }) =>
        lastSessionId === null ? [sessionId] : [sessionId, lastSessionId],
      ),
    /** Ends the trust in the device of a session; false if there is none. */
    remove: (accountId: number, sessionId: string, now: Date) =>
      change(remove, { accountId, sessionId }, { type: 'trusted_device.removed', sessionId, now }),
    /** The devices that are trusted now, newest first. */
    list: (accountId: number, since: Date, now: Date) => database.all(list, { accountId, since, now }),
    /** Ends the trust in one device; false if the account has none of this id. */
    removeById: async (accountId: number, id: string, now: Date): Promise<boolean> =>
      (await changeAndRecord(database, removeById, { accountId, id }, now, ({ uuid, sessionId }) => ({
        type: 'trusted_device.removed',
        account: uuid,
        sessionId,
      }))) !== null,
    sweep: (now: Date, limit: number) => sweep(database, { now, limit }),
  }
}
