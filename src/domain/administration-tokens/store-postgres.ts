/** Table `administration_tokens`: see store.ts. */
import { sql } from 'drizzle-orm'
import type { Database } from '../../platform/postgres/database.ts'
import { accounts, administrationTokens } from '../../platform/postgres/schema.ts'
import { defineStatement, json, type ValuesOf } from '../../platform/postgres/statement.ts'
import { createSweep, daysBefore } from '../../platform/postgres/sweep.ts'
import type { Scope } from '../administrators/access.ts'
import { changeAndRecord, recordEvents } from '../events/event-sql.ts'
import type { StoredToken, TokenCreator, TokenStore } from './store.ts'

const tokenRow = {
  id: 'bigint',
  uuid: 'uuid',
  name: 'text',
  scopes: json<Scope[]>(),
  addresses: json<string[]>(),
  createdAt: 'timestamptz',
  expiresAt: 'timestamptz',
  creatorType: 'text',
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

/** A token makes others only while it lives, and its revocation waits for those that are being made. */
const add = defineStatement({
  name: 'administration_tokens.add',
  params: {
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
    parent: 'uuid?',
  },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  with parent as materialized (
    select 1 from ${administrationTokens}
     where uuid = ${p.parent} and revoked_at is null and expires_at > ${p.createdAt} for share)
  insert into ${administrationTokens} (uuid, hash, name, scopes, addresses, created_at, expires_at, creator_type,
                                       creator_id, creator_name)
  select ${p.uuid}, ${p.hash}, ${p.name}, ${p.scopes}::jsonb, ${p.addresses}::jsonb, ${p.createdAt}, ${p.expiresAt},
         ${p.creatorType}, ${p.creatorId}, ${p.creatorName}
   where ${p.parent} is null or exists (select 1 from parent)
  returning uuid`,
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
  sql: (p) => sql`update ${administrationTokens} set last_used_at = ${p.now} where uuid = ${p.uuid}`,
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

const hold = defineStatement({
  name: 'administration_tokens.hold',
  params: { uuid: 'uuid' },
  row: { id: 'bigint' },
  sql: (p) => sql`select id from ${administrationTokens} where uuid = ${p.uuid} for update`,
})

const revoke = defineStatement({
  name: 'administration_tokens.revoke',
  params: { uuid: 'uuid', now: 'timestamptz' },
  row: { uuid: 'uuid', name: 'text' },
  sql: (p) => sql`
  with recursive target as (
    select uuid from ${administrationTokens} where uuid = ${p.uuid} and revoked_at is null
    union
    select made.uuid from ${administrationTokens} made join target on made.creator_id = target.uuid::text
     where made.creator_type = 'token' and made.revoked_at is null)
  update ${administrationTokens} set revoked_at = ${p.now} from target
   where ${administrationTokens}.uuid = target.uuid
  returning ${administrationTokens}.uuid, name`,
})

/** So long after its end a token is still known to whoever asks what became of it. */
const KEPT_DAYS = 30

const sweep = createSweep({
  name: 'administration_tokens.sweep',
  table: administrationTokens,
  key: sql`id`,
  params: { before: 'timestamptz' },
  where: (p) => sql`expires_at < ${p.before}`,
  order: sql`expires_at`,
})

export function createTokenStore(database: Database): TokenStore {
  return {
    async add({ creator, scopes, addresses, ...token }) {
      const params = {
        ...token,
        scopes: JSON.stringify(scopes),
        addresses: JSON.stringify(addresses),
        creatorType: creator.type,
        creatorId: creator.id,
        creatorName: creator.name,
        parent: creator.type === 'token' ? creator.id : null,
      }
      const { uuid, name, expiresAt } = token
      const data = { token: uuid, name, scopes, addresses, expires_at: expiresAt.toISOString() }
      const row = await changeAndRecord(database, add, params, {
        at: token.createdAt,
        eventsOf: () => [{ type: 'token.created', account: null, data }],
      })
      return row !== null
    },
    async findByHash(hash) {
      const row = await database.first(findByHash, { hash })
      return row && toToken(row)
    },
    async find(uuid) {
      const row = await database.first(find, { uuid })
      return row && toToken(row)
    },
    async noteUse(uuid, now) {
      await database.all(noteUse, { uuid, now })
    },
    list: async (before, limit) => (await database.all(list, { before, limit })).map(toToken),
    revoke: (uuid, now) =>
      database.transaction(async (transaction) => {
        // What it is about to make is there once its row is held, and then found.
        await transaction.all(hold, { uuid })
        const revoked = await transaction.all(revoke, { uuid, now })
        await recordEvents(
          transaction,
          revoked.map((token) => ({
            type: 'token.revoked',
            account: null,
            data: { token: token.uuid, name: token.name },
          })),
          now,
        )
        return revoked.length > 0
      }),
    sweep: (now, limit) => sweep(database, { before: daysBefore(now, KEPT_DAYS), limit }),
  }
}

const toToken = ({
  creatorType,
  creatorId,
  creatorName,
  ...row
}: ValuesOf<typeof tokenRow>): StoredToken => ({
  ...row,
  creator: { type: creatorType as TokenCreator['type'], id: creatorId, name: creatorName },
})
