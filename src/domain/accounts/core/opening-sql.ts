/**
 * The ways in which accounts begin: as a registration, by a provider's identity, or made by an administrator. And how
 * those end that nobody confirmed.
 */
import { type SQL, sql } from 'drizzle-orm'
import { camelCase } from '../../../platform/postgres/database.ts'
import { accounts, registrationClaims } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'
import { createSweep } from '../../../platform/postgres/sweep.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import { unqualifiedColumns } from './account-sql.ts'

/**
 * Tells whether registrations named the contact with two passwords, including that of the call (`tag`). A registration
 * without a password has a tag that is like no other.
 */
export const isContested = (contact: SQL, tag = sql`null::bytea`) => sql`
  (select count(*) > 1
     from (select password_tag from ${registrationClaims} where contact = ${contact}
           union select ${tag} where ${tag} is not null
           limit 2) tags)`

/**
 * Returns the columns that every new account gets. `permit` is the CTE of the admission (../admission/permit-sql.ts):
 * it has one row where the account may be opened, and otherwise none.
 */
export const admitted = (source: SQL) => sql`
             role_id = coalesce(permit.role_id, ${source}.role_id), groups = coalesce(permit.groups, ${source}.groups),
             metadata = coalesce(permit.metadata, ${source}.metadata),
             invitation_id = permit.invitation_id, test_identity = ${source}.test_identity or permit.test_identity,
             terms_version = permit.terms_version, terms_accepted_at = permit.terms_accepted_at`

const newAccountParamTypes = {
  uuid: 'uuid',
  email: 'text?',
  emailKey: 'text?',
  phone: 'text?',
  passwordDigest: 'text?',
  accountableType: 'text',
  roleId: 'int',
  now: 'timestamptz',
  language: 'text',
  profile: 'text?',
} as const

export const registrationParamTypes = {
  ...newAccountParamTypes,
  key: 'text',
  invitationId: 'bigint?',
  terms: 'text?',
} as const

/** A replaced registration keeps its uuid, and with it the budget of the day. */
export const addRegistration = (p: Placeholders<keyof typeof registrationParamTypes>, where: SQL): SQL => sql`
      insert into ${accounts} (uuid, email, email_key, phone, password_digest, accountable_type, role_id, created_at,
                               updated_at, language, waiting_for, invitation_id, profile, terms_version, terms_accepted_at)
      select ${p.uuid}, ${p.email}, ${p.emailKey},
             ${p.phone}, ${p.passwordDigest}, ${p.accountableType},
             ${p.roleId}, ${p.now}, ${p.now}, ${p.language}, ${p.key}, ${p.invitationId}, ${p.profile}::jsonb, ${p.terms},
             case when ${p.terms} is not null then ${p.now} end
       where ${where}
      on conflict (waiting_for) where waiting_for is not null do update
         set email = excluded.email, email_key = excluded.email_key, phone = excluded.phone,
             password_digest = excluded.password_digest, language = excluded.language,
             updated_at = excluded.updated_at, invitation_id = excluded.invitation_id, profile = excluded.profile,
             terms_version = excluded.terms_version, terms_accepted_at = excluded.terms_accepted_at
      returning uuid`

/** Notes who named the contacts, with which password; two passwords are enough to know that a contact is contested. */
export const addClaims = (
  p: Placeholders<'now' | 'emailKey' | 'emailTag' | 'phone' | 'phoneTag'>,
  where: SQL,
): SQL => sql`
      insert into ${registrationClaims} (contact, address, password_tag, created_at)
      select contact, '', tag, ${p.now}
        from (values (${p.emailKey}, ${p.emailTag}),
                     (${p.phone}, ${p.phoneTag})) named (contact, tag)
       where contact is not null and ${where}
         and (select count(*) from (select distinct password_tag from ${registrationClaims}
                                     where contact = named.contact limit 2) other) < 2
      on conflict (contact, address, password_tag) do update set created_at = excluded.created_at`

/** The other contact stays a claim, unless it may be a stranger's or somebody has verified it in the meantime. */
const otherContact = (kind: Identifier['kind'], isForeign: SQL) =>
  kind === 'email'
    ? sql`phone = case when ${isForeign} or exists (
      select 1 from ${accounts} other where other.phone = ${accounts}.phone and other.phone_confirmed_at is not null)
    then null else phone end`
    : sql`(email, email_key) = (
    select ${accounts}.email, ${accounts}.email_key where not (${isForeign}) and not exists (
      select 1 from ${accounts} other
       where other.email_key = ${accounts}.email_key and other.email_confirmed_at is not null))`

