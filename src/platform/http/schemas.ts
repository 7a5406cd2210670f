/** Pieces of bodies and answers that several operations have in common, as the specification names them. */
import { type TSchema, t } from 'elysia'
import type { TwoFactorMethod } from '../../errors.ts'
import type { Language } from '../../texts/languages.ts'
import { languages } from '../../texts/languages.ts'
import { component } from './components.ts'
import { assertionField } from './passkey-schemas.ts'

export const identifierField = t.String({
  description: 'E-mail address or phone number of the account',
  examples: ['ada@example.com'],
})

export const passwordField = t.String({ description: 'Password of the account' })

/** A new password, said twice. */
export const newPasswordFields = {
  password: t.String({ description: '8 to 256 characters, not a common one, not the identifier' }),
  password_confirmation: t.String({ description: 'The same password again' }),
}

export const otpField = t.String({ description: 'The one-time code', examples: ['123456'] })

export const loginTokenField = t.String({
  description: 'From the 202 of the login that this call completes; it proves the first factor',
})

/** RFC 7636, 4.1. */
export const codeVerifierField = t.String({
  pattern: '^[A-Za-z0-9._~-]{43,128}$',
  description: 'The value from which code_challenge was made',
})

export const idTokenField = t.String({
  maxLength: 8192,
  description: 'As the provider gave it to the app',
})

export const nonceField = t.String({
  minLength: 1,
  maxLength: 256,
  description: 'As the app gave it to the provider',
})

/** A field that may be absent or null. */
export const optionalField = <Schema extends TSchema>(schema: Schema) =>
  t.Optional(t.Union([schema, t.Null()]))

/** What a call inside a session that changes what opens the account takes beside its own fields. */
export const ownerProofFields = {
  password: optionalField(
    t.String({
      description:
        'Password of the account, required if it has one. Otherwise the last sign-in must be less than 5 minutes ago',
    }),
  ),
  otp: optionalField(
    t.String({
      description:
        'Required with two-factor login: a code of the authenticator app, a recovery code, or a code that `2fa/request-otp` sent for the access token',
      examples: ['123456'],
    }),
  ),
  credential: t.Optional(
    t.Union([assertionField, t.Null()], {
      description:
        'Instead of both: the signature of a passkey over the options of `passkeys/step-up/options`',
    }),
  ),
}

const deviceText = (description: string) =>
  t.Optional(t.Union([t.String({ maxLength: 255 }), t.Null()], { description }))

/** The body of a login. The device is kept with the session. */
export const deviceFields = {
  device_type: t.Optional(
    t.Union([t.Literal('Mobile'), t.Literal('Tablette'), t.Literal('Navigateur'), t.Null()], {
      description: 'Kind of device',
    }),
  ),
  device_name: deviceText('Device name'),
  device_os: deviceText('Operating system'),
  device_fingerprint: deviceText('Unique device identifier'),
}

export interface DeviceFields {
  device_type?: 'Mobile' | 'Tablette' | 'Navigateur' | null | undefined
  device_name?: string | null | undefined
  device_os?: string | null | undefined
  device_fingerprint?: string | null | undefined
}

/** The device of a body, for the session. */
export function deviceOf(body: DeviceFields) {
  return {
    type: body.device_type ?? null,
    name: body.device_name ?? null,
    os: body.device_os ?? null,
    fingerprint: body.device_fingerprint || null,
  }
}

const twoFactorMethod = component(
  'TwoFactorMethod',
  t.Union(
    [
      t.Literal('passkey'),
      t.Literal('totp'),
      t.Literal('email'),
      t.Literal('sms'),
      t.Literal('recovery_code'),
    ],
    { description: 'A method for the second factor.' },
  ),
)

export const twoFactorMethodsField = t.Array(twoFactorMethod, {
  examples: [['email']],
  description:
    'The methods that can be used now. `recovery_code` is listed only if nothing else can be used, but always works',
})

export function messageAnswer<const Status extends 200 | 201>(status: Status) {
  const [name, description, example] =
    status === 200
      ? ['Done', 'Done; `message` tells the person.', 'Done.']
      : ['Accepted', 'Accepted; `message` tells the person what comes next.', 'A code is on its way.']
  return component(
    name,
    t.Object({ status: t.Literal(status), message: t.String({ examples: [example] }) }, { description }),
  )
}

