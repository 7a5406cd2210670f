/**
 * Everything that is stored about a person: PostgreSQL, in every storage shape. It reads every table that knows an
 * account. A new one is added here.
 */

import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import {
  accountCodes,
  accounts,
  administrators,
  contactChanges,
  eventDetails,
  events,
  identities,
  knownDevices,
  messages,
  passkeys,
  recoveryCodes,
  replacedContacts,
  sessions,
  totpFactors,
  trustedDevices,
  twoFactorRemovals,
} from '../../../platform/postgres/schema.ts'
import { defineStatement, json } from '../../../platform/postgres/statement.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import { changeAndRecord } from '../../foundation/events/event-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { noticeParams, noticeParamTypes, queueNotices } from '../../messages/outbox/queue-sql.ts'

export const exportedLists = [
  'sessions',
  'known_devices',
  'trusted_devices',
  'passkeys',
  'identities',
  'authenticator_apps',
  'contact_changes',
  'replaced_contacts',
  'administrators_codes',
  'administrators',
  'two_factor_removals',
  'messages',
  'events',
] as const
type Rows = Record<(typeof exportedLists)[number], Record<string, unknown>[]>

/** Times as text. No hash, key, seed or token. */
export interface ExportedDocument extends Rows {
  metadata: Record<string, unknown>
  locked_reason: string | null
  language: string
  email_verified_at: string | null
  phone_verified_at: string | null
  password_changed_at: string | null
  recovery_codes_left: number
}

/** It says only that there is a fingerprint, because anybody who has the value is taken for that device. */
const exportedOf = (name: string) => (name === 'device_fingerprint' ? `"${name}" is not null` : `"${name}"`)

const object = (columns: string[]) =>
  sql`jsonb_build_object(${sql.join(
    columns.map((name) => sql.raw(`'${name}', ${exportedOf(name)}`)),
    sql`, `,
  )})`

/** All rows of the account `me`, oldest first. */
const rowsOf = (table: SQLWrapper, columns: string[], order: string, where: SQL = sql`account_id = me.id`) =>
  sql`(select coalesce(jsonb_agg(${object(columns)} order by ${sql.raw(order)}), '[]') from ${table} where ${where})`

const session = [
  'id',
  'device_type',
  'device_name',
  'device_os',
  'device_fingerprint',
  'ip',
  'sign_in_ip',
  'amr',
]
const message = ['id', 'channel', 'destination', 'purpose', 'language', 'outcome', 'gateway', 'receipt']
const event = [
  'id',
  'type',
  'outcome',
  'created_at',
  'actor_type',
  'session_id',
  'data',
  'address',
  'device',
  'count',
]

/**
 * A code for a new contact is sent only where nobody else has it, so its message would tell who has an account.
 * `contact_changes` names the contact in either case.
 */
const tellsNothingOfOthers = sql`purpose not in ('email_change', 'phone_change')
  or destination = me.email and me.email_confirmed_at is not null
  or destination = me.phone and me.phone_confirmed_at is not null`

const aboutMe: Record<keyof ExportedDocument, SQL> = {
  metadata: sql`coalesce(me.metadata, '{}')`,
  locked_reason: sql`to_jsonb(me.locked_reason)`,
  language: sql`to_jsonb(me.language)`,
  email_verified_at: sql`to_jsonb(me.email_confirmed_at)`,
  phone_verified_at: sql`to_jsonb(me.phone_confirmed_at)`,
  password_changed_at: sql`to_jsonb(me.password_changed_at)`,
  sessions: rowsOf(
    sessions,
    [...session, 'created_at', 'last_used_at', 'expires_at', 'revoked_at'],
    'created_at',
  ),
  trusted_devices: rowsOf(trustedDevices, ['created_at', 'last_used_at', 'expires_at'], 'created_at'),
  known_devices: rowsOf(knownDevices, ['kind', 'last_sign_in_at'], 'last_sign_in_at'),
  passkeys: rowsOf(
    passkeys,
    ['id', 'name', 'created_at', 'last_used_at', 'transports', 'aaguid'],
    'created_at',
  ),
  identities: rowsOf(identities, ['provider', 'issuer', 'subject', 'email', 'created_at'], 'id'),
  authenticator_apps: rowsOf(totpFactors, ['confirmed_at'], 'confirmed_at'),
  recovery_codes_left: sql`to_jsonb(coalesce(
    (select cardinality(hashes) from ${recoveryCodes} where account_id = me.id), 0))`,
  contact_changes: rowsOf(contactChanges, ['kind', 'destination', 'created_at'], 'created_at'),
  replaced_contacts: rowsOf(
    replacedContacts,
    ['kind', 'destination', 'verified_at', 'replaced_at'],
    'replaced_at',
  ),
  administrators_codes: rowsOf(accountCodes, ['kind', 'sent_to', 'created_at', 'expires_at'], 'created_at'),
  administrators: rowsOf(administrators, ['role', 'created_at', 'last_signed_in_at'], 'created_at'),
  two_factor_removals: rowsOf(twoFactorRemovals, ['created_at', 'due_at'], 'created_at'),
  messages: rowsOf(
    messages,
    [...message, 'created_at', 'finished_at'],
    'id',
    sql`coalesce(account_uuid, code_subject) = me.uuid and (${tellsNothingOfOthers})`,
  ),
  events: rowsOf(
    sql`${events} left join ${eventDetails} on event_id = id`,
    event,
    'id',
    sql`account = me.uuid`,
  ),
}

const read = defineStatement({
  name: 'me.export',
  params: { accountId: 'bigint', now: 'timestamptz', ...noticeParamTypes },
  row: { document: json<ExportedDocument>() },
  sql: (p) => sql`
  with me as (select * from ${accounts} where id = ${p.accountId}),
  notices as (${queueNotices(p, sql`me`)})
  select jsonb_build_object(${sql.join(
    Object.entries(aboutMe).map(([name, value]) => sql`${sql.raw(`'${name}'`)}, ${value}`),
    sql`, `,
  )}) as document from me`,
})

export type ExportStore = ReturnType<typeof createExportStore>

export function createExportStore(database: Database) {
  return {
    /** Records that it was exported, and queues the notices. It returns null if the account is gone. */
    async read({ id: accountId, uuid }: Account, notices: NewMessage[], now: Date) {
      const params = { accountId, now, ...noticeParams(notices) }
      const event: NewEvent = { type: 'account.exported', account: uuid }
      const row = await changeAndRecord(database, read, params, now, () => event)
      return row?.document ?? null
    },
  }
}
