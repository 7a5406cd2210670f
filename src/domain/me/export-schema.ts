/** The form of a copy of everything that is stored about a person. */
import { t } from 'elysia'
import { component } from '../../platform/http/components.ts'
import { timeField } from '../../platform/http/schemas.ts'

export const exportAnswer = component(
  'AccountExport',
  t.Object(
    { status: t.Literal(200), exported_at: timeField(), account: t.Record(t.String(), t.Unknown()) },
    {
      description:
        'Everything stored about a person: sessions, passkeys, identities, messages, events and more.',
      additionalProperties: true,
    },
  ),
)
