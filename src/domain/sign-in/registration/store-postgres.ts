/** Tables `accounts` and `registration_claims`, and the rows of the outbox that registering causes: see store.ts. */
import { randomUUID } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { retryDeadlocks } from '../../../platform/postgres/failure.ts'
import { accounts, registrationClaims } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders } from '../../../platform/postgres/statement.ts'
import { createSweep, daysBefore } from '../../../platform/postgres/sweep.ts'
import type { Account } from '../../accounts/accounts/account.ts'
import {
  accountRow,
  endOtherClaims,
  unqualifiedColumns,
  verifyIdentifier,
} from '../../accounts/accounts/account-sql.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import {
  changeAndRecord,
  eventCtes,
  eventParams,
  eventParamTypes,
} from '../../foundation/events/event-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import {
  messageParams,
  messageParamTypes,
  queueMessage,
  queueOwnersNotice,
  supersedePending,
} from '../../messages/outbox/queue-sql.ts'
import type { RegistrationStore } from './store.ts'

const { codeSubject: _, ...withoutSubject } = messageParamTypes

/** Whether registrations named the contact with two passwords, including that of the confirmation (`tag`). */
const isContested = (p: Placeholders<'tag'>, contact: SQL) => sql`
  (select count(*) > 1
     from (select password_tag from ${registrationClaims} where contact = ${contact}
           union select ${p.tag} where ${p.tag} is not null
           limit 2) tags)`

/** The subject of the code is the account's uuid. A replaced registration keeps it, and with it the budget of the day. */
const registerBy = (kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  const stored = kind === 'email' ? accounts.email : accounts.phone
  return defineStatement({
    name: `registration.register_by_${kind}`,
    params: {
      key: 'text',
      uuid: 'uuid',
      email: 'text?',
      emailKey: 'text?',
      phone: 'text?',
      passwordDigest: 'text',
      accountableType: 'text',
      roleId: 'int',
      now: 'timestamptz',
      language: 'text',
      emailTag: 'bytea?',
      phoneTag: 'bytea?',
      ...withoutSubject,
    },
    row: { uuid: 'uuid', messageId: 'bigint', contested: 'boolean' },
    sql: (p) => sql`
    with owner as (
      select uuid, language, ${stored} as destination from ${accounts}
       where id = coalesce(
         (select id from ${accounts} where ${keyColumn} = ${p.key} and ${verifiedAt} is not null),
         (select id from ${accounts} where ${keyColumn} = ${p.key} and origin is not null limit 1))),
    registered as (
      insert into ${accounts} (uuid, email, email_key, phone, password_digest, accountable_type, role_id, created_at,
                               updated_at, language, waiting_for)
      select ${p.uuid}, ${p.email}, ${p.emailKey},
             ${p.phone}, ${p.passwordDigest}, ${p.accountableType},
             ${p.roleId}, ${p.now}, ${p.now}, ${p.language}, ${p.key}
       where not exists (select 1 from owner)
      on conflict (waiting_for) where waiting_for is not null do update
         set email = excluded.email, email_key = excluded.email_key, phone = excluded.phone,
             password_digest = excluded.password_digest, language = excluded.language,
             updated_at = excluded.updated_at
      returning uuid),
    claimed as (
      insert into ${registrationClaims} (contact, address, password_tag, created_at)
      select contact, '', tag, ${p.now}
        from (values (${p.emailKey}, ${p.emailTag}),
                     (${p.phone}, ${p.phoneTag})) named (contact, tag)
       where contact is not null and not exists (select 1 from owner)
         and (select count(*) from (select distinct password_tag from ${registrationClaims}
                                     where contact = named.contact limit 2) other) < 2
      on conflict (contact, address, password_tag) do update set created_at = excluded.created_at),
    replaced as (${supersedePending({ ...p, codeSubject: sql`(select uuid from registered)` })}),
    code as (${queueMessage({ ...p, codeSubject: sql`registered.uuid` }, sql`registered`)}
      returning id),
    notice as (${queueOwnersNotice({
      now: p.now,
      source: sql`owner`,
      channel: p.messageChannel,
      // As the owner wrote it, not as the person who registers spells it.
      destination: sql`owner.destination`,
      purpose: 'account_exists',
      language: sql`owner.language`,
      accountUuid: sql`owner.uuid`,
      causedBy: p,
    })}
      returning id)
    select uuid, code.id as message_id, ${isContested({ tag: kind === 'email' ? p.emailTag : p.phoneTag }, p.key)} as contested
      from registered, code
    union all select uuid, notice.id, false from owner, notice`,
  })
}

const register = { email: registerBy('email'), phone: registerBy('phone') }

/** The registration as the caller read it; one that was sent again since then is a different one. */
const isThatRegistration = (p: Placeholders<'uuid' | 'seenAt'>) => sql`
  uuid = ${p.uuid} and account_confirmed_at is null and updated_at = ${p.seenAt}`

/** The other contact stays a claim, unless it may be a stranger's or somebody has verified it in the meantime. */
const otherContact = {
  email: sql`phone = case when contested.yes or exists (
      select 1 from ${accounts} other where other.phone = ${accounts}.phone and other.phone_confirmed_at is not null)
    then null else phone end`,
  phone: sql`(email, email_key) = (
    select ${accounts}.email, ${accounts}.email_key where not contested.yes and not exists (
      select 1 from ${accounts} other
       where other.email_key = ${accounts}.email_key and other.email_confirmed_at is not null))`,
}

