/** Passkeys and identities as administration shows them. */
import { t } from 'elysia'
import type { Passkey } from '../../domain/sign-in/passkeys/passkey.ts'
import { namedObject } from '../../platform/http/components.ts'
import { integer, nullable, timeField } from '../../platform/http/schemas.ts'
import type { AdministeredIdentity } from './store.ts'

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

export const identitySchema = namedObject(
  'AccountIdentity',
  {
    id: integer(),
    provider: t.String(),
    provider_uid: t.String(),
    email: nullable(t.String()),
    created_at: timeField(),
  },
  'A sign-in provider of an account.',
)

export const identityRecord = ({ id, provider, subject, email, createdAt }: AdministeredIdentity) => ({
  id,
  provider,
  provider_uid: subject,
  email,
  created_at: createdAt.toISOString(),
})
