/** Passkeys and identities as an administrator removes them: PostgreSQL, in every storage shape. */

import { sql } from 'drizzle-orm'
import type { Account } from '../../domain/accounts/core/account.ts'
import { updateLockedAccount } from '../../domain/accounts/core/account-sql.ts'
import {
  otherSignInMethods,
  removalRow,
  selectRemoval,
  signInMethodParamTypes,
  type UsableFactors,
  type UsableMethods,
  usableParams,
} from '../../domain/accounts/core/sign-in-methods-sql.ts'
import type { NewMessage } from '../../domain/messages/outbox/message.ts'
import { noticeParams, noticeParamTypes, queueNotices } from '../../domain/messages/outbox/queue-sql.ts'
import { deleteIdentities } from '../../domain/sign-in/identities/identity-sql.ts'
import {
  deletePasskeys,
  namedPasskey,
  passkeyRemovalParamTypes,
} from '../../domain/sign-in/passkeys/passkey-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { identities, passkeys } from '../../platform/postgres/schema.ts'
import { defineStatement, type RowOf } from '../../platform/postgres/statement.ts'

const removePasskey = defineStatement({
  name: 'account_factors.remove_passkey',
  params: { ...passkeyRemovalParamTypes, now: 'timestamptz', ...noticeParamTypes },
  row: removalRow,
  sql: (p) => sql`
  with ${namedPasskey(p)},
  removed as (
    ${deletePasskeys(sql`${passkeys}.id = may_go.id`, sql`may_go`)} returning ${passkeys}.id),
  notices as (${queueNotices(p, sql`removed`)})
  ${selectRemoval(sql`true`)}`,
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
  params: { ...signInMethodParamTypes, id: 'bigint', now: 'timestamptz', ...noticeParamTypes },
  row: removalRow,
  sql: (p) => sql`
  with named as (select id from ${identities} where account_id = ${p.accountId} and id = ${p.id}),
  left_over as (${otherSignInMethods(p, { identities: sql`id <> ${p.id}` })}),
  removed as (
    ${deleteIdentities(sql`${identities}.id = named.id and exists (select 1 from left_over)`, sql`named`)}
    returning ${identities}.id),
  notices as (${queueNotices(p, sql`removed`)})
  ${selectRemoval(sql`true`)}`,
})

export type AdministeredIdentity = RowOf<typeof listIdentities>

export type AccountFactorStore = ReturnType<typeof createAccountFactorStore>

export function createAccountFactorStore(database: Database) {
  return {
    /** As the owner removes one: what the account needs stays. */
    removePasskey(
      { id: accountId, uuid }: Account,
      id: string,
      { appOpens, ...usable }: UsableFactors,
      notices: NewMessage[],
      now: Date,
    ) {
      const params = { accountId, id, appOpens, ...usableParams(usable), now, ...noticeParams(notices) }
      return updateLockedAccount(database, removePasskey, params, ({ removed }) =>
        removed ? { type: 'passkey.removed', account: uuid, data: { passkey: id } } : [],
      )
    },
    /** Oldest first. */
    listIdentities: (accountId: number): Promise<AdministeredIdentity[]> =>
      database.all(listIdentities, { accountId }),
    removeIdentity(
      { id: accountId, uuid }: Account,
      { id, provider }: AdministeredIdentity,
      usable: UsableMethods,
      notices: NewMessage[],
      now: Date,
    ) {
      const params = { accountId, id, ...usableParams(usable), now, ...noticeParams(notices) }
      return updateLockedAccount(database, removeIdentity, params, ({ removed }) =>
        removed ? { type: 'identity.unlinked', account: uuid, data: { provider } } : [],
      )
    },
  }
}
