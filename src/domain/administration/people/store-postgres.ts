/** Accounts that an administrator makes or repairs: see store.ts for what each method promises. */
import { sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { retryDeadlocks, violates } from '../../../platform/postgres/failure.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { endOtherClaims } from '../../accounts/account-sql.ts'
import type { NewEvent } from '../../events/event.ts'
import { recordEvents } from '../../events/event-sql.ts'
import type { Identifier } from '../../identifiers/identifier.ts'
import type { MadeAccount, PeopleStore } from './store.ts'

/** What anybody may have registered; an account that was made for somebody stays. */
const endWaiting = defineStatement({
  name: 'people.end_waiting',
  params: { key: 'text' },
  sql: (p) => sql`
  delete from ${accounts} where waiting_for = ${p.key} and account_confirmed_at is null and origin is null`,
})

const create = defineStatement({
  name: 'people.create',
  params: {
    uuid: 'uuid',
    email: 'text?',
    emailKey: 'text?',
    phone: 'text?',
    passwordDigest: 'text?',
    accountableType: 'text',
    accountableId: 'bigint?',
    roleId: 'int',
    metadata: 'text?',
    language: 'text',
    waitingFor: 'text?',
    verified: 'boolean',
    now: 'timestamptz',
  },
  row: { id: 'bigint' },
  sql: (p) => sql`
  insert into ${accounts} (uuid, email, email_key, phone, password_digest, accountable_type, accountable_id, role_id,
                           metadata, language, waiting_for, origin, created_at, updated_at, account_confirmed_at,
                           email_confirmed_at, phone_confirmed_at)
  values (${p.uuid}, ${p.email}, ${p.emailKey}, ${p.phone}, ${p.passwordDigest}, ${p.accountableType},
          ${p.accountableId}, ${p.roleId}, ${p.metadata}::jsonb, ${p.language}, ${p.waitingFor}, 'administrator', ${p.now},
          ${p.now}, case when ${p.verified} then ${p.now} end,
          case when ${p.verified} and ${p.emailKey} is not null then ${p.now} end,
          case when ${p.verified} and ${p.phone} is not null then ${p.now} end)
  returning id`,
})

const endClaimsOf = (kind: Identifier['kind']) =>
  defineStatement({
    name: `people.end_claims_of_${kind}`,
    params: { accountId: 'bigint', key: 'text' },
    sql: (p) => sql`
    with proved as (select id from ${accounts} where id = ${p.accountId}),
    ${endOtherClaims(p, kind)}
    select 1 from proved`,
  })

const endClaims = { email: endClaimsOf('email'), phone: endClaimsOf('phone') }

/** In the transaction in which an account has verified these contacts. */
export async function endClaimsTo(transaction: Executor, accountId: number, identifiers: Identifier[]) {
  for (const { kind, key } of identifiers) await transaction.all(endClaims[kind], { accountId, key })
}

/** Somebody else has the contact. */
export const isTaken = (error: unknown) =>
  ['accounts_email_proved', 'accounts_phone_proved', 'accounts_waiting_for'].some((index) =>
    violates(error, index),
  )

export function createPeopleStore(database: Database): PeopleStore {
  return {
    async create(account, identifiers, now) {
      const write = () =>
        database.transaction(async (transaction) => {
          for (const { key } of identifiers) await transaction.all(endWaiting, { key })
          const made = (await transaction.first(create, paramsOf(account, identifiers, now)))!
          if (account.verified) await endClaimsTo(transaction, made.id, identifiers)
          await recordEvents(transaction, eventsOf(account), now)
          return true
        })
      try {
        return await retryDeadlocks(write)
      } catch (error) {
        if (isTaken(error)) return false
        throw error
      }
    },
  }
}

const paramsOf = (
  { email, phone, metadata, ...account }: MadeAccount,
  [primary]: Identifier[],
  now: Date,
) => ({
  ...account,
  email: email?.destination ?? null,
  emailKey: email?.key ?? null,
  phone: phone?.key ?? null,
  metadata: metadata === undefined ? null : JSON.stringify(metadata),
  waitingFor: account.verified ? null : (primary?.key ?? null),
  now,
})

const eventsOf = ({ uuid, verified, email, phone }: MadeAccount): NewEvent[] => {
  const contacts = [email && 'email', phone && 'phone'].filter((contact) => contact !== null)
  return [
    { type: 'account.created', account: uuid, data: { contacts } },
    ...(verified ? [{ type: 'account.confirmed' as const, account: uuid, data: { contacts } }] : []),
  ]
}
