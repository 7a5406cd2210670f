/** The contacts of an account that is held, as values, and the statement by which other rooms change them. */
import { sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement, pick } from '../../../platform/postgres/statement.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Account } from './account.ts'
import { accountRow } from './account-sql.ts'

type Kind = Identifier['kind']

export const otherOf = (kind: Kind): Kind => (kind === 'email' ? 'phone' : 'email')

/** A contact as the account has it. */
export interface HeldContact {
  destination: string
  key: string
  /** Null where it is a mere claim. */
  verifiedAt: Date | null
  /** The session that added it, and when; null where it came with the account. */
  addedAt: Date | null
  addedBy: string | null
}
type HeldContacts = Record<Kind, HeldContact | null>

export const contactsOf = (account: Account): HeldContacts => ({
  email:
    account.email === null || account.emailKey === null
      ? null
      : {
          destination: account.email,
          key: account.emailKey,
          verifiedAt: account.emailConfirmedAt,
          addedAt: account.emailAddedAt,
          addedBy: account.emailAddedBy,
        },
  phone:
    account.phone === null
      ? null
      : {
          destination: account.phone,
          key: account.phone,
          verifiedAt: account.phoneConfirmedAt,
          addedAt: account.phoneAddedAt,
          addedBy: account.phoneAddedBy,
        },
})

const put = defineStatement({
  name: 'accounts.put_contacts',
  params: {
    accountId: 'bigint',
    now: 'timestamptz',
    ...pick(accountRow, 'email', 'emailKey', 'emailConfirmedAt', 'emailAddedAt', 'emailAddedBy'),
    ...pick(accountRow, 'phone', 'phoneConfirmedAt', 'phoneAddedAt', 'phoneAddedBy'),
  },
  row: accountRow,
  sql: (p) => sql`
  update ${accounts}
     set email = ${p.email}, email_key = ${p.emailKey}, email_confirmed_at = ${p.emailConfirmedAt},
         email_added_at = ${p.emailAddedAt}, email_added_by = ${p.emailAddedBy},
         phone = ${p.phone}, phone_confirmed_at = ${p.phoneConfirmedAt},
         phone_added_at = ${p.phoneAddedAt}, phone_added_by = ${p.phoneAddedBy}, updated_at = ${p.now}
   where id = ${p.accountId}
  returning *`,
})

/** Gives an account that is held these contacts in place of its own, and returns it. */
export const putContacts = async (
  transaction: Executor,
  accountId: number,
  { email, phone }: HeldContacts,
  now: Date,
): Promise<Account> =>
  (await transaction.first(put, {
    ...{ accountId, now },
    email: email?.destination ?? null,
    emailKey: email?.key ?? null,
    emailConfirmedAt: email?.verifiedAt ?? null,
    emailAddedAt: email?.addedAt ?? null,
    emailAddedBy: email?.addedBy ?? null,
    phone: phone?.destination ?? null,
    phoneConfirmedAt: phone?.verifiedAt ?? null,
    phoneAddedAt: phone?.addedAt ?? null,
    phoneAddedBy: phone?.addedBy ?? null,
  }))!
