/** The changes of an account's contacts that other rooms make: for an account that is held, or inside their statement. */
import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders, pick } from '../../../platform/postgres/statement.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Account } from './account.ts'
import { accountRow, unqualifiedColumns } from './account-sql.ts'

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
  sql: (p) => sql`
  update ${accounts}
     set email = ${p.email}, email_key = ${p.emailKey}, email_confirmed_at = ${p.emailConfirmedAt},
         email_added_at = ${p.emailAddedAt}, email_added_by = ${p.emailAddedBy},
         phone = ${p.phone}, phone_confirmed_at = ${p.phoneConfirmedAt},
         phone_added_at = ${p.phoneAddedAt}, phone_added_by = ${p.phoneAddedBy}, updated_at = ${p.now}
   where id = ${p.accountId}`,
})

/** Gives an account that is held these contacts in place of its own. */
export const putContacts = (
  transaction: Executor,
  accountId: number,
  { email, phone }: HeldContacts,
  now: Date,
): Promise<void> =>
  transaction.run(put, {
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
  })

const columnsOf = { email: sql.raw('email, email_key'), phone: sql.raw('phone') }

const newValue = (kind: Kind, asked: SQL) =>
  kind === 'email'
    ? sql`email = ${asked}.destination, email_key = ${asked}.destination_key`
    : sql`phone = ${asked}.destination`

/**
 * The contact that the session verified. `asked` has `account_id`, `destination` and `destination_key`; `before` is the row
 * of `contactBefore`.
 */
export function changeContact(
  p: Placeholders<'key' | 'now' | 'sessionId'>,
  kind: Kind,
  asked: SQL,
  before: SQL,
): SQL {
  const { verifiedAt, addedAt, addedBy } = unqualifiedColumns[kind]
  // The contact that is verified already, in another spelling at most, is not a new one.
  const unlessTheSame = (value: SQL, column: SQL) =>
    sql`${column} = case when ${before}.key = ${p.key} and ${before}.verified_at is not null
                         then ${accounts}.${column} else ${value} end`
  return sql`
      update ${accounts}
         set ${newValue(kind, asked)}, ${unlessTheSame(p.now, verifiedAt)}, ${unlessTheSame(p.now, addedAt)},
             ${unlessTheSame(p.sessionId, addedBy)}, updated_at = ${p.now}
        from ${asked}, ${before} where ${accounts}.id = ${asked}.account_id
      returning ${accounts}.*`
}

/** `before`: the row of the account, with its `id`. `returned`: the columns that the caller reads. */
export function removeContact(p: Placeholders<'now'>, kind: Kind, before: SQL, where: SQL, returned: SQL) {
  const { verifiedAt, addedAt, addedBy, cleared } = unqualifiedColumns[kind]
  return sql`
      update ${accounts}
         set ${cleared}, ${verifiedAt} = null, ${addedAt} = null, ${addedBy} = null, updated_at = ${p.now}
        from ${before}
       where ${accounts}.id = ${before}.id and ${where}
      returning ${returned}`
}

/** Sets the contact for an administrator. `before`: the row of the account, with `id`, `key` and `verified_at`. */
export function putContact(
  p: Placeholders<'destination' | 'key' | 'verified' | 'now'>,
  kind: Kind,
  before: SQL,
): SQL {
  const { verifiedAt, addedAt, addedBy } = unqualifiedColumns[kind]
  return sql`
      update ${accounts}
         set (${columnsOf[kind]}) = row(${kind === 'email' ? sql`${p.destination}, ${p.key}` : p.destination}),
             ${verifiedAt} = case when ${before}.key = ${p.key} and ${before}.verified_at is not null then ${before}.verified_at
                                  when ${p.verified} then ${p.now} end,
             ${addedAt} = ${p.now}, ${addedBy} = null, updated_at = ${p.now},
             waiting_for = case when account_confirmed_at is null and not ${p.verified} then ${p.key} end,
             account_confirmed_at = case when ${p.verified} then coalesce(account_confirmed_at, ${p.now})
                                         else account_confirmed_at end
        from ${before} where ${accounts}.id = ${before}.id
      returning ${accounts}.id, ${accounts}.uuid`
}
