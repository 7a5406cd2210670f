/**
 * The changes of accounts that other rooms make: statements for an account that is held, and parts of their statements. A
 * statement has at most one change of the same account: PostgreSQL applies only one of two, and says nothing.
 */
import { type SQL, sql } from 'drizzle-orm'
import { accounts, replacedContacts } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders } from '../../../platform/postgres/statement.ts'
import { mayQueueLogouts } from '../../messages/outbox/queue-sql.ts'

/** `digest`: null takes the password away. `forgives`: the failed attempts are forgotten. */
export const setPassword = defineStatement({
  name: 'accounts.set_password',
  params: { accountId: 'bigint', digest: 'text?', forgives: 'boolean', now: 'timestamptz' },
  sql: (p) => sql`
  update ${accounts}
     set password_digest = ${p.digest}, password_changed_at = ${p.now}, trust_epoch = trust_epoch + 1,
         failed_attempts = case when ${p.forgives} then 0 else failed_attempts end, updated_at = ${p.now}
   where id = ${p.accountId}`,
})

export const setTwoFactors = defineStatement({
  name: 'accounts.set_two_factors',
  params: { accountId: 'bigint', isOn: 'boolean', now: 'timestamptz' },
  sql: (p) => sql`
  update ${accounts} set two_factor_enabled = ${p.isOn}, trust_epoch = trust_epoch + 1, updated_at = ${p.now}
   where id = ${p.accountId}`,
})

/** It signs in only if the account has not changed since it was read, and `condition` holds. */
export const signInAccount = (
  p: Placeholders<'now' | 'address' | 'accountId' | 'digestWhenChecked' | 'expectedTwoFactor'>,
  condition: SQL,
): SQL => sql`
    update ${accounts}
       set sign_in_count = sign_in_count + 1, failed_attempts = 0,
           last_sign_in_at = coalesce(current_sign_in_at, ${p.now}), current_sign_in_at = ${p.now},
           last_sign_in_ip = coalesce(current_sign_in_ip, ${p.address}),
           current_sign_in_ip = ${p.address},
           updated_at = ${p.now}
     where id = ${p.accountId} and account_confirmed_at is not null and locked_at is null
       and password_digest is not distinct from ${p.digestWhenChecked}
       and two_factor_enabled = ${p.expectedTwoFactor} and ${condition}
    returning *`

export const countFailedAttempt = (p: Placeholders<'accountId'>, source: SQL, condition: SQL): SQL => sql`
  update ${accounts} set failed_attempts = failed_attempts + 1 from ${source}
   where id = ${p.accountId} and ${condition}`

/** The changes that an owner makes without a proof. */
export const changeOwnFields = (
  p: Placeholders<'language' | 'setsProfile' | 'profile' | 'terms' | 'now'>,
  where: SQL,
): SQL => sql`
  update ${accounts}
     set language = coalesce(${p.language}, language),
         profile = case when ${p.setsProfile} then ${p.profile}::jsonb else profile end,
         terms_version = coalesce(${p.terms}, terms_version),
         terms_accepted_at = case when ${p.terms} is not null then ${p.now} else terms_accepted_at end, updated_at = ${p.now}
   where ${where}
  returning *`

/** Takes the passwords with a digest that is not of our own kind from up to `limit` accounts that were not used since. */
export const forgetForeignPasswords = (p: Placeholders<'unusedSince' | 'limit' | 'now'>): SQL => sql`
  update ${accounts} set password_digest = null, trust_epoch = ${accounts}.trust_epoch + 1, updated_at = ${p.now}
   where id in (
     select id from ${accounts}
      where password_digest is not null and password_digest not like '$argon2id$%'
        and coalesce(current_sign_in_at, '-infinity') < ${p.unusedSince}
      order by id limit ${p.limit} for update)
     and password_digest not like '$argon2id$%' and coalesce(current_sign_in_at, '-infinity') < ${p.unusedSince}
  returning uuid`

