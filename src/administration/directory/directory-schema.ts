/** An account as administration searches for it, sets it and shows it. */
import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import {
  accountRecord,
  accountSchema,
  carriedFields,
  carriedRecord,
  profileBody,
} from '../../domain/accounts/core/account-schema.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import { groupNames, roleField } from '../../domain/accounts/core/set-fields.ts'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { accountLimits } from '../../domain/foundation/limits/account-counters.ts'
import type { AccountRefusal } from '../../domain/foundation/limits/service.ts'
import type { FormerContact } from '../../domain/sign-in/undo/service.ts'
import { answer } from '../../platform/http/answers.ts'
import { component, namedObject } from '../../platform/http/components.ts'
import { iso, isoOrNull, recordOf } from '../../platform/http/records.ts'
import {
  emailRefusedAtField,
  integer,
  nullable,
  optionalField,
  timeField,
} from '../../platform/http/schemas.ts'
import type { Language } from '../../texts/languages.ts'
import { queryText, queryWord, timeText } from '../access/operation-schema.ts'
import type { AdministeredAccount } from './store.ts'

export const accountQuery = t.Object({
  ...pageQuery,
  query: queryText(
    'At least three characters of a contact, a name or a username; a phone number in any spelling; a uuid, or its first characters; an id',
  ),
  locked: queryWord('Only those that are locked, or only those that are not', ['true', 'false']),
  confirmed: queryWord('Only those that are confirmed, or only those that are not', ['true', 'false']),
  limited: queryWord('Only those whose password or codes are refused now', ['true']),
  administrator: queryWord('Only administrators: for owners and the operator', ['true']),
  role_id: t.Optional(
    t.String({
      description: 'The number of a role, or its name',
      pattern: '^[0-9]{1,16}$|^[A-Za-z]',
      maxLength: 300,
    }),
  ),
  created_after: timeText(),
  created_before: timeText(),
})
export type AccountQuery = typeof accountQuery.static

