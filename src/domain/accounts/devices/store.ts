/**
 * The clients with which an account signed in: keyed tags of devices and of client addresses. PostgreSQL, in every
 * shape. The table is `known_devices`. A sign-in writes it by known-devices-sql.ts, in the statement that opens the
 * session.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts, knownDevices } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { createSweep } from '../../../platform/postgres/sweep.ts'
import { KNOWN_SIGN_INS, knownSince } from './known-devices-sql.ts'

export interface DeviceTags {
  device: Uint8Array | null
  address: Uint8Array | null
}

/** `select` keeps the tags from the planner, which would plan anew at each call: one that is null makes its half free. */
const find = defineStatement({
  name: 'devices.find',
  params: { accountId: 'bigint', device: 'bytea?', address: 'bytea?', now: 'timestamptz' },
  row: { device: 'boolean', address: 'boolean' },
  sql: (p) => sql`
  select exists (
           select from ${knownDevices}
            where account_id = ${p.accountId} and tag = (select ${p.device}) and kind = 'device'
              and last_sign_in_at > ${knownSince(p.now)}) as device,
         exists (
           select from ${knownDevices} join ${accounts} on ${accounts}.id = account_id
            where account_id = ${p.accountId} and tag = (select ${p.address}) and kind = 'address'
              and sign_in > sign_in_count - ${sql.raw(String(KNOWN_SIGN_INS))}) as address`,
})

const knewBefore = defineStatement({
  name: 'devices.knew_before',
  params: {
    accountId: 'bigint',
    device: 'bytea?',
    address: 'bytea?',
    before: 'timestamptz',
    now: 'timestamptz',
  },
  row: { knew: 'boolean' },
  sql: (p) => sql`
  select exists (
    select from ${knownDevices} known join ${accounts} on ${accounts}.id = known.account_id
     where known.account_id = ${p.accountId} and coalesce(known.first_sign_in_at, known.last_sign_in_at) < ${p.before}
       and ((tag = ${p.device} and kind = 'device' and known.last_sign_in_at > ${knownSince(p.now)})
         or (tag = ${p.address} and kind = 'address'
             and sign_in > sign_in_count - ${sql.raw(String(KNOWN_SIGN_INS))}))) as knew`,
})

const sweep = createSweep({
  name: 'devices.sweep',
  table: knownDevices,
  key: sql`account_id, tag`,
  params: { now: 'timestamptz' },
  where: (p) => sql`last_sign_in_at <= ${knownSince(p.now)} and kind = 'device'`,
  order: sql`last_sign_in_at`,
})

export type KnownDeviceStore = ReturnType<typeof createKnownDeviceStore>

export function createKnownDeviceStore(database: Database) {
  return {
    /**
     * Says which of these tags are known; a null tag is not. An account that does not exist knows none, in the same work.
     */
    find: async (accountId: number, tags: DeviceTags, now: Date) =>
      (await database.first(find, { accountId, ...tags, now }))!,
    /**
     * Tells whether the first sign-in with one of these tags was before that time, and the tag is still known. A null tag
     * is not.
     */
    knewBefore: async (accountId: number, tags: DeviceTags, before: Date, now: Date): Promise<boolean> =>
      (await database.first(knewBefore, { accountId, ...tags, before, now }))!.knew,
    /** Removes up to `limit` that are too old to count; how many it removed. */
    sweep: (now: Date, limit: number) => sweep(database, { now, limit }),
  }
}
