/**
 * The temporary access and invitation codes of accounts, in PostgreSQL in every shape. The promise: at most one of each kind is
 * open for an account, and of any number of callers with one code exactly one has it. Nothing but its use, its expiry
 * and a newer one of its kind ends it. The table is `account_codes`.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accountCodes, accounts } from '../../../platform/postgres/schema.ts'
import { column, defineStatement, type ValuesOf } from '../../../platform/postgres/statement.ts'
import { createExpirySweep } from '../../../platform/postgres/sweep.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { AccountCodeKind } from '../../messages/codes/store.ts'
import { accountRow, candidates, unqualifiedColumns, withHeldAccount } from '../core/account-sql.ts'
import type { PreparedCode } from './account-code.ts'
import { putAccountCode } from './account-code-sql.ts'

const openRow = {
  ...accountRow,
  kind: column<AccountCodeKind>('text'),
  hash: 'bytea',
  sentTo: 'text?',
  removeFactors: 'boolean',
} as const

const openOf = (named: SQL, now: SQL) => sql`
  select account.*, code.kind, code.hash, code.sent_to, code.remove_factors
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

const sweep = createExpirySweep(accountCodes, 'account_codes.sweep', sql`account_id, kind`)

export type AccountCodeStore = ReturnType<typeof createAccountCodeStore>

export function createAccountCodeStore(database: Database) {
  return {
    /**
     * Makes it the one of its kind, and queues its messages; one that waits with the code before is replaced. It returns
     * false if the account is gone.
     */
    put: (
      account: { id: number; uuid: string },
      prepared: Pick<PreparedCode, 'code' | 'messages'>,
      now: Date,
    ): Promise<boolean> =>
      withHeldAccount(database, account.id, (transaction) =>
        putAccountCode(transaction, account, prepared, now),
      ),
    /** The open codes of every account that the identifier may name, also of those that merely claim it. */
    findByIdentifier: async ({ kind, key }: Identifier, now: Date) =>
      (await database.all(findByIdentifier[kind], { key, now })).map(toOpen),
    findByUuid: async (uuid: string, now: Date) =>
      (await database.all(findByUuid, { uuid, now })).map(toOpen),
    /** Finds a code by its id. Null where it was used, replaced or has expired. */
    findOpen: (id: string, now: Date) => database.first(findOpen, { id, now }),
    sweep: (now: Date, limit: number) => sweep(database, { now, limit }),
  }
}

function toOpen({ kind, hash, sentTo, removeFactors, ...account }: ValuesOf<typeof openRow>) {
  return { kind, hash, sentTo, removeFactors, account }
}
