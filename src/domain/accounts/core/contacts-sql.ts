/** The changes of an account's contacts that other rooms make, each one UPDATE inside their statement. */
import { type SQL, sql } from 'drizzle-orm'
import { accounts } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import { unqualifiedColumns } from './account-sql.ts'
import { admitted } from './opening-sql.ts'

type Kind = Identifier['kind']

const otherOf = (kind: Kind): Kind => (kind === 'email' ? 'phone' : 'email')

const columnsOf = { email: sql.raw('email, email_key'), phone: sql.raw('phone') }

const newValue = (kind: Kind, asked: SQL) =>
  kind === 'email'
    ? sql`email = ${asked}.destination, email_key = ${asked}.destination_key`
    : sql`phone = ${asked}.destination`

/**
 * The contact that the session verified. `asked` has `account_id`, `destination` and `destination_key`; `before` is the row
 * of `contactBefore`.
 */
export function changeContact(
  p: Placeholders<'key' | 'now' | 'sessionId'>,
  kind: Kind,
  asked: SQL,
  before: SQL,
): SQL {
  const { verifiedAt, addedAt, addedBy } = unqualifiedColumns[kind]
  // The contact that is verified already, in another spelling at most, is not a new one.
  const unlessTheSame = (value: SQL, column: SQL) =>
    sql`${column} = case when ${before}.key = ${p.key} and ${before}.verified_at is not null
                         then ${accounts}.${column} else ${value} end`
  return sql`
      update ${accounts}
         set ${newValue(kind, asked)}, ${unlessTheSame(p.now, verifiedAt)}, ${unlessTheSame(p.now, addedAt)},
             ${unlessTheSame(p.sessionId, addedBy)}, updated_at = ${p.now}
        from ${asked}, ${before} where ${accounts}.id = ${asked}.account_id
      returning ${accounts}.*`
}

/** `before`: the row of the account, with its `id`. `returned`: the columns that the caller reads. */
export function removeContact(p: Placeholders<'now'>, kind: Kind, before: SQL, where: SQL, returned: SQL) {
  const { verifiedAt, addedAt, addedBy, cleared } = unqualifiedColumns[kind]
  return sql`
      update ${accounts}
         set ${cleared}, ${verifiedAt} = null, ${addedAt} = null, ${addedBy} = null, updated_at = ${p.now}
        from ${before}
       where ${accounts}.id = ${before}.id and ${where}
      returning ${returned}`
}

/** Sets the contact for an administrator. `before`: the row of the account, with `id`, `key` and `verified_at`. */
export function putContact(
  p: Placeholders<'destination' | 'key' | 'verified' | 'now'>,
  kind: Kind,
  before: SQL,
): SQL {
  const { verifiedAt, addedAt, addedBy } = unqualifiedColumns[kind]
  return sql`
      update ${accounts}
         set (${columnsOf[kind]}) = row(${kind === 'email' ? sql`${p.destination}, ${p.key}` : p.destination}),
             ${verifiedAt} = case when ${before}.key = ${p.key} and ${before}.verified_at is not null then ${before}.verified_at
                                  when ${p.verified} then ${p.now} end,
             ${addedAt} = ${p.now}, ${addedBy} = null, updated_at = ${p.now},
             waiting_for = case when account_confirmed_at is null and not ${p.verified} then ${p.key} end,
             account_confirmed_at = case when ${p.verified} then coalesce(account_confirmed_at, ${p.now})
                                         else account_confirmed_at end
        from ${before} where ${accounts}.id = ${before}.id
      returning ${accounts}.id, ${accounts}.uuid`
}

/** The columns of the other contact, which goes if it was added lately: `old` says so by `has_recent`. */
const keepOther = (kind: Kind, old: SQL, where: SQL) => {
  const { verifiedAt, addedAt, addedBy } = unqualifiedColumns[kind]
  const values = kind === 'email' ? sql`${old}.email, ${old}.email_key` : sql`${old}.phone`
  return sql`(${columnsOf[kind]}, ${verifiedAt}, ${addedAt}, ${addedBy}) = (
               select ${values}, ${old}.${verifiedAt}, ${old}.${addedAt}, ${old}.${addedBy}
                where ${where})`
}

/**
 * A new password for the account whose contact of this kind receives the code, which is verified by that. `old`: the row of
 * the account, with `has_recent`, whether its other contact was added lately. A registration is opened by it: `permit`, as in
 * opening-sql.ts.
 */
export function resetByContact(p: Placeholders<'digest' | 'now'>, kind: Kind, old: SQL): SQL {
  const { verifiedAt } = unqualifiedColumns[kind]
  const other = otherOf(kind)
  return sql`
      update ${accounts}
         set password_digest = ${p.digest}, password_changed_at = ${p.now}, failed_attempts = 0, updated_at = ${p.now},
             account_confirmed_at = coalesce(${old}.account_confirmed_at, ${p.now}),
             profile = case when ${old}.account_confirmed_at is not null or ${old}.origin is not null then ${old}.profile end,
             ${verifiedAt} = coalesce(${old}.${verifiedAt}, ${p.now}), waiting_for = null,
             ${keepOther(other, old, sql`not ${old}.has_recent and ${old}.account_confirmed_at is not null`)},
             ${admitted(old)}
        from ${old}, permit where ${accounts}.id = ${old}.id
      returning ${accounts}.id, ${accounts}.uuid, ${accounts}.${verifiedAt} as since,
                case when ${old}.has_recent then ${sql.raw(`'${other}'`)}::text end as lost_contact,
                ${old}.account_confirmed_at is null as newly_confirmed`
}

/**
 * The replaced contact of `link` again, and no password. `old`: the row of the account, with `has_recent` as in
 * `resetByContact`.
 */
export function restoreContact(p: Placeholders<'now'>, kind: Kind, { old, link }: { old: SQL; link: SQL }) {
  const { verifiedAt, addedAt, addedBy } = unqualifiedColumns[kind]
  const other = otherOf(kind)
  const values =
    kind === 'email' ? sql`${link}.destination, ${link}.destination_key` : sql`${link}.destination_key`
  return sql`
      update ${accounts}
         set (${columnsOf[kind]}, ${verifiedAt}, ${addedAt}, ${addedBy}) = (
               select ${values}, ${link}.verified_at, ${link}.added_at, ${link}.added_by),
             ${keepOther(other, old, sql`not ${old}.has_recent`)},
             password_digest = null, password_changed_at = ${p.now}, failed_attempts = 0,
             two_factor_enabled = ${link}.had_two_factors, trust_epoch = ${accounts}.trust_epoch + 1,
             updated_at = ${p.now}
        from ${old}, ${link} where ${accounts}.id = ${old}.id
      returning ${accounts}.id, ${accounts}.uuid, ${link}.verified_at as since, ${link}.replaced_at,
                ${link}.had_two_factors, ${link}.had_app,
                case when ${old}.has_recent then ${sql.raw(`'${other}'`)}::text end as lost_contact`
}
