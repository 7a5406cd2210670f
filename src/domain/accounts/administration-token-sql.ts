/** Revokes tokens of administration, with everything that was made with them, in the transaction of what ends them. */
import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../platform/postgres/database.ts'
import { administrationTokens } from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'
import type { NewEvent } from '../events/event.ts'

/** The tokens of `first`, and what was made with them by however many steps. */
const revoke = (first: SQL, now: SQL) => sql`
  with recursive target as (
    ${first}
    union
    select made.uuid from ${administrationTokens} made join target on made.creator_id = target.uuid::text
     where made.creator_type = 'token')
  update ${administrationTokens} set revoked_at = ${now} from target
   where ${administrationTokens}.uuid = target.uuid and revoked_at is null and expires_at > ${now}
  returning ${administrationTokens}.uuid, name`

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

/**
 * The tokens that an administrator made and that may do more than `kept`. The row of the administrator was changed or
 * deleted in this transaction before, so that nothing more is made in their name.
 */
export const revokeTokensOf = (
  transaction: Executor,
  administrator: string,
  kept: readonly string[],
  now: Date,
) =>
  untilNone(() => transaction.all(revokeOfAdministrator, { administrator, kept: JSON.stringify(kept), now }))
