/** Table `accounts` (and the outbox rows its changes cause): see store.ts for what each method promises. */
import { randomUUID } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { type Database, param, type Statement, unawaited } from '../../platform/postgres/database.ts'
import { retryDeadlocks, violates } from '../../platform/postgres/failure.ts'
import { accounts, registrationClaims, sessions } from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'
import { createSweep, daysBefore } from '../../platform/postgres/sweep.ts'
import {
  messageParams,
  messageRequestId,
  queueMessage,
  strangersLane,
  supersedePending,
} from '../delivery/store-postgres.ts'
import type { NewEvent } from '../events/event.ts'
import { changeAndRecord, recordEvents } from '../events/event-sql.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { Account } from './account.ts'
import { accountRow } from './account-sql.ts'
import { type AccountStore, type IdentifierUse, identifierUses } from './store.ts'

const key = param('key', 'text')

const holdAccount = defineStatement({
  name: 'accounts.hold_account',
  params: { accountId: 'bigint' },
  sql: (p) => sql`select 1 from ${accounts} where id = ${p.accountId} for update`,
})

/**
 * Locks the account, then runs a statement that changes how it is protected, in the same transaction; returns its row or
 * null. Other changes of the account commit before the statement, which then sees them, or wait for it. Lock and change
 * cannot be one statement: a statement sees the rows as they were when it began, before it waited for the lock.
 */
export const updateLockedAccount = <Params extends { accountId: number }, Row extends object>(
  database: Database,
  change: Statement<Params, Row>,
  params: Params,
  record?: { at: Date; eventsOf: (row: Row) => NewEvent[] },
): Promise<Row | null> =>
  retryDeadlocks(() =>
    database.transaction(async (transaction) => {
      await transaction.all(holdAccount, { accountId: params.accountId })
      const row = await transaction.first(change, params)
      if (row !== null && record) await recordEvents(transaction, record.eventsOf(row), record.at)
      return row
    }),
  )

/**
 * The caller's session has not ended since the call began. A request that started before a password reset must not change
 * anything after it.
 */
export const sessionLives = sql`exists (
  select 1 from ${sessions}
   where ${sessions}.id = ${param('sessionId', 'uuid')}
     and ${sessions}.account_id = ${param('accountId', 'bigint')} and ${sessions}.revoked_at is null)`

/**
 * The columns of the comparable form and of the time of its verification, without their table, as SET requires; `cleared`
 * are the assignments that remove the contact.
 */
export const unqualifiedColumns = {
  email: {
    key: sql.raw('email_key'),
    verifiedAt: sql.raw('email_confirmed_at'),
    addedAt: sql.raw('email_added_at'),
    addedBy: sql.raw('email_added_by'),
    cleared: sql.raw('email = null, email_key = null'),
  },
  phone: {
    key: sql.raw('phone'),
    verifiedAt: sql.raw('phone_confirmed_at'),
    addedAt: sql.raw('phone_added_at'),
    addedBy: sql.raw('phone_added_by'),
    cleared: sql.raw('phone = null'),
  },
}

/** How many other claims end with a verification, of confirmed accounts and of registrations each; more are harmless. */
const CLAIMS_AT_ONCE = sql.raw('1000')

/**
 * CTEs that end everything else when an identifier is verified: the registration that waited for it, the claims of other
 * accounts, and the records of who named it. They follow a CTE `proved` with the `id` of the account that owns it now;
 * `key` is the parameter. The work is bounded however many claims there are: a claim to an identifier that somebody has
 * verified has no effect, and a registration loses it when it is confirmed.
 */
export function endOtherClaims(kind: Identifier['kind']): SQL {
  const { key: keyColumn, verifiedAt, cleared } = unqualifiedColumns[kind]
  const claims = (confirmed: SQL) => sql`
    (select id from ${accounts}
      where ${keyColumn} = ${key} and ${verifiedAt} is null and account_confirmed_at is ${confirmed}
      order by id limit ${CLAIMS_AT_ONCE})`
  return sql`
    ended as (
      delete from ${accounts} using proved
       where ${accounts}.waiting_for = ${key} and ${accounts}.id <> proved.id),
    cleared as (
      update ${accounts} set ${cleared} from proved
       where ${accounts}.id = any (array(${claims(sql`not null`)} union all ${claims(sql`null`)}))
         and ${accounts}.${keyColumn} = ${key} and ${accounts}.${verifiedAt} is null
         and ${accounts}.waiting_for is distinct from ${key} and ${accounts}.id <> proved.id),
    forgotten as (
      delete from ${registrationClaims} using proved where contact = ${key})`
}

/** Runs a statement that verifies an identifier; null if somebody else verified it first. */
export async function verifyIdentifier<T>(
  kind: Identifier['kind'],
  work: () => Promise<T | null>,
): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    const index = kind === 'email' ? 'accounts_email_proved' : 'accounts_phone_proved'
    if (violates(error, index)) return null
    throw error
  }
}

