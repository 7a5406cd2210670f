/** The fields by which clients name an account, and the account as answers show it. */
import { t } from 'elysia'
import type { Config } from '../../../platform/config/types.ts'
import { answer } from '../../../platform/http/answers.ts'
import { namedObject } from '../../../platform/http/components.ts'
import { iso, isoOrNull, recordOf } from '../../../platform/http/records.ts'
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

interface ShownAccount {
  account: Account
  passwordDigest: Config['accounts']['passwordDigest']
}

/** Clients rely on exactly these 24 fields, in this order. */
const accountFields = recordOf<ShownAccount>()({
  failed_attempts: [integer({ examples: [0] }), ({ account }) => account.failedAttempts],
  id: [integer(), ({ account }) => account.id],
  uuid: [t.String({ format: 'uuid' }), ({ account }) => account.uuid],
  email: [nullable(t.String({ examples: ['ada@example.com'] })), ({ account }) => account.email],
  phone: [
    nullable(t.String({ description: 'E.164, with the leading plus', examples: ['+33612345678'] })),
    ({ account }) => account.phone,
  ],
  password_digest: [
    t.String({
      description:
        'PHC string. Salt and hash are replaced, unless configured "full" for one that is not imported. Empty without a password',
      examples: ['$argon2id$v=19$m=19456,t=2,p=1$…'],
    }),
    ({ account, passwordDigest }) =>
      passwordDigest === 'full' ? showDigest(account.passwordDigest) : maskDigest(account.passwordDigest),
  ],
  accountable_type: [t.String({ examples: ['User'] }), ({ account }) => account.accountableType],
  accountable_id: [integer(), ({ account }) => account.accountableId ?? account.id],
  role_id: [integer(), ({ account }) => account.roleId],
  remember_created_at: [
    nullable(timeField(), { examples: [null] }),
    ({ account }) => isoOrNull(account.rememberCreatedAt),
  ],
  sign_in_count: [integer(), ({ account }) => account.signInCount],
  current_sign_in_at: [nullable(timeField()), ({ account }) => isoOrNull(account.currentSignInAt)],
  last_sign_in_at: [nullable(timeField()), ({ account }) => isoOrNull(account.lastSignInAt)],
  current_sign_in_ip: [
    nullable(t.String({ examples: ['203.0.113.7'] })),
    ({ account }) => account.currentSignInIp,
  ],
  last_sign_in_ip: [nullable(t.String({ examples: ['203.0.113.7'] })), ({ account }) => account.lastSignInIp],
  account_confirmed_at: [nullable(timeField()), ({ account }) => isoOrNull(account.accountConfirmedAt)],
  account_confirmed: [t.Boolean(), ({ account }) => account.accountConfirmedAt !== null],
  unlock_token: [nullable(t.String(), { examples: [null] }), ({ account }) => account.unlockToken],
  locked_at: [nullable(timeField(), { examples: [null] }), ({ account }) => isoOrNull(account.lockedAt)],
  two_factor_enabled: [t.Boolean({ examples: [false] }), ({ account }) => account.twoFactorEnabled],
  provider: [
    t.String({
      description: '`local`, or the provider with which the account was created',
      examples: ['local'],
    }),
    ({ account }) => account.provider,
  ],
  provider_uid: [nullable(t.String(), { examples: [null] }), ({ account }) => account.providerUid],
  created_at: [timeField(), ({ account }) => iso(account.createdAt)],
  updated_at: [timeField(), ({ account }) => iso(account.updatedAt)],
})

export const accountSchema = namedObject('Account', accountFields.fields, 'The account; times are UTC.')
export type AccountRecord = ReturnType<typeof accountFields.read>

/** `password_digest` keeps its type and shape; salt and hash are shown only if the configuration says "full". */
export const accountRecord = (
  account: Account,
  passwordDigest: ShownAccount['passwordDigest'],
): AccountRecord => accountFields.read({ account, passwordDigest })

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

interface CarryingAccount {
  account: Pick<Account, 'profile' | 'username' | 'groups' | 'roleId' | 'termsVersion' | 'termsAcceptedAt'>
  roles: Pick<Roles, 'nameOf'>
}

/** What an account carries beside its 24 fields. */
const carried = recordOf<CarryingAccount>()({
  profile: [
    namedObject(
      'Profile',
      eachOfProfile(() => t.Optional(t.String())),
      'What the person says of themselves; nobody verified it.',
    ),
    ({ account }) => account.profile ?? {},
  ],
  username: [nullable(t.String(), { examples: ['ada'] }), ({ account }) => account.username],
  groups: [t.Array(t.String(), { examples: [['staff']] }), ({ account }) => account.groups ?? []],
  role: [
    t.String({ description: 'The name of the role, or its number', examples: ['editor'] }),
    ({ account, roles }) => roles.nameOf(account.roleId),
  ],
  terms_version: [
    t.Optional(
      t.String({
        description: 'The version of the terms that was accepted last, if any',
        examples: ['2026-11'],
      }),
    ),
    ({ account }) => account.termsVersion ?? undefined,
  ],
  terms_accepted_at: [t.Optional(timeField()), ({ account }) => account.termsAcceptedAt?.toISOString()],
})

export const carriedFields = carried.fields
export type CarriedRecord = ReturnType<typeof carried.read>
export const carriedRecord = (
  account: CarryingAccount['account'],
  roles: CarryingAccount['roles'],
): CarriedRecord => carried.read({ account, roles })

const verifiedField = (contact: string) =>
  t.Union([t.Boolean(), t.Null()], { description: `Null if the account has no ${contact}` })

/** Whether the person receives messages there. */
const verified = recordOf<Account>()({
  email_verified: [
    verifiedField('e-mail address'),
    ({ email, emailConfirmedAt }) => (email === null ? null : emailConfirmedAt !== null),
  ],
  phone_verified: [
    verifiedField('telephone number'),
    ({ phone, phoneConfirmedAt }) => (phone === null ? null : phoneConfirmedAt !== null),
  ],
})
export const verifiedFields = verified.fields
export const verifiedRecord = verified.read

export const ownAccountAnswer = answer(
  'OwnAccount',
  { account: accountSchema, ...verifiedFields, ...carriedFields },
  'Your account as it is now, and what it carries.',
)

export const accountAnswer = answer('AccountAnswer', { account: accountSchema }, 'The account as it is now.')
