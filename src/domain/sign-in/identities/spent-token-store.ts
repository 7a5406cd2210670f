/**
 * The identity tokens that were used. Always in a logged table of PostgreSQL, so that neither a Redis flush nor a
 * restart makes one valid again. The table is `spent_id_tokens`.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { spentIdTokens } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { createSweep } from '../../../platform/postgres/sweep.ts'

const spend = defineStatement({
  name: 'identities.spend',
  params: { hash: 'bytea', expiresAt: 'timestamptz' },
  row: { spent: 'boolean' },
  sql: (p) => sql`
  insert into ${spentIdTokens} (hash, expires_at)
  values (${p.hash}, ${p.expiresAt})
  on conflict (hash) do nothing
  returning true as spent`,
})

const sweep = createSweep({
  name: 'identities.sweep',
  table: spentIdTokens,
  key: sql`hash`,
  params: { now: 'timestamptz' },
  where: (p) => sql`expires_at <= ${p.now} - interval '1 day'`,
  order: sql`expires_at`,
})

export type SpentTokenStore = ReturnType<typeof createSpentTokenStore>

export function createSpentTokenStore(database: Database) {
  return {
    /**
     * It returns true for one caller, and false for all others until `expiresAt`, when the token is refused for its age.
     */
    spend: async (hash: Uint8Array, expiresAt: Date): Promise<boolean> =>
      (await database.first(spend, { hash, expiresAt })) !== null,
    /** Removes up to `limit` that expired a day ago (the clock may be set back) and returns how many it removed. */
    sweep: (now: Date, limit: number) => sweep(database, { now, limit }),
  }
}
