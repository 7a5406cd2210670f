/** Table `accounts` (and the outbox rows its changes cause): see store.ts for what each method promises. */
import { type SQL, sql } from 'drizzle-orm'
import {
  type Database,
  param,
  type Statement,
  statement,
  unawaited,
} from '../../platform/postgres/database.ts'
import { retryDeadlocks, violates } from '../../platform/postgres/failure.ts'
import { accounts, registrationClaims, sessions } from '../../platform/postgres/schema.ts'
import {
  type MessageParams,
  messageParams,
  queueMessage,
  supersedePending,
} from '../delivery/store-postgres.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { Account } from './account.ts'
import type { AccountStore } from './store.ts'

const now = param('now', 'timestamptz')
const key = param('key', 'text')

/** Column of the comparable form, and of the moment it was proved. */
const columns = {
  email: { key: accounts.emailKey, verifiedAt: accounts.emailConfirmedAt },
  phone: { key: accounts.phone, verifiedAt: accounts.phoneConfirmedAt },
}

const holdAccount = statement<{ accountId: number }>(
  sql`select 1 from ${accounts} where id = ${param('accountId', 'bigint')} for update`,
)

/**
 * Runs a statement that changes what opens an account, and gives its row or null. Whatever is under way at the
 * account commits before the statement, which sees it, or waits and finds the account changed; in one statement with
 * the lock it would see neither.
 */
export const updateLockedAccount = <Params extends { accountId: number }, Row extends object>(
  database: Database,
  change: Statement<Params, Row>,
  params: Params,
): Promise<Row | null> =>
  retryDeadlocks(() =>
    database.transaction(async (transaction) => {
      await transaction.all(holdAccount, { accountId: params.accountId })
      return transaction.first(change, params)
    }),
  )

/** Whoever ended the caller's session since the call began, by a new password mostly, ended what it was about to do. */
export const sessionLives = sql`exists (
  select 1 from ${sessions}
   where ${sessions}.id = ${param('sessionId', 'uuid')}
     and ${sessions}.account_id = ${param('accountId', 'bigint')} and ${sessions}.revoked_at is null)`

/** The same without their table, as SET wants them; `cleared`: the assignments that remove the contact. */
export const unqualifiedColumns = {
  email: {
    key: sql.raw('email_key'),
    verifiedAt: sql.raw('email_confirmed_at'),
    cleared: sql.raw('email = null, email_key = null'),
  },
  phone: {
    key: sql.raw('phone'),
    verifiedAt: sql.raw('phone_confirmed_at'),
    cleared: sql.raw('phone = null'),
  },
}

/**
 * What ends when an identifier is proved, to stand after a CTE `proved` that gives the `id` of whose it is now, `key`
 * being the parameter: a registration that waited for the identifier itself, the claim of an account that merely had
 * it, and what is known of who named it.
 */
export function endOtherClaims(kind: Identifier['kind']): SQL {
  const { key: keyColumn, verifiedAt, cleared } = unqualifiedColumns[kind]
  return sql`
    ended as (
      delete from ${accounts} using proved
       where ${accounts}.waiting_for = ${key} and ${accounts}.id <> proved.id),
    cleared as (
      update ${accounts} set ${cleared} from proved
       where ${accounts}.${keyColumn} = ${key} and ${accounts}.${verifiedAt} is null
         and ${accounts}.waiting_for is distinct from ${key} and ${accounts}.id <> proved.id),
    forgotten as (
      delete from ${registrationClaims} using proved where contact = ${key})`
}

/** Runs what proves an identifier; null when somebody else proved it first. */
export async function verifyIdentifier<T>(
  kind: Identifier['kind'],
  work: () => Promise<T | null>,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    const index = kind === 'email' ? 'accounts_email_proved' : 'accounts_phone_proved'
    if (violates(error, index)) return null
    throw error
  }
}

const selectByIdentifier = (kind: Identifier['kind']) =>
  statement<{ key: string }, Account>(sql`
    select * from ${accounts} where ${columns[kind].key} = ${key}
     order by ${columns[kind].verifiedAt} is not null desc, ${accounts.waitingFor} is not distinct from ${key} desc,
              ${accounts.accountConfirmedAt} is not null desc, id desc
     limit 1`)

const findByIdentifier = { email: selectByIdentifier('email'), phone: selectByIdentifier('phone') }

const findByUuid = statement<{ uuid: string }, Account>(sql`
  select * from ${accounts} where uuid = ${param('uuid', 'uuid')}`)

const anyVerified = statement<{ email: string | null; phone: string | null }, { proved: boolean }>(sql`
  select exists (
    select 1 from ${accounts} where email_key = ${param('email', 'text')} and email_confirmed_at is not null
    union all
    select 1 from ${accounts} where phone = ${param('phone', 'text')} and phone_confirmed_at is not null) as proved`)

type RegisterParams = {
  now: Date
  key: string
  uuid: string
  email: string | null
  emailKey: string | null
  phone: string | null
  passwordDigest: string
  emailTag: Uint8Array | null
  phoneTag: Uint8Array | null
  address: string
  language: string
  accountableType: string
  roleId: number
} & MessageParams