const confirmBy = (kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  return defineStatement({
    name: `registration.confirm_by_${kind}`,
    params: {
      key: 'text',
      tag: 'bytea?',
      now: 'timestamptz',
      digest: 'text?',
      uuid: 'uuid',
      seenAt: 'timestamptz',
      ...eventParamTypes,
    },
    row: accountRow,
    sql: (p) => sql`
    with contested as materialized (select ${isContested(p, p.key)} as yes),
    proved as (
      update ${accounts}
         set account_confirmed_at = ${p.now}, ${verifiedAt} = ${p.now}, updated_at = ${p.now}, waiting_for = null,
             password_digest = coalesce(${p.digest},
                                        case when not contested.yes then password_digest end),
             ${otherContact[kind]}
        from contested
       where ${isThatRegistration(p)} and ${keyColumn} = ${p.key}
      returning ${accounts}.*),
    ${endOtherClaims(p, kind)},
    ${eventCtes(p, sql`proved`)}
    select * from proved`,
  })
}

const confirm = { email: confirmBy('email'), phone: confirmBy('phone') }

/**
 * Somebody who verifies the other contact of a registration that two people sent gets a separate account: the contact that
 * the registration waits for may belong to another person, who can still confirm it.
 */
const confirmApartBy = (kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  const contact = kind === 'email' ? sql.raw('email, email_key') : sql.raw('phone')
  return defineStatement({
    name: `registration.confirm_apart_by_${kind}`,
    params: {
      key: 'text',
      tag: 'bytea?',
      uuid: 'uuid',
      seenAt: 'timestamptz',
      newUuid: 'uuid',
      now: 'timestamptz',
      digest: 'text?',
    },
    row: accountRow,
    sql: (p) => sql`
    with contested as materialized (select ${isContested(p, p.key)} as yes),
    registration as (
      select * from ${accounts}
       where ${isThatRegistration(p)} and ${keyColumn} = ${p.key} and waiting_for <> ${p.key}
         and ${isContested(p, sql`waiting_for`)}
         for update),
    proved as (
      insert into ${accounts} (uuid, ${contact}, ${verifiedAt}, account_confirmed_at, password_digest,
                               accountable_type, role_id, language, created_at, updated_at)
      select ${p.newUuid}, ${contact}, ${p.now}, ${p.now},
             coalesce(${p.digest}, case when not contested.yes then password_digest end),
             accountable_type, role_id, language, created_at, ${p.now}
        from registration, contested
      returning *),
    ${endOtherClaims(p, kind)}
    select * from proved`,
  })
}

const confirmApart = { email: confirmApartBy('email'), phone: confirmApartBy('phone') }

/** Time enough to find the message; afterwards the identifier is free again. */
const REGISTRATION_DAYS = 7

/**
 * A registration that was sent again counts from then on. The index is on its creation, which is never later. An account
 * that an administrator made stays.
 */
const sweep = createSweep({
  name: 'registration.sweep',
  table: accounts,
  key: sql`id`,
  params: { before: 'timestamptz' },
  where: (p) =>
    sql`account_confirmed_at is null and origin is null and created_at < ${p.before} and updated_at < ${p.before}`,
  order: sql`created_at`,
})

/** The records that show that a registration is contested are kept as long as the registration. */
const sweepClaims = createSweep({
  name: 'registration.sweep_claims',
  table: registrationClaims,
  key: sql`contact, address, password_tag`,
  params: { before: 'timestamptz' },
  where: (p) => sql`created_at < ${p.before}
    and not exists (select 1 from ${accounts} where account_confirmed_at is null and email_key = contact)
    and not exists (select 1 from ${accounts} where account_confirmed_at is null and phone = contact)`,
  order: sql`created_at`,
})

export function createRegistrationStore(database: Database): RegistrationStore {
  return {
    async register({ email, phone, codeSeed, ...registration }, now) {
      const primary = (email ?? phone)!
      const row = await database.first(register[primary.kind], {
        ...registration,
        ...messageParams({
          channel: primary.kind === 'email' ? 'email' : 'sms',
          destination: primary.destination,
          purpose: 'confirmation',
          language: registration.language,
          code: { subject: registration.uuid, purpose: 'confirmation', group: 'stranger', seed: codeSeed },
        }),
        now,
        key: primary.key,
        email: email?.destination ?? null,
        emailKey: email?.key ?? null,
        phone: phone?.key ?? null,
      })
      return row!
    },
    async confirm({ uuid, updatedAt, waitingFor }, { kind, key }, password, now) {
      const digest = password?.digest ?? null
      const params = { uuid, seenAt: updatedAt, key, digest, tag: password?.tag ?? null, now }
      const eventsOf = ({ uuid }: Pick<Account, 'uuid'>): NewEvent[] => [
        { type: 'account.registered', account: uuid, data: { contact: kind } },
        { type: 'account.confirmed', account: uuid, data: { contact: kind } },
      ]
      return verifyIdentifier(kind, () =>
        retryDeadlocks(async () => {
          const apart =
            waitingFor === key
              ? null
              : await changeAndRecord(
                  database,
                  confirmApart[kind],
                  { ...params, newUuid: randomUUID() },
                  { at: now, eventsOf },
                )
          return (
            apart ?? database.first(confirm[kind], { ...params, ...eventParams(eventsOf({ uuid }), now) })
          )
        }),
      )
    },
    sweep: (now, limit) => sweep(database, { before: daysBefore(now, REGISTRATION_DAYS), limit }),
    sweepClaims: (now, limit) => sweepClaims(database, { before: daysBefore(now, REGISTRATION_DAYS), limit }),
  }
}