/** The profile that the call names; else that of the registration, unless it may be a stranger's. */
export const openedProfile = (p: Placeholders<'profile'>, source: SQL, isForeign: SQL) => sql`
             coalesce(${p.profile}::jsonb,
                      case when ${source}.origin is not null or not (${isForeign}) then ${source}.profile end)`

/** `contested`: one row, whose column `yes` says that the password of the registration may be a stranger's. */
export function confirmRegistration(
  p: Placeholders<'now' | 'digest' | 'profile'>,
  kind: Identifier['kind'],
  contested: SQL,
  where: SQL,
): SQL {
  const { verifiedAt } = unqualifiedColumns[kind]
  return sql`
      update ${accounts}
         set account_confirmed_at = ${p.now}, ${verifiedAt} = ${p.now}, updated_at = ${p.now}, waiting_for = null,
             password_digest = coalesce(${p.digest},
                                        case when not ${contested}.yes then password_digest end),
             ${otherContact(kind, sql`${contested}.yes or permit.test_identity`)},
             profile = ${openedProfile(p, sql`${accounts}`, sql`${contested}.yes or permit.test_identity`)},
             ${admitted(sql`${accounts}`)}
        from ${contested}, permit
       where ${where}
      returning ${accounts}.*`
}

/** A separate account for one contact of the row `registration`, which stays as it is. */
export function confirmApart(
  p: Placeholders<'now' | 'digest' | 'newUuid' | 'profile'>,
  kind: Identifier['kind'],
  { registration, contested }: { registration: SQL; contested: SQL },
): SQL {
  const contact = kind === 'email' ? sql.raw('email, email_key') : sql.raw('phone')
  return sql`
      insert into ${accounts} (uuid, ${contact}, ${unqualifiedColumns[kind].verifiedAt}, account_confirmed_at, password_digest,
                               accountable_type, role_id, language, created_at, updated_at, groups, metadata,
                               profile, invitation_id, terms_version, terms_accepted_at)
      select ${p.newUuid}, ${contact}, ${p.now}, ${p.now},
             coalesce(${p.digest}, case when not ${contested}.yes then password_digest end),
             accountable_type, coalesce(permit.role_id, ${registration}.role_id), language, created_at, ${p.now},
             permit.groups, permit.metadata, ${openedProfile(p, registration, sql`${contested}.yes or permit.test_identity`)}, permit.invitation_id, permit.terms_version,
             permit.terms_accepted_at
        from ${registration}, ${contested}, permit
      returning *`
}

/** The registration is opened by a new password; nothing of it stays that may be a stranger's. */
export const openByReset = (p: Placeholders<'accountId' | 'now'>): SQL => sql`
    update ${accounts}
       set account_confirmed_at = ${p.now}, updated_at = ${p.now}, waiting_for = null,
           profile = case when origin is not null then profile end, ${admitted(sql`${accounts}`)}
      from permit where ${accounts}.id = ${p.accountId}
    returning ${accounts}.id`

type ByProvider = Placeholders<'accountEmail' | 'now' | 'provider' | 'subject' | 'language'>

/** The registration in `claimed` becomes the account of the identity; nothing of it stays but its uuid. */
export const takeRegistrationOver = (p: ByProvider, claimed: SQL): SQL => sql`
    update ${accounts}
       set email = ${p.accountEmail}, email_confirmed_at = ${p.now}, account_confirmed_at = ${p.now}, updated_at = ${p.now},
           phone = null, password_digest = null, profile = null, failed_attempts = 0, provider = ${p.provider}, provider_uid = ${p.subject}, language = ${p.language},
           waiting_for = null, ${admitted(sql`${accounts}`)}
      from ${claimed}, permit where ${accounts}.id = ${claimed}.id
    returning ${accounts}.*`

/** `verifiedAt`: null where the identity verifies no e-mail address. */
export const addByProvider = (
  p: ByProvider & Placeholders<'uuid' | 'accountEmailKey' | 'accountableType' | 'roleId'>,
  verifiedAt: SQL,
  where: SQL,
): SQL => sql`
    insert into ${accounts} (uuid, email, email_key, email_confirmed_at, account_confirmed_at, provider, provider_uid,
                             accountable_type, role_id, language, created_at, updated_at, groups, metadata, invitation_id,
                             terms_version, terms_accepted_at)
    select ${p.uuid}, ${p.accountEmail}, ${p.accountEmailKey}, ${verifiedAt}, ${p.now}, ${p.provider}, ${p.subject},
           ${p.accountableType}, coalesce(permit.role_id, ${p.roleId}), ${p.language}, ${p.now}, ${p.now},
           permit.groups, permit.metadata, permit.invitation_id, permit.terms_version, permit.terms_accepted_at
      from permit where ${where}
    returning *`

