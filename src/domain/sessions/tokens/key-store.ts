/**
 * The keys that sign tokens, shared by all replicas. The promise: a key is added only if its maker knew the newest one of
 * its algorithm, so that of any number of replicas that find a key due, exactly one adds it. The tables `signing_keys`
 * (ES256) and `identity_keys` (RS256) have a row for each key, a few in all, which is removed once its last token has expired
 * and a successor is added. Changes stand in line behind one advisory lock; reading takes none.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { identityKeys, signingKeys } from '../../../platform/postgres/schema.ts'
import { defineStatement, json, type ValuesOf } from '../../../platform/postgres/statement.ts'
import type { EventType, NewEvent } from '../../foundation/events/event.ts'
import { recordEvents } from '../../foundation/events/event-sql.ts'

/** By the algorithm of the keys. */
export const deleteKeys = {
  ES256: (where: SQL): SQL => sql`delete from ${signingKeys} where ${where}`,
  RS256: (where: SQL): SQL => sql`delete from ${identityKeys} where ${where}`,
}

/** Of both algorithms; it gives the `kid` of each. */
export const deleteSigningKeys = (where: SQL): SQL => sql`
  with of_access as (${deleteKeys.ES256(where)} returning kid),
  of_identity as (${deleteKeys.RS256(where)} returning kid)
  select kid from of_access union all select kid from of_identity`

/** A public key of RFC 7518: only kty, crv, x, y of an elliptic curve (6.2.1), or kty, n, e of RSA (6.3.1). */
export type PublicJwk = Record<string, string>

const keyRow = {
  /** The thumbprint of the public key (RFC 7638). */
  kid: 'text',
  publicJwk: json<PublicJwk>(),
  /** ServerSecret.seal('signing key', …) of the private JWK. */
  sealedPrivateJwk: 'bytea',
  createdAt: 'timestamptz',
  /** Always later than that of every key that was added before. */
  signsFrom: 'timestamptz',
  /** It is null until there is a successor. */
  publishedUntil: 'timestamptz?',
} as const
export type StoredKey = ValuesOf<typeof keyRow>

interface KeyAddition {
  key: StoredKey
  /** The newest key that its maker knew; null for the very first key. */
  after: string | null
  /** Keys to remove: those that never signed, those whose last token has expired, and revoked ones. */
  remove: string[]
  /** The key that is removed because it was revoked; null if none is. */
  revoked: string | null
  /** The key that it replaces and until when that one stays published; null if there is none or it is removed. */
  supersedes: { kid: string; publishedUntil: Date } | null
}

/** Any number nobody else locks with; also taken where there is no row yet to lock. */
const LOCK = 7_317_240_116

const lock = defineStatement({
  name: 'tokens.lock',
  sql: () => sql`select pg_advisory_xact_lock(${sql.raw(String(LOCK))})`,
})

interface KeyTable {
  table: typeof signingKeys | typeof identityKeys
  insertInto: SQL
  update: SQL
  deleteWhere: (where: SQL) => SQL
}

/** `room`: the beginning of their names. */
const statementsOn = (room: string, { table, insertInto, update, deleteWhere }: KeyTable) => ({
  list: defineStatement({
    name: `${room}.list`,
    row: keyRow,
    sql: () => sql`
    select kid, public_jwk, sealed_private_jwk, created_at, signs_from, published_until
      from ${table} order by signs_from`,
  }),
  newest: defineStatement({
    name: `${room}.newest`,
    row: { kid: 'text' },
    sql: () => sql`select kid from ${table} order by signs_from desc limit 1`,
  }),
  remove: defineStatement({
    name: `${room}.remove`,
    params: { kids: 'jsonb' },
    sql: (p) => deleteWhere(sql`kid in (select jsonb_array_elements_text(${p.kids}))`),
  }),
  supersede: defineStatement({
    name: `${room}.supersede`,
    params: { publishedUntil: 'timestamptz', kid: 'text' },
    sql: (p) => sql`
    ${update} set published_until = ${p.publishedUntil}
     where kid = ${p.kid}`,
  }),
  add: defineStatement({
    name: `${room}.add`,
    params: keyRow,
    sql: (p) => sql`
    ${insertInto} (kid, public_jwk, sealed_private_jwk, created_at, signs_from, published_until)
    values (${p.kid}, ${p.publicJwk}, ${p.sealedPrivateJwk},
            ${p.createdAt}, ${p.signsFrom},
            ${p.publishedUntil})`,
  }),
  putSealed: defineStatement({
    name: `${room}.put_sealed`,
    params: { kid: 'text', was: 'bytea', is: 'bytea' },
    sql: (p) => sql`
    ${update} set sealed_private_jwk = ${p.is}
     where kid = ${p.kid} and sealed_private_jwk = ${p.was}`,
  }),
})

const statements = {
  ES256: statementsOn('tokens', {
    ...{ table: signingKeys, deleteWhere: deleteKeys.ES256 },
    ...{ insertInto: sql`insert into ${signingKeys}`, update: sql`update ${signingKeys}` },
  }),
  RS256: statementsOn('identity_keys', {
    ...{ table: identityKeys, deleteWhere: deleteKeys.RS256 },
    ...{ insertInto: sql`insert into ${identityKeys}`, update: sql`update ${identityKeys}` },
  }),
}
export type SigningAlgorithm = keyof typeof statements

const about = (type: EventType, kid: string): NewEvent => ({ type, account: null, data: { kid } })

export type KeyStore = ReturnType<typeof createKeyStore>

export function createKeyStore(database: Database, algorithm: SigningAlgorithm = 'ES256') {
  const { list, newest, remove, supersede, add, putSealed } = statements[algorithm]
  return {
    algorithm,
    /** Oldest first. */
    list: (): Promise<StoredKey[]> => database.all(list, {}),
    /** All of it or nothing: false if `after` is no longer the newest key. */
    add: ({ key, after, remove: kids, revoked, supersedes }: KeyAddition): Promise<boolean> =>
      database.transaction(async (transaction) => {
        await transaction.first(lock, {})
        const last = await transaction.first(newest, {})
        if ((last?.kid ?? null) !== after) return false
        if (kids.length > 0) await transaction.run(remove, { kids })
        if (supersedes) await transaction.run(supersede, supersedes)
        await transaction.run(add, { ...key })
        const happened = [
          ...(revoked === null ? [] : [about('key.revoked', revoked)]),
          about('key.rotated', key.kid),
        ]
        await recordEvents(transaction, happened, key.createdAt)
        return true
      }),
    /** Removes a revoked key that needs no successor. */
    async revoke(kid: string, now: Date): Promise<void> {
      await database.transaction(async (transaction) => {
        await transaction.first(lock, {})
        await transaction.run(remove, { kids: [kid] })
        await recordEvents(transaction, [about('key.revoked', kid)], now)
      })
    },
    /** Replaces the sealed private part by the same one sealed anew, unless it has changed meanwhile. */
    putSealed: (kid: string, sealed: { was: Uint8Array; is: Uint8Array }): Promise<void> =>
      database.run(putSealed, { kid, ...sealed }),
  }
}
