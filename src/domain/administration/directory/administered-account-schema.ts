/** An account as administration shows it. */
import { t } from 'elysia'
import { answer } from '../../../platform/http/answers.ts'
import { component } from '../../../platform/http/components.ts'
import { emailRefusedAtField, integer, nullable, timeField } from '../../../platform/http/schemas.ts'
import {
  accountRecord,
  accountSchema,
  carriedFields,
  carriedRecord,
} from '../../accounts/accounts/account-schema.ts'
import type { Roles } from '../../accounts/accounts/roles.ts'
import type { FormerContact } from '../../sign-in/undo/service.ts'
import type { AdministeredAccount } from './store.ts'

const administered = {
  email_verified_at: nullable(timeField()),
  phone_verified_at: nullable(timeField()),
  language: t.String(),
  metadata: t.Record(t.String(), t.Unknown()),
  has_password: t.Boolean(),
  locked_reason: nullable(t.String()),
  last_lock_reason: t.Optional(
    t.String({ description: 'Why it was locked before: only there where it is not locked now' }),
  ),
  test_identity: t.Optional(
    t.Literal(true, { description: 'Only there where a test identity opened the account' }),
  ),
  ...carriedFields,
}
export const listedAccount = component(
  'ListedAccount',
  t.Composite([accountSchema, t.Object(administered)], { description: 'An account, as lists show it.' }),
)
const contactChange = component(
  'FormerContact',
  t.Object(
    {
      id: integer(),
      contact: t.Union([t.Literal('email'), t.Literal('phone')]),
      former: t.String({ description: 'The contact before, masked', examples: ['a•••@example.com'] }),
      changed_at: timeField(),
      can_undo: t.Boolean({
        description: 'The link that was sent to the former contact is open: an administrator can do the same',
      }),
    },
    { description: 'A contact that an account had.' },
  ),
)
export const accountDetails = component(
  'AdministeredAccount',
  t.Composite(
    [
      accountSchema,
      t.Object({
        ...administered,
        factors: t.Array(t.String()),
        passkeys: integer(),
        identities: integer(),
        sessions: integer(),
        email_refused_at: emailRefusedAtField,
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

/** The account with what lists show, and with what one look at it adds. */
export type ListedAccount = ReturnType<typeof listedRecord>
export type AccountDetails = typeof accountDetails.static

export const contactChangeRecord = ({ id, kind, former, changedAt, canUndo }: FormerContact) => ({
  id,
  contact: kind,
  former,
  changed_at: changedAt.toISOString(),
  can_undo: canUndo,
})

export function listedRecord(
  account: AdministeredAccount,
  passwordDigest: Parameters<typeof accountRecord>[1],
  roles: Pick<Roles, 'nameOf'>,
) {
  return {
    ...accountRecord(account, passwordDigest),
    email_verified_at: account.emailConfirmedAt?.toISOString() ?? null,
    phone_verified_at: account.phoneConfirmedAt?.toISOString() ?? null,
    language: account.language,
    metadata: account.metadata,
    has_password: account.passwordDigest !== null,
    locked_reason: account.lockedAt === null ? null : account.lockedReason,
    ...(account.lockedAt === null &&
      account.lockedReason !== null && { last_lock_reason: account.lockedReason }),
    ...(account.testIdentity && { test_identity: true as const }),
    ...carriedRecord(account, roles),
  }
}

export const refusedAtRecord = (refusedAt: Date | null) =>
  refusedAt === null ? {} : { email_refused_at: refusedAt.toISOString() }
