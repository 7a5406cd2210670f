/** The accounts that are administrators, in PostgreSQL in every shape. The table is `administrators`. */

import { sql } from 'drizzle-orm'
import { deleteAccountCodes } from '../../domain/accounts/account-codes/account-code-sql.ts'
import { holdAccount } from '../../domain/accounts/core/account-sql.ts'
import { forgetTrusted } from '../../domain/accounts/devices/trusted-devices-sql.ts'
import { endMeansOf } from '../../domain/credentials/administrator-means/means-sql.ts'
import { deleteRemovals } from '../../domain/credentials/authenticators/factors-sql.ts'
import type { NewEvent } from '../../domain/foundation/events/event.ts'
import { eventOrigin, eventOriginTypes, recordEvents } from '../../domain/foundation/events/event-sql.ts'
import { endSessions } from '../../domain/sessions/core/session-sql.ts'
import type { Database, Executor } from '../../platform/postgres/database.ts'
import { retryConflicts } from '../../platform/postgres/failure.ts'
import {
  accountCodes,
  accounts,
  administratorSessions,
  administrators,
  sessions,
  twoFactorRemovals,
} from '../../platform/postgres/schema.ts'
import { column, defineStatement, type RowOf } from '../../platform/postgres/statement.ts'
import { allowedFor, type Role } from '../access/access.ts'
import { deleteAdministrators, putAdministrator } from './administrator-sql.ts'

const administratorRow = {
  /** The id of the account. */
  id: 'bigint',
  uuid: 'uuid',
  email: 'text?',
  phone: 'text?',
  role: column<Role>('text'),
  createdAt: 'timestamptz',
  lastSignedInAt: 'timestamptz?',
} as const

const columns = sql`
  account.id, account.uuid, account.email, account.phone, administrator.role, administrator.created_at,
  administrator.last_signed_in_at`

const list = defineStatement({
  name: 'administrators.list',
  params: { before: 'bigint?', limit: 'int' },
  row: administratorRow,
  sql: (p) => sql`
  select ${columns} from ${administrators} administrator join ${accounts} account on account.id = account_id
   where account_id < coalesce(${p.before}, 9223372036854775807)
   order by account_id desc limit ${p.limit}`,
})

const find = defineStatement({
  name: 'administrators.find',
  params: { uuid: 'uuid' },
  row: administratorRow,
  sql: (p) => sql`
  select ${columns} from ${administrators} administrator join ${accounts} account on account.id = account_id
   where account.uuid = ${p.uuid}`,
})

/**
 * Support staff and tokens reach no administrator. So what they may have begun before the account became one ends here: a
 * temporary access code, an invitation, a removal of two factors that waits.
 */
const put = defineStatement({
  name: 'administrators.put',
  params: { accountId: 'bigint', role: 'text', now: 'timestamptz' },
  row: { was: column<Role | null>('text') },
  sql: (p) => sql`
  with before as (select account_id, role from ${administrators} where account_id = ${p.accountId}),
  written as (${putAdministrator(
    p,
    sql`${accounts}
     where id = ${p.accountId} and account_confirmed_at is not null and locked_at is null
       and password_digest is not null and (email_confirmed_at is not null or phone_confirmed_at is not null)`,
  )}),
  added as (select account_id from written where account_id not in (select account_id from before)),
  untrusted as (${forgetTrusted(sql`account_id in (select account_id from written)`)}),
  codes_gone as (${deleteAccountCodes(sql`${accountCodes}.account_id = added.account_id`, sql`added`)}),
  removals_gone as (
    ${deleteRemovals(sql`${twoFactorRemovals}.account_id = added.account_id`, sql`added`)})
  select before.role as was from written left join before using (account_id)`,
})

const remove = defineStatement({
  name: 'administrators.remove',
  params: { uuid: 'uuid' },
  row: { role: 'text' },
  sql: (p) => sql`
  ${deleteAdministrators(sql`${accounts}`, sql`${accounts}.id = account_id and ${accounts}.uuid = ${p.uuid}`)}
  returning ${administrators}.role`,
})

/** Those of the page of administration alone, and of an account alone that is no administrator any more. */
export const endAdministratorSessions = defineStatement({
  name: 'administrators.end_sessions',
  params: { uuid: 'uuid', now: 'timestamptz', ...eventOriginTypes },
  sql: (p) => sql`
  with ${endSessions(
    p,
    'role',
    sql`${sessions}.account_id = ${accounts}.id and ${accounts}.uuid = ${p.uuid} and page.session_id = ${sessions}.id
       and not exists (select from ${administrators} where account_id = ${accounts}.id)`,
    sql`${accounts}, ${administratorSessions} page`,
  )}
  select 1 from ended_sessions`,
})

export type Administrator = RowOf<typeof find>

export type AdministratorStore = ReturnType<typeof createAdministratorStore>

export function createAdministratorStore(database: Database) {
  const atOnce = <Result>(work: (transaction: Executor) => Promise<Result>) =>
    retryConflicts(() => database.transaction(work))
  return {
    /** Oldest account last; those before the account with this number (null: from the newest one). */
    list: (before: number | null, limit: number): Promise<Administrator[]> =>
      database.all(list, { before, limit }),
    find: (uuid: string): Promise<Administrator | null> => database.first(find, { uuid }),
    /**
     * Makes the account an administrator, or changes the role of one. `was`: the role before. An account that becomes one
     * loses its open temporary access and invitation codes, and a removal of two factors that waits. With another role,
     * tokens that they made and that may do more are revoked. Codes that they saw and removals that they asked for end if
     * the role does not allow them. Null where the account is not confirmed, is locked, or has no password or no verified
     * contact.
     */
    put: ({ id: accountId, uuid }: { id: number; uuid: string }, role: Role, now: Date) =>
      atOnce(async (transaction) => {
        await holdAccount(transaction, accountId)
        const row = await transaction.first(put, { accountId, role, now })
        if (row === null) return null
        const { was } = row
        const revoked = was === null ? [] : await endMeansOf(transaction, uuid, allowedFor(role), now)
        await recordEvents(transaction, [...roleEvents(uuid, role, was), ...revoked], now)
        return { was, revokedTokens: revoked.length }
      }),
    /**
     * The sessions of the page end with it, what they made, and what they began. It returns null where the account is
     * none.
     */
    remove: (uuid: string, now: Date): Promise<{ revokedTokens: number } | null> =>
      atOnce(async (transaction) => {
        const [row] = await Promise.all([
          transaction.first(remove, { uuid }),
          transaction.run(endAdministratorSessions, { uuid, now, ...eventOrigin() }),
        ])
        if (row === null) return null
        const removed: NewEvent = { type: 'administrator.removed', account: uuid, data: { role: row.role } }
        const revoked = await endMeansOf(transaction, uuid, allowedFor(null), now)
        await recordEvents(transaction, [removed, ...revoked], now)
        return { revokedTokens: revoked.length }
      }),
  }
}

function roleEvents(account: string, role: Role, was: Role | null): NewEvent[] {
  if (was === null) return [{ type: 'administrator.added', account, data: { role } }]
  if (was === role) return []
  return [{ type: 'administrator.role_changed', account, data: { role, was } }]
}
