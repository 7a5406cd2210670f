/**
 * The undo links of replaced contacts, in PostgreSQL. The tables are `replaced_contacts` and `undo_links`.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import {
  accountCodes,
  accounts,
  replacedContacts,
  totpFactors,
  undoLinks,
} from '../../../platform/postgres/schema.ts'
import { column, defineStatement, type RowOf } from '../../../platform/postgres/statement.ts'
import { createAgeSweep, daysBefore } from '../../../platform/postgres/sweep.ts'
import { deleteAccountCodes } from '../../accounts/account-codes/account-code-sql.ts'
import {
  accountRow,
  endOtherClaims,
  unqualifiedColumns,
  updateLockedAccount,
  verifyIdentifier,
} from '../../accounts/core/account-sql.ts'
import { restoreContact } from '../../accounts/core/contacts-sql.ts'
import { forgetDevices } from '../../accounts/devices/known-devices-sql.ts'
import { dropApp, dropEnrolment, dropRecoveryCodes } from '../../credentials/authenticators/factors-sql.ts'
import { eventOrigin, eventOriginTypes } from '../../foundation/events/event-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import {
  noticeParams,
  noticeParamTypes,
  queueNotices,
  supersedeAll,
} from '../../messages/outbox/queue-sql.ts'
import { endSessionsOf } from '../../sessions/core/session-sql.ts'
import { isRecentContact, removeAdditions, whatWent } from './additions-sql.ts'
import { dropContactChanges } from './contact-changes-sql.ts'
import { endLaterLinks, UNDO_DAYS } from './undo-sql.ts'

/** Tells whether another account verified the contact of `replaced` meanwhile. */
const isTaken = sql`
         case replaced.kind
           when 'email' then exists (
             select 1 from ${accounts} other
              where other.email_key = replaced.destination_key and other.email_confirmed_at is not null
                and other.id <> replaced.account_id)
           else exists (
             select 1 from ${accounts} other
              where other.phone = replaced.destination_key and other.phone_confirmed_at is not null
                and other.id <> replaced.account_id)
         end`

const changesOf = defineStatement({
  name: 'undo.changes_of',
  params: { accountId: 'bigint', after: 'timestamptz' },
  row: {
    id: 'bigint',
    kind: column<Identifier['kind']>('text'),
    destination: 'text',
    replacedAt: 'timestamptz',
    /** The hash of the link that brings the contact back; null where none is open. */
    hash: 'bytea?',
    isTaken: 'boolean',
  },
  sql: (p) => sql`
  select replaced.id, replaced.kind, replaced.destination, replaced.replaced_at,
         (select hash from ${undoLinks} where replaced_id = replaced.id and used_at is null limit 1) as hash,
         ${isTaken} as is_taken
    from ${replacedContacts} replaced
   where replaced.account_id = ${p.accountId} and replaced.replaced_at > ${p.after}
   order by replaced.id desc`,
})

const find = defineStatement({
  name: 'undo.find',
  params: { hash: 'bytea', after: 'timestamptz' },
  row: {
    ...accountRow,
    replacedKind: column<Identifier['kind']>('text'),
    /** The contact that can come back, and its comparable form. */
    destination: 'text',
    destinationKey: 'text',
    isUsed: 'boolean',
    /** Another account verified the contact meanwhile. */
    isTaken: 'boolean',
  },
  sql: (p) => sql`
  select ${accounts}.*, replaced.kind as replaced_kind, replaced.destination, replaced.destination_key,
         used_at is not null as is_used, ${isTaken} as is_taken
    from ${undoLinks} join ${replacedContacts} replaced on replaced.id = replaced_id
    join ${accounts} on ${accounts}.id = replaced.account_id
   where hash = ${p.hash} and replaced.replaced_at > ${p.after}`,
})

/**
 * Additions count from seven days before the change: an intruder may have begun with a passkey, and the owner may take
 * seven days to see the notice.
 */
