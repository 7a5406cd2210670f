/**
 * The records that changes and removals of contacts leave behind so that they can be undone, and the SQL that ends that
 * possibility.
 */
import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { accounts, replacedContacts, totpFactors, undoLinks } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders, type ValuesOf } from '../../../platform/postgres/statement.ts'
import { unqualifiedColumns } from '../../accounts/core/account-sql.ts'
import type { HeldContact } from '../../accounts/core/contacts-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'

/** The days in which a replaced contact can come back. */
export const UNDO_DAYS = 7

export const keepParamTypes = {
  kind: 'text',
  now: 'timestamptz',
  sessionId: 'uuid',
  knownClient: 'boolean',
  undoHash: 'bytea?',
  undoKey: 'text?',
} as const

export type KeepParams = Pick<ValuesOf<typeof keepParamTypes>, 'knownClient' | 'undoHash' | 'undoKey'>

/** The contact before a change, in a CTE; `where`: whether it is about to change. */
export const contactBefore = (p: Placeholders<'accountId'>, of: Identifier['kind'], where: SQL) => {
  const { key, verifiedAt, addedAt, addedBy } = unqualifiedColumns[of]
  return sql`
    before as (
      select id, ${sql.raw(of)} as destination, ${key} as key, ${verifiedAt} as verified_at, ${addedAt} as added_at,
             ${addedBy} as added_by, two_factor_enabled
        from ${accounts} where id = ${p.accountId} and ${where})`
}

/**
 * Two CTEs that keep a verified contact which the account loses, and its undo link if a notice carries one. `before`: the row
 * of `contactBefore`; `lost`: from where it is taken, `before` among it. The link is for the contact that the notice goes
 * to, and is not written if that was replaced meanwhile.
 */
export const keepReplaced = (p: Placeholders<keyof typeof keepParamTypes>, before: SQL, lost: SQL) => sql`
    remembered as (
      insert into ${replacedContacts} (account_id, kind, destination, destination_key, verified_at, replaced_at,
                                       session_id, known_client)
      select ${before}.id, ${p.kind}, ${before}.destination, ${before}.key, ${before}.verified_at, ${p.now}, ${p.sessionId},
             ${p.knownClient}
        from ${lost}
      returning id, account_id, destination_key),
    undoable as (
      insert into ${undoLinks} (hash, replaced_id, added_at, added_by, had_two_factors, had_app)
      select ${p.undoHash}, remembered.id, ${before}.added_at, ${before}.added_by, ${before}.two_factor_enabled,
             exists (select 1 from ${totpFactors} where account_id = ${before}.id)
        from remembered join ${before} on ${before}.id = remembered.account_id
       where ${p.undoHash} is not null and remembered.destination_key = ${p.undoKey})`

const remember = defineStatement({
  name: 'undo.remember_replaced',
  params: {
    accountId: 'bigint',
    kind: 'text',
    destination: 'text',
    key: 'text',
    verifiedAt: 'timestamptz',
    sessionId: 'uuid',
    knownClient: 'boolean',
    now: 'timestamptz',
  },
  sql: (p) => sql`
  insert into ${replacedContacts} (account_id, kind, destination, destination_key, verified_at, replaced_at,
                                   session_id, known_client)
  values (${p.accountId}, ${p.kind}, ${p.destination}, ${p.key}, ${p.verifiedAt}, ${p.now}, ${p.sessionId},
          ${p.knownClient})`,
})

interface Replaced {
  kind: Identifier['kind']
  contact: HeldContact | null
  sessionId: string
  knownClient: boolean
}

/** Keeps a contact that the account loses, so that it can come back, if it was verified. */
export async function rememberReplaced(
  transaction: Executor,
  accountId: number,
  { contact, ...replaced }: Replaced,
  now: Date,
): Promise<void> {
  if (contact === null || contact.verifiedAt === null) return
  const { destination, key, verifiedAt } = contact
  await transaction.run(remember, { accountId, destination, key, verifiedAt, ...replaced, now })
}

/**
 * Ends the links of contacts which the account verified later than the one that proves whose it is: the holder of the older
 * contact has the last word.
 */
export const endLaterLinks = defineStatement({
  name: 'undo.end_later_links',
  params: { accountId: 'bigint', verifiedAt: 'timestamptz', now: 'timestamptz' },
  sql: (p) => sql`
  update ${undoLinks} set used_at = ${p.now} from ${replacedContacts} replaced
   where replaced.id = ${undoLinks}.replaced_id and replaced.account_id = ${p.accountId}
     and replaced.verified_at > ${p.verifiedAt} and ${undoLinks}.used_at is null`,
})
