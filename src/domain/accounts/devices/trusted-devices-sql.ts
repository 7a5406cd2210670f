/** The parts of statements that end trusted devices, and by which one is known to be trusted still. */
import { type SQL, sql } from 'drizzle-orm'
import { administrators, passkeys, totpFactors, trustedDevices } from '../../../platform/postgres/schema.ts'
import type { SetUpFactor } from '../../../texts/errors.ts'

/** `source`: from where the condition reads. */
export const forgetTrusted = (where: SQL, source?: SQL): SQL =>
  sql`delete from ${trustedDevices} ${source ? sql`using ${source}` : sql``} where ${where}`

/**
 * Forgets the trusted devices of the sessions in `ended`, which has their `id`: those that the session made, and those
 * that it used last.
 */
export const forgetTrustedOf = (ended: SQL, condition: SQL = sql`true`): SQL =>
  forgetTrusted(sql`${ended}.id in (session_id, last_session_id) and ${condition}`, ended)

const textOf = (account: SQL, name: string) => sql`coalesce(${account}.${sql.raw(name)}::text, '-')`
const timeOf = (account: SQL, name: string) =>
  sql`coalesce(extract(epoch from ${account}.${sql.raw(name)})::text, '-')`

/** The marks that change with each factor. Their order is part of the hash. */
const marksOf = (account: SQL): Record<SetUpFactor, SQL> => ({
  totp: sql`(select extract(epoch from confirmed_at)::text from ${totpFactors} where account_id = ${account}.id)`,
  passkey: sql`(select string_agg(id::text, ',' order by id) from ${passkeys} where account_id = ${account}.id)`,
})

/**
 * A hash of everything that a trusted device is bound to, so that a change of any of it ends the trust. Recovery codes are
 * not among it.
 */
export const boundTo = (account: SQL): SQL => sql`
  encode(sha256(convert_to(jsonb_build_array(
    ${textOf(account, 'email')}, ${timeOf(account, 'email_confirmed_at')},
    ${textOf(account, 'phone')}, ${timeOf(account, 'phone_confirmed_at')},
    ${timeOf(account, 'password_changed_at')}, ${account}.password_digest is null, ${account}.trust_epoch,
    ${sql.join(Object.values(marksOf(account)), sql`, `)}
  )::text, 'UTF8')), 'hex')`

/** Tells whether the account may have one at all: it has two factors, is not locked, and is no administrator. */
export const canHaveTrusted = (account: SQL): SQL => sql`
  (${account}.two_factor_enabled and ${account}.locked_at is null
   and not exists (select from ${administrators} where account_id = ${account}.id))`
