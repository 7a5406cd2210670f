/** The fields by which clients name an account, and the account as answers show it. */
import { t } from 'elysia'
import type { Config } from '../../../platform/config/types.ts'
import { answer } from '../../../platform/http/answers.ts'
import { namedObject } from '../../../platform/http/components.ts'
import { integer, nullable, optionalField, timeField } from '../../../platform/http/schemas.ts'
import { type ProfileField, profileFields } from '../../../platform/postgres/schema.ts'
import { maskDigest, showDigest } from '../../foundation/hashing/digest.ts'
import type { Account } from './account.ts'
import { profileNames } from './profile.ts'
import type { Roles } from './roles.ts'

export const identifierField = t.String({
  description: 'E-mail address or phone number of the account',
  examples: ['ada@example.com'],
})

export const passwordField = t.String({
  description: 'Password of the account, as it was typed; it is normalized with NFKC before it is compared',
})

/** A new password and its confirmation. */
export const newPasswordFields = {
  password: t.String({ description: '8 to 256 characters, not a common one, not the identifier' }),
  password_confirmation: t.String({ description: 'The same password again' }),
}

/** Clients rely on exactly these 24 fields, in this order. */
export const accountSchema = namedObject(
  'Account',
  {
    failed_attempts: integer({ examples: [0] }),
    id: integer(),
    uuid: t.String({ format: 'uuid' }),
    email: nullable(t.String({ examples: ['ada@example.com'] })),
    phone: nullable(t.String({ description: 'E.164, with the leading plus', examples: ['+33612345678'] })),
    password_digest: t.String({
      description:
        'PHC string. Salt and hash are replaced, unless configured "full" for one that is not imported. Empty without a password',
      examples: ['$argon2id$v=19$m=19456,t=2,p=1$…'],
    }),
    accountable_type: t.String({ examples: ['User'] }),
    accountable_id: integer(),
    role_id: integer(),
    remember_created_at: nullable(timeField(), { examples: [null] }),
    sign_in_count: integer(),
    current_sign_in_at: nullable(timeField()),
    last_sign_in_at: nullable(timeField()),
    current_sign_in_ip: nullable(t.String({ examples: ['203.0.113.7'] })),
    last_sign_in_ip: nullable(t.String({ examples: ['203.0.113.7'] })),
    account_confirmed_at: nullable(timeField()),
    account_confirmed: t.Boolean(),
    unlock_token: nullable(t.String(), { examples: [null] }),
    locked_at: nullable(timeField(), { examples: [null] }),
    two_factor_enabled: t.Boolean({ examples: [false] }),
    provider: t.String({
      description: '`local`, or the provider with which the account was created',
      examples: ['local'],
    }),
    provider_uid: nullable(t.String(), { examples: [null] }),
    created_at: timeField(),
    updated_at: timeField(),
  },
  'The account; times are UTC.',
)

/** Makes a schema for each field of a profile. */
const eachOfProfile = <Schema>(make: (description: string) => Schema) =>
  Object.fromEntries(profileNames.map((field) => [field, make(profileFields[field].description)])) as Record<
    ProfileField,
    Schema
  >

/** Null removes a field. */
export const profileBody = t.Object(
  eachOfProfile((description) => optionalField(t.String({ maxLength: 400, description }))),
  {
    description:
      'What the person says of themselves; nobody verified it. Each at most 200 characters, 2 KiB together; null removes one. Only administration sets `picture`',
    examples: [{ name: 'Ada Lovelace', zoneinfo: 'Europe/London' }],
  },
)

/** The fields that an account carries beside its 24 fields. */
export const carriedFields = {
  profile: namedObject(
    'Profile',
    eachOfProfile(() => t.Optional(t.String())),
    'What the person says of themselves; nobody verified it.',
  ),
  username: nullable(t.String(), { examples: ['ada'] }),
  groups: t.Array(t.String(), { examples: [['staff']] }),
  role: t.String({ description: 'The name of the role, or its number', examples: ['editor'] }),
  terms_version: t.Optional(
    t.String({
      description: 'The version of the terms that was accepted last, if any',
      examples: ['2026-11'],
    }),
  ),
  terms_accepted_at: t.Optional(timeField()),
}

const verifiedField = (contact: string) =>
  t.Union([t.Boolean(), t.Null()], { description: `Null if the account has no ${contact}` })

/** Whether the person receives messages there. */
export const verifiedFields = {
  email_verified: verifiedField('e-mail address'),
  phone_verified: verifiedField('telephone number'),
}

export const verifiedRecord = (account: Account) => ({
  email_verified: account.email === null ? null : account.emailConfirmedAt !== null,
  phone_verified: account.phone === null ? null : account.phoneConfirmedAt !== null,
})

export const ownAccountAnswer = answer(
  'OwnAccount',
  { account: accountSchema, ...verifiedFields, ...carriedFields },
  'Your account as it is now, and what it carries.',
)

export const accountAnswer = answer('AccountAnswer', { account: accountSchema }, 'The account as it is now.')

export type AccountRecord = ReturnType<typeof accountRecord>

const iso = (time: Date | null) => time?.toISOString() ?? null

/** `password_digest` keeps its type and shape; salt and hash are shown only if the configuration says "full". */
export function accountRecord(account: Account, passwordDigest: Config['accounts']['passwordDigest']) {
  return {
    failed_attempts: account.failedAttempts,
    id: account.id,
    uuid: account.uuid,
    email: account.email,
    phone: account.phone,
    password_digest:
      passwordDigest === 'full' ? showDigest(account.passwordDigest) : maskDigest(account.passwordDigest),
    accountable_type: account.accountableType,
    accountable_id: account.accountableId ?? account.id,
    role_id: account.roleId,
    remember_created_at: iso(account.rememberCreatedAt),
    sign_in_count: account.signInCount,
    current_sign_in_at: iso(account.currentSignInAt),
    last_sign_in_at: iso(account.lastSignInAt),
    current_sign_in_ip: account.currentSignInIp,
    last_sign_in_ip: account.lastSignInIp,
    account_confirmed_at: iso(account.accountConfirmedAt),
    account_confirmed: account.accountConfirmedAt !== null,
    unlock_token: account.unlockToken,
    locked_at: iso(account.lockedAt),
    two_factor_enabled: account.twoFactorEnabled,
    provider: account.provider,
    provider_uid: account.providerUid,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
  }
}

export type CarriedRecord = ReturnType<typeof carriedRecord>

/** The values that the account carries beside its 24 fields. */
export function carriedRecord(
  account: Pick<Account, 'profile' | 'username' | 'groups' | 'roleId' | 'termsVersion' | 'termsAcceptedAt'>,
  roles: Pick<Roles, 'nameOf'>,
) {
  const { profile, username, groups, roleId, termsVersion, termsAcceptedAt } = account
  return {
    ...{ profile: profile ?? {}, username, groups: groups ?? [], role: roles.nameOf(roleId) },
    ...(termsVersion !== null && { terms_version: termsVersion }),
    ...(termsAcceptedAt !== null && { terms_accepted_at: termsAcceptedAt.toISOString() }),
  }
}
