/** The device of a sign-in, the tokens that it returns, and the session as lists show it. */
import { t } from 'elysia'
import { answer } from '../../../platform/http/answers.ts'
import { namedObject } from '../../../platform/http/components.ts'
import { iso, recordOf } from '../../../platform/http/records.ts'
import { nullable, optionalField, timeField } from '../../../platform/http/schemas.ts'
import type { ListedSession } from './session.ts'

const deviceText = (description: string) =>
  optionalField(t.String(), { description: `${description}. What is longer than 255 characters is cut` })

/** It is indexed, and a row of an index has 2,700 bytes. */
const LONGEST_FINGERPRINT = 600

/** The fields of a login that describe the device; they are stored with the session. */
export const deviceFields = {
  device_type: deviceText(
    'Kind of device: `Mobile`, `Tablette` or `Navigateur`. Any other text is kept as null, and refuses no sign-in',
  ),
  device_name: deviceText('Device name'),
  device_os: deviceText('Operating system'),
  device_fingerprint: optionalField(t.String({ maxLength: LONGEST_FINGERPRINT }), {
    description:
      'A random value that the client keeps on the device and sends with every call: the device is known by it, and mistakes of strangers do not refuse its owner. Whoever knows it is counted as that device, so choose it at random',
  }),
}

const kinds = ['Mobile', 'Tablette', 'Navigateur'] as const

/** The token spares logins on this device the second step. */
export const deviceTokenField = {
  device_token: optionalField(t.String({ maxLength: 100 }), {
    description:
      'What `2fa/verify` gave to this device for `trust_device`: with the same `device_fingerprint` it takes the place of the second step. One that does not hold is passed over',
  }),
}

const describedDevice = t.Object({ ...deviceFields, ...deviceTokenField })

/** The device that a body describes. */
export function deviceOf(body: typeof describedDevice.static) {
  return {
    type: kinds.find((kind) => kind === body.device_type) ?? null,
    name: body.device_name ?? null,
    os: body.device_os ?? null,
    fingerprint: body.device_fingerprint || null,
    ...(typeof body.device_token === 'string' && { trust: body.device_token }),
  }
}

const tokens = recordOf<{ accessToken: string; refreshToken: string }>()({
  access_token: [
    t.String({
      examples: ['eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiI…'],
      description: 'JWT (ES256); its keys are at /.well-known/jwks.json',
    }),
    ({ accessToken }) => accessToken,
  ],
  refresh_token: [
    t.String({ pattern: '^[0-9a-f]{64}$', examples: ['9f2c4e6a'.repeat(8)] }),
    ({ refreshToken }) => refreshToken,
  ],
})
export const tokenFields = tokens.fields
export const tokensRecord = tokens.read

export const refreshedAnswer = answer('Tokens', tokenFields, 'The next two tokens of the session.')

const refreshToken = t.String({ description: 'The newest refresh token of the session' })

export const refreshBody = t.Object({
  refresh_token: refreshToken,
  device_fingerprint: deviceFields.device_fingerprint,
})

export const logoutBody = t.Object({ refresh_token: optionalField(refreshToken) })

/** Lists show a session in this form, to its owner and to administrators. */
const listed = recordOf<ListedSession>()({
  id: [t.String({ format: 'uuid' }), ({ id }) => id],
  device_type: [nullable(t.String({ examples: ['Mobile'] })), ({ deviceType }) => deviceType],
  device_name: [nullable(t.String({ examples: ['Phone of Ada'] })), ({ deviceName }) => deviceName],
  device_os: [nullable(t.String({ examples: ['Android 16'] })), ({ deviceOs }) => deviceOs],
  ip: [
    nullable(t.String({ description: 'The address of its last refresh', examples: ['203.0.113.7'] })),
    ({ ip }) => ip,
  ],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
  last_used_at: [timeField(), ({ lastUsedAt }) => iso(lastUsedAt)],
  expires_at: [timeField(), ({ expiresAt }) => iso(expiresAt)],
  application: [
    t.Optional(
      t.String({
        description: 'The application to which the pages handed it over; absent: it is a sign-in',
        examples: ['web'],
      }),
    ),
    ({ clientId }) => clientId ?? undefined,
  ],
})
export const sessionRecord = listed.read

const sessionSchema = namedObject(
  'Session',
  {
    ...listed.fields,
    current: t.Boolean({ description: 'Whether it is the session of this access token' }),
    trusted_device: t.Optional(
      t.Boolean({
        description:
          'Whether a login on its device needs no second step (`device_token`); only there where the operator lets devices be trusted',
      }),
    ),
  },
  'A device that is signed in.',
)

export const sessionsAnswer = answer(
  'Sessions',
  { sessions: t.Array(sessionSchema) },
  'The devices that are signed in.',
)
