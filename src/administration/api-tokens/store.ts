/** The tokens of administration, as hashes, in PostgreSQL in every shape. The table is `administration_tokens`. */

import { sql } from 'drizzle-orm'
import { revokeToken } from '../../domain/credentials/administrator-means/means-sql.ts'
import {
  addToken,
  newTokenParamTypes,
  noteTokenUse,
  sweepTokens,
} from '../../domain/credentials/administrator-means/token-sql.ts'
import type { NewEvent } from '../../domain/foundation/events/event.ts'
import { changeAndRecord, recordEvents } from '../../domain/foundation/events/event-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { accounts, administrationTokens, administrators } from '../../platform/postgres/schema.ts'
import { column, defineStatement, json, type ValuesOf } from '../../platform/postgres/statement.ts'
import { daysBefore } from '../../platform/postgres/sweep.ts'
import type { Scope } from '../access/access.ts'

interface TokenCreator {
  type: 'operator' | 'administrator' | 'token'
  id: string | null
  name: string | null
}

interface NewToken {
  uuid: string
  hash: Uint8Array
  name: string
  scopes: readonly Scope[]
  /** Address ranges; empty: from everywhere. */
  addresses: readonly string[]
  createdAt: Date
  expiresAt: Date
  /** An administrator has no name here: what is listed is read from the account while there is one. */
  creator: TokenCreator
}

const tokenRow = {
  id: 'bigint',
  uuid: 'uuid',
  name: 'text',
  scopes: json<Scope[]>(),
  addresses: json<string[]>(),
  createdAt: 'timestamptz',
  expiresAt: 'timestamptz',
  creatorType: column<TokenCreator['type']>('text'),
  creatorId: 'text?',
  creatorName: 'text?',
  lastUsedAt: 'timestamptz?',
  revokedAt: 'timestamptz?',
} as const

const columns = sql`
  id, uuid, name, scopes, addresses, created_at, expires_at, creator_type, creator_id,
  coalesce(creator_name, (
    select coalesce(email, phone) from ${accounts} creator
     where creator_type = 'administrator' and creator.uuid::text = creator_id)) as creator_name,
  last_used_at, revoked_at`

/**
 * A token makes others only while it lives, and an administrator only as an owner. Its revocation, and the end of that
 * role, wait for the tokens that are being made.
 */
const add = defineStatement({
  name: 'administration_tokens.add',
  params: {
    ...newTokenParamTypes,
    parent: 'uuid?',
    owner: 'uuid?',
  },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  with parent as materialized (
    select 1 from ${administrationTokens}
     where uuid = ${p.parent} and revoked_at is null and expires_at > ${p.createdAt} for share),
  owner as materialized (
    select 1 from ${administrators} administrator join ${accounts} account on account.id = account_id
     where account.uuid = ${p.owner} and administrator.role = 'owner' for share of administrator)
  ${addToken(
    p,
    sql`(${p.parent} is null or exists (select 1 from parent))
     and (${p.owner} is null or exists (select 1 from owner))`,
  )}`,
})

const findByHash = defineStatement({
  name: 'administration_tokens.find_by_hash',
  params: { hash: 'bytea' },
  row: tokenRow,
  sql: (p) => sql`select ${columns} from ${administrationTokens} where hash = ${p.hash}`,
})

const find = defineStatement({
  name: 'administration_tokens.find',
  params: { uuid: 'uuid' },
  row: tokenRow,
  sql: (p) => sql`select ${columns} from ${administrationTokens} where uuid = ${p.uuid}`,
})

const noteUse = defineStatement({
  name: 'administration_tokens.note_use',
  params: { uuid: 'uuid', now: 'timestamptz' },
  sql: noteTokenUse,
})

const list = defineStatement({
  name: 'administration_tokens.list',
  params: { before: 'bigint?', limit: 'int' },
  row: tokenRow,
  sql: (p) => sql`
  select ${columns} from ${administrationTokens}
   where revoked_at is null and id < coalesce(${p.before}, 9223372036854775807)
   order by id desc limit ${p.limit}`,
})

/** A token stays in lists for so long after its end. */
const KEPT_DAYS = 30

export type TokenStore = ReturnType<typeof createTokenStore>

export function createTokenStore(database: Database) {
  return {
    /** False where the token that makes it was revoked or expired meanwhile, or the administrator is no owner any more. */
    async add({ creator, scopes, addresses, ...token }: NewToken): Promise<boolean> {
      const params = {
        ...token,
        scopes: JSON.stringify(scopes),
        addresses: JSON.stringify(addresses),
        creatorType: creator.type,
        creatorId: creator.id,
        creatorName: creator.name,
        parent: creator.type === 'token' ? creator.id : null,
        owner: creator.type === 'administrator' ? creator.id : null,
      }
      const { uuid, name, expiresAt } = token
      const lists = { scopes: [...scopes], addresses: [...addresses] }
      const data = { token: uuid, name, ...lists, expires_at: expiresAt.toISOString() }
      const event: NewEvent = { type: 'token.created', account: null, data }
      return (await changeAndRecord(database, add, params, token.createdAt, () => event)) !== null
    },
    async findByHash(hash: Uint8Array): Promise<StoredToken | null> {
      const row = await database.first(findByHash, { hash })
      return row && toToken(row)
    },
    async find(uuid: string): Promise<StoredToken | null> {
      const row = await database.first(find, { uuid })
      return row && toToken(row)
    },
    async noteUse(uuid: string, now: Date): Promise<void> {
      await database.all(noteUse, { uuid, now })
    },
    /**
     * Lists the tokens that were not revoked, newest first, before the one with this number (null: from the newest one).
     */
    list: async (before: number | null, limit: number): Promise<StoredToken[]> =>
      (await database.all(list, { before, limit })).map(toToken),
    /** Revokes also what was made with it. False where there is no such token, or it was revoked or expired before. */
    revoke: (uuid: string, now: Date): Promise<boolean> =>
      database.transaction(async (transaction) => {
        const revoked = await revokeToken(transaction, uuid, now)
        await recordEvents(transaction, revoked, now)
        return revoked.length > 0
      }),
    sweep: (now: Date, limit: number) => sweepTokens(database, { before: daysBefore(now, KEPT_DAYS), limit }),
  }
}

function toToken({ creatorType, creatorId, creatorName, ...row }: ValuesOf<typeof tokenRow>) {
  const creator: TokenCreator = { type: creatorType, id: creatorId, name: creatorName }
  return { ...row, creator }
}

export type StoredToken = ReturnType<typeof toToken>
