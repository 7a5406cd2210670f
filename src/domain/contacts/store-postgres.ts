/** Table `contact_changes` and the contacts of `accounts`: see contact-store.ts for what each method promises. */
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { accounts, contactChanges } from '../../platform/postgres/schema.ts'
import { createSweep, daysBefore } from '../../platform/postgres/sweep.ts'
import type { Account } from '../accounts/account.ts'
import {
  endOtherClaims,
  sessionLives,
  unqualifiedColumns,
  updateLockedAccount,
  verifyIdentifier,
} from '../accounts/store-postgres.ts'
import {
  type MessageParams,
  messageParams,
  messageRequestId,
  type NoticeParams,
  noticeParams,
  queueMessage,
  queueNotices,
  strangersLane,
  supersedePending,
} from '../delivery/store-postgres.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { ContactChange, ContactStore } from './store.ts'

const now = param('now', 'timestamptz')
const accountId = param('accountId', 'bigint')
const kind = param('kind', 'text')
const key = param('key', 'text')
const subject = param('subject', 'uuid')

const isThatChange = sql`account_id = ${accountId} and kind = ${kind}`

type RequestParams = {
  now: Date
  accountId: number
  sessionId: string
  kind: string
  destination: string
  key: string
  subject: string
} & MessageParams

const requestOf = (of: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[of]
  const destination = sql.raw(of)
  return statement<RequestParams, { outcome: 'asked' | 'taken' }>(sql`
    with owner as (
      select uuid, ${destination} as destination, language from ${accounts}
       where ${keyColumn} = ${key} and ${verifiedAt} is not null and id <> ${accountId} and ${sessionLives}),
    asked as (
      insert into ${contactChanges} (account_id, kind, destination, destination_key, code_subject, created_at)
      select id, ${kind}, ${param('destination', 'text')}, ${key}, ${subject}, ${now}
        from ${accounts} where id = ${accountId} and ${sessionLives} and not exists (select 1 from owner)
      on conflict (account_id, kind) do update
         set destination = excluded.destination, destination_key = excluded.destination_key,
             code_subject = excluded.code_subject, created_at = excluded.created_at
      returning code_subject),
    replaced as (${supersedePending({
      codeSubject: sql`(select code_subject from ${contactChanges}
                          where ${isThatChange} and exists (select 1 from asked))`,
      codePurpose: null,
    })}),
    code as (${queueMessage(sql`asked`)}),
    notice as (${queueMessage(sql`owner`, {
      destination: sql`owner.destination`,
      purpose: sql`'contact_claimed'`,
      language: sql`owner.language`,
      codeSubject: sql`null::uuid`,
      codePurpose: sql`null::text`,
      codeSeed: sql`null::bytea`,
      accountUuid: sql`owner.uuid`,
      lane: strangersLane,
      requestId: messageRequestId,
    })})
    select 'asked' as outcome from asked union all select 'taken' from owner`)
}

const request = { email: requestOf('email'), phone: requestOf('phone') }

const find = statement<{ accountId: number; kind: string }, ContactChange>(sql`
  select kind, destination, destination_key, code_subject from ${contactChanges} where ${isThatChange}`)

type ConfirmParams = {
  now: Date
  accountId: number
  sessionId: string
  kind: string
  key: string
  subject: string
} & NoticeParams

const replacements = {
  email: sql`email = asked.destination, email_key = asked.destination_key, email_confirmed_at = ${now}`,
  phone: sql`phone = asked.destination, phone_confirmed_at = ${now}`,
}

const confirmOf = (of: Identifier['kind']) =>
  statement<ConfirmParams, Account>(sql`
    with asked as (
      delete from ${contactChanges}
       where ${isThatChange} and code_subject = ${subject} and destination_key = ${key} and ${sessionLives}
      returning account_id, destination, destination_key),
    proved as (
      update ${accounts} set ${replacements[of]}, updated_at = ${now}
        from asked where ${accounts}.id = asked.account_id
      returning ${accounts}.*),
    ${endOtherClaims(of)},
    replaced as (${supersedePending({ codeSubject: sql`(select uuid from proved)`, codePurpose: null })}),
    notices as (${queueNotices(sql`proved`)})
    select * from proved`)

const confirm = { email: confirmOf('email'), phone: confirmOf('phone') }

/** Codes live ten minutes; a day covers every configuration that makes sense. */
const KEPT_DAYS = 1

const sweep = createSweep<{ before: Date }>({
  table: contactChanges,
  key: sql`account_id, kind`,
  where: sql`created_at < ${param('before', 'timestamptz')}`,
  order: sql`created_at`,
})

export function createContactStore(database: Database): ContactStore {
  return {
    async request({ account, sessionId }, { kind, destination, key }, { subject, seed }, now) {
      const purpose = kind === 'email' ? 'email_change' : 'phone_change'
      const row = await updateLockedAccount(database, request[kind], {
        ...messageParams({
          channel: kind === 'email' ? 'email' : 'sms',
          destination,
          purpose,
          language: account.language,
          code: { subject, purpose, group: 'owner', seed },
        }),
        accountId: account.id,
        sessionId,
        kind,
        destination,
        key,
        subject,
        now,
      })
      return row?.outcome ?? 'session_over'
    },
    find: ({ id }, kind) => database.first(find, { accountId: id, kind }),
    confirm: ({ account, sessionId }, { kind, destinationKey, codeSubject }, notices, now) =>
      verifyIdentifier(kind, () =>
        updateLockedAccount(
          database,
          confirm[kind],
          {
            accountId: account.id,
            sessionId,
            kind,
            key: destinationKey,
            subject: codeSubject,
            now,
            ...noticeParams(notices),
          },
          {
            at: now,
            eventsOf: () => [
              {
                type: account[kind] === null ? 'identifier.added' : 'identifier.changed',
                account: account.uuid,
                data: { contact: kind },
              },
            ],
          },
        ),
      ),
    sweep: (now, limit) => sweep(database, { before: daysBefore(now, KEPT_DAYS), limit }),
  }
}
