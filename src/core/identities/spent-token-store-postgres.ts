/** Table `spent_id_tokens`: see spent-token-store.ts for what each method promises. One statement a method. */
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { spentIdTokens } from '../../platform/postgres/schema.ts'
import type { SpentTokenStore } from './spent-token-store.ts'

const spend = statement<{ hash: Uint8Array; expiresAt: Date }, { spent: boolean }>(sql`
  insert into ${spentIdTokens} (hash, expires_at)
  values (${param('hash', 'bytea')}, ${param('expiresAt', 'timestamptz')})
  on conflict (hash) do nothing
  returning true as spent`)

/** A CTE, since a subquery with LIMIT may run more than once. */
const sweep = statement<{ now: Date; limit: number }, { removed: number }>(sql`
  with expired as materialized (
    select hash from ${spentIdTokens} where expires_at <= ${param('now', 'timestamptz')} - interval '1 day'
     order by expires_at limit ${param('limit', 'int')} for update skip locked),
  gone as (delete from ${spentIdTokens} where hash in (select hash from expired) returning 1)
  select count(*)::int as removed from gone`)

export function createSpentTokenStore(database: Database): SpentTokenStore {
  return {
    spend: async (hash, expiresAt) => (await database.first(spend, { hash, expiresAt })) !== null,
    sweep: async (now, limit) => (await database.first(sweep, { now, limit }))?.removed ?? 0,
  }
}