export const nullable = <Schema extends TSchema>(
  schema: Schema,
  options: { examples?: unknown[]; description?: string } = {},
) => t.Union([schema, t.Null()], options)
export const timeField = () => t.String({ description: 'ISO 8601, UTC, milliseconds', format: 'date-time' })

/** Clients rely on exactly these 24 fields, in this order. */
export const accountSchema = component(
  'Account',
  t.Object(
    {
      failed_attempts: t.Integer({ examples: [0] }),
      id: t.Integer(),
      uuid: t.String({ format: 'uuid' }),
      email: nullable(t.String({ examples: ['ada@example.com'] })),
      phone: nullable(t.String({ description: 'E.164, with the leading plus', examples: ['+33612345678'] })),
      password_digest: t.String({
        description:
          'PHC string. Salt and hash are replaced unless configured "full". Empty without a password',
        examples: ['$argon2id$v=19$m=19456,t=2,p=1$…'],
      }),
      accountable_type: t.String({ examples: ['User'] }),
      accountable_id: t.Integer(),
      role_id: t.Integer(),
      remember_created_at: nullable(timeField(), { examples: [null] }),
      sign_in_count: t.Integer(),
      current_sign_in_at: nullable(timeField()),
      last_sign_in_at: nullable(timeField()),
      current_sign_in_ip: nullable(t.String({ examples: ['203.0.113.7'] })),
      last_sign_in_ip: nullable(t.String({ examples: ['203.0.113.7'] })),
      account_confirmed_at: nullable(timeField()),
      account_confirmed: t.Boolean(),
      unlock_token: nullable(t.String(), { examples: [null] }),
      locked_at: nullable(timeField(), { examples: [null] }),
      two_factor_enabled: t.Boolean({ examples: [false] }),
      provider: t.String({
        description: '`local`, or the provider with which the account was created',
        examples: ['local'],
      }),
      provider_uid: nullable(t.String(), { examples: [null] }),
      created_at: timeField(),
      updated_at: timeField(),
    },
    { description: 'The account; times are UTC.' },
  ),
)

const tokenFields = {
  access_token: t.String({
    examples: ['eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiI…'],
    description: 'JWT (ES256); its keys are at /.well-known/jwks.json',
  }),
  refresh_token: t.String({ pattern: '^[0-9a-f]{64}$', examples: ['9f2c4e6a'.repeat(8)] }),
}

export const signedInAnswer = component(
  'SignedIn',
  t.Object(
    {
      status: t.Literal(200),
      ...tokenFields,
      account: accountSchema,
    },
    { description: 'Signed in: the tokens of the new session, and the account.' },
  ),
)

export const refreshedAnswer = component(
  'Tokens',
  t.Object(
    { status: t.Literal(200), ...tokenFields },
    { description: 'The next two tokens of the session.' },
  ),
)

export const accountAnswer = component(
  'AccountAnswer',
  t.Object({ status: t.Literal(200), account: accountSchema }, { description: 'The account as it is now.' }),
)

/** What `twoFactorAnswer` describes; an app needs no word of a message on its way. */
export function twoFactorDue<Due extends { methods: TwoFactorMethod[] }>(due: Due, language: Language) {
  return {
    status: 202 as const,
    code: 'two_factor_required' as const,
    message: languages[language].sentences[twoFactorSentence(due.methods)],
    two_factor: due,
  }
}

function twoFactorSentence(methods: TwoFactorMethod[]) {
  if (methods.includes('totp')) return 'two_factor_app_required'
  if (methods.includes('email') || methods.includes('sms')) return 'two_factor_required'
  return methods.includes('recovery_code') ? 'two_factor_recovery_required' : 'two_factor_unavailable'
}

export const twoFactorAnswer = component(
  'TwoFactorDue',
  t.Object(
    {
      status: t.Literal(202),
      code: t.Literal('two_factor_required'),
      message: t.String({ examples: ['A code is on its way.'] }),
      two_factor: t.Object({
        methods: twoFactorMethodsField,
        sent_to: nullable(
          t.String({ description: 'Null if no code was sent', examples: ['a•••@example.com'] }),
        ),
        expires_in: t.Integer({ description: 'Seconds' }),
        login_token: t.String({
          pattern: '^[A-Za-z0-9_-]{43}$',
          examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'],
          description: 'Proves the first factor in `2fa/verify`, for 10 minutes and one session',
        }),
      }),
    },
    { description: 'The password is right, and a second factor is due: `2fa/verify` finishes the login.' },
  ),
)
