/** Tables `replaced_contacts` and `undo_links`, and what an undo changes in the account: see store.ts. */
import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import {
  accountCodes,
  accounts,
  contactChanges,
  recoveryCodes,
  replacedContacts,
  sessions,
  totpEnrolments,
  totpFactors,
  undoLinks,
} from '../../../platform/postgres/schema.ts'
import { column, defineStatement } from '../../../platform/postgres/statement.ts'
import { createSweep, daysBefore } from '../../../platform/postgres/sweep.ts'
import {
  accountRow,
  endOtherClaims,
  unqualifiedColumns,
  updateLockedAccount,
  verifyIdentifier,
} from '../../accounts/accounts/account-sql.ts'
import { isRecentContact, removeAdditions } from '../../accounts/accounts/additions-sql.ts'
import { forgetDevices } from '../../accounts/devices/known-devices-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import {
  noticeParams,
  noticeParamTypes,
  queueNotices,
  supersedeAll,
} from '../../messages/outbox/queue-sql.ts'
import type { UndoStore } from './store.ts'
import { endLaterLinks, UNDO_DAYS } from './undo-sql.ts'

const find = defineStatement({
  name: 'undo.find',
  params: { hash: 'bytea', after: 'timestamptz' },
  row: {
    ...accountRow,
    replacedKind: column<Identifier['kind']>('text'),
    destination: 'text',
    destinationKey: 'text',
    isUsed: 'boolean',
    isTaken: 'boolean',
  },
  sql: (p) => sql`
  select ${accounts}.*, replaced.kind as replaced_kind, replaced.destination, replaced.destination_key,
         used_at is not null as is_used,
         case replaced.kind
           when 'email' then exists (
             select 1 from ${accounts} other
              where other.email_key = replaced.destination_key and other.email_confirmed_at is not null
                and other.id <> replaced.account_id)
           else exists (
             select 1 from ${accounts} other
              where other.phone = replaced.destination_key and other.phone_confirmed_at is not null
                and other.id <> replaced.account_id)
         end as is_taken
    from ${undoLinks} join ${replacedContacts} replaced on replaced.id = replaced_id
    join ${accounts} on ${accounts}.id = replaced.account_id
   where hash = ${p.hash} and replaced.replaced_at > ${p.after}`,
})

const columnsOf = {
  email: sql.raw('email, email_key'),
  phone: sql.raw('phone'),
}

/**
 * What was added counts from seven days before the change: an intruder may have begun with a passkey, and the owner may
 * take seven days to see the notice.
 */
const restoreOf = (of: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt, addedAt, addedBy } = unqualifiedColumns[of]
  const otherKind = of === 'email' ? 'phone' : 'email'
  const other = unqualifiedColumns[otherKind]
  const window = { now: sql`link.replaced_at` }
  const values = of === 'email' ? sql`link.destination, link.destination_key` : sql`link.destination_key`
  const oldOther = otherKind === 'email' ? sql`old.email, old.email_key` : sql`old.phone`
  return defineStatement({
    name: `undo.restore_${of}`,
    params: {
      hash: 'bytea',
      after: 'timestamptz',
      accountId: 'bigint',
      key: 'text',
      now: 'timestamptz',
      ...noticeParamTypes,
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
    proved as (
      update ${accounts}
         set (${columnsOf[of]}, ${verifiedAt}, ${addedAt}, ${addedBy}) = (
               select ${values}, link.verified_at, link.added_at, link.added_by),
             (${columnsOf[otherKind]}, ${other.verifiedAt}, ${other.addedAt}, ${other.addedBy}) = (
               select ${oldOther}, old.${other.verifiedAt}, old.${other.addedAt}, old.${other.addedBy}
                where not old.has_recent),
             password_digest = null, password_changed_at = ${p.now}, failed_attempts = 0,
             two_factor_enabled = link.had_two_factors, updated_at = ${p.now}
        from old, link where ${accounts}.id = old.id
      returning ${accounts}.id, ${accounts}.uuid, link.verified_at as since, link.replaced_at,
                link.had_two_factors, link.had_app,
                case when old.has_recent then ${sql.raw(`'${otherKind}'`)}::text end as lost_contact),
    replacing as (
      insert into ${replacedContacts} (account_id, kind, destination, destination_key, verified_at, replaced_at,
                                       session_id, known_client)
      select old.id, link.kind, old.${sql.raw(of)}, old.${keyColumn}, old.${verifiedAt}, ${p.now}, link.session_id, true
        from old, link where old.${verifiedAt} is not null and old.${keyColumn} <> link.destination_key),
    ${endOtherClaims(p, of)},
    ${removeAdditions({ now: sql`proved.replaced_at` })},
    no_app as (
      delete from ${totpFactors} using proved where account_id = proved.id and not proved.had_app returning account_id),
    no_recovery_codes as (
      delete from ${recoveryCodes} using proved
       where account_id = proved.id and not proved.had_app
         and (not proved.had_two_factors
              or exists (select 1 from ${totpFactors} app where app.account_id = proved.id))),
    no_account_codes as (
      delete from ${accountCodes} using proved
       where account_id = proved.id and ${accountCodes}.created_at >= proved.replaced_at),
    no_enrolment as (delete from ${totpEnrolments} using proved where account_id = proved.id),
    no_changes as (delete from ${contactChanges} using proved where account_id = proved.id),
    revoked as (
      update ${sessions} set revoked_at = ${p.now} from proved
       where account_id = proved.id and revoked_at is null),
    unknown_devices as (${forgetDevices(sql`proved`, sql`null::bytea`)}),
    overtaken as (${endLaterLinks(p, sql`proved`)}),
    replaced_codes as (${supersedeAll({ now: p.now, codeSubject: sql`(select uuid from proved)` })}),
    notices as (${queueNotices(
      p,
      sql`proved`,
      sql`coalesce((select jsonb_build_object('removed', labels) from removed where labels is not null), '{}')`,
    )})
    select id from proved`,
  })
}

const restore = { email: restoreOf('email'), phone: restoreOf('phone') }

const sweep = createSweep({
  name: 'undo.sweep',
  table: replacedContacts,
  key: sql`id`,
  params: { before: 'timestamptz' },
  where: (p) => sql`replaced_at < ${p.before}`,
  order: sql`replaced_at`,
})

export function createUndoStore(database: Database): UndoStore {
  async function findUndoable(hash: Uint8Array, now: Date) {
    const row = await database.first(find, { hash, after: daysBefore(now, UNDO_DAYS) })
    if (row === null) return null
    const { replacedKind: kind, destination, destinationKey, isUsed, isTaken, ...account } = row
    return { account, kind, destination, destinationKey, isUsed, isTaken }
  }

  return {
    find: findUndoable,
    async restore(hash, { account, kind, destinationKey }, notices, now) {
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
          },
          {
            at: now,
            eventsOf: () => [{ type: 'undo.used', account: account.uuid, data: { contact: kind } }],
          },
        ),
      )
      if (restored !== null) return 'restored'
      return (await findUndoable(hash, now))?.isUsed === false ? 'taken' : 'used'
    },
    sweep: (now, limit) => sweep(database, { before: daysBefore(now, UNDO_DAYS), limit }),
  }
}
