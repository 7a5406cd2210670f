/**
 * The records that a restored database must not bring back: read from the database that it replaces, and applied again.
 */

import { sql } from 'drizzle-orm'
import { changeRoles, deleteAdministrators } from '../../administration/administrators/administrator-sql.ts'
import { deleteAccountCodes } from '../../domain/accounts/account-codes/account-code-sql.ts'
import { forgetNotes } from '../../domain/accounts/admission/permit-sql.ts'
import { deleteAccounts, lockAccounts } from '../../domain/accounts/core/changes-sql.ts'
import { forgetTrusted } from '../../domain/accounts/devices/trusted-devices-sql.ts'
import { revokeTokens } from '../../domain/credentials/administrator-means/token-sql.ts'
import { deleteRemovals } from '../../domain/credentials/authenticators/factors-sql.ts'
import { forgetEventDetails } from '../../domain/foundation/events/event-sql.ts'
import { deleteTickets } from '../../domain/foundation/tickets/ticket-sql.ts'
import { deleteCodes } from '../../domain/messages/codes/code-sql.ts'
import { deleteMessages } from '../../domain/messages/outbox/queue-sql.ts'
import { endUnrecorded } from '../../domain/sessions/core/session-sql.ts'
import { deleteSigningKeys } from '../../domain/sessions/tokens/key-store.ts'
import {
  accountCodes,
  accounts,
  administrationTokens,
  administrators,
  erasedAccounts,
  events,
  identityKeys,
  sessions,
  signingKeys,
  twoFactorRemovals,
  usernames,
} from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'

const NIL_UUID = sql.raw(`'00000000-0000-0000-0000-000000000000'::uuid`)

export const findErased = defineStatement({
  name: 'restore.find_erased',
  row: { account: 'uuid' },
  sql: () => sql`
  select account from ${events} where type = 'account.erased' and account is not null
  union select uuid from ${erasedAccounts} where uuid <> ${NIL_UUID}`,
})

/**
 * No erasure was forgotten since this time: events are swept oldest first, and erasures are kept since the note of the
 * nil uuid.
 */
export const findErasuresSince = defineStatement({
  name: 'restore.find_erasures_since',
  row: { since: 'timestamptz' },
  sql: () => sql`
  select least(erased_at, (select created_at from ${events} order by id limit 1)) as since
    from ${erasedAccounts} where uuid = ${NIL_UUID}`,
})

/** Some accounts by which the backup and what it replaces are known to be of one service. */
export const findOldestAccounts = defineStatement({
  name: 'restore.find_oldest_accounts',
  row: { uuid: 'uuid' },
  sql: () => sql`select uuid from ${accounts} order by id limit 1000`,
})

export const hasOneOf = defineStatement({
  name: 'restore.has_one_of',
  params: { uuids: 'text' },
  row: { found: 'boolean' },
  sql: (p) => sql`
  select exists (select 1 from ${accounts}
    where uuid in (select value::uuid from jsonb_array_elements_text(${p.uuids}::jsonb) as value)) as found`,
})

/** Tells whether an earlier state was restored since: then missing rows may have been added after that state. */
export const wentBack = defineStatement({
  name: 'restore.went_back',
  params: { since: 'timestamptz' },
  row: { found: 'boolean' },
  sql: (p) => sql`
  select exists (select 1 from ${events}
    where type = 'backup.restored' and created_at > ${p.since}
      and (data->>'made_at')::timestamptz < ${p.since}) as found`,
})

export const findRevokedKeys = defineStatement({
  name: 'restore.find_revoked_keys',
  row: { kid: 'text?' },
  sql: () => sql`select distinct data->>'kid' as kid from ${events} where type = 'key.revoked'`,
})

export const findSigningKeys = defineStatement({
  name: 'restore.find_signing_keys',
  row: { kid: 'text' },
  sql: () => sql`select kid from ${signingKeys} union all select kid from ${identityKeys}`,
})

export const findTokens = defineStatement({
  name: 'restore.find_tokens',
  row: { uuid: 'uuid' },
  sql: () => sql`select uuid from ${administrationTokens} where revoked_at is null`,
})

export const findAdministrators = defineStatement({
  name: 'restore.find_administrators',
  row: { uuid: 'uuid', role: 'text' },
  sql: () => sql`
  select uuid, role from ${administrators} join ${accounts} on ${accounts}.id = account_id`,
})

export const findLocked = defineStatement({
  name: 'restore.find_locked',
  row: { uuid: 'uuid', lockedAt: 'timestamptz?', lockedReason: 'text?' },
  sql: () => sql`select uuid, locked_at, locked_reason from ${accounts} where locked_at is not null`,
})

export const findEndedSessions = defineStatement({
  name: 'restore.find_ended_sessions',
  params: { since: 'timestamptz' },
  row: { id: 'uuid' },
  sql: (p) => sql`select id from ${sessions} where revoked_at >= ${p.since}`,
})

/** Recovery codes, invitations and removals of two factors that nobody has used or stopped. */
export const findOpen = defineStatement({
  name: 'restore.find_open',
  row: { id: 'uuid' },
  sql: () => sql`select id from ${accountCodes} union all select id from ${twoFactorRemovals}`,
})

