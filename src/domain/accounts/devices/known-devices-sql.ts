/** The statement parts by which a sign-in makes its device and its address known. */
import { type SQL, sql } from 'drizzle-orm'
import { knownDevices } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'

/** The most devices an account is known by, and how long each counts. */
const KNOWN_DEVICES = 20
const KNOWN_DAYS = 90
/** Addresses count while their sign-in is one of so many last ones. */
export const KNOWN_SIGN_INS = 10

/** Devices older than this do not count. */
export const knownSince = (now: SQL) => sql`${now} - interval '${sql.raw(String(KNOWN_DAYS))} days'`

/**
 * True if neither the device nor the address of the sign-in was known before. It is false at the first sign-in, and for
 * one without a device and a public address, which could not be known again.
 */
export const isNewDevice = (signedIn: SQL, tags: { device: SQL; address: SQL; now: SQL }) => sql`
  (${signedIn}.sign_in_count > 1 and (${tags.device} is not null or ${tags.address} is not null)
   and not exists (
     select from ${knownDevices}
      where account_id = ${signedIn}.id
        and ((tag = ${tags.device} and kind = 'device' and last_sign_in_at > ${knownSince(tags.now)})
          or (tag = ${tags.address} and kind = 'address'
              and sign_in >= ${signedIn}.sign_in_count - ${sql.raw(String(KNOWN_SIGN_INS))}))))`

/** The insert of the sign-in's tags, for each row of `signedIn` (an account as its sign-in left it). */
export const rememberDevice = (signedIn: SQL, tags: { device: SQL; address: SQL; now: SQL }) => sql`
  insert into ${knownDevices} as known (account_id, tag, kind, sign_in, last_sign_in_at, first_sign_in_at)
  select ${signedIn}.id, used.tag, used.kind, ${signedIn}.sign_in_count, ${tags.now}, ${tags.now}
    from ${signedIn}, (values (${tags.device}, 'device'), (${tags.address}, 'address')) as used (tag, kind)
   where used.tag is not null
  on conflict (account_id, tag) do update
     set sign_in = excluded.sign_in, last_sign_in_at = excluded.last_sign_in_at,
         first_sign_in_at = coalesce(known.first_sign_in_at, known.last_sign_in_at)`

/** It stands beside `rememberDevice`, in the same statement, and removes what the new tags push out. */
export const forgetOldDevices = (signedIn: SQL, tags: { device: SQL }) => sql`
  delete from ${knownDevices} where (account_id, tag) in (
    select account_id, tag from (
      select known.account_id, known.tag, known.kind, known.sign_in, ${signedIn}.sign_in_count,
             row_number() over (partition by known.kind order by known.last_sign_in_at desc, known.tag) as place
        from ${knownDevices} known join ${signedIn} on known.account_id = ${signedIn}.id
       where known.tag is distinct from ${tags.device}) older
     where (kind = 'device' and place > ${sql.raw(String(KNOWN_DEVICES - 1))} and ${tags.device} is not null)
        or (kind = 'address' and sign_in <= sign_in_count - ${sql.raw(String(KNOWN_SIGN_INS))}))`

/** All devices and addresses of the account but the device `keptDevice`; null: all. */
export const forgetDevices = defineStatement({
  name: 'known_devices.forget',
  params: { accountId: 'bigint', keptDevice: 'bytea?' },
  sql: (p) => sql`
  delete from ${knownDevices} where account_id = ${p.accountId} and tag is distinct from ${p.keptDevice}`,
})
