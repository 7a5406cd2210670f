/** Ask for a code and log in with it: alone, or as the second factor. */
import { Elysia, t } from 'elysia'
import { errorResponses } from '../../platform/http/error-responses.ts'
import type { HttpBase } from '../../platform/http/http-base.ts'
import {
  deviceFields,
  deviceOf,
  identifierField,
  messageAnswer,
  otpField,
  signedInAnswer,
} from '../../platform/http/schemas.ts'
import { languages } from '../../texts/languages.ts'
import type { LoginByCodeService } from './service.ts'

export function createLoginByCodeRoutes(httpBase: HttpBase, twoFactor: LoginByCodeService) {
  return new Elysia({ name: 'two-factor', prefix: '/api/v1/auth/2fa' })
    .use(httpBase)
    .post(
      '/request-otp',
      async ({ body, client, status }) => {
        await twoFactor.requestCode(body, client)
        return status(201, {
          status: 201 as const,
          message: languages[client.language].sentences.two_factor_code_sent,
        })
      },
      {
        body: t.Object({ identifier: identifierField }),
        response: {
          201: messageAnswer(201),
          ...errorResponses('too_many_requests', 'country_not_allowed', 'channel_not_available'),
        },
        detail: {
          tags: ['Login'],
          operationId: 'requestTwoFactorCode',
          summary: 'Request a code to log in with',
          description:
            'The same answer for every identifier. A code goes out only for a confirmed account, and for none that has an authenticator app.',
        },
      },
    )
    .post(
      '/verify',
      async ({ body, client }) => ({
        status: 200 as const,
        ...(await twoFactor.verify(body, deviceOf(body), client)),
      }),
      {
        body: t.Object({
          identifier: identifierField,
          otp: otpField,
          password: t.Optional(
            t.Union([t.String(), t.Null()], {
              description:
                'Needed with two factors unless a login from this device or address proved it in the last 10 minutes',
            }),
          ),
          ...deviceFields,
        }),
        response: {
          200: signedInAnswer,
          ...errorResponses(
            'invalid_code',
            'too_many_attempts',
            'too_many_requests',
            'invalid_credentials',
            'account_locked',
            'server_busy',
          ),
        },
        detail: {
          tags: ['Login'],
          operationId: 'verifyTwoFactor',
          summary: 'Log in with a code',
          description:
            '`otp` is the code that was sent, a code of the authenticator app, or a recovery code.',
        },
      },
    )
}
