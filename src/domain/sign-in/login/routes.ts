/** Sign in by password. */
import { Elysia, t } from 'elysia'
import { documented } from '../../../platform/http/documented.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { identifierField, passwordField } from '../../accounts/core/account-schema.ts'
import { deviceFields, deviceOf, deviceTokenField } from '../../sessions/core/session-schema.ts'
import { outcomeAnswer, signedInAnswer, twoFactorAnswer } from '../core/sign-in-schema.ts'
import type { LoginService } from './service.ts'

const detail = documented('Login')

export function createLoginRoutes(httpBase: HttpBase, login: LoginService) {
  return new Elysia({ name: 'login', prefix: '/api/v1/auth' })
    .use(httpBase)
    .post(
      '/login',
      async ({ body, client }) =>
        outcomeAnswer(await login.logIn(body, deviceOf(body), client), client.texts),
      {
        body: t.Object({
          identifier: identifierField,
          password: passwordField,
          ...deviceFields,
          ...deviceTokenField,
        }),
        response: {
          200: signedInAnswer,
          202: twoFactorAnswer,
          ...errorResponses(
            'invalid_credentials',
            'account_unconfirmed',
            'account_locked',
            'account_incomplete',
            'country_not_allowed',
            'too_many_requests',
            'server_busy',
          ),
        },
        detail: detail(
          'logIn',
          'Sign in',
          '202 if the account has two-factor sign-in: `2fa/verify` completes the login, with the code that was sent or with a code of the authenticator app.',
        ),
      },
    )
}
