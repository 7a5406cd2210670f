/** An account as administration shows it. */
import { t } from 'elysia'
import { answer, component } from '../../../platform/http/components.ts'
import { emailRefusedAtField, integer, nullable, timeField } from '../../../platform/http/schemas.ts'
import { accountSchema, carriedFields } from '../../accounts/accounts/account-schema.ts'

const administered = {
  email_verified_at: nullable(timeField()),
  phone_verified_at: nullable(timeField()),
  language: t.String(),
  metadata: t.Record(t.String(), t.Unknown()),
  has_password: t.Boolean(),
  locked_reason: nullable(t.String()),
  ...carriedFields,
}
export const listedAccount = component(
  'ListedAccount',
  t.Composite([accountSchema, t.Object(administered)], { description: 'An account, as lists show it.' }),
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
      }),
    ],
    { description: 'An account with all that administration knows of it.' },
  ),
)
export const accountAnswer = answer(
  'AdministeredAccountAnswer',
  { status: t.Literal(200), account: accountDetails },
  'The account as it is now.',
)
