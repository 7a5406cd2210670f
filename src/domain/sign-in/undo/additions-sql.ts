/**
 * The ways to sign in that a session can add to an account. A password reset removes everything that an intruder may
 * have added: what a session added within the last seven days and after the destination of the reset was verified.
 * Those that came with the account stay, including the identity that opened it.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { daysBefore } from '../../../platform/postgres/sweep.ts'
import type { SetUpFactor } from '../../../texts/errors.ts'
import type { HeldContact } from '../../accounts/core/contacts-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { deleteIdentities } from '../identities/identity-sql.ts'
import { deletePasskeys } from '../passkeys/passkey-sql.ts'

const RECENT_DAYS = 7

/**
 * `addedBy`: the column of the session; null where it came with the account. `label`: its name in the notice to the owner,
 * see `removed` of MessageFacts.
 */
const removalOf = (name: string, remove: (where: SQL) => SQL, addedBy: SQL, label: SQL) =>
  defineStatement({
    name: `undo.remove_${name}`,
    params: { accountId: 'bigint', since: 'timestamptz', all: 'boolean' },
    row: { label: 'text' },
    sql: (p) => sql`
    ${remove(sql`account_id = ${p.accountId} and (${p.all} or ${addedBy} is not null and created_at > ${p.since})`)}
    returning ${label} as label`,
  })

/** An app is none of them: an undo link knows whether the account had one. */
const removals: Record<'identity' | Exclude<SetUpFactor, 'totp'>, ReturnType<typeof removalOf>> = {
  identity: removalOf('identities', deleteIdentities, sql`added_by`, sql`'identity ' || provider`),
  passkey: removalOf('passkeys', deletePasskeys, sql`added_by_session`, sql`'passkey'`),
}

/** What a session added after that is recent, up to `until` and later, beside a contact that was verified then. */
export function recentSince(until: Date, verifiedAt: Date | null): Date {
  const weekBefore = daysBefore(until, RECENT_DAYS)
  return verifiedAt !== null && verifiedAt > weekBefore ? verifiedAt : weekBefore
}

export const isRecent = (contact: HeldContact | null, since: Date): boolean =>
  contact !== null &&
  contact.verifiedAt !== null &&
  contact.addedBy !== null &&
  contact.addedAt !== null &&
  contact.addedAt > since

/** Removes the recent ones beside the contacts, or `all`, from an account that is held; returns the name of each. */
export async function removeAdditions(
  transaction: Executor,
  accountId: number,
  since: Date,
  { all = false } = {},
): Promise<string[]> {
  const removed = await Promise.all(
    Object.values(removals).map((removal) => transaction.all(removal, { accountId, since, all })),
  )
  return removed.flat().map(({ label }) => label)
}

/** The notices, which name what was removed. */
export const naming = (removed: string[], notices: NewMessage[]): NewMessage[] =>
  removed.length === 0
    ? notices
    : notices.map((notice) => ({ ...notice, values: { ...notice.values, removed: removed.join('\n') } }))