/**
 * Each of these reads one entry of an index, however many accounts name the identifier. `pending` is the registration that
 * waits for it, or else the newest one that names it as its other contact.
 */
const candidates = (kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  const one = (where: SQL, order = sql``) => sql`(select id from ${accounts} where ${where} ${order} limit 1)`
  return {
    verified: one(sql`${keyColumn} = ${key} and ${verifiedAt} is not null`),
    claimed: one(
      sql`${keyColumn} = ${key} and ${verifiedAt} is null and account_confirmed_at is not null`,
      sql`order by id`,
    ),
    waiting: one(sql`waiting_for = ${key} and account_confirmed_at is null`),
    named: one(
      sql`${keyColumn} = ${key} and account_confirmed_at is null and origin is null`,
      sql`order by id desc`,
    ),
  }
}

/** Which account is meant, by what the caller wants to do. All candidates are read, so that each call costs the same. */
const meant: Record<IdentifierUse, SQL> = {
  login: sql`coalesce(verified, claimed, waiting, named)`,
  second_step: sql`coalesce(verified, claimed)`,
  confirmation: sql`case when verified is null then coalesce(waiting, named) end`,
  reset: sql`coalesce(verified, waiting)`,
  provider: sql`verified`,
}

const findMeant = (use: IdentifierUse, kind: Identifier['kind']) => {
  const { verified, claimed, waiting, named } = candidates(kind)
  return defineStatement({
    name: `accounts.find_for_${use}_by_${kind}`,
    params: { key: 'text' },
    row: accountRow,
    sql: () => sql`
    with candidates as materialized (
      select ${verified} as verified, ${claimed} as claimed, ${waiting} as waiting, ${named} as named)
    select ${accounts}.* from candidates join ${accounts} on ${accounts}.id = ${meant[use]}`,
  })
}

const findByIdentifier = Object.fromEntries(
  identifierUses.map((use) => [use, { email: findMeant(use, 'email'), phone: findMeant(use, 'phone') }]),
) as Record<IdentifierUse, Record<Identifier['kind'], ReturnType<typeof findMeant>>>

const findByUuid = defineStatement({
  name: 'accounts.find_by_uuid',
  params: { uuid: 'uuid' },
  row: accountRow,
  sql: (p) => sql`
  select * from ${accounts} where uuid = ${p.uuid}`,
})

const isTaken = defineStatement({
  name: 'accounts.is_taken',
  params: { email: 'text?', phone: 'text?' },
  row: { taken: 'boolean' },
  sql: (p) => sql`
  select exists (
    select 1 from ${accounts} where email_key = ${p.email} and email_confirmed_at is not null
    union all
    select 1 from ${accounts} where phone = ${p.phone} and phone_confirmed_at is not null
    union all
    select 1 from ${accounts} where email_key = ${p.email} and origin is not null
    union all
    select 1 from ${accounts} where phone = ${p.phone} and origin is not null) as taken`,
})

