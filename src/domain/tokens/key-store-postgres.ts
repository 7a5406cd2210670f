/**
 * Table `signing_keys`: a row for each key, a few in all; removed once its last token has expired and a successor is
 * added. Changes stand in line behind one advisory lock; reading takes none.
 */
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { signingKeys } from '../../platform/postgres/schema.ts'
import type { EventType, NewEvent } from '../events/event.ts'
import { recordEvents } from '../events/event-sql.ts'
import type { KeyStore, StoredKey } from './key-store.ts'

/** Any number nobody else locks with; also taken where there is no row yet to lock. */
const LOCK = 7_317_240_116

const lock = statement<Record<string, never>>(sql`select pg_advisory_xact_lock(${sql.raw(String(LOCK))})`)

const list = statement<Record<string, never>, StoredKey>(sql`
  select kid, public_jwk, sealed_private_jwk, created_at, signs_from, published_until
    from ${signingKeys} order by signs_from`)

const newest = statement<Record<string, never>, { kid: string }>(
  sql`select kid from ${signingKeys} order by signs_from desc limit 1`,
)

const remove = statement<{ kids: string[] }>(
  sql`delete from ${signingKeys} where kid in (select jsonb_array_elements_text(${param('kids', 'jsonb')}))`,
)

const supersede = statement<{ kid: string; publishedUntil: Date }>(sql`
  update ${signingKeys} set published_until = ${param('publishedUntil', 'timestamptz')}
   where kid = ${param('kid', 'text')}`)

type KeyParams = StoredKey & Record<string, unknown>

const add = statement<KeyParams>(sql`
  insert into ${signingKeys} (kid, public_jwk, sealed_private_jwk, created_at, signs_from, published_until)
  values (${param('kid', 'text')}, ${param('publicJwk', 'jsonb')}, ${param('sealedPrivateJwk', 'bytea')},
          ${param('createdAt', 'timestamptz')}, ${param('signsFrom', 'timestamptz')},
          ${param('publishedUntil', 'timestamptz')})`)

const about = (type: EventType, kid: string): NewEvent => ({ type, account: null, data: { kid } })

export function createKeyStore(database: Database): KeyStore {
  return {
    list: () => database.all(list, {}),
    add: ({ key, after, remove: kids, revoked, supersedes }) =>
      database.transaction(async (transaction) => {
        await transaction.first(lock, {})
        const last = await transaction.first(newest, {})
        if ((last?.kid ?? null) !== after) return false
        if (kids.length > 0) await transaction.all(remove, { kids })
        if (supersedes) await transaction.all(supersede, supersedes)
        await transaction.all(add, { ...key })
        const happened = [
          ...(revoked === null ? [] : [about('key.revoked', revoked)]),
          about('key.rotated', key.kid),
        ]
        await recordEvents(transaction, happened, key.createdAt)
        return true
      }),
    async revoke(kid, now) {
      await database.transaction(async (transaction) => {
        await transaction.first(lock, {})
        await transaction.all(remove, { kids: [kid] })
        await recordEvents(transaction, [about('key.revoked', kid)], now)
      })
    },
  }
}
