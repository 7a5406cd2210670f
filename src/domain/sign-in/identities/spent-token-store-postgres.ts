/** The table `spent_id_tokens`; spent-token-store.ts says what each method promises. Each method is one statement. */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { spentIdTokens } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { createSweep } from '../../../platform/postgres/sweep.ts'
import type { SpentTokenStore } from './spent-token-store.ts'

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

export function createSpentTokenStore(database: Database): SpentTokenStore {
  return {
    spend: async (hash, expiresAt) => (await database.first(spend, { hash, expiresAt })) !== null,
    sweep: (now, limit) => sweep(database, { now, limit }),
  }
}
