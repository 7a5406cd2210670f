/**
 * Table `accounts` as operators see it: see store.ts. Each way to search has a statement of its own, so that its plan
 * uses the index that is made for it, however many accounts there are.
 */
import { type SQL, sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { accounts, identities, passkeys, sessions } from '../../platform/postgres/schema.ts'
import { updateLockedAccount } from '../accounts/store-postgres.ts'
import { type NoticeParams, noticeParams, queueNotices } from '../delivery/store-postgres.ts'
import type { EventType, NewEvent } from '../events/event.ts'
import type {
  AccountChange,
  AccountCounts,
  AccountFilter,
  AccountSearch,
  AdministeredAccount,
  AdministrationStore,
} from './store.ts'

type AccountRow = Omit<AdministeredAccount, 'metadata'> & { metadataText: string | null }

const columns = sql`account.*, account.metadata::text as metadata_text`

type PageParams = {
  value: string | number | null
  before: number | null
  limit: number
  locked: boolean | null
  confirmed: boolean | null
  roleId: number | null
  createdAfter: Date | null
  createdBefore: Date | null
}

const value = (type: string) => param('value', type)
const filter = sql`(${param('locked', 'boolean')} is null or (locked_at is not null) = ${param('locked', 'boolean')})
    and (${param('confirmed', 'boolean')} is null
         or (account_confirmed_at is not null) = ${param('confirmed', 'boolean')})
    and (${param('roleId', 'int')} is null or role_id = ${param('roleId', 'int')})
    and (${param('createdAfter', 'timestamptz')} is null or created_at >= ${param('createdAfter', 'timestamptz')})
    and (${param('createdBefore', 'timestamptz')} is null or created_at < ${param('createdBefore', 'timestamptz')})`

/** `text_pattern_ops` orders by bytes; the last character of UTF-8 is after every address that begins with the prefix. */
const begins = (column: SQL) =>
  sql`${column} ~>=~ ${value('text')} and ${column} ~<~ (${value('text')} || chr(1114111))`

const listWhere = (where: SQL) =>
  statement<PageParams, AccountRow>(sql`
    select ${columns} from ${accounts} account
     where ${where} and id < coalesce(${param('before', 'bigint')}, 9223372036854775807) and ${filter}
     order by id desc limit ${param('limit', 'int')}`)

/** Only so many of the accounts that begin with it are looked at: whoever searches types another character. */
const SEARCHED = 1000

const prefix = statement<PageParams, AccountRow>(sql`
  with found as materialized (
    (select id from ${accounts} where ${begins(sql`email_key`)} limit ${sql.raw(String(SEARCHED))})
    union
    (select id from ${accounts} where ${begins(sql`phone`)} limit ${sql.raw(String(SEARCHED))}))
  select ${columns} from found join ${accounts} account using (id)
   where id < coalesce(${param('before', 'bigint')}, 9223372036854775807) and ${filter}
   order by id desc limit ${param('limit', 'int')}`)

const lists = {
  email: listWhere(sql`email_key = ${value('text')}`),
  phone: listWhere(sql`phone = ${value('text')}`),
  uuid: listWhere(sql`uuid = ${value('uuid')}`),
  id: listWhere(sql`id = ${value('bigint')}`),
  prefix,
  locked: listWhere(sql`locked_at is not null`),
  role: listWhere(sql`role_id = ${value('int')}`),
  all: listWhere(sql`true`),
}

const find = statement<{ uuid: string }, AccountRow>(sql`
  select ${columns} from ${accounts} account where uuid = ${param('uuid', 'uuid')}`)

const count = statement<{ accountId: number; now: Date }, AccountCounts>(sql`
  select (select count(*)::int from ${passkeys} where account_id = ${param('accountId', 'bigint')}) as passkeys,
         (select count(*)::int from ${identities} where account_id = ${param('accountId', 'bigint')}) as identities,
         (select count(*)::int from ${sessions}
           where account_id = ${param('accountId', 'bigint')} and revoked_at is null
             and expires_at > ${param('now', 'timestamptz')}) as sessions`)

type ChangeParams = {
  accountId: number
  now: Date
  roleId: number | null
  accountableType: string | null
  accountableId: number | null
  metadata: string | null
  language: string | null
  locked: boolean | null
  setsReason: boolean
  reason: string | null
} & NoticeParams

const locked = param('locked', 'boolean')

const change = statement<ChangeParams, AccountRow & { wasLocked: boolean }>(sql`
  with before as (
    select id, locked_at from ${accounts} where id = ${param('accountId', 'bigint')}),
  changed as (
    update ${accounts}
       set role_id = coalesce(${param('roleId', 'int')}, role_id),
           accountable_type = coalesce(${param('accountableType', 'text')}, accountable_type),
           accountable_id = coalesce(${param('accountableId', 'bigint')}, accountable_id),
           metadata = coalesce(${param('metadata', 'text')}::jsonb, metadata),
           language = coalesce(${param('language', 'text')}, language),
           locked_at = case when ${locked} then coalesce(${accounts}.locked_at, ${param('now', 'timestamptz')})
                            when ${locked} is null then ${accounts}.locked_at end,
           locked_reason = case when ${locked} = false then null
                                when ${param('setsReason', 'boolean')} then ${param('reason', 'text')}
                                else locked_reason end,
           failed_attempts = case when ${locked} = false then 0 else failed_attempts end,
           updated_at = ${param('now', 'timestamptz')}
      from before where ${accounts}.id = before.id
    returning ${accounts}.*, before.locked_at is not null as was_locked),
  ended as (
    update ${sessions} set revoked_at = ${param('now', 'timestamptz')} from changed
     where ${locked} and account_id = changed.id and revoked_at is null),
  unlocked as (select 1 from changed where was_locked and locked_at is null),
  notices as (${queueNotices(sql`unlocked`)})
  select changed.*, changed.metadata::text as metadata_text from changed`)

export function createAdministrationStore(database: Database): AdministrationStore {
  return {
    async list(search, filter, before, limit) {
      const params = { value: valueToSearch(search), before, limit, ...filterParams(filter) }
      return (await database.all(lists[search.by], params)).map(toAccount)
    },
    async find(uuid) {
      const row = await database.first(find, { uuid })
      return row && toAccount(row)
    },
    count: async (accountId, now) => (await database.first(count, { accountId, now }))!,
    async change(account, wanted, notices, now) {
      const params = { ...changeParams(wanted), ...noticeParams(notices), accountId: account.id, now }
      const row = await updateLockedAccount(database, change, params, {
        at: now,
        eventsOf: ({ wasLocked, lockedAt }) => eventsOf(account.uuid, wanted, { wasLocked, lockedAt }),
      })
      return row && toAccount(row)
    },
  }
}

function valueToSearch(search: AccountSearch): string | number | null {
  switch (search.by) {
    case 'email':
    case 'phone':
      return search.key
    case 'uuid':
      return search.uuid
    case 'id':
      return search.id
    case 'prefix':
      return search.prefix
    case 'role':
      return search.roleId
    default:
      return null
  }
}

const filterParams = ({ locked, confirmed, roleId, createdAfter, createdBefore }: AccountFilter) => ({
  locked: locked ?? null,
  confirmed: confirmed ?? null,
  roleId: roleId ?? null,
  createdAfter: createdAfter ?? null,
  createdBefore: createdBefore ?? null,
})

const changeParams = ({ metadata, lockedReason, ...rest }: AccountChange) => ({
  roleId: rest.roleId ?? null,
  accountableType: rest.accountableType ?? null,
  accountableId: rest.accountableId ?? null,
  language: rest.language ?? null,
  locked: rest.locked ?? null,
  metadata: metadata === undefined ? null : JSON.stringify(metadata),
  setsReason: lockedReason !== undefined,
  reason: lockedReason ?? null,
})

function eventsOf(
  account: string,
  wanted: AccountChange,
  { wasLocked, lockedAt }: { wasLocked: boolean; lockedAt: Date | null },
): NewEvent[] {
  const { locked, lockedReason, ...fields } = wanted
  const changed = Object.entries(fields)
    .filter(([, field]) => field !== undefined)
    .map(([name]) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  const events: NewEvent[] = []
  if (changed.length > 0) events.push({ type: 'account.updated', account, data: { fields: changed } })
  if (wasLocked !== (lockedAt !== null)) {
    const type: EventType = lockedAt === null ? 'account.unlocked' : 'account.locked'
    events.push({ type, account, data: lockedAt !== null && lockedReason ? { reason: lockedReason } : {} })
  }
  return events
}

function toAccount({ metadataText, ...row }: AccountRow): AdministeredAccount {
  return { ...row, metadata: metadataText === null ? {} : JSON.parse(metadataText) }
}
