/** The security of an account, and a copy of everything that is stored about a person, as clients see them. */
import { t } from 'elysia'
import { answer } from '../../../platform/http/answers.ts'
import { iso, isoOrNull, recordOf } from '../../../platform/http/records.ts'
import { emailRefusedAtField, integer, nullable, timeField } from '../../../platform/http/schemas.ts'
import type { TwoFactorMethod } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import {
  type AccountRecord,
  accountSchema,
  type CarriedRecord,
  carriedFields,
  verifiedFields,
  verifiedRecord,
} from '../../accounts/core/account-schema.ts'
import type { TrustedDevice } from '../../accounts/devices/trusted-devices.ts'
import { twoFactorMethodsField } from '../../sign-in/core/sign-in-schema.ts'
import type { ExportedDocument } from './export-store.ts'
import type { SecurityCounts } from './store.ts'

const rows = (description: string) => t.Array(t.Record(t.String(), t.Unknown()), { description })
const time = () => nullable(t.String({ format: 'date-time' }))

export const exportAnswer = answer(
  'AccountExport',
  {
    exported_at: timeField(),
    account: accountSchema,
    metadata: t.Record(t.String(), t.Unknown(), { description: 'What an administrator noted' }),
    locked_reason: nullable(t.String()),
    ...carriedFields,
    language: t.String(),
    email_verified_at: time(),
    phone_verified_at: time(),
    password_changed_at: time(),
    recovery_codes_left: integer(),
    sessions: rows('Where the account is, and was, signed in'),
    trusted_devices: rows('Devices on which a login needs no second step'),
    known_devices: rows('When each known device and address signed in last'),
    passkeys: rows('Passkeys'),
    identities: rows('Linked identities of other providers'),
    authenticator_apps: rows('When an authenticator app was confirmed'),
    contact_changes: rows('Changes of a contact that wait for their code'),
    replaced_contacts: rows('Contacts of the last seven days that were replaced or removed'),
    administrators_codes: rows('Open temporary access and invitation codes, without the codes'),
    administrators: rows('The role in administration'),
    two_factor_removals: rows('A removal of two factors that waits'),
    messages: rows('Messages of the last 30 days, without their codes'),
    events: rows('What happened to the account'),
  },
  'Everything that is stored about a person.',
)

/** The data of a settings page. */
export interface Security {
  account: Account
  methods: TwoFactorMethod[]
  recoveryCodesLeft: number
  /** When the app in use was confirmed. */
  appAddedAt: Date | null
  /** Only while a removal waits. */
  removalAt: Date | null
  counts: SecurityCounts
  trustedDevices: TrustedDevice[]
  /** Only where a mail server refused the e-mail address for good within the last day. */
  emailRefusedAt: Date | null
}

const device = recordOf<TrustedDevice>()({
  id: [t.String({ format: 'uuid' }), ({ id }) => id],
  name: [nullable(t.String({ description: 'As the device named itself at a sign-in' })), ({ name }) => name],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
  last_used_at: [nullable(timeField()), ({ lastUsedAt }) => isoOrNull(lastUsedAt)],
})

const security = recordOf<Security>()({
  email_verified_at: [
    nullable(timeField(), { description: 'Null where it is not verified, or there is none' }),
    ({ account }) => isoOrNull(account.emailConfirmedAt),
  ],
  phone_verified_at: [nullable(timeField()), ({ account }) => isoOrNull(account.phoneConfirmedAt)],
  has_password: [t.Boolean(), ({ account }) => account.passwordDigest !== null],
  language: [
    t.String({ description: 'The language of messages to the owner', examples: ['fr'] }),
    ({ account }) => account.language,
  ],
  last_password_change_at: [nullable(timeField()), ({ account }) => isoOrNull(account.passwordChangedAt)],
  two_factor: [
    t.Object({
      enabled: t.Boolean(),
      methods: twoFactorMethodsField,
      recovery_codes_left: integer(),
      removal_at: t.Optional(
        t.String({
          format: 'date-time',
          description:
            'When two-factor sign-in will be turned off, because administrators were told that every factor is lost: only there while that waits. A right code of the app or a passkey stops it, as the link in the notice does.',
        }),
      ),
    }),
    ({ account, methods, recoveryCodesLeft, removalAt }) => ({
      enabled: account.twoFactorEnabled,
      methods,
      recovery_codes_left: recoveryCodesLeft,
      ...(removalAt && { removal_at: iso(removalAt) }),
    }),
  ],
  passkeys: [integer(), ({ counts }) => counts.passkeys],
  identities: [integer(), ({ counts }) => counts.identities],
  sessions: [integer(), ({ counts }) => counts.sessions],
  trusted_devices: [
    t.Array(t.Object(device.fields), {
      description: 'The devices on which a login needs no second step, newest first; at most ten',
    }),
    ({ trustedDevices }) => trustedDevices.map(device.read),
  ],
  email_refused_at: [emailRefusedAtField, ({ emailRefusedAt }) => emailRefusedAt?.toISOString()],
})

export const securityAnswer = answer(
  'Security',
  { ...verifiedFields, ...security.fields },
  'What protects the account, for a settings page.',
)
export const securityRecord = (shown: Security) => ({
  ...verifiedRecord(shown.account),
  ...security.read(shown),
})

export type AccountExport = { exported_at: string; account: AccountRecord } & CarriedRecord & ExportedDocument

export const exportRecord = (
  document: ExportedDocument,
  account: { account: AccountRecord } & CarriedRecord,
  now: Date,
): AccountExport => ({ ...document, exported_at: now.toISOString(), ...account })
