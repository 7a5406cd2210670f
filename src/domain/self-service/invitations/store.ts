/** Joining the groups of an invitation, in one transaction: a use is spent if, and only if, groups are joined by it. */
import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { retryConflicts } from '../../../platform/postgres/failure.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { spendInvitation } from '../../accounts/admission/permit-sql.ts'
import type { Invitation } from '../../accounts/admission/store.ts'
import type { Account, AccountSession } from '../../accounts/core/account.ts'
import { accountRow, holdAccount, sessionLives } from '../../accounts/core/account-sql.ts'
import { setGroups } from '../../accounts/core/changes-sql.ts'
import { recordEvents } from '../../foundation/events/event-sql.ts'

const find = defineStatement({
  name: 'memberships.find',
  params: { accountId: 'bigint', sessionId: 'uuid' },
  row: accountRow,
  sql: (p) => sql`select * from ${accounts} where id = ${p.accountId} and ${sessionLives(p)}`,
})

const join = defineStatement({
  name: 'memberships.join',
  params: { accountId: 'bigint', invitationId: 'bigint', groups: 'text', now: 'timestamptz' },
  row: accountRow,
  sql: (p) => sql`
  with spent as (${spendInvitation(p)})
  ${setGroups(p, sql`spent`)}`,
})

export type MembershipStore = ReturnType<typeof createMembershipStore>

export function createMembershipStore(database: Database) {
  return {
    /**
     * `plan`: the groups of the account as they are to be, null where it has all of them. An error that it throws undoes
     * everything. `used_up`: somebody else had the last use.
     */
    join: (
      { account: { id: accountId, uuid }, sessionId }: AccountSession,
      invitation: Invitation,
      plan: (current: Account) => string[] | null,
      now: Date,
    ): Promise<Account | 'session_over' | 'used_up'> =>
      retryConflicts(() =>
        database.transaction(async (transaction) => {
          await holdAccount(transaction, accountId)
          const current = await transaction.first(find, { accountId, sessionId })
          if (current === null) return 'session_over'
          const groups = plan(current)
          if (groups === null) return current
          const params = { accountId, invitationId: invitation.id, groups: JSON.stringify(groups), now }
          const joined = await transaction.first(join, params)
          if (joined === null) return 'used_up'
          const data = { invitation: invitation.uuid, groups: invitation.groups }
          await recordEvents(transaction, [{ type: 'invitation.accepted', account: uuid, data }], now)
          return joined
        }),
      ),
  }
}