/** The code's subject is the account's uuid, which a replaced registration keeps, and with it its day's budget. */
const registerBy = (kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = columns[kind]
  const stored = kind === 'email' ? accounts.email : accounts.phone
  return statement<RegisterParams, { uuid: string; messageId: number }>(sql`
    with owner as (
      select uuid, language, ${stored} as destination
        from ${accounts} where ${keyColumn} = ${key} and ${verifiedAt} is not null),
    registered as (
      insert into ${accounts} (uuid, email, email_key, phone, password_digest, accountable_type, role_id, created_at,
                               updated_at, language, waiting_for)
      select ${param('uuid', 'uuid')}, ${param('email', 'text')}, ${param('emailKey', 'text')},
             ${param('phone', 'text')}, ${param('passwordDigest', 'text')}, ${param('accountableType', 'text')},
             ${param('roleId', 'int')}, ${now}, ${now}, ${param('language', 'text')}, ${key}
       where not exists (select 1 from owner)
      on conflict (waiting_for) where waiting_for is not null do update
         set email = excluded.email, email_key = excluded.email_key, phone = excluded.phone,
             password_digest = excluded.password_digest, language = excluded.language,
             updated_at = excluded.updated_at
      returning uuid),
    claimed as (
      insert into ${registrationClaims} (contact, address, password_tag, created_at)
      select contact, ${param('address', 'text')}, tag, ${now}
        from (values (${param('emailKey', 'text')}, ${param('emailTag', 'bytea')}),
                     (${param('phone', 'text')}, ${param('phoneTag', 'bytea')})) named (contact, tag)
       where contact is not null and not exists (select 1 from owner)
      on conflict (contact, address, password_tag) do update set created_at = excluded.created_at),
    replaced as (${supersedePending({ codeSubject: sql`(select uuid from registered)` })}),
    code as (${queueMessage(sql`registered`, { codeSubject: sql`registered.uuid` })}
      returning id),
    notice as (${queueMessage(sql`owner`, {
      // As the owner wrote it, not as whoever registers spells it.
      destination: sql`owner.destination`,
      purpose: sql`'account_exists'`,
      language: sql`owner.language`,
      codeSubject: sql`null::uuid`,
      codePurpose: sql`null::text`,
      codeSeed: sql`null::bytea`,
    })}
      returning id)
    select uuid, code.id as message_id from registered, code
    union all select uuid, notice.id from owner, notice`)
}

const register = { email: registerBy('email'), phone: registerBy('phone') }

/** Two strangers named it: among its claims two differ in address and in password, whichever these are. */
const isContested = sql`
  select count(distinct address) > 1 and count(distinct password_tag) > 1
    from ${registrationClaims} where contact = ${key}`

type ConfirmParams = { now: Date; uuid: string; seenAt: Date; key: string }

const confirmBy = (kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  return statement<ConfirmParams, { hasPassword: boolean }>(sql`
    with proved as (
      update ${accounts}
         set account_confirmed_at = ${now}, ${verifiedAt} = ${now}, updated_at = ${now},
             password_digest = case when (${isContested}) then null else password_digest end, waiting_for = null
       where uuid = ${param('uuid', 'uuid')} and account_confirmed_at is null
         and updated_at = ${param('seenAt', 'timestamptz')} and ${keyColumn} = ${key}
      returning id, password_digest is not null as has_password),
    ${endOtherClaims(kind)}
    select has_password from proved`)
}

const confirm = { email: confirmBy('email'), phone: confirmBy('phone') }

/** The count may be lost with the machine: waiting for the disk would tell known accounts from unknown ones. */
const noteFailure = statement<{ accountId: number }>(sql`
  with ${unawaited}
  update ${accounts} set failed_attempts = failed_attempts + 1 from unawaited
   where id = ${param('accountId', 'bigint')} and unawaited.off is not null`)

export function createAccountStore(database: Database): AccountStore {
  return {
    findByIdentifier: ({ kind, key }) => database.first(findByIdentifier[kind], { key }),
    findByUuid: (uuid) => database.first(findByUuid, { uuid }),
    async anyVerified(identifiers) {
      const keyOf = (kind: Identifier['kind']) => identifiers.find((one) => one.kind === kind)?.key ?? null
      const row = await database.first(anyVerified, { email: keyOf('email'), phone: keyOf('phone') })
      return row?.proved === true
    },
    async register({ email, phone, codeSeed, ...registration }, now) {
      const primary = (email ?? phone)!
      const row = await database.first(register[primary.kind], {
        ...registration,
        ...messageParams({
          channel: primary.kind === 'email' ? 'email' : 'sms',
          destination: primary.destination,
          purpose: 'confirmation',
          language: registration.language,
          code: { subject: registration.uuid, purpose: 'confirmation', group: 'stranger', seed: codeSeed },
        }),
        now,
        key: primary.key,
        email: email?.destination ?? null,
        emailKey: email?.key ?? null,
        phone: phone?.key ?? null,
      })
      return row!
    },
    confirm: ({ uuid, updatedAt }, { kind, key }, now) =>
      verifyIdentifier(kind, () => database.first(confirm[kind], { uuid, seenAt: updatedAt, key, now })),
    async noteFailure(accountId) {
      await database.all(noteFailure, { accountId })
    },
  }
}
