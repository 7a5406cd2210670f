/**
 * The ways to sign in that a session can add to an account. A password reset removes everything that an intruder may
 * have added: what a session added within the last seven days and after the destination of the reset was verified.
 * Those that came with the account stay, including the identity that opened it.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { identities, passkeys } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'
import type { SetUpFactor } from '../../../texts/errors.ts'
import { unqualifiedColumns } from '../../accounts/core/account-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import { deleteIdentities } from '../identities/identity-sql.ts'
import { deletePasskeys } from '../passkeys/passkey-sql.ts'

interface Addition {
  /** Has `account_id`. */
  rows: PgTable
  /** The DELETE of those rows that are of the account in `source`. */
  remove: (where: SQL, source: SQL) => SQL
  addedAt: SQL
  /** The column of the session; null where it came with the account. */
  addedBy: SQL
  /** The name of it in the notice to the owner, see `removed` of MessageFacts. */
  label: SQL
}

/** An app is none of them: an undo link knows whether the account had one. */
const additions: Record<'identity' | Exclude<SetUpFactor, 'totp'>, Addition> = {
  identity: {
    rows: identities,
    remove: deleteIdentities,
    addedAt: sql`created_at`,
    addedBy: sql`added_by`,
    label: sql`'identity ' || provider`,
  },
  passkey: {
    rows: passkeys,
    remove: deletePasskeys,
    addedAt: sql`created_at`,
    addedBy: sql`added_by_session`,
    label: sql`'passkey'`,
  },
}

const isRecent = (p: Placeholders<'now'>, addedBy: SQL, addedAt: SQL, since: SQL) =>
  sql`(${addedBy} is not null and ${addedAt} > ${p.now} - interval '7 days' and ${addedAt} > ${since})`

/**
 * Tells whether the contact of that kind was added so, of a row of `accounts` whose destination was verified at
 * `since`. `now` is the end of the seven days; what was added after it counts too.
 */
export function isRecentContact(p: Placeholders<'now'>, kind: Identifier['kind'], since: SQL): SQL {
  const { verifiedAt, addedBy, addedAt } = unqualifiedColumns[kind]
  return sql`(${verifiedAt} is not null and ${isRecent(p, addedBy, addedAt, since)})`
}

/**
 * CTEs that remove the rest, for the account in `proved` with its columns `id`, `since` and `lost_contact`. `removed`
 * is one row with the names of all that went, a line each; null where nothing did. `goes` may decide otherwise than by
 * what is recent.
 */
export function removeAdditions(p: Placeholders<'now'>, proved: SQL, goes = (recent: SQL) => recent): SQL {
  const removals = Object.entries(additions).map(
    ([name, { rows, remove, addedAt, addedBy, label }]) => sql`
    no_${sql.raw(name)} as (
      ${remove(sql`${rows}.account_id = ${proved}.id and ${goes(isRecent(p, addedBy, addedAt, sql`${proved}.since`))}`, proved)}
      returning ${label} as label)`,
  )
  const labels = Object.keys(additions).map((name) => sql`union all select label from no_${sql.raw(name)}`)
  return sql`${sql.join(removals, sql`,`)},
    removed as (
      select string_agg(label, e'\\n') as labels from (
        select lost_contact as label from ${proved} where lost_contact is not null
        ${sql.join(labels, sql` `)}) each_label)`
}

/** The values of a notice that names what `removeAdditions` removed. */
export const whatWent = sql`coalesce((select jsonb_build_object('removed', labels) from removed where labels is not null), '{}')`
