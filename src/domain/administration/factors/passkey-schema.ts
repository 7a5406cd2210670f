/** A passkey as administration shows it. */
import { t } from 'elysia'
import { namedObject } from '../../../platform/http/components.ts'
import { nullable, timeField } from '../../../platform/http/schemas.ts'
import type { Passkey } from '../../sign-in/passkeys/passkey.ts'

export const passkeySchema = namedObject(
  'AccountPasskey',
  {
    id: t.String(),
    name: t.String(),
    created_at: timeField(),
    last_used_at: nullable(timeField()),
    backed_up: t.Boolean(),
  },
  'A passkey of an account.',
)

export const passkeyRecord = ({ id, name, createdAt, lastUsedAt, backedUp }: Passkey) => ({
  id,
  name,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
  backed_up: backedUp,
})