/** The fields of an account that administration sets when it makes one and later. */
const accountFields = (languages: readonly Language[]) => ({
  role_id: t.Optional(roleField()),
  accountable_type: t.Optional(t.String({ minLength: 1, maxLength: 100 })),
  accountable_id: t.Optional(integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  metadata: t.Optional(t.Unknown({ description: 'A JSON object to 4 KiB' })),
  profile: t.Optional(profileBody),
  username: optionalField(
    Type.String({
      maxLength: 100,
      examples: ['ada'],
      description:
        'Two to 32 letters, digits, and . _ -; kept in lower case. It goes to nobody else, also after null took it away',
    }),
  ),
  language: t.Optional(t.Union(languages.map((tag) => t.Literal(tag)))),
})

export const newAccount = (languages: readonly Language[]) =>
  t.Object({
    email: optionalField(t.String()),
    phone: optionalField(t.String()),
    password: optionalField(t.String({ description: 'Without one the person chooses it' })),
    verified: t.Optional(
      t.Boolean({ description: 'The contacts are known to be the person’s; the account is confirmed' }),
    ),
    ...accountFields(languages),
    groups: t.Optional(groupNames),
    invite: t.Optional(t.Boolean({ description: 'Send a code to choose a password with' })),
  })
export type NewAccount = ReturnType<typeof newAccount>['static']

export const accountPatch = (languages: readonly Language[]) =>
  t.Object({
    ...accountFields(languages),
    locked: t.Optional(t.Boolean()),
    locked_reason: t.Optional(nullable(t.String({ maxLength: 500 }))),
    groups: t.Optional(
      t.Union([groupNames, t.Object({ add: t.Optional(groupNames), remove: t.Optional(groupNames) })], {
        description: 'All groups, at most 32, or some to join and to leave',
      }),
    ),
    end_tokens: t.Optional(
      t.Literal(true, {
        description: 'Refuses the access tokens that were signed before the present second; sessions go on',
      }),
    ),
    confirmed: t.Optional(
      t.Literal(true, { description: 'Confirms the account, and verifies the contact it waits for' }),
    ),
  })
export type AccountPatch = ReturnType<typeof accountPatch>['static']

export const accountSession = namedObject(
  'AccountSession',
  {
    id: t.String(),
    device_type: nullable(t.String()),
    device_name: nullable(t.String()),
    device_os: nullable(t.String()),
    ip: nullable(t.String()),
    created_at: timeField(),
    last_used_at: timeField(),
    expires_at: timeField(),
    application: t.Optional(
      t.String({ description: 'The application to which the pages handed it over', examples: ['web'] }),
    ),
  },
  'A signed-in device of an account.',
)
export type AccountSessionRecord = typeof accountSession.static

const limitedField = t.Optional(
  t.Literal(true, { description: 'Only there where their password or codes are refused now' }),
)
const administered = recordOf<AdministeredAccount>()({
  email_verified_at: [nullable(timeField()), ({ emailConfirmedAt }) => isoOrNull(emailConfirmedAt)],
  phone_verified_at: [nullable(timeField()), ({ phoneConfirmedAt }) => isoOrNull(phoneConfirmedAt)],
  language: [t.String(), ({ language }) => language],
  metadata: [t.Record(t.String(), t.Unknown()), ({ metadata }) => metadata],
  has_password: [t.Boolean(), ({ passwordDigest }) => passwordDigest !== null],
  locked_reason: [
    nullable(t.String()),
    ({ lockedAt, lockedReason }) => (lockedAt === null ? null : lockedReason),
  ],
  last_lock_reason: [
    t.Optional(t.String({ description: 'Why it was locked before: only there where it is not locked now' })),
    ({ lockedAt, lockedReason }) => (lockedAt === null ? (lockedReason ?? undefined) : undefined),
  ],
  test_identity: [
    t.Optional(t.Literal(true, { description: 'Only there where a test identity opened the account' })),
    ({ testIdentity }) => (testIdentity ? true : undefined),
  ],
})
const listedFields = t.Object({
  ...administered.fields,
  ...carriedFields,
  factors: t.Array(t.String(), {
    description: 'What the account can be asked for as a second step; empty where that is off',
    examples: [['totp', 'recovery_code']],
  }),
})
export const listedAccount = component(
  'ListedAccount',
  t.Composite([accountSchema, t.Object({ ...listedFields.properties, limited: limitedField })], {
    description: 'An account, as lists show it.',
  }),
)
const accountRefusal = recordOf<AccountRefusal>()({
  limit: [
    t.String({
      enum: accountLimits,
      description: 'What is refused: the password, codes, or that one is sent',
    }),
    ({ limit }) => limit,
  ],
  until: [timeField(), ({ until }) => iso(until)],
  cause: [
    t.String({ description: 'The limit, as metrics name it', examples: ['wrong_passwords'] }),
    ({ cause }) => cause,
  ],
  address: [
    nullable(
      t.String({
        description:
          'It is refused from this address or network alone; null: from everywhere, or on a device',
      }),
    ),
    ({ address }) => address,
  ],
})
const refusal = namedObject(
  'AccountRefusal',
  accountRefusal.fields,
  'Something that is refused to somebody who signs in to the account.',
)
export const refusalRecord = accountRefusal.read
const contactKind = t.Union([t.Literal('email'), t.Literal('phone')])
export const contactKinds = contactKind.anyOf.map((kind) => kind.const)
const formerContact = recordOf<FormerContact>()({
  id: [integer(), ({ id }) => id],
  contact: [contactKind, ({ kind }) => kind],
  former: [
    t.String({ description: 'The contact before, masked', examples: ['a•••@example.com'] }),
    ({ former }) => former,
  ],
  changed_at: [timeField(), ({ changedAt }) => iso(changedAt)],
  can_undo: [
    t.Boolean({
      description: 'The link that was sent to the former contact is open: an administrator can do the same',
    }),
    ({ canUndo }) => canUndo,
  ],
})
const contactChange = namedObject('FormerContact', formerContact.fields, 'A contact that an account had.')
export const contactChangeRecord = formerContact.read
export const accountDetails = component(
  'AdministeredAccount',
  t.Composite(
    [
      accountSchema,
      t.Object({
        ...listedFields.properties,
        passkeys: integer(),
        identities: integer(),
        sessions: integer(),
        recovery_codes: integer({ description: 'How many are left' }),
        limits: t.Array(refusal, { description: 'What is refused now, what lasts longest first' }),
        email_refused_at: emailRefusedAtField,
        removable_contacts: t.Array(contactKind, {
          description: 'Those that can be removed: the only verified one stays',
        }),
        contact_changes: t.Optional(
          t.Array(contactChange, {
            description:
              'Changes and removals of verified contacts by the owner within the last seven days, newest first: only there where there are any',
          }),
        ),
        removal_at: t.Optional(
          t.String({
            format: 'date-time',
            description: 'When two factors will be turned off: only there while a removal waits',
          }),
        ),
      }),
    ],
    { description: 'An account with all that administration knows of it.' },
  ),
)
export const administeredAccountAnswer = answer(
  'AdministeredAccountAnswer',
  { account: accountDetails },
  'The account as it is now.',
)

export const groupsAnswer = answer(
  'Groups',
  {
    roles: t.Array(t.Object({ id: integer(), name: t.String({ examples: ['editor'] }) }), {
      description: 'Those of `[roles]` in the configuration, by their numbers',
    }),
    groups: t.Array(t.String(), { examples: [['beta', 'staff']] }),
  },
  'What an account or an invitation may be given.',
)

/** The account with what lists show, and with what one look at it adds. */
export type ListedAccount = ReturnType<typeof listedRecord> & { factors: string[]; limited?: true }
export type AccountDetails = typeof accountDetails.static

export function listedRecord(
  account: AdministeredAccount,
  passwordDigest: Parameters<typeof accountRecord>[1],
  roles: Pick<Roles, 'nameOf'>,
) {
  return {
    ...accountRecord(account, passwordDigest),
    ...administered.read(account),
    ...carriedRecord(account, roles),
  }
}

export const refusedAtRecord = (refusedAt: Date | null) =>
  refusedAt === null ? {} : { email_refused_at: refusedAt.toISOString() }