export const madeAccountParamTypes = {
  ...newAccountParamTypes,
  accountableId: 'bigint?',
  metadata: 'text?',
  waitingFor: 'text?',
  verified: 'boolean',
  username: 'text?',
  groups: 'text?',
} as const

export const addByAdministrator = (p: Placeholders<keyof typeof madeAccountParamTypes>): SQL => sql`
  insert into ${accounts} (uuid, email, email_key, phone, password_digest, accountable_type, accountable_id, role_id,
                           metadata, username, groups, profile, language, waiting_for, origin, created_at, updated_at,
                           account_confirmed_at, email_confirmed_at, phone_confirmed_at)
  values (${p.uuid}, ${p.email}, ${p.emailKey}, ${p.phone}, ${p.passwordDigest}, ${p.accountableType},
          ${p.accountableId}, ${p.roleId}, ${p.metadata}::jsonb, ${p.username}, ${p.groups}::jsonb, ${p.profile}::jsonb,
          ${p.language}, ${p.waitingFor}, 'administrator', ${p.now}, ${p.now}, case when ${p.verified} then ${p.now} end,
          case when ${p.verified} and ${p.emailKey} is not null then ${p.now} end,
          case when ${p.verified} and ${p.phone} is not null then ${p.now} end)
  returning id`

/** An administrator gave the registration a contact. */
export const changeRegistration = (p: Placeholders<'accountId' | 'key' | 'verified' | 'now'>): SQL => sql`
  update ${accounts}
     set waiting_for = case when not ${p.verified} then ${p.key} end,
         account_confirmed_at = case when ${p.verified} then ${p.now} end
   where id = ${p.accountId} and account_confirmed_at is null`

/** The columns that a line of an import says. */
const importedColumns = {
  uuid: 'uuid',
  email: 'text',
  email_key: 'text',
  email_confirmed_at: 'timestamptz',
  phone: 'text',
  phone_confirmed_at: 'timestamptz',
  waiting_for: 'text',
  account_confirmed_at: 'timestamptz',
  created_at: 'timestamptz',
  password_digest: 'text',
  role_id: 'int',
  accountable_type: 'text',
  accountable_id: 'bigint',
  username: 'text',
  groups: 'jsonb',
  profile: 'jsonb',
  metadata: 'jsonb',
  language: 'text',
  locked_at: 'timestamptz',
  locked_reason: 'text',
  terms_version: 'text',
  terms_accepted_at: 'timestamptz',
  sign_in_count: 'int',
  current_sign_in_at: 'timestamptz',
  last_sign_in_at: 'timestamptz',
  two_factor_enabled: 'boolean',
  provider: 'text',
  provider_uid: 'text',
}

/** Their names in the JSON of `addImported`. */
export const importedFields = Object.keys(importedColumns).map(camelCase)

/** `lines`: JSON, in the order in which the accounts get their ids. */
export const addImported = (p: Placeholders<'lines' | 'now'>): SQL => {
  const types = Object.values(importedColumns)
  const fields = importedFields.map((field) => `"${field}"`)
  return sql`
  insert into ${accounts} (${sql.raw(Object.keys(importedColumns).join(', '))}, origin, updated_at)
  select ${sql.raw(fields.join(', '))}, 'import', ${p.now}
    from jsonb_to_recordset(${p.lines}::jsonb) as line (${sql.raw(fields.map((field, at) => `${field} ${types[at]}`).join(', '))})
  returning id, uuid`
}

/** Removes the registrations of anybody for that contact; an account that was made for somebody stays. */
export const endWaitingFor = ({ key }: Placeholders<'key'>, condition?: SQL): SQL => sql`
  delete from ${accounts}
   where waiting_for = ${key} and account_confirmed_at is null and origin is null ${condition ? sql`and ${condition}` : sql``}`

/**
 * A registration that was sent again counts from then on. The index is on its creation, which is never later. An account
 * that an administrator made stays.
 */
export const sweepRegistrations = createSweep({
  name: 'registration.sweep',
  table: accounts,
  key: sql`id`,
  params: { before: 'timestamptz' },
  where: (p) =>
    sql`account_confirmed_at is null and origin is null and created_at < ${p.before} and updated_at < ${p.before}`,
  order: sql`created_at`,
})

/** The records that show that a registration is contested are kept as long as the registration. */
export const sweepClaims = createSweep({
  name: 'registration.sweep_claims',
  table: registrationClaims,
  key: sql`contact, address, password_tag`,
  params: { before: 'timestamptz' },
  where: (p) => sql`created_at < ${p.before}
    and not exists (select 1 from ${accounts} where account_confirmed_at is null and email_key = contact)
    and not exists (select 1 from ${accounts} where account_confirmed_at is null and phone = contact)`,
  order: sql`created_at`,
})
