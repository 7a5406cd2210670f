/** Resetting a forgotten password (two calls), and changing the password inside a session. */
import { Elysia, t } from 'elysia'
import { answer, messageAnswer, success } from '../../../platform/http/answers.ts'
import type { Bearer } from '../../../platform/http/bearer.ts'
import { documented, documentedInSession } from '../../../platform/http/documented.ts'
import { errorResponses, ownerProofErrors } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { oneWordOf } from '../../../platform/http/schemas.ts'
import { en } from '../../../texts/en.ts'
import { entryErrors } from '../../accounts/admission/entry-schema.ts'
import { identifierField, newPasswordFields } from '../../accounts/core/account-schema.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import { deviceFields } from '../../sessions/core/session-schema.ts'
import { ownerProofFields, sentCode, sentCodeAnswer } from '../core/sign-in-schema.ts'
import { removedKinds } from './resetting.ts'
import type { PasswordsService } from './service.ts'

const detail = documented('Passwords')
const detailInSession = documentedInSession('Passwords')

const resetAnswer = answer(
  'PasswordReset',
  {
    message: t.String({ examples: [en.sentences.password_reset] }),
    removed: t.Array(oneWordOf(removedKinds, 'The kind of what was removed'), {
      description:
        'What went because a session had added it within the last seven days, after the contact of this reset was verified. Show the person their account again where it is not empty',
      examples: [['phone']],
    }),
  },
  'The password is the new one.',
)

export function createPasswordRoutes(
  httpBase: HttpBase,
  bearer: Bearer<Authenticated>,
  passwords: PasswordsService,
) {
  return new Elysia({ name: 'passwords', prefix: '/api/v1/auth/password' })
    .use(httpBase)
    .post(
      '/forgot',
      async ({ body, client }) => {
        const caller = { ...client, fingerprint: body.device_fingerprint || null }
        const sent = await passwords.forgot(body, caller)
        return sentCode(client.texts.sentences.password_reset_sent, sent)
      },
      {
        body: t.Object({ identifier: identifierField, device_fingerprint: deviceFields.device_fingerprint }),
        response: {
          201: sentCodeAnswer,
          ...errorResponses('too_many_requests', 'country_not_allowed', 'channel_not_available'),
        },
        detail: detail(
          'forgotPassword',
          'Request a code to choose a new password',
          'The same answer for every identifier. A code is sent if the identifier is verified, or waits for its confirmation.',
        ),
      },
    )
    .post(
      '/reset',
      async ({ body, client }) => {
        const { password_confirmation: confirmation, device_fingerprint: fingerprint } = body
        const source = { ...client, fingerprint: fingerprint || null }
        const removed = await passwords.reset({ ...body, confirmation }, source)
        return success({ message: client.texts.sentences.password_reset, removed })
      },
      {
        body: t.Object({
          identifier: t.String({
            description:
              'E-mail address or phone number of the account; with a temporary access or invitation code its uuid too',
            examples: ['ada@example.com'],
          }),
          otp: t.String({
            description:
              'The code that was sent, or a temporary access or invitation code of an administrator',
            examples: ['123456'],
          }),
          ...newPasswordFields,
          device_fingerprint: deviceFields.device_fingerprint,
        }),
        response: {
          200: resetAnswer,
          ...errorResponses(
            'invalid_code',
            'test_identity',
            'too_many_attempts',
            'too_many_requests',
            'server_busy',
            ...entryErrors,
          ),
        },
        detail: detail(
          'resetPassword',
          'Choose a new password with the code',
          'Confirms the account if it waited for that, ends all its sessions and does not sign in. Two-factor sign-in stays on.',
        ),
      },
    )
    .use(bearer)
    .post(
      '/change',
      async ({ signedIn, body, client }) => {
        await passwords.change(signedIn, { ...body, confirmation: body.password_confirmation }, client)
        return success({ message: client.texts.sentences.password_changed })
      },
      {
        body: t.Object({
          current_password: ownerProofFields.password,
          otp: ownerProofFields.otp,
          credential: ownerProofFields.credential,
          refresh_token: ownerProofFields.refresh_token,
          ...newPasswordFields,
        }),
        response: {
          200: messageAnswer(200),
          ...errorResponses(...ownerProofErrors),
        },
        detail: detailInSession(
          'changePassword',
          'Change your password',
          'The other sessions of the account end; this one stays. The owner is told.',
        ),
      },
    )
}
