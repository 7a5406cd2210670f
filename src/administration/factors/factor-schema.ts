/** Passkeys and identities as administration shows them. */
import { t } from 'elysia'
import type { LinkedIdentity } from '../../domain/sign-in/identities/store.ts'
import type { Passkey } from '../../domain/sign-in/passkeys/passkey.ts'
import { namedObject } from '../../platform/http/components.ts'
import { iso, isoOrNull, recordOf } from '../../platform/http/records.ts'
import { integer, nullable, timeField } from '../../platform/http/schemas.ts'

const passkey = recordOf<Passkey>()({
  id: [t.String(), ({ id }) => id],
  name: [t.String(), ({ name }) => name],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
  last_used_at: [nullable(timeField()), ({ lastUsedAt }) => isoOrNull(lastUsedAt)],
  backed_up: [t.Boolean(), ({ backedUp }) => backedUp],
})
export const passkeyRecord = passkey.read
export const passkeySchema = namedObject('AccountPasskey', passkey.fields, 'A passkey of an account.')

const identity = recordOf<LinkedIdentity>()({
  id: [integer(), ({ id }) => id],
  provider: [t.String(), ({ provider }) => provider],
  provider_uid: [t.String(), ({ subject }) => subject],
  email: [nullable(t.String()), ({ email }) => email],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
})
export const identityRecord = identity.read
export const identitySchema = namedObject(
  'AccountIdentity',
  identity.fields,
  'A sign-in provider of an account.',
)
