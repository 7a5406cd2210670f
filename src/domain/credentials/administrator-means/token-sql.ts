/** The table `administration_tokens`; `api-tokens` of administration says what each statement is for. */
import { type SQL, sql } from 'drizzle-orm'
import { administrationTokens } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'
import { createAgeSweep } from '../../../platform/postgres/sweep.ts'

export const newTokenParamTypes = {
  uuid: 'uuid',
  hash: 'bytea',
  name: 'text',
  scopes: 'text',
  addresses: 'text',
  createdAt: 'timestamptz',
  expiresAt: 'timestamptz',
  creatorType: 'text',
  creatorId: 'text?',
  creatorName: 'text?',
} as const

export const addToken = (p: Placeholders<keyof typeof newTokenParamTypes>, where: SQL): SQL => sql`
  insert into ${administrationTokens} (uuid, hash, name, scopes, addresses, created_at, expires_at, creator_type,
                                       creator_id, creator_name)
  select ${p.uuid}, ${p.hash}, ${p.name}, ${p.scopes}::jsonb, ${p.addresses}::jsonb, ${p.createdAt}, ${p.expiresAt},
         ${p.creatorType}, ${p.creatorId}, ${p.creatorName}
   where ${where}
  returning uuid`

/** `source`: from where the condition reads, if it is more than the token. */
export const revokeTokens = (p: Placeholders<'now'>, where: SQL, source?: SQL): SQL => sql`
  update ${administrationTokens} set revoked_at = ${p.now} ${source ? sql`from ${source}` : sql``}
   where revoked_at is null and ${where}`

export const noteTokenUse = (p: Placeholders<'uuid' | 'now'>): SQL =>
  sql`update ${administrationTokens} set last_used_at = ${p.now} where uuid = ${p.uuid}`

export const sweepTokens = createAgeSweep(
  administrationTokens,
  'administration_tokens.sweep',
  sql`id`,
  sql`expires_at`,
)