/** Erases as an erasure does, except for the notice, which the person has got. */
export const eraseAgain = defineStatement({
  name: 'restore.erase_again',
  params: { uuids: 'text' },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  with ${deleteAccounts(sql`uuid in (select value::uuid from jsonb_array_elements_text(${p.uuids}::jsonb) as value)`)},
  dropped as (
    ${deleteMessages(
      sql`account_uuid in (select uuid from gone)
        or (destination <> '' and lower(destination) in (select destination from destinations))`,
    )}),
  unnoted as (${forgetNotes(sql`gone`)}),
  ${forgetEventDetails(sql`gone`)}
  select uuid from gone`,
})

export const keepErased = defineStatement({
  name: 'restore.keep_erased',
  params: { uuids: 'text', now: 'timestamptz' },
  sql: (p) => sql`
  insert into ${erasedAccounts} (uuid, erased_at)
  select value::uuid, ${p.now} from jsonb_array_elements_text(${p.uuids}::jsonb) as value
  on conflict do nothing`,
})

export const revokeKeysAgain = defineStatement({
  name: 'restore.revoke_keys_again',
  params: { kids: 'text' },
  row: { kid: 'text' },
  sql: (p) => sql`
  ${deleteSigningKeys(sql`kid in (select jsonb_array_elements_text(${p.kids}::jsonb))`)}`,
})

/** All but `kids`. */
export const revokeOtherKeys = defineStatement({
  name: 'restore.revoke_other_keys',
  params: { kids: 'text' },
  row: { kid: 'text' },
  sql: (p) => sql`
  ${deleteSigningKeys(sql`kid not in (select jsonb_array_elements_text(${p.kids}::jsonb))`)}`,
})

export const revokeOtherTokens = defineStatement({
  name: 'restore.revoke_other_tokens',
  params: { uuids: 'text', now: 'timestamptz' },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  ${revokeTokens(p, sql`uuid not in (select value::uuid from jsonb_array_elements_text(${p.uuids}::jsonb) as value)`)}
  returning uuid`,
})

/** Those that were added since are added by hand: the account may not be there. */
export const changeAdministratorsAgain = defineStatement({
  name: 'restore.change_administrators_again',
  params: { present: 'text' },
  row: { uuid: 'uuid', role: 'text?' },
  sql: (p) => sql`
  with later as materialized (
    select account.id, account.uuid, present.role
      from ${administrators} join ${accounts} account on account.id = account_id
      left join jsonb_to_recordset(${p.present}::jsonb) as present (uuid uuid, role text) using (uuid)),
  removed as (
    ${deleteAdministrators(sql`later`, sql`account_id = later.id and later.role is null`)}
    returning later.uuid),
  changed as (
    ${changeRoles(sql`later`)}
    returning later.uuid, later.role)
  select uuid, null::text as role from removed union all select uuid, role from changed`,
})

export const lockAgain = defineStatement({
  name: 'restore.lock_again',
  params: { locks: 'text', now: 'timestamptz' },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  with locked as (${lockAccounts(
    sql`jsonb_to_recordset(${p.locks}::jsonb) as before (uuid uuid, locked_at timestamptz, locked_reason text)`,
    sql`before`,
  )}),
  ended as (${endUnrecorded(p, sql`account_id = locked.id`, sql`locked`)})
  select uuid from locked`,
})

export const findUsernames = defineStatement({
  name: 'restore.find_usernames',
  row: { hash: 'text', account: 'uuid?' },
  sql: () => sql`select encode(hash, 'hex') as hash, account from ${usernames}`,
})

/** `ids` null: every one. */
export const endSessionsAgain = defineStatement({
  name: 'restore.end_sessions_again',
  params: { ids: 'text?', now: 'timestamptz' },
  row: { count: 'int' },
  sql: (p) => sql`
  with ended as (
    ${endUnrecorded(
      p,
      sql`(${p.ids} is null or id in (select value::uuid from jsonb_array_elements_text(${p.ids}::jsonb) as value))`,
    )}
    returning 1)
  select count(*)::int as count from ended`,
})

/**
 * A message to a person that waited was sent since, or is too late. A code or a ticket that was used since must not work again, nor
 * must a removal go on that its owner stopped. `open`: what is known to be as open as it was. Devices stay trusted only
 * where the sessions stay and no database knows which of them are trusted no longer.
 */
export const forgetUnderWay = defineStatement({
  name: 'restore.forget_under_way',
  params: { open: 'text', keepTrust: 'boolean' },
  row: { messages: 'int' },
  sql: (p) => sql`
  with gone as (${deleteMessages(sql`finished_at is null and channel <> 'application'`)} returning 1),
  codes_gone as (${deleteCodes}),
  tickets_gone as (${deleteTickets}),
  open as materialized (select value::uuid as id from jsonb_array_elements_text(${p.open}::jsonb) as value),
  account_codes_gone as (${deleteAccountCodes(sql`id not in (select id from open)`)}),
  removals_gone as (${deleteRemovals(sql`id not in (select id from open)`)}),
  untrusted as (${forgetTrusted(sql`not ${p.keepTrust}`)})
  select count(*)::int as messages from gone`,
})
