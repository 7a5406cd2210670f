/**
 * The records that changes and removals of contacts leave behind so that they can be undone, and the SQL that ends that
 * possibility.
 */
import { sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { replacedContacts, totpFactors, undoLinks } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import type { Account } from '../../accounts/core/account.ts'
import { contactsOf } from '../../accounts/core/contacts-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'

/** The days in which a replaced contact can come back. */
export const UNDO_DAYS = 7

/** What is kept of a contact that an account loses, beside the contact. */
export interface Keeping {
  /** The account knew the device, or the address, seven days before. */
  knownClient: boolean
  /** The undo link in the notice, and the contact that the notice goes to; null where none carries one. */
  undoHash: Uint8Array | null
  undoKey: string | null
}

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
    hash: 'bytea?',
    addedAt: 'timestamptz?',
    addedBy: 'uuid?',
    hadTwoFactors: 'boolean',
    now: 'timestamptz',
  },
  sql: (p) => sql`
  with remembered as (
    insert into ${replacedContacts} (account_id, kind, destination, destination_key, verified_at, replaced_at,
                                     session_id, known_client)
    values (${p.accountId}, ${p.kind}, ${p.destination}, ${p.key}, ${p.verifiedAt}, ${p.now}, ${p.sessionId},
            ${p.knownClient})
    returning id, account_id)
  insert into ${undoLinks} (hash, replaced_id, added_at, added_by, had_two_factors, had_app)
  select ${p.hash}, id, ${p.addedAt}, ${p.addedBy}, ${p.hadTwoFactors},
         exists (select 1 from ${totpFactors} where ${totpFactors}.account_id = remembered.account_id)
    from remembered where ${p.hash} is not null`,
})

/**
 * Keeps the contact of that kind, which an account that is held loses, so that it can come back, if it was verified. The
 * link is for the contact that the notice goes to, and is not written if that was replaced meanwhile.
 */
export async function rememberReplaced(
  transaction: Executor,
  account: Account,
  kind: Identifier['kind'],
  { sessionId, knownClient, undoHash, undoKey }: Keeping & { sessionId: string },
  now: Date,
): Promise<void> {
  const contact = contactsOf(account)[kind]
  if (contact === null || contact.verifiedAt === null) return
  await transaction.run(remember, {
    ...{ accountId: account.id, hadTwoFactors: account.twoFactorEnabled, kind, sessionId, knownClient, now },
    ...{ ...contact, verifiedAt: contact.verifiedAt },
    hash: contact.key === undoKey ? undoHash : null,
  })
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
