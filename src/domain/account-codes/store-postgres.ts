/** Table `account_codes`: see store.ts for what each method promises. */
import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../platform/postgres/database.ts'
import { accountCodes, accounts } from '../../platform/postgres/schema.ts'
import { column, defineStatement } from '../../platform/postgres/statement.ts'
import { createSweep } from '../../platform/postgres/sweep.ts'
import { accountRow, unqualifiedColumns, updateLockedAccount } from '../accounts/account-sql.ts'
import { candidates } from '../accounts/store-postgres.ts'
import type { AccountCodeKind } from '../codes/store.ts'
import type { NewEvent } from '../events/event.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import { noticeParams, noticeParamTypes, queueNotices, supersedeAll } from '../outbox/queue-sql.ts'
import type { AccountCodeStore, NewAccountCode } from './store.ts'

const put = defineStatement({
  name: 'account_codes.put',
  params: {
    accountId: 'bigint',
    kind: 'text',
    id: 'uuid',
    hash: 'bytea',
    sentTo: 'text?',
    expiresAt: 'timestamptz',
    now: 'timestamptz',
    ...noticeParamTypes,
  },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  with account as (select id, uuid from ${accounts} where id = ${p.accountId}),
  older as (select id from ${accountCodes} where account_id = ${p.accountId} and kind = ${p.kind}),
  put as (
    insert into ${accountCodes} (account_id, kind, id, hash, sent_to, created_at, expires_at)
    select id, ${p.kind}, ${p.id}, ${p.hash}, ${p.sentTo}, ${p.now}, ${p.expiresAt} from account
    on conflict (account_id, kind) do update
       set id = excluded.id, hash = excluded.hash, sent_to = excluded.sent_to, created_at = excluded.created_at,
           expires_at = excluded.expires_at),
  replaced as (${supersedeAll({ now: p.now, codeSubject: sql`(select id from older)` })}),
  queued as (${queueNotices(p, sql`account`)})
  select uuid from account`,
})

const openRow = {
  ...accountRow,
  codeKind: column<AccountCodeKind>('text'),
  codeHash: 'bytea',
  codeSentTo: 'text?',
} as const

const openOf = (named: SQL, now: SQL) => sql`
  select account.*, code.kind as code_kind, code.hash as code_hash, code.sent_to as code_sent_to
    from (${named}) named join ${accounts} account on account.id = named.id
    join ${accountCodes} code on code.account_id = account.id
   where code.expires_at > ${now}`

/** More accounts than one that were made for one contact are the operator's mistake: the others have a uuid. */
const MADE = sql.raw('10')

/** A bounded number of accounts, however many name the identifier. */
const findBy = (kind: Identifier['kind']) => {
  const { key } = unqualifiedColumns[kind]
  return defineStatement({
    name: `account_codes.find_by_${kind}`,
    params: { key: 'text', now: 'timestamptz' },
    row: openRow,
    sql: (p) => {
      const { verified, claimed, waiting } = candidates(p, kind)
      return openOf(
        sql`${verified} union ${claimed} union ${waiting} union
            (select id from ${accounts} where ${key} = ${p.key} and origin is not null limit ${MADE})`,
        p.now,
      )
    },
  })
}

const findByIdentifier = { email: findBy('email'), phone: findBy('phone') }

const findByUuid = defineStatement({
  name: 'account_codes.find_by_uuid',
  params: { uuid: 'uuid', now: 'timestamptz' },
  row: openRow,
  sql: (p) => openOf(sql`select id from ${accounts} where uuid = ${p.uuid}`, p.now),
})

const findOpen = defineStatement({
  name: 'account_codes.find_open',
  params: { id: 'uuid', now: 'timestamptz' },
  row: { accountUuid: 'uuid', hash: 'bytea' },
  sql: (p) => sql`
  select uuid as account_uuid, hash from ${accountCodes} code join ${accounts} account on account.id = account_id
   where code.id = ${p.id} and expires_at > ${p.now}`,
})

const sweep = createSweep({
  name: 'account_codes.sweep',
  table: accountCodes,
  key: sql`account_id, kind`,
  params: { now: 'timestamptz' },
  where: (p) => sql`expires_at <= ${p.now}`,
  order: sql`expires_at`,
})

export function createAccountCodeStore(database: Database): AccountCodeStore {
  return {
    async put({ id: accountId, uuid }, code, messages, now) {
      const params = { ...code, accountId, now, ...noticeParams(messages) }
      const record = { at: now, eventsOf: () => [eventOf(uuid, code)] }
      return (await updateLockedAccount(database, put, params, record)) !== null
    },
    findByIdentifier: async ({ kind, key }, now) =>
      (await database.all(findByIdentifier[kind], { key, now })).map(toOpen),
    findByUuid: async (uuid, now) => (await database.all(findByUuid, { uuid, now })).map(toOpen),
    findOpen: (id, now) => database.first(findOpen, { id, now }),
    sweep: (now, limit) => sweep(database, { now, limit }),
  }
}

const eventOf = (account: string, { kind, sentTo, expiresAt }: NewAccountCode): NewEvent => ({
  type: kind === 'recovery' ? 'recovery.created' : 'account.invited',
  account,
  data: {
    sent_by: sentTo === null ? null : sentTo.startsWith('+') ? 'sms' : 'email',
    expires_at: expiresAt.toISOString(),
  },
})

function toOpen<Row extends { codeKind: AccountCodeKind; codeHash: Uint8Array; codeSentTo: string | null }>({
  codeKind,
  codeHash,
  codeSentTo,
  ...account
}: Row) {
  return { kind: codeKind, hash: codeHash, sentTo: codeSentTo, account }
}
