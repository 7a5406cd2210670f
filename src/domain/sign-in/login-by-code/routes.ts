/** Requesting a code and signing in with it, on its own or as the second factor. */
import { Elysia, t } from 'elysia'
import { answer, created, success } from '../../../platform/http/answers.ts'
import { bearerSecurity } from '../../../platform/http/bearer.ts'
import { documented } from '../../../platform/http/documented.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { optionalField } from '../../../platform/http/schemas.ts'
import { entryErrors, entryFields } from '../../accounts/admission/entry-schema.ts'
import { identifierField } from '../../accounts/core/account-schema.ts'
import type { Authentication } from '../../sessions/core/authentication.ts'
import { deviceFields, deviceOf, deviceTokenField } from '../../sessions/core/session-schema.ts'
import {
  loginTokenField,
  otpField,
  requestedCodeAnswer,
  sentCode,
  signedInAnswer,
  signedInRecord,
  twoFactorAnswer,
  twoFactorDue,
} from '../core/sign-in-schema.ts'
import type { LoginByCodeService } from './service.ts'

const detail = documented('Login')

const verifiedAnswer = answer(
  'SignedInByCode',
  {
    ...signedInAnswer.properties,
    device_token: t.Optional(
      t.String({ description: 'Only where `trust_device` was true and the device is trusted now' }),
    ),
  },
  'Signed in: the tokens of the new session, and the account.',
)

const createField = optionalField(
  t.Boolean({
    description:
      'Where `accounts.password` is optional: open an account if nobody has verified the identifier. The answer is the same for everybody',
  }),
)

export function createLoginByCodeRoutes(
  httpBase: HttpBase,
  authenticate: Authentication['authenticate'],
  loginByCode: LoginByCodeService,
) {
  return new Elysia({ name: 'login-by-code', prefix: '/api/v1/auth/2fa' })
    .use(httpBase)
    .post(
      '/request-otp',
      async ({ body, headers: { authorization }, client }) => {
        const signedIn = authorization === undefined ? null : await authenticate(authorization)
        // Without two-factor sign-in there is nothing to confirm in a session, so the named contact gets a code to sign in.
        const { sentences } = client.texts
        if (signedIn && (signedIn.account.twoFactorEnabled || !body.identifier)) {
          const sent = await loginByCode.requestStepUpCode(signedIn, client, body.channel)
          const message = sent?.channel === 'sms' ? sentences.code_sent_by_sms : sentences.code_sent_by_email
          return sent ? sentCode(message, sent) : created({ message })
        }
        const caller = { ...client, fingerprint: body.device_fingerprint || null }
        const sent = await loginByCode.requestCode({ ...body, loginToken: body.login_token }, caller)
        const message = sentences.two_factor_code_sent
        return sent ? sentCode(message, sent) : created({ message })
      },
      {
        body: t.Object({
          identifier: optionalField(identifierField),
          login_token: optionalField(loginTokenField),
          channel: optionalField(
            t.Union([t.Literal('email'), t.Literal('sms')], {
              description:
                'With `login_token` or an access token: where the code goes, if the account has both contacts. Otherwise it goes to `identifier`',
            }),
          ),
          create: createField,
          ...entryFields,
          device_fingerprint: deviceFields.device_fingerprint,
        }),
        response: {
          201: requestedCodeAnswer,
          ...errorResponses(
            'too_many_requests',
            'country_not_allowed',
            'channel_not_available',
            'two_factor_not_enabled',
            'use_another_method',
            'test_identity',
            'invalid_token',
            'token_expired',
          ),
        },
        detail: {
          ...detail(
            'sendCode',
            'Send a code to sign in with, or to confirm a change with',
            'The same answer for every identifier. A code is sent only to a confirmed account without an authenticator app; with a valid `login_token` or access token the answer for such an account is `use_another_method`, whose `two_factor.methods` says what serves instead, and the answer says where a code went. With an access token, `identifier` may be absent: the code is sent to the first verified contact of the account and is valid as `otp` of a call that changes how the account is protected.',
          ),
          security: [...bearerSecurity, {}],
        },
      },
    )
    .post(
      '/verify',
      async ({ body, client }) => {
        const { login_token: loginToken, trust_device: trustDevice } = body
        const outcome = await loginByCode.verify({ ...body, loginToken, trustDevice }, deviceOf(body), client)
        if ('signedIn' in outcome) {
          const { deviceToken } = outcome.signedIn
          const trusted = deviceToken === undefined ? {} : { device_token: deviceToken }
          return success({ ...signedInRecord(outcome.signedIn), ...trusted })
        }
        return twoFactorDue(outcome.due, client.texts)
      },
      {
        body: t.Object({
          identifier: identifierField,
          otp: otpField,
          password: optionalField(t.String(), {
            description:
              'Only without `login_token`, for an account with two-factor sign-in: proves the first factor in this call. Clients that keep neither are known by a login of the last 10 minutes: with the same `device_fingerprint`, or from the same address if it named none',
          }),
          login_token: optionalField(loginTokenField),
          create: createField,
          ...entryFields,
          ...deviceFields,
          ...deviceTokenField,
          trust_device: optionalField(t.Boolean(), {
            description:
              'Trust this device, if `two_factor.trust_device` allows it: the answer then has a `device_token`, which takes the place of the second step of later logins here. Without effect for a recovery code, and without `device_fingerprint`',
          }),
        }),
        response: {
          200: verifiedAnswer,
          202: twoFactorAnswer,
          ...errorResponses(
            'login_expired',
            'invalid_code',
            'too_many_attempts',
            'too_many_requests',
            'invalid_credentials',
            'account_locked',
            'account_incomplete',
            'server_busy',
            ...entryErrors,
          ),
        },
        detail: detail(
          'signInWithCode',
          'Sign in with a code, or finish a login with two factors',
          'After a 202 of a login: send its `login_token`, and as `otp` the code that was sent, a code of the authenticator app, or a recovery code. Without a login, a code that `2fa/request-otp` sent signs in an account without two factors, unless the operator turned that off (`codes.login = false`).',
        ),
      },
    )
}
