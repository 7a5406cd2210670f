/** Passkeys and identities as an administrator removes them: PostgreSQL, in every storage shape. */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { identities } from '../../../platform/postgres/schema.ts'
import { defineStatement, type RowOf } from '../../../platform/postgres/statement.ts'
import type { Account } from '../../accounts/accounts/account.ts'
import { updateLockedAccount } from '../../accounts/accounts/account-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { noticeParams, noticeParamTypes, queueNotices } from '../../messages/outbox/queue-sql.ts'
import { deleteIdentities } from '../../sign-in/identities/identity-sql.ts'
import { deletePasskeys } from '../../sign-in/passkeys/passkey-sql.ts'

const removePasskey = defineStatement({
  name: 'account_factors.remove_passkey',
  params: { accountId: 'bigint', id: 'uuid', now: 'timestamptz', ...noticeParamTypes },
  row: { id: 'uuid' },
  sql: (p) => sql`
  with removed as (
    ${deletePasskeys(sql`account_id = ${p.accountId} and id = ${p.id}`)} returning id),
  notices as (${queueNotices(p, sql`removed`)})
  select id from removed`,
})

const listIdentities = defineStatement({
  name: 'account_factors.list_identities',
  params: { accountId: 'bigint' },
  row: { id: 'bigint', provider: 'text', subject: 'text', email: 'text?', createdAt: 'timestamptz' },
  sql: (p) => sql`
  select id, provider, subject, email, created_at from ${identities} where account_id = ${p.accountId} order by id`,
})

const removeIdentity = defineStatement({
  name: 'account_factors.remove_identity',
  params: { accountId: 'bigint', id: 'bigint', now: 'timestamptz', ...noticeParamTypes },
  row: { provider: 'text' },
  sql: (p) => sql`
  with removed as (
    ${deleteIdentities(sql`account_id = ${p.accountId} and id = ${p.id}`)} returning provider),
  notices as (${queueNotices(p, sql`removed`)})
  select provider from removed`,
})

export type AdministeredIdentity = RowOf<typeof listIdentities>

export type AccountFactorStore = ReturnType<typeof createAccountFactorStore>

export function createAccountFactorStore(database: Database) {
  return {
    /** It returns false if the account has no such passkey. */
    async removePasskey({ id: accountId, uuid }: Account, id: string, notices: NewMessage[], now: Date) {
      const params = { accountId, id, now, ...noticeParams(notices) }
      const removed = await updateLockedAccount(database, removePasskey, params, () => [
        { type: 'passkey.removed', account: uuid, data: { passkey: id } },
      ])
      return removed !== null
    },
    /** Oldest first. */
    listIdentities: (accountId: number): Promise<AdministeredIdentity[]> =>
      database.all(listIdentities, { accountId }),
    async removeIdentity({ id: accountId, uuid }: Account, id: number, notices: NewMessage[], now: Date) {
      const params = { accountId, id, now, ...noticeParams(notices) }
      const removed = await updateLockedAccount(database, removeIdentity, params, ({ provider }) => [
        { type: 'identity.unlinked', account: uuid, data: { provider } },
      ])
      return removed !== null
    },
  }
}
