/** SQL about the table `accounts` that the statements of several rooms share. */

import { type SQL, sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { retryConflicts, violates } from '../../../platform/postgres/failure.ts'
import { accounts, registrationClaims, sessions } from '../../../platform/postgres/schema.ts'
import {
  defineStatement,
  type Placeholders,
  rowOf,
  type Statement,
  type ValuesOf,
} from '../../../platform/postgres/statement.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import { changeWithEvents } from '../../foundation/events/event-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'

export const accountRow = rowOf(accounts)
type Account = ValuesOf<typeof accountRow>

const hold = defineStatement({
  name: 'accounts.hold_account',
  params: { accountId: 'bigint' },
  row: accountRow,
  sql: (p) => sql`select * from ${accounts} where id = ${p.accountId} for update`,
})

/** Other changes of the account wait until the transaction ends. Returns it as it stays until then; null if it is gone. */
export const holdAccount = (transaction: Executor, accountId: number): Promise<Account | null> =>
  transaction.first(hold, { accountId })

/**
 * A transaction that no other change of the account interrupts. `work` begins before the account is held, so that its
 * first statements go in the same trip: they run once it is, and see what others committed until then.
 */
export const withHeldAccount = <T>(
  database: Database,
  accountId: number,
  work: (transaction: Executor, held: Promise<Account | null>) => Promise<T>,
): Promise<T> =>
  retryConflicts(() =>
    database.transaction(async (transaction) => {
      const held = holdAccount(transaction, accountId)
      const [result] = await Promise.all([work(transaction, held), held])
      return result
    }),
  )

/**
 * Locks the account, then runs a statement that changes how it is protected, in the same transaction; returns its row or
 * null. Other changes of the account commit before the statement, which then sees them, or wait for it. Lock and change
 * cannot be one statement: a statement sees the rows as they were when it began, before it waited for the lock. The events
 * of its row are recorded at `params.now`.
 */
export const updateLockedAccount = <Params extends { accountId: number; now: Date }, Row extends object>(
  database: Database,
  change: Statement<Params, Row>,
  params: Params,
  eventsOf: (row: Row) => NewEvent | NewEvent[] = () => [],
) =>
  withHeldAccount(database, params.accountId, (transaction) =>
    changeWithEvents(transaction, change, params, params.now, eventsOf),
  )

/**
 * The caller's session has not ended since the call began. A request that started before a password reset must not change
 * anything after it.
 */
export const sessionLives = (p: Placeholders<'sessionId' | 'accountId'>) => sql`exists (
  select 1 from ${sessions}
   where ${sessions}.id = ${p.sessionId} and ${sessions}.account_id = ${p.accountId}
     and ${sessions}.revoked_at is null)`

const findLiving = defineStatement({
  name: 'sessions.find_living',
  params: { accountId: 'bigint', sessionId: 'uuid' },
  row: { lives: 'boolean' },
  sql: (p) => sql`select ${sessionLives(p)} as lives`,
})

/** The same, in a transaction that holds the account. */
export const isSessionAlive = async (
  transaction: Executor,
  session: { accountId: number; sessionId: string },
): Promise<boolean> => (await transaction.first(findLiving, session))!.lives

/**
 * The columns of the comparable form and of the time of its verification, without their table, as SET requires; `cleared`
 * are the assignments that remove the contact.
 */
export const unqualifiedColumns = {
  email: {
    key: sql.raw('email_key'),
    verifiedAt: sql.raw('email_confirmed_at'),
    addedAt: sql.raw('email_added_at'),
    addedBy: sql.raw('email_added_by'),
    cleared: sql.raw('email = null, email_key = null'),
  },
  phone: {
    key: sql.raw('phone'),
    verifiedAt: sql.raw('phone_confirmed_at'),
    addedAt: sql.raw('phone_added_at'),
    addedBy: sql.raw('phone_added_by'),
    cleared: sql.raw('phone = null'),
  },
}

/**
 * The number of other claims that end with a verification, of confirmed accounts and of registrations each; more are
 * harmless.
 */
const CLAIMS_AT_ONCE = sql.raw('1000')

/**
 * CTEs that end everything else when an identifier is verified: the registration that waited for it, the claims of other
 * accounts, and the records of who named it. `proved` has the `id` of the account that owns it now.
 * The work is bounded however many claims there are: a claim to an identifier that somebody has
 * verified has no effect, and a registration loses it when it is confirmed.
 */
export function endOtherClaims({ key }: Placeholders<'key'>, kind: Identifier['kind'], proved: SQL): SQL {
  const { key: keyColumn, verifiedAt, cleared } = unqualifiedColumns[kind]
  const claims = (confirmed: SQL) => sql`
    (select id from ${accounts}
      where ${keyColumn} = ${key} and ${verifiedAt} is null and account_confirmed_at is ${confirmed}
      order by id limit ${CLAIMS_AT_ONCE})`
  return sql`
    ended as (
      delete from ${accounts} using ${proved}
       where ${accounts}.waiting_for = ${key} and ${accounts}.id <> ${proved}.id),
    cleared as (
      update ${accounts} set ${cleared} from ${proved}
       where ${accounts}.id = any (array(${claims(sql`not null`)} union all ${claims(sql`null`)}))
         and ${accounts}.${keyColumn} = ${key} and ${accounts}.${verifiedAt} is null
         and ${accounts}.waiting_for is distinct from ${key} and ${accounts}.id <> ${proved}.id),
    forgotten as (
      delete from ${registrationClaims} using ${proved} where contact = ${key})`
}

const endClaimsOf = (kind: Identifier['kind']) =>
  defineStatement({
    name: `accounts.end_claims_of_${kind}`,
    params: { accountId: 'bigint', key: 'text' },
    sql: (p) => sql`
    with proved as (select ${p.accountId} as id),
    ${endOtherClaims(p, kind, sql`proved`)}
    select 1 from proved`,
  })

const endClaims = { email: endClaimsOf('email'), phone: endClaimsOf('phone') }

/** Works like `endOtherClaims`, in the transaction in which that account has verified these. */
export async function endClaimsTo(
  transaction: Executor,
  accountId: number,
  identifiers: Pick<Identifier, 'kind' | 'key'>[],
): Promise<void> {
  await Promise.all(identifiers.map(({ kind, key }) => transaction.run(endClaims[kind], { accountId, key })))
}

/** Runs a statement that verifies an identifier; null if somebody else verified it first. */
export async function verifyIdentifier<T>(kind: Identifier['kind'], work: () => Promise<T | null>) {
  try {
    return await work()
  } catch (error) {
    const index = kind === 'email' ? 'accounts_email_proved' : 'accounts_phone_proved'
    if (violates(error, index)) return null
    throw error
  }
}

/**
 * The accounts that an identifier may mean. Each of these reads one entry of an index, however many accounts name the
 * identifier. `waiting` is the registration that waits for it, `made` an account that was made for somebody and waits for it,
 * `named` the newest registration that names it as its other contact.
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
    made: one(sql`waiting_for = ${key} and origin is not null`),
    named: one(
      sql`${keyColumn} = ${key} and account_confirmed_at is null and origin is null`,
      sql`order by id desc`,
    ),
  }
}

/** The accounts and registrations that name the contact, verified or not. Each part reads one index. */
export function namedBy(key: SQL, kind: Identifier['kind']): SQL {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  const those = (where: SQL) => sql`select id from ${accounts} where ${keyColumn} = ${key} and ${where}`
  return sql`id = any (array(
    ${those(sql`${verifiedAt} is not null`)}
    union all ${those(sql`${verifiedAt} is null and account_confirmed_at is not null`)}
    union all ${those(sql`account_confirmed_at is null`)}))`
}

/**
 * Tells whether an account or a registration names the contact without having verified it. Not `exists`, for which
 * PostgreSQL may read every registration once instead of looking each contact up.
 */
export function isClaimed(key: SQL, kind: Identifier['kind']): SQL {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  const claim = (confirmed: SQL) => sql`(
    select id from ${accounts}
     where ${keyColumn} = ${key} and ${verifiedAt} is null and account_confirmed_at is ${confirmed} limit 1)`
  return sql`coalesce(${claim(sql`not null`)}, ${claim(sql`null`)}) is not null`
}

/**
 * The account that keeps others from the identifier: it has verified it, or was made for somebody and waits for it. A mere
 * claim keeps nobody, whoever made it.
 */
export function holder(p: Placeholders<'key'>, kind: Identifier['kind']): SQL {
  const { verified, made } = candidates(p, kind)
  return sql`coalesce(${verified}, ${made})`
}
