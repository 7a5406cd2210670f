/** The accounts that an identifier may mean. */
import { type SQL, sql } from 'drizzle-orm'
import { accounts } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import { unqualifiedColumns } from './account-sql.ts'

/**
 * Each of these reads one entry of an index, however many accounts name the identifier. `waiting` is the registration that
 * waits for it, `named` the newest one that names it as its other contact.
 */
export const candidates = ({ key }: Placeholders<'key'>, kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  const one = (where: SQL, order = sql``) => sql`(select id from ${accounts} where ${where} ${order} limit 1)`
  return {
    verified: one(sql`${keyColumn} = ${key} and ${verifiedAt} is not null`),
    claimed: one(
      sql`${keyColumn} = ${key} and ${verifiedAt} is null and account_confirmed_at is not null`,
      sql`order by id`,
    ),
    waiting: one(sql`waiting_for = ${key} and account_confirmed_at is null`),
    named: one(
      sql`${keyColumn} = ${key} and account_confirmed_at is null and origin is null`,
      sql`order by id desc`,
    ),
  }
}
