/**
 * The reading and writing of accounts for operators: in PostgreSQL, in every storage shape. Each way to search has a
 * statement of its own, so that its plan uses the index that is made for it, however many accounts there are.
 */

import { type SQL, sql } from 'drizzle-orm'
import { type Account, verifiedContacts } from '../../domain/accounts/core/account.ts'
import { accountRow, holdAccount, namedBy } from '../../domain/accounts/core/account-sql.ts'
import { administerAccount, administeredParamTypes } from '../../domain/accounts/core/changes-sql.ts'
import type { Profile } from '../../domain/accounts/core/profile.ts'
import { isUsernameTaken, takeUsername } from '../../domain/accounts/core/usernames-sql.ts'
import type { EventType, NewEvent } from '../../domain/foundation/events/event.ts'
import { eventOrigin, eventOriginTypes, recordEvents } from '../../domain/foundation/events/event-sql.ts'
import type { NewMessage } from '../../domain/messages/outbox/message.ts'
import { addNotices } from '../../domain/messages/outbox/queue-sql.ts'
import { endSessions, endSessionsBy } from '../../domain/sessions/core/session-sql.ts'
import type { Database, Executor } from '../../platform/postgres/database.ts'
import { retryConflicts } from '../../platform/postgres/failure.ts'
import { accounts } from '../../platform/postgres/schema.ts'
import {
  defineStatement,
  type Placeholders,
  type TypeName,
  type ValuesOf,
} from '../../platform/postgres/statement.ts'
import { AppError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'

/** An account with what only operators see. */
export interface AdministeredAccount extends Account {
  lockedReason: string | null
  /** A JSON object of the operator's own. */
  metadata: Record<string, unknown>
}

/** The accounts that an operator searches for. */
export type AccountSearch =
  | { by: 'email' | 'phone' | 'uuid'; value: string }
  | { by: 'id' | 'role'; value: number }
  /** Three or more characters of a contact, a name or a username; beside them an id, and the beginning of a uuid. */
  | { by: 'part'; part: string; id: number | null; uuidPrefix: string | null }
  /** `creation`: all of the filter's span of time. */
  | { by: 'among' | 'locked' | 'creation' | 'all' }

/** A field that is absent stays as it is. */
export interface AccountChange {
  roleId?: number | undefined
  accountableType?: string | undefined
  accountableId?: number | undefined
  metadata?: Record<string, unknown> | undefined
  language?: Language | undefined
  locked?: boolean | undefined
  lockedReason?: string | null | undefined
  profile?: Profile | null | undefined
  /** It must have been read by `usernames`. Null takes it away. */
  username?: string | null | undefined
  groups?: string[] | null | undefined
  /** The applications that the account may not enter any more: their sessions end. */
  closes?: readonly string[]
  /** Access tokens of before the present second are refused from now on. */
  endsTokens?: true | undefined
}

const columns = sql`account.*, account.metadata::text as metadata_text`

/** The parameters of every list, beside the value that is searched for. */
const listParams = {
  before: 'bigint?',
  /** JSON: the uuids of the only accounts. */
  among: 'text?',
  locked: 'boolean?',
  confirmed: 'boolean?',
  roleId: 'int?',
  createdAfter: 'timestamptz?',
  createdBefore: 'timestamptz?',
  limit: 'int',
} as const

/** The conditions of a list; a field that is null admits every account. */
export type AccountFilter = Omit<ValuesOf<typeof listParams>, 'before' | 'limit'>

const isAmong = (p: Placeholders<'among'>) =>
  sql`uuid = any (array(select jsonb_array_elements_text(${p.among}::jsonb)::uuid))`

const filter = (p: Placeholders<keyof typeof listParams>) => sql`
        (${p.among} is null or ${isAmong(p)}) and (${p.locked} is null or (locked_at is not null) = ${p.locked})
    and (${p.confirmed} is null or (account_confirmed_at is not null) = ${p.confirmed})
    and (${p.roleId} is null or role_id = ${p.roleId})
    and (${p.createdAfter} is null or created_at >= ${p.createdAfter})
    and (${p.createdBefore} is null or created_at < ${p.createdBefore})`

const administeredRow = { ...accountRow, metadataText: 'text?' } as const

/** The newest accounts for which this condition holds; `value` is what is searched for. */
const listBy = <const Type extends TypeName>(by: string, type: Type, where: (value: SQL) => SQL) =>
  defineStatement({
    name: `administration_accounts.list_by_${by}`,
    params: { value: type, ...listParams } as { value: Type } & typeof listParams,
    row: administeredRow,
    sql: (p) => sql`
    select ${columns} from ${accounts} account
     where ${where(p.value)} and id < coalesce(${p.before}, 9223372036854775807) and ${filter(p)}
     order by id desc limit ${p.limit}`,
  })

/** The same without a value. */
const listWhere = (name: string, where: (p: Placeholders<keyof typeof listParams>) => SQL) =>
  defineStatement({
    name: `administration_accounts.list_${name}`,
    params: listParams,
    row: administeredRow,
    sql: (p) => sql`
    select ${columns} from ${accounts} account
     where ${where(p)} and id < coalesce(${p.before}, 9223372036854775807) and ${filter(p)}
     order by id desc limit ${p.limit}`,
  })

/** The text that the index `accounts_parts` is made of, in the same words. */
const searchText = sql`account_search_text(email_key, phone, username, profile)`

/** So many of the newest accounts are read first: parts that many contacts share, such as a domain, are found here. */
const NEWEST = 2000
/** Only so many of the others are looked at: who searches types another character. */
const SEARCHED = 200

/**
 * Every third trigram of the part leads to it in the index; the text itself decides. `id + 0` keeps the primary key out
 * of the plan, by which the whole table would be read.
 */
const byPart = defineStatement({
  name: 'administration_accounts.list_by_part',
  params: {
    value: 'text',
    id: 'bigint?',
    uuidFrom: 'uuid?',
    uuidTo: 'uuid?',
    ...listParams,
  },
  row: administeredRow,
  sql: (p) => sql`
  with newest as materialized (
    select id from (
      select * from ${accounts}
       where id < coalesce(${p.before}, 9223372036854775807) order by id desc limit ${sql.raw(String(NEWEST))}) one
     where position(${p.value} in ${searchText}) > 0 and ${filter(p)} limit ${p.limit}),
  indexed as materialized (
    select id from ${accounts}
     where (select count(*) from newest) < ${p.limit}
       and account_trigrams(${searchText}) @> array(
         select substr(${p.value}, least(place, length(${p.value}) - 2), 3)
           from generate_series(1, length(${p.value}), 3) place)
       and position(${p.value} in ${searchText}) > 0
       and id + 0 < coalesce(${p.before}, 9223372036854775807) and ${filter(p)} limit ${sql.raw(String(SEARCHED))}),
  found as (
    select id from newest union select id from indexed
    union select id from ${accounts} where id = ${p.id}
    union (select id from ${accounts} where uuid between ${p.uuidFrom} and ${p.uuidTo} limit ${sql.raw(String(SEARCHED))}))
  select ${columns} from found join ${accounts} account using (id)
   where id < coalesce(${p.before}, 9223372036854775807) and ${filter(p)}
   order by id desc limit ${p.limit}`,
})

/**
 * The accounts of a span of time, newest first. Ids need not follow time where accounts were imported. So it goes on
 * from the account with the id `before`, or from the next one by id if that one was erased.
 */
const byCreation = defineStatement({
  name: 'administration_accounts.list_by_creation',
  params: listParams,
  row: administeredRow,
  sql: (p) => sql`
  select ${columns} from ${accounts} account
   where created_at >= coalesce(${p.createdAfter}, '-infinity') and created_at < coalesce(${p.createdBefore}, 'infinity')
     and (created_at, id) < (
       coalesce((select last.created_at from ${accounts} last where last.id <= ${p.before} order by last.id desc limit 1),
                'infinity'),
       coalesce(${p.before}, 9223372036854775807))
     and ${filter(p)}
   order by created_at desc, id desc limit ${p.limit}`,
})

const byText = {
  email: listBy('email', 'text', (value) => namedBy(value, 'email')),
  phone: listBy('phone', 'text', (value) => namedBy(value, 'phone')),
  uuid: listBy('uuid', 'uuid', (value) => sql`uuid = ${value}`),
}
const byNumber = {
  id: listBy('id', 'bigint', (value) => sql`id = ${value}`),
  role: listBy('role', 'int', (value) => sql`role_id = ${value}`),
}
const byNothing = {
  among: listWhere('among', isAmong),
  locked: listWhere('locked', () => sql`locked_at is not null`),
  creation: byCreation,
  all: listWhere('all', () => sql`true`),
}

const find = defineStatement({
  name: 'administration_accounts.find',
  params: { uuid: 'uuid' },
  row: administeredRow,
  sql: (p) => sql`
  select ${columns} from ${accounts} account where uuid = ${p.uuid}`,
})

/** So many are suggested. */
const MOST_GROUPS = 500

const listGroups = defineStatement({
  name: 'administration_accounts.list_groups',
  params: {},
  row: { name: 'text' },
  sql: () => sql`
  select distinct one.value as name
    from ${accounts}, jsonb_array_elements_text(groups) one
   where groups is not null order by 1 limit ${sql.raw(String(MOST_GROUPS))}`,
})

const change = defineStatement({
  name: 'administration_accounts.change',
  params: { accountId: 'bigint', ...administeredParamTypes },
  row: administeredRow,
  sql: (p) => administerAccount(p, columns),
})

const endClosed = defineStatement({
  name: 'administration_accounts.end_closed',
  params: { accountId: 'bigint', applications: 'text', now: 'timestamptz', ...eventOriginTypes },
  sql: (p) => sql`
  with ${endSessions(
    p,
    'application',
    sql`account_id = ${p.accountId} and kind = 'application'
        and client_id = any(string_to_array(${p.applications}, ','))`,
  )}
  select 1 from ended_sessions`,
})

interface AccountWork {
  confirm: ((transaction: Executor, account: AdministeredAccount) => Promise<void>) | null
  plan: (current: AdministeredAccount) => AccountChange
}

/** It is confirmed first where that is wanted and it waits for it; then `isConfirmed` is true. */
async function findConfirmed(transaction: Executor, uuid: string, confirm: AccountWork['confirm']) {
  const found = await transaction.first(find, { uuid })
  if (found === null || confirm === null || found.accountConfirmedAt !== null)
    return { current: found, isConfirmed: false }
  await confirm(transaction, toAccount(found))
  return { current: await transaction.first(find, { uuid }), isConfirmed: true }
}

export type DirectoryStore = ReturnType<typeof createDirectoryStore>

export function createDirectoryStore(database: Database) {
  return {
    /** Newest first, those before the account with this number (null: from the newest one). */
    list: async (search: AccountSearch, filter: AccountFilter, before: number | null, limit: number) =>
      (await runSearch(database, search, { before, limit, ...filter })).map(toAccount),
    /** The groups that accounts are in, by their names. It reads every account that is in one. */
    listGroups: async (): Promise<string[]> => (await database.all(listGroups, {})).map(({ name }) => name),
    async find(uuid: string): Promise<AdministeredAccount | null> {
      const row = await database.first(find, { uuid })
      return row && toAccount(row)
    },
    isUsernameTaken: (name: string, uuid: string) => isUsernameTaken(database, name, uuid),
    /**
     * Locking ends every session; unlocking forgets the reason and the failed attempts, and queues `notices`.
     * `isRecorded`: there was something to record. `plan` says what to change of the account, which nobody else changes
     * meanwhile, after `confirm` confirmed one that waits for it; what they throw undoes everything. It returns null if the
     * account is gone.
     */
    change: (
      { id: accountId, uuid }: AdministeredAccount,
      { confirm, plan }: AccountWork,
      notices: NewMessage[],
      now: Date,
    ): Promise<{ account: AdministeredAccount; isRecorded: boolean } | null> =>
      retryConflicts(() =>
        database.transaction(async (transaction) => {
          await holdAccount(transaction, accountId)
          const { current, isConfirmed } = await findConfirmed(transaction, uuid, confirm)
          if (current === null) return null
          const wanted = plan(toAccount(current))
          if (wanted.username && !(await takeUsername(transaction, wanted.username, uuid)))
            throw new AppError('username_taken')
          const changed = (await transaction.first(change, { ...changeParams(wanted), accountId, now }))!
          const events = eventsOf(uuid, wanted, current, changed)
          const applications = wanted.closes?.join() ?? ''
          const ended = { accountId, now, ...eventOrigin() }
          const told = noticesTo(changed, notices)
          await Promise.all([
            wanted.locked && transaction.run(endSessionsBy.lock, { ...ended, keptSession: null }),
            current.lockedAt && !changed.lockedAt && addNotices(transaction, told, now),
            applications && transaction.run(endClosed, { ...ended, applications }),
            recordEvents(transaction, events, now),
          ])
          return { account: toAccount(changed), isRecorded: isConfirmed || events.length > 0 }
        }),
      ),
  }
}

function runSearch(database: Database, search: AccountSearch, params: ValuesOf<typeof listParams>) {
  switch (search.by) {
    case 'email':
    case 'phone':
    case 'uuid':
      return database.all(byText[search.by], { value: search.value, ...params })
    case 'id':
    case 'role':
      return database.all(byNumber[search.by], { value: search.value, ...params })
    case 'part':
      return database.all(byPart, {
        ...{ value: search.part, id: search.id, ...uuidsFrom(search.uuidPrefix) },
        ...params,
      })
    default:
      return database.all(byNothing[search.by], params)
  }
}

/** The span of the uuids that begin so; both null where there is none. */
function uuidsFrom(prefix: string | null): { uuidFrom: string | null; uuidTo: string | null } {
  if (prefix === null) return { uuidFrom: null, uuidTo: null }
  const digits = prefix.replaceAll('-', '').slice(0, 32)
  return { uuidFrom: digits.padEnd(32, '0'), uuidTo: digits.padEnd(32, 'f') }
}

/** Without those to a contact that was replaced since they were written. */
function noticesTo(account: Account, notices: NewMessage[]): NewMessage[] {
  const contacts = new Set(verifiedContacts(account).map(({ destination }) => destination))
  return notices.filter(({ destination }) => contacts.has(destination))
}

const changeParams = ({ metadata, lockedReason, ...rest }: AccountChange) => ({
  roleId: rest.roleId ?? null,
  accountableType: rest.accountableType ?? null,
  accountableId: rest.accountableId ?? null,
  language: rest.language ?? null,
  locked: rest.locked ?? null,
  metadata: metadata === undefined ? null : JSON.stringify(metadata),
  setsReason: lockedReason !== undefined,
  reason: lockedReason ?? null,
  setsProfile: rest.profile !== undefined,
  profile: rest.profile ? JSON.stringify(rest.profile) : null,
  setsUsername: rest.username !== undefined,
  username: rest.username ?? null,
  setsGroups: rest.groups !== undefined,
  groups: rest.groups ? JSON.stringify(rest.groups) : null,
  endsTokens: rest.endsTokens === true,
})

function eventsOf(
  account: string,
  wanted: AccountChange,
  before: Pick<Account, 'lockedAt'>,
  { lockedAt, tokensNotBefore }: Pick<Account, 'lockedAt' | 'tokensNotBefore'>,
): NewEvent[] {
  // The reason is free text about a person. It stays with the account, and goes with it; events outlive both.
  const { locked, lockedReason, closes: _, ...others } = wanted
  const isTurned = (before.lockedAt !== null) !== (lockedAt !== null)
  const fields = isTurned ? others : { ...others, lockedReason }
  const changed = Object.entries(fields)
    .filter(([, field]) => field !== undefined)
    .map(([name]) => (name === 'endsTokens' ? 'access_tokens' : name))
    .map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  const events: NewEvent[] = []
  if (changed.length > 0) {
    const tokensBefore = wanted.endsTokens && tokensNotBefore?.toISOString()
    const data = { fields: changed, ...(tokensBefore && { tokens_before: tokensBefore }) }
    events.push({ type: 'account.updated', account, data })
  }
  if (isTurned) {
    const type: EventType = lockedAt === null ? 'account.unlocked' : 'account.locked'
    events.push({ type, account })
  }
  return events
}

function toAccount({ metadataText, ...row }: ValuesOf<typeof administeredRow>): AdministeredAccount {
  return { ...row, metadata: metadataText === null ? {} : JSON.parse(metadataText) }
}
