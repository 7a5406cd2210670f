/** The answers of a sign-in and of a call that sent a code, and the fields that re-authenticate inside a session. */

import { status, t } from 'elysia'
import { answer, created, success } from '../../../platform/http/answers.ts'
import { component } from '../../../platform/http/components.ts'
import type { Client } from '../../../platform/http/http-base.ts'
import { assertionField } from '../../../platform/http/passkey-schemas.ts'
import { type Given, integer, nullable, oneWordOf, optionalField } from '../../../platform/http/schemas.ts'
import { type TwoFactorMethod, twoFactorMethods } from '../../../texts/errors.ts'
import type { Texts } from '../../../texts/texts.ts'
import { accountSchema } from '../../accounts/core/account-schema.ts'
import { maskDestination } from '../../foundation/identifiers/identifier.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { OpenedSession } from '../../sessions/core/session-opener.ts'
import { tokenFields, tokensRecord } from '../../sessions/core/session-schema.ts'
import type { SentCode } from './code-destinations.ts'
import type { TwoFactorDue } from './service.ts'

export const otpField = t.String({
  description:
    'The six digits that were sent or that the authenticator app shows; where two factors are on, also a recovery code. Each is accepted once: after a code of the app only its next one is. Spaces, separators and the script of the digits do not matter, and a text that can be no code costs no attempt',
  examples: ['123456'],
})

export const loginTokenField = t.String({
  description:
    'From the 202 of the login that this call completes: it proves the first factor, for ten minutes and one session',
})

const sentCodeFields = {
  channel: t.Union([t.Literal('email'), t.Literal('sms')], { description: 'How the code is sent' }),
  expires_in: integer({ description: 'How long the code is valid, in seconds', examples: [600] }),
  resend_after: integer({
    description: 'The same call again sends another code after this many seconds; 0: at once',
    examples: [0],
  }),
  sent_to: t.Optional(
    t.String({
      description: 'The masked contact of the account, where the call named none and proved who calls',
      examples: ['a•••@example.com'],
    }),
  ),
}

const message = t.String({ examples: ['A code is on its way.'] })

export const sentCodeAnswer = answer('CodeSent', { message, ...sentCodeFields }, 'A code is on its way.', 201)

export const requestedCodeAnswer = answer(
  'CodeRequested',
  { message, ...t.Partial(t.Object(sentCodeFields)).properties },
  'Accepted. Only with a valid `login_token` or access token more than `message` is there.',
  201,
)

export function sentCode(message: string, sent: SentCode) {
  const { channel, destination, expiresInSeconds, resendAfterSeconds } = sent
  return created({
    message,
    channel,
    expires_in: expiresInSeconds,
    resend_after: resendAfterSeconds,
    ...(destination !== null && { sent_to: maskDestination(destination) }),
  })
}

/** The fields of every call that changes how the account is protected, besides its own. */
export const ownerProofFields = {
  password: optionalField(
    t.String({
      description:
        'Password of the account, required if it has one. Otherwise the session must be less than 5 minutes old, and `refresh_token` shows that',
    }),
  ),
  otp: optionalField(
    t.String({
      description:
        'Required with two-factor sign-in: a code of the authenticator app, a recovery code, or a code that `2fa/request-otp` sent for the access token',
      examples: ['123456'],
    }),
  ),
  credential: optionalField(assertionField, {
    description: 'Instead of both: the signature of a passkey over the options of `passkeys/step-up/options`',
  }),
  refresh_token: optionalField(
    t.String({
      description:
        "The session's present refresh token, where a sign-in of the last 5 minutes takes the place of the password. It stays valid",
    }),
  ),
}

/** The parts of a request that such a call takes. */
export interface OwnerCall<Body = OwnerProof> {
  signedIn: Authenticated
  body: Body
  client: Client
}

/** The body of the calls that have no other fields. */
export const ownerProofBody = component('OwnerProof', t.Object(ownerProofFields))

/** The fields of a call's body that prove the owner. */
export type OwnerProof = Given<typeof ownerProofBody>

const twoFactorMethod = component(
  'TwoFactorMethod',
  oneWordOf(twoFactorMethods, 'A method for the second factor.'),
)

export const twoFactorMethodsField = t.Array(twoFactorMethod, {
  examples: [['email', 'recovery_code']],
  description:
    'The methods that can be used now, in this order. `recovery_code` is listed wherever some are left',
})

export const signedInAnswer = answer(
  'SignedIn',
  { ...tokenFields, account: accountSchema },
  'Signed in: the tokens of the new session, and the account.',
)

/** The fields of `signedInAnswer`, in the specification's order. */
export const signedInRecord = ({ account, ...tokens }: OpenedSession) => ({
  ...tokensRecord(tokens),
  account,
})

/**
 * The answer that `twoFactorAnswer` describes. If a code of an app is due, the sentence does not mention a message.
 */
export function twoFactorDue<Due extends TwoFactorDue>(due: Due, { sentences }: Texts) {
  const { methods, sentTo, expiresIn, loginToken, ...more } = due
  return status(202, {
    status: 202 as const,
    code: 'two_factor_required' as const,
    message: sentences[twoFactorSentence(methods)],
    two_factor: { methods, sent_to: sentTo, expires_in: expiresIn, login_token: loginToken, ...more },
  })
}

/** The answer to a first factor: the new session, or the second factor that is due. */
export const outcomeAnswer = <Due extends TwoFactorDue>(
  outcome: { signedIn: OpenedSession } | { due: Due },
  texts: Texts,
) => ('signedIn' in outcome ? success(signedInRecord(outcome.signedIn)) : twoFactorDue(outcome.due, texts))

/** Names the sentence that asks for the second factor. */
export function twoFactorSentence(methods: TwoFactorMethod[], wasSent = true) {
  if (methods.includes('totp')) return 'two_factor_app_required'
  if (wasSent && (methods.includes('email') || methods.includes('sms'))) return 'two_factor_required'
  if (methods.includes('passkey')) return 'two_factor_passkey_required'
  return methods.includes('recovery_code') ? 'two_factor_recovery_required' : 'two_factor_unavailable'
}

export const twoFactorAnswer = answer(
  'TwoFactorDue',
  {
    code: t.Literal('two_factor_required'),
    message: t.String({ examples: ['A code is on its way.'] }),
    two_factor: t.Object({
      methods: twoFactorMethodsField,
      sent_to: nullable(
        t.String({ description: 'Null if no code was sent', examples: ['a•••@example.com'] }),
      ),
      expires_in: integer({ description: 'Seconds' }),
      login_token: t.String({
        pattern: '^[A-Za-z0-9_-]{43}$',
        examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'],
        description: 'Proves the first factor in `2fa/verify`, for 10 minutes and one session',
      }),
    }),
  },
  'The password is right, and a second factor is due: `2fa/verify` finishes the login.',
  202,
)
