/** The form of a copy of everything that is stored about a person. */
import { t } from 'elysia'
import { component } from '../../../platform/http/components.ts'
import { integer, nullable, timeField } from '../../../platform/http/schemas.ts'
import { accountSchema, carriedFields } from '../../accounts/accounts/account-schema.ts'

const rows = (description: string) => t.Array(t.Record(t.String(), t.Unknown()), { description })
const time = () => nullable(t.String({ format: 'date-time' }))

export const exportAnswer = component(
  'AccountExport',
  t.Object(
    {
      status: t.Literal(200),
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
      known_devices: rows('When each known device and address signed in last'),
      passkeys: rows('Passkeys'),
      identities: rows('Linked identities of other providers'),
      authenticator_apps: rows('When an authenticator app was confirmed'),
      contact_changes: rows('Changes of a contact that wait for their code'),
      replaced_contacts: rows('Contacts of the last seven days that were replaced or removed'),
      administrators_codes: rows('Open recovery and invitation codes, without the codes'),
      administrators: rows('The role in administration'),
      two_factor_removals: rows('A removal of two factors that waits'),
      messages: rows('Messages of the last 30 days, without their codes'),
      events: rows('What happened to the account'),
    },
    { description: 'Everything that is stored about a person.' },
  ),
)
