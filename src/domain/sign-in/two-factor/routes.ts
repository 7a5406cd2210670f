/** Turning two-factor sign-in on and off: sent codes, an authenticator app, recovery codes. */
import { Elysia, t } from 'elysia'
import { answer, messageAnswer, success } from '../../../platform/http/answers.ts'
import type { Bearer } from '../../../platform/http/bearer.ts'
import { documentedInSession } from '../../../platform/http/documented.ts'
import { errorResponses, ownerProofErrors } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { optionalField } from '../../../platform/http/schemas.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import {
  otpField,
  ownerProofBody,
  ownerProofFields,
  sentCode,
  sentCodeAnswer,
} from '../core/sign-in-schema.ts'
import type { TwoFactorService } from './service.ts'

/** The errors of an attempt with a code. */
const codeErrors = ['invalid_code', 'too_many_attempts', 'too_many_requests'] as const

const recoveryCodesAnswer = answer(
  'RecoveryCodes',
  {
    recovery_codes: t.Array(t.String({ examples: ['7KQ2-M0XV-9RTA-4ZJC'] }), {
      description:
        'Ten codes, each of which replaces a code once. They are shown only here, and older ones are not valid any more',
    }),
  },
  'Recovery codes for the person to save; they are not shown again.',
)

const appAnswer = answer(
  'AuthenticatorApp',
  {
    secret: t.String({
      description: 'Base32, for typing in',
      pattern: '^[A-Z2-7]{32}$',
      examples: ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'],
    }),
    otpauth_uri: t.String({
      description: 'RFC 6238: SHA-1, 6 digits, 30 seconds',
      examples: [
        'otpauth://totp/Example:ada@example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example',
      ],
    }),
    qr_svg: t.String({ description: '`otpauth_uri` as a QR code', examples: ['<svg …></svg>'] }),
  },
  'What the app has to scan. Confirm it with its first code.',
)

const codeBody = t.Object({ otp: otpField })

const detail = documentedInSession('Two factors')

export function createTwoFactorRoutes(
  httpBase: HttpBase,
  bearer: Bearer<Authenticated>,
  factors: TwoFactorService,
) {
  return new Elysia({ name: 'two-factor', prefix: '/api/v1/auth/2fa' })
    .use(httpBase)
    .use(bearer)
    .post(
      '/enable',
      async ({ signedIn, body, client }) => {
        const { method, ...proof } = body
        if (method === 'passkey') {
          const recovery_codes = await factors.enableWithPasskey(signedIn, proof, client)
          return success({ recovery_codes })
        }
        const sent = await factors.requestEnabling(signedIn, { ...proof, method }, client)
        return sentCode(client.texts.sentences.two_factor_enrolment_sent, sent)
      },
      {
        body: t.Object({
          ...ownerProofFields,
          method: optionalField(
            t.Union([t.Literal('email'), t.Literal('sms'), t.Literal('passkey')], {
              description:
                'By codes to the verified e-mail address, or to the verified telephone number; or with the passkeys of the account. Without it, by sent codes',
            }),
          ),
        }),
        response: {
          200: recoveryCodesAnswer,
          201: sentCodeAnswer,
          ...errorResponses(
            ...ownerProofErrors,
            'two_factor_already_enabled',
            'no_verified_contact',
            'no_other_factor',
            'passkey_not_found',
            'country_not_allowed',
            'channel_not_available',
          ),
        },
        detail: detail(
          'enableTwoFactor',
          'Begin to turn on two-factor sign-in',
          'With sent codes: a code goes to the verified e-mail address, else to the verified telephone number; never by e-mail if the operator does not allow it as a second factor (`two_factor.allow_email`). `method: "email"` or `"sms"` says which of them. With `method: "passkey"`, for an account that has one, two factors are on at once, and the answer is 200 with the recovery codes.',
        ),
      },
    )
    .post(
      '/enable/confirm',
      async ({ signedIn, body, client }) =>
        success({ recovery_codes: await factors.confirmEnabling(signedIn, body.otp, client) }),
      {
        body: codeBody,
        response: {
          200: recoveryCodesAnswer,
          ...errorResponses(
            ...codeErrors,
            'two_factor_already_enabled',
            'no_verified_contact',
            'no_other_factor',
          ),
        },
        detail: detail(
          'confirmTwoFactor',
          'Turn on two-factor sign-in with the code that was sent',
          'Other sessions that were opened with one factor end.',
        ),
      },
    )
    .post(
      '/totp',
      async ({ signedIn, body, client }) => {
        const { secret, uri, picture } = await factors.requestApp(signedIn, body, client)
        return success({ secret, otpauth_uri: uri, qr_svg: picture })
      },
      {
        body: ownerProofBody,
        response: { 200: appAnswer, ...errorResponses(...ownerProofErrors) },
        detail: detail(
          'requestAuthenticatorApp',
          'Set up an authenticator app',
          'Valid for 30 minutes. An app that is in use stays in use until the new one is confirmed.',
        ),
      },
    )
    .post(
      '/totp/confirm',
      async ({ signedIn, body, client }) =>
        success({ recovery_codes: await factors.confirmApp(signedIn, body.otp, client) }),
      {
        body: codeBody,
        response: { 200: recoveryCodesAnswer, ...errorResponses(...codeErrors) },
        detail: detail(
          'confirmAuthenticatorApp',
          'Confirm the authenticator app with its first code',
          'Turns two-factor sign-in on if it was off, and ends other sessions that were opened with one factor. No code is sent to this account any more.',
        ),
      },
    )
    .post(
      '/disable',
      async ({ signedIn, body, client }) => {
        await factors.disable(signedIn, body, client)
        return success({ message: client.texts.sentences.two_factor_disabled })
      },
      {
        body: ownerProofBody,
        response: {
          200: messageAnswer(200),
          ...errorResponses(...ownerProofErrors, 'two_factor_not_enabled'),
        },
        detail: detail(
          'disableTwoFactor',
          'Turn off two-factor sign-in',
          'The app and the recovery codes are removed; sessions stay. The owner is told.',
        ),
      },
    )
    .post(
      '/recovery-codes',
      async ({ signedIn, body, client }) =>
        success({ recovery_codes: await factors.replaceRecoveryCodes(signedIn, body, client) }),
      {
        body: ownerProofBody,
        response: {
          200: recoveryCodesAnswer,
          ...errorResponses(...ownerProofErrors, 'two_factor_not_enabled'),
        },
        detail: detail(
          'replaceRecoveryCodes',
          'Replace the recovery codes',
          'The old ones are not valid any more, and the owner is told. Two-factor sign-in must be on.',
        ),
      },
    )
}