const restoreOf = (of: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[of]
  const otherKind = of === 'email' ? 'phone' : 'email'
  const window = { now: sql`link.replaced_at` }
  return defineStatement({
    name: `undo.restore_${of}`,
    params: {
      hash: 'bytea',
      after: 'timestamptz',
      accountId: 'bigint',
      key: 'text',
      now: 'timestamptz',
      ...noticeParamTypes,
      ...eventOriginTypes,
    },
    row: { id: 'bigint' },
    sql: (p) => sql`
    with link as (
      update ${undoLinks} set used_at = ${p.now} from ${replacedContacts} replaced
       where hash = ${p.hash} and used_at is null and replaced.id = replaced_id
         and replaced.account_id = ${p.accountId} and replaced.replaced_at > ${p.after}
      returning replaced.*, ${undoLinks}.added_at, ${undoLinks}.added_by, had_two_factors, had_app),
    old as (
      select ${accounts}.*, ${isRecentContact(window, otherKind, sql`link.verified_at`)} as has_recent
        from ${accounts} join link on link.account_id = ${accounts}.id),
    proved as (${restoreContact(p, of, { old: sql`old`, link: sql`link` })}),
    replacing as (
      insert into ${replacedContacts} (account_id, kind, destination, destination_key, verified_at, replaced_at,
                                       session_id, known_client)
      select old.id, link.kind, old.${sql.raw(of)}, old.${keyColumn}, old.${verifiedAt}, ${p.now}, link.session_id, true
        from old, link where old.${verifiedAt} is not null and old.${keyColumn} <> link.destination_key),
    ${endOtherClaims(p, of, sql`proved`)},
    ${removeAdditions({ now: sql`proved.replaced_at` }, sql`proved`)},
    no_app as (${dropApp(sql`proved`, sql`not proved.had_app returning account_id`)}),
    no_recovery_codes as (${dropRecoveryCodes(
      sql`proved`,
      sql`not proved.had_app
         and (not proved.had_two_factors
              or exists (select 1 from ${totpFactors} app where app.account_id = proved.id))`,
    )}),
    no_account_codes as (${deleteAccountCodes(
      sql`account_id = proved.id and ${accountCodes}.created_at >= proved.replaced_at`,
      sql`proved`,
    )}),
    no_enrolment as (${dropEnrolment(sql`proved`)}),
    no_changes as (${dropContactChanges(sql`proved`)}),
    ${endSessionsOf(p, 'undo', sql`proved`)},
    unknown_devices as (${forgetDevices(sql`proved`, sql`null::bytea`)}),
    overtaken as (${endLaterLinks(p, sql`proved`)}),
    replaced_codes as (${supersedeAll({ now: p.now, codeSubject: sql`(select uuid from proved)` })}),
    notices as (${queueNotices(p, sql`proved`, whatWent)})
    select id from proved`,
  })
}

const restore = { email: restoreOf('email'), phone: restoreOf('phone') }

const sweep = createAgeSweep(replacedContacts, 'undo.sweep', sql`id`, sql`replaced_at`)

export type Undoable = NonNullable<Awaited<ReturnType<UndoStore['find']>>>
export type UndoStore = ReturnType<typeof createUndoStore>

export function createUndoStore(database: Database) {
  async function findUndoable(hash: Uint8Array, now: Date) {
    const row = await database.first(find, { hash, after: daysBefore(now, UNDO_DAYS) })
    if (row === null) return null
    const { replacedKind: kind, destination, destinationKey, isUsed, isTaken, ...account } = row
    return { account, kind, destination, destinationKey, isUsed, isTaken }
  }

  return {
    /** The changes and removals of verified contacts that are not too old, newest first. */
    changesOf: (accountId: number, now: Date): Promise<RowOf<typeof changesOf>[]> =>
      database.all(changesOf, { accountId, after: daysBefore(now, UNDO_DAYS) }),
    /** It returns null if no link has this hash, or if it is too old. */
    find: findUndoable,
    /**
     * Puts the contact back as it was. In the same transaction all sessions end, all devices are forgotten, and the
     * password and what sessions added go. An authenticator app, two factors and a temporary access code that came after
     * the change go, too. Other claims to the contact end, and so do the links of contacts that were verified later.
     * Queues the notices. One of any number of calls succeeds; `taken` changes nothing.
     */
    async restore(
      hash: Uint8Array,
      { account, kind, destinationKey }: NonNullable<Awaited<ReturnType<typeof findUndoable>>>,
      notices: NewMessage[],
      now: Date,
    ): Promise<'restored' | 'used' | 'taken'> {
      const restored = await verifyIdentifier(kind, () =>
        updateLockedAccount(
          database,
          restore[kind],
          {
            hash,
            after: daysBefore(now, UNDO_DAYS),
            accountId: account.id,
            key: destinationKey,
            now,
            ...noticeParams(notices),
            ...eventOrigin(),
          },
          () => ({ type: 'undo.used', account: account.uuid, data: { contact: kind } }),
        ),
      )
      if (restored !== null) return 'restored'
      return (await findUndoable(hash, now))?.isUsed === false ? 'taken' : 'used'
    },
    /** Removes replaced contacts that can no longer come back, and their links; returns their number. */
    sweep: (now: Date, limit: number) => sweep(database, { before: daysBefore(now, UNDO_DAYS), limit }),
  }
}
