/** Accounts that an administrator makes or repairs: PostgreSQL, in every storage shape. */

import { sql } from 'drizzle-orm'
import type { PreparedCode } from '../../domain/accounts/account-codes/account-code.ts'
import { putAccountCode } from '../../domain/accounts/account-codes/account-code-sql.ts'
import type { Account } from '../../domain/accounts/core/account.ts'
import {
  endClaimsTo,
  holdAccount,
  unqualifiedColumns,
  updateLockedAccount,
} from '../../domain/accounts/core/account-sql.ts'
import { putContact, removeContact } from '../../domain/accounts/core/contacts-sql.ts'
import {
  addByAdministrator,
  endWaitingFor,
  madeAccountParamTypes,
} from '../../domain/accounts/core/opening-sql.ts'
import { takeUsername } from '../../domain/accounts/core/usernames-sql.ts'
import type { NewEvent } from '../../domain/foundation/events/event.ts'
import { recordEvents } from '../../domain/foundation/events/event-sql.ts'
import type { Email } from '../../domain/foundation/identifiers/email.ts'
import type { Identifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { Phone } from '../../domain/foundation/identifiers/phone.ts'
import type { NewMessage } from '../../domain/messages/outbox/message.ts'
import {
  noticeParams,
  noticeParamTypes,
  queueNotices,
  supersedeAll,
} from '../../domain/messages/outbox/queue-sql.ts'
import { dropContactChanges } from '../../domain/sign-in/undo/contact-changes-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { retryConflicts, violates } from '../../platform/postgres/failure.ts'
import { accounts, type Profile } from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'
import { AppError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'

export interface MadeAccount {
  uuid: string
  email: Email | null
  phone: Phone | null
  passwordDigest: string | null
  /** The administrator vouches for the contacts; the account is confirmed. */
  verified: boolean
  accountableType: string
  accountableId: number | null
  roleId: number
  metadata: Record<string, unknown> | undefined
  username: string | null
  groups: string[] | null
  profile: Profile | null
  language: Language
}

const endWaiting = defineStatement({
  name: 'people.end_waiting',
  params: { key: 'text' },
  sql: (p) => endWaitingFor(p),
})

const endWaitingElsewhere = defineStatement({
  name: 'people.end_waiting_elsewhere',
  params: { accountId: 'bigint', key: 'text' },
  sql: (p) => endWaitingFor(p, sql`id <> ${p.accountId}`),
})

const create = defineStatement({
  name: 'people.create',
  params: madeAccountParamTypes,
  row: { id: 'bigint' },
  sql: addByAdministrator,
})

/** Verified by somebody else, or of an account that was made for somebody else. */
const isElsewhereOf = (kind: Identifier['kind']) => {
  const { key, verifiedAt } = unqualifiedColumns[kind]
  return defineStatement({
    name: `people.is_elsewhere_by_${kind}`,
    params: { accountId: 'bigint', key: 'text' },
    row: { elsewhere: 'boolean' },
    sql: (p) => sql`
    select exists (
      select 1 from ${accounts} where ${key} = ${p.key} and ${verifiedAt} is not null and id <> ${p.accountId}
      union all
      select 1 from ${accounts} where ${key} = ${p.key} and origin is not null and id <> ${p.accountId}) as elsewhere`,
  })
}

const isElsewhere = { email: isElsewhereOf('email'), phone: isElsewhereOf('phone') }

const putOf = (kind: Identifier['kind']) => {
  const { key, verifiedAt } = unqualifiedColumns[kind]
  return defineStatement({
    name: `people.put_${kind}`,
    params: {
      accountId: 'bigint',
      destination: 'text',
      key: 'text',
      verified: 'boolean',
      now: 'timestamptz',
      ...noticeParamTypes,
    },
    row: { uuid: 'uuid' },
    sql: (p) => sql`
    with before as (select id, ${key} as key, ${verifiedAt} as verified_at from ${accounts} where id = ${p.accountId}),
    put as (${putContact(p, kind, sql`before`)}),
    dropped as (${dropContactChanges(sql`put`)}),
    replaced as (${supersedeAll({ now: p.now, codeSubject: sql`(select uuid from put)` })}),
    notices as (${queueNotices(p, sql`put`)})
    select uuid from put`,
  })
}

const put = { email: putOf('email'), phone: putOf('phone') }

const removeOf = (kind: Identifier['kind']) => {
  const { key, verifiedAt } = unqualifiedColumns[kind]
  const other = unqualifiedColumns[kind === 'email' ? 'phone' : 'email']
  return defineStatement({
    name: `people.remove_${kind}`,
    params: { accountId: 'bigint', now: 'timestamptz', ...noticeParamTypes },
    row: { found: 'boolean', removed: 'boolean' },
    sql: (p) => sql`
    with before as (select id, ${key} as key, ${verifiedAt} as verified_at from ${accounts} where id = ${p.accountId}),
    removed as (${removeContact(
      p,
      kind,
      sql`before`,
      sql`before.key is not null and waiting_for is distinct from before.key
         and (before.verified_at is null or ${accounts}.${other.verifiedAt} is not null)`,
      sql`${accounts}.id, ${accounts}.uuid`,
    )}),
    dropped as (${dropContactChanges(sql`removed`)}),
    replaced as (${supersedeAll({ now: p.now, codeSubject: sql`(select uuid from removed)` })}),
    notices as (${queueNotices(p, sql`removed`)})
    select before.key is not null as found, exists (select 1 from removed) as removed from before`,
  })
}

const remove = { email: removeOf('email'), phone: removeOf('phone') }

/** Somebody else has the contact. */
export const isTaken = (error: unknown) =>
  ['accounts_email_proved', 'accounts_phone_proved', 'accounts_waiting_for'].some((index) =>
    violates(error, index),
  )

async function unlessTaken<T>(write: () => Promise<T>, taken: T): Promise<T> {
  try {
    return await retryConflicts(write)
  } catch (error) {
    if (isTaken(error)) return taken
    throw error
  }
}

export type PeopleStore = ReturnType<typeof createPeopleStore>

export function createPeopleStore(database: Database) {
  return {
    /**
     * Registrations that wait for one of its contacts end, and with `verified` every claim to them. The invitation is
     * made with the account or not at all. It returns false if one of the contacts belongs to another account. A username
     * that is, or was, somebody else's: `username_taken`.
     */
    async create(
      account: MadeAccount,
      identifiers: Identifier[],
      invitation: PreparedCode | null,
      now: Date,
    ): Promise<boolean> {
      const write = () =>
        database.transaction(async (transaction) => {
          for (const { key } of identifiers) await transaction.all(endWaiting, { key })
          const made = (await transaction.first(create, paramsOf(account, identifiers, now)))!
          if (account.username && !(await takeUsername(transaction, account.username, account.uuid)))
            throw new AppError('username_taken')
          if (account.verified) await endClaimsTo(transaction, made.id, identifiers)
          await recordEvents(transaction, eventsOf(account), now)
          if (invitation) await putAccountCode(transaction, { ...made, uuid: account.uuid }, invitation, now)
          return true
        })
      return unlessTaken(write, false)
    },
    /**
     * The contact in place of the one before, which stays verified where it is the same one. Pending changes of the account's
     * own end. An account that nobody confirmed waits for the new contact, or with `verified` is confirmed.
     */
    async putContact(
      { id: accountId, uuid, ...before }: Account,
      identifier: Email | Phone,
      verified: boolean,
      notices: NewMessage[],
      now: Date,
    ): Promise<'put' | 'taken' | 'gone'> {
      const { kind, key, destination } = identifier
      const write = () =>
        database.transaction(async (transaction) => {
          await holdAccount(transaction, accountId)
          if ((await transaction.first(isElsewhere[kind], { accountId, key }))?.elsewhere) return 'taken'
          await transaction.all(endWaitingElsewhere, { accountId, key })
          const params = { accountId, destination, key, verified, now, ...noticeParams(notices) }
          if ((await transaction.first(put[kind], params)) === null) return 'gone'
          if (verified) await endClaimsTo(transaction, accountId, [identifier])
          const type = before[kind] === null ? 'identifier.added' : 'identifier.changed'
          await recordEvents(transaction, [{ type, account: uuid, data: { contact: kind, verified } }], now)
          return 'put'
        })
      return unlessTaken(write, 'taken')
    },
    /** `last`: it is the only verified contact. */
    async removeContact(
      { id: accountId, uuid }: Account,
      kind: Identifier['kind'],
      notices: NewMessage[],
      now: Date,
    ): Promise<'removed' | 'not_found' | 'last' | 'gone'> {
      const params = { accountId, now, ...noticeParams(notices) }
      const row = await updateLockedAccount(database, remove[kind], params, ({ removed }): NewEvent[] =>
        removed ? [{ type: 'identifier.removed', account: uuid, data: { contact: kind } }] : [],
      )
      if (row === null) return 'gone'
      if (!row.found) return 'not_found'
      return row.removed ? 'removed' : 'last'
    },
  }
}

const paramsOf = (
  { email, phone, metadata, groups, profile, ...account }: MadeAccount,
  [primary]: Identifier[],
  now: Date,
) => ({
  ...account,
  email: email?.destination ?? null,
  emailKey: email?.key ?? null,
  phone: phone?.key ?? null,
  metadata: metadata === undefined ? null : JSON.stringify(metadata),
  groups: groups && JSON.stringify(groups),
  profile: profile && JSON.stringify(profile),
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
