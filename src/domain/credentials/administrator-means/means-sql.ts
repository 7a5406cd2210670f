/**
 * Ends the means by which administrators act beside their own session: tokens, temporary access codes that were shown, and
 * removals of two factors that wait. They end in the same transaction as the right to them.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { accountCodes, accounts, administrationTokens, events } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { deleteAccountCodes } from '../../accounts/account-codes/account-code-sql.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import { deleteRemovals } from '../authenticators/factors-sql.ts'
import { revokeTokens } from './token-sql.ts'

/**
 * Deletes the temporary access codes that these actors were shown and nobody has used: each opens an account. A code has the time of
 * the event that records it.
 */
const deleteShownCodes = (actorType: 'token' | 'administrator', isOne: SQL) => sql`
  ${deleteAccountCodes(
    sql`made.actor_type = ${sql.raw(`'${actorType}'`)} and ${isOne} and made.type = 'recovery.created'
     and ${accounts}.uuid = made.account and ${accountCodes}.account_id = ${accounts}.id
     and kind = 'recovery' and sent_to is null and ${accountCodes}.created_at = made.created_at`,
    sql`${accounts}, ${events} made`,
  )}`

/** The tokens of `first`, and what was made with them by however many steps. */
const revoke = (first: SQL, now: SQL) => sql`
  with recursive target as (
    ${first}
    union
    select made.uuid from ${administrationTokens} made join target on made.creator_id = target.uuid::text
     where made.creator_type = 'token'),
  revoked as (
    ${revokeTokens(
      { now },
      sql`${administrationTokens}.uuid = target.uuid and expires_at > ${now}`,
      sql`target`,
    )}
    returning ${administrationTokens}.uuid, name),
  codes_gone as (
    ${deleteShownCodes('token', sql`made.actor_id in (select uuid::text from revoked)`)})
  select uuid, name from revoked`

const revokedRow = { uuid: 'uuid', name: 'text' } as const

const revokeOne = defineStatement({
  name: 'administration_tokens.revoke',
  params: { token: 'uuid', now: 'timestamptz' },
  row: revokedRow,
  sql: (p) => revoke(sql`select uuid from ${administrationTokens} where uuid = ${p.token}`, p.now),
})

const revokeOfAdministrator = defineStatement({
  name: 'administration_tokens.revoke_of_administrator',
  params: { administrator: 'text', kept: 'text', now: 'timestamptz' },
  row: revokedRow,
  sql: (p) =>
    revoke(
      sql`select uuid from ${administrationTokens}
           where creator_type = 'administrator' and creator_id = ${p.administrator} and not scopes <@ ${p.kept}::jsonb`,
      p.now,
    ),
})

/**
 * Again until there are none: a token that was being made meanwhile is seen once its maker is held. Each revoked token is
 * held until the transaction ends, and makes no more. Returns the events to record.
 */
async function untilNone(revokeOnce: () => Promise<{ uuid: string; name: string }[]>): Promise<NewEvent[]> {
  const events: NewEvent[] = []
  for (;;) {
    const revoked = await revokeOnce()
    if (revoked.length === 0) return events
    for (const { uuid, name } of revoked)
      events.push({ type: 'token.revoked', account: null, data: { token: uuid, name } })
  }
}

export const revokeToken = (transaction: Executor, token: string, now: Date) =>
  untilNone(() => transaction.all(revokeOne, { token, now }))

/** The rights that somebody still has. */
interface Allowed {
  /** The scopes that their tokens may have. */
  scopes: readonly string[]
  /** They may be shown temporary access codes. */
  seesCodes: boolean
  /** They may ask for removals of two factors. */
  removesTwoFactors: boolean
}

const withdraw = defineStatement({
  name: 'administrators.withdraw',
  params: { administrator: 'text', codes: 'boolean', removals: 'boolean' },
  sql: (p) => sql`
  with codes_gone as (
    ${deleteShownCodes('administrator', sql`${p.codes} and made.actor_id = ${p.administrator}`)}),
  removals_gone as (
    ${deleteRemovals(sql`${p.removals} and actor_type = 'administrator' and actor_id = ${p.administrator}`)})
  select 1`,
})

/**
 * Ends what an administrator made or began and may not do any more. Their row was changed or deleted in this transaction
 * before, so that no more tokens are made in their name. Returns the events to record: one for each token.
 */
export async function endMeansOf(
  transaction: Executor,
  administrator: string,
  { scopes, seesCodes, removesTwoFactors }: Allowed,
  now: Date,
): Promise<NewEvent[]> {
  await transaction.run(withdraw, { administrator, codes: !seesCodes, removals: !removesTwoFactors })
  const kept = JSON.stringify(scopes)
  return untilNone(() => transaction.all(revokeOfAdministrator, { administrator, kept, now }))
}