/** The same password with another digest, which ends nothing. */
export const renewPassword = (p: Placeholders<'accountId' | 'digestWhenChecked' | 'newDigest'>): SQL => sql`
  update ${accounts} set password_digest = ${p.newDigest}
   where id = ${p.accountId} and password_digest = ${p.digestWhenChecked}
  returning password_digest`

/** `source` is the CTE whose one row permits it. */
export const setGroups = (p: Placeholders<'accountId' | 'groups' | 'now'>, source: SQL): SQL => sql`
  update ${accounts} set groups = ${p.groups}::jsonb, updated_at = ${p.now} from ${source}
   where ${accounts}.id = ${p.accountId}
  returning ${accounts}.*`

export const administeredParamTypes = {
  roleId: 'int?',
  accountableType: 'text?',
  accountableId: 'bigint?',
  metadata: 'text?',
  language: 'text?',
  locked: 'boolean?',
  setsReason: 'boolean',
  reason: 'text?',
  setsProfile: 'boolean',
  profile: 'text?',
  setsUsername: 'boolean',
  username: 'text?',
  setsGroups: 'boolean',
  groups: 'text?',
  endsTokens: 'boolean',
  now: 'timestamptz',
} as const

/** The changes that an operator may make to an account that is held. */
export const administerAccount = (
  p: Placeholders<keyof typeof administeredParamTypes | 'accountId'>,
  returned: SQL,
) => sql`
    update ${accounts} account
       set role_id = coalesce(${p.roleId}, role_id),
           accountable_type = coalesce(${p.accountableType}, accountable_type),
           accountable_id = coalesce(${p.accountableId}, accountable_id),
           metadata = coalesce(${p.metadata}::jsonb, metadata),
           language = coalesce(${p.language}, language),
           locked_at = case when ${p.locked} then coalesce(locked_at, ${p.now})
                            when ${p.locked} is null then locked_at end,
           trust_epoch = trust_epoch + case when ${p.locked} then 1 else 0 end,
           locked_reason = case when ${p.setsReason} then ${p.reason}
                                when ${p.locked} and locked_at is null then null
                                else locked_reason end,
           profile = case when ${p.setsProfile} then ${p.profile}::jsonb else profile end,
           username = case when ${p.setsUsername} then ${p.username} else username end,
           groups = case when ${p.setsGroups} then ${p.groups}::jsonb else groups end,
           tokens_not_before = case when ${p.endsTokens} then date_trunc('second', clock_timestamp())
                                    else tokens_not_before end,
           failed_attempts = case when ${p.locked} = false then 0 else failed_attempts end, updated_at = ${p.now}
     where id = ${p.accountId} returning ${returned}`

/** `locked`: rows with `uuid`, `locked_at` and `locked_reason`. */
export const lockAccounts = (source: SQL, locked: SQL): SQL => sql`
    update ${accounts}
       set locked_at = ${locked}.locked_at, locked_reason = ${locked}.locked_reason, trust_epoch = ${accounts}.trust_epoch + 1
      from ${source}
     where ${accounts}.uuid = ${locked}.uuid and ${accounts}.locked_at is null
    returning ${accounts}.id, ${accounts}.uuid`

/**
 * The CTEs of every erasure, when it happens and when it is repeated after a restore. `gone`: the accounts, which are deleted;
 * `destinations`: their verified contacts, those of the last seven days included.
 */
export const deleteAccounts = (where: SQL): SQL => sql`
  gone as (
    delete from ${accounts} ${mayQueueLogouts}
     where ${where}
    returning id, uuid, invitation_id, case when email_confirmed_at is not null then email_key end as email,
              case when phone_confirmed_at is not null then phone end as phone),
  destinations as (
    select email as destination from gone where email is not null
    union select phone from gone where phone is not null
    union select destination_key from ${replacedContacts} join gone on gone.id = account_id)`

/** Of an account that is held. What belongs to it goes with it. */
export const deleteAccount = defineStatement({
  name: 'accounts.delete',
  params: { accountId: 'bigint' },
  sql: (p) => sql`delete from ${accounts} where id = ${p.accountId}`,
})