/** The subject of the code is the account's uuid. A replaced registration keeps it, and with it the budget of the day. */
const registerBy = (kind: Identifier['kind']) => {
  const { key: keyColumn, verifiedAt } = unqualifiedColumns[kind]
  const stored = kind === 'email' ? accounts.email : accounts.phone
  return defineStatement({
    name: `accounts.register_by_${kind}`,
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
      codePurpose: 'text?',
      codeGroup: 'text',
      messageChannel: 'text',
      messageDestination: 'text',
      messagePurpose: 'text',
      messageLanguage: 'text',
      messageValues: 'jsonb',
      codeSeed: 'bytea?',
      messageLane: 'int',
      messageRequestId: 'text?',
    },
    row: { uuid: 'uuid', messageId: 'bigint' },
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
    replaced as (${supersedePending({ codeSubject: sql`(select uuid from registered)` })}),
    code as (${queueMessage(sql`registered`, { codeSubject: sql`registered.uuid` })}
      returning id),
    notice as (${queueMessage(sql`owner`, {
      // As the owner wrote it, not as the person who registers spells it.
      destination: sql`owner.destination`,
      purpose: sql`'account_exists'`,
      language: sql`owner.language`,
      codeSubject: sql`null::uuid`,
      codePurpose: sql`null::text`,
      codeSeed: sql`null::bytea`,
      accountUuid: sql`owner.uuid`,
      lane: strangersLane,
      requestId: messageRequestId,
    })}
      returning id)
    select uuid, code.id as message_id from registered, code
    union all select uuid, notice.id from owner, notice`,
  })
}

const register = { email: registerBy('email'), phone: registerBy('phone') }

/** Whether registrations named the contact with two passwords, including that of the confirmation (`tag`). */
const isContested = (contact: SQL) => sql`
  (select count(*) > 1
     from (select password_tag from ${registrationClaims} where contact = ${contact}
           union select ${param('tag', 'bytea')} where ${param('tag', 'bytea')} is not null
           limit 2) tags)`

/** The registration as the caller read it; one that was sent again since then is a different one. */
const isThatRegistration = sql`
  uuid = ${param('uuid', 'uuid')} and account_confirmed_at is null and updated_at = ${param('seenAt', 'timestamptz')}`

/** The other contact stays a claim, unless it may be a stranger's or has been verified by somebody meanwhile. */
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
    name: `accounts.confirm_by_${kind}`,
    params: {
      key: 'text',
      tag: 'bytea?',
      now: 'timestamptz',
      digest: 'text?',
      uuid: 'uuid',
      seenAt: 'timestamptz',
    },
    row: accountRow,
    sql: (p) => sql`
    with contested as materialized (select ${isContested(p.key)} as yes),
    proved as (
      update ${accounts}
         set account_confirmed_at = ${p.now}, ${verifiedAt} = ${p.now}, updated_at = ${p.now}, waiting_for = null,
             password_digest = coalesce(${p.digest},
                                        case when not contested.yes then password_digest end),
             ${otherContact[kind]}
        from contested
       where ${isThatRegistration} and ${keyColumn} = ${p.key}
      returning ${accounts}.*),
    ${endOtherClaims(kind)}
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
    name: `accounts.confirm_apart_by_${kind}`,
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
    with contested as materialized (select ${isContested(p.key)} as yes),
    registration as (
      select * from ${accounts}
       where ${isThatRegistration} and ${keyColumn} = ${p.key} and waiting_for <> ${p.key}
         and ${isContested(sql`waiting_for`)}
         for update),
    proved as (
      insert into ${accounts} (uuid, ${contact}, ${verifiedAt}, account_confirmed_at, password_digest,
                               accountable_type, role_id, language, created_at, updated_at)
      select ${p.newUuid}, ${contact}, ${p.now}, ${p.now},
             coalesce(${p.digest}, case when not contested.yes then password_digest end),
             accountable_type, role_id, language, created_at, ${p.now}
        from registration, contested
      returning *),
    ${endOtherClaims(kind)}
    select * from proved`,
  })
}

const confirmApart = { email: confirmApartBy('email'), phone: confirmApartBy('phone') }

/** A crash may lose the count. Waiting for the disk would show a difference between known and unknown accounts. */
const noteFailure = defineStatement({
  name: 'accounts.note_failure',
  params: { accountId: 'bigint' },
  sql: (p) => sql`
  with ${unawaited}
  update ${accounts} set failed_attempts = failed_attempts + 1 from unawaited
   where id = ${p.accountId} and unawaited.off is not null`,
})

/** Time enough to find the message; after it the identifier is free again. */
const REGISTRATION_DAYS = 7

/** A registration that was sent again counts from then on. The index is on its creation, which is never later. */
const sweepRegistrations = createSweep<{ before: Date }>({
  table: accounts,
  key: sql`id`,
  where: sql`account_confirmed_at is null and created_at < ${param('before', 'timestamptz')} and updated_at < ${param('before', 'timestamptz')}`,
  order: sql`created_at`,
})

/** The records that show that a registration is contested are kept as long as the registration. */
const sweepRegistrationClaims = createSweep<{ before: Date }>({
  table: registrationClaims,
  key: sql`contact, address, password_tag`,
  where: sql`created_at < ${param('before', 'timestamptz')}
    and not exists (select 1 from ${accounts} where account_confirmed_at is null and email_key = contact)
    and not exists (select 1 from ${accounts} where account_confirmed_at is null and phone = contact)`,
  order: sql`created_at`,
})

export function createAccountStore(database: Database): AccountStore {
  return {
    findByIdentifier: ({ kind, key }, use) => database.first(findByIdentifier[use][kind], { key }),
    findByUuid: (uuid) => database.first(findByUuid, { uuid }),
    async isTaken(identifiers) {
      const keyOf = (kind: Identifier['kind']) => identifiers.find((one) => one.kind === kind)?.key ?? null
      return (await database.first(isTaken, { email: keyOf('email'), phone: keyOf('phone') }))!.taken
    },
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
      const record = {
        at: now,
        eventsOf: ({ uuid }: Account): NewEvent[] => [
          { type: 'account.registered', account: uuid, data: { contact: kind } },
          { type: 'account.confirmed', account: uuid, data: { contact: kind } },
        ],
      }
      return verifyIdentifier(kind, () =>
        retryDeadlocks(async () => {
          const apart =
            waitingFor === key
              ? null
              : await changeAndRecord(
                  database,
                  confirmApart[kind],
                  { ...params, newUuid: randomUUID() },
                  record,
                )
          return apart ?? changeAndRecord(database, confirm[kind], params, record)
        }),
      )
    },
    async noteFailure(accountId) {
      await database.all(noteFailure, { accountId })
    },
    sweepRegistrations: (now, limit) =>
      sweepRegistrations(database, { before: daysBefore(now, REGISTRATION_DAYS), limit }),
    sweepRegistrationClaims: (now, limit) =>
      sweepRegistrationClaims(database, { before: daysBefore(now, REGISTRATION_DAYS), limit }),
  }
}
