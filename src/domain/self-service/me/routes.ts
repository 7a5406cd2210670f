/** One's own account: reading it, its language, and erasing it. */
import { Elysia, t } from 'elysia'
import { messageAnswer, success } from '../../../platform/http/answers.ts'
import type { Bearer } from '../../../platform/http/bearer.ts'
import { byPost, documentedInSession } from '../../../platform/http/documented.ts'
import { errorResponses, ownerProofErrors } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { declare } from '../../../platform/http/route-traits.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Language } from '../../../texts/languages.ts'
import { ownAccountAnswer, profileBody } from '../../accounts/core/account-schema.ts'
import { eventsAnswer, pageQuery } from '../../foundation/events/event-schema.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import { type OwnerCall, ownerProofBody } from '../../sign-in/core/sign-in-schema.ts'
import type { Exports } from './exports.ts'
import { exportAnswer, securityAnswer, securityRecord } from './me-schema.ts'
import type { MeService } from './service.ts'

const detail = documentedInSession('Account')

/** Elysia changes schemas when it compiles a route, so each service has its own. */
const erasure = () => ({
  body: ownerProofBody,
  response: { 200: messageAnswer(200), ...errorResponses(...ownerProofErrors) },
})

const erasureDetail = {
  ...detail(
    'eraseAccount',
    'Delete your account',
    'At once and for good: its sessions end, and its e-mail address and phone number are free again.',
  ),
  ...declare({ allowsTestIdentity: true }),
}

export function createMeRoutes(
  httpBase: HttpBase,
  bearer: Bearer<Authenticated>,
  accounts: MeService,
  exports: Exports,
  languages: readonly Language[],
) {
  async function erase({ signedIn, body, client }: OwnerCall) {
    await accounts.erase(signedIn, body, client)
    return success({ message: client.texts.sentences.account_erased })
  }

  return new Elysia({ name: 'me', prefix: '/api/v1/auth' })
    .use(httpBase)
    .use(bearer)
    .get('/me', ({ signedIn }) => success(accounts.describe(signedIn)), {
      response: { 200: ownAccountAnswer, ...errorResponses() },
      detail: detail('getAccount', 'Read your account'),
    })
    .patch(
      '/me',
      async ({ signedIn, body }) => {
        if (Object.values(body).every((value) => value === undefined)) {
          throw new AppError('validation_failed', { fields: [{ field: 'language', code: 'required' }] })
        }
        return success(await accounts.change(signedIn, body))
      },
      {
        body: t.Object({
          language: t.Optional(
            t.Union(
              languages.map((tag) => t.Literal(tag)),
              { description: 'The language of messages to the owner', examples: ['en'] },
            ),
          ),
          profile: t.Optional(profileBody),
          terms: t.Optional(
            t.String({
              minLength: 1,
              maxLength: 256,
              description: 'The version of the terms that you accept: the present one',
              examples: ['2026-11'],
            }),
          ),
        }),
        response: {
          200: ownAccountAnswer,
          ...errorResponses('validation_failed', 'terms_required', 'too_many_requests'),
        },
        detail: detail(
          'changeOwnAccount',
          'Change your language or your profile',
          'E-mails and SMS to the account are in this language from now on. Answers of the interface follow Accept-Language as before. `me/security` says which language it is. The profile is what you say of yourself: nobody verifies it, and no message contains it. 120 times an hour.',
        ),
      },
    )
    .get(
      '/me/security',
      async ({ signedIn }) => success(securityRecord(await accounts.describeSecurity(signedIn))),
      {
        response: { 200: securityAnswer, ...errorResponses() },
        detail: detail(
          'getAccountSecurity',
          'What protects your account',
          'For a settings page. `passkeys`, `identities` and `sessions` are counts.',
        ),
      },
    )
    .get(
      '/me/export',
      async ({ signedIn, headers, client }) => {
        const proof = { refresh_token: headers['x-refresh-token'], otp: headers['x-otp'] }
        return success(await exports.ofOwner(signedIn, proof, client))
      },
      {
        headers: t.Object({
          'x-refresh-token': t.Optional(
            t.String({ description: "The session's present refresh token; it stays valid" }),
          ),
          'x-otp': t.Optional(
            t.String({
              maxLength: 64,
              description:
                'A code of the second factor, in a session that was opened without one: by a trusted device',
              examples: ['123456'],
            }),
          ),
        }),
        response: {
          200: exportAnswer,
          ...errorResponses(
            'reauthentication_required',
            'two_factor_required',
            'invalid_code',
            'too_many_attempts',
            'too_many_requests',
          ),
        },
        detail: detail(
          'exportAccount',
          'Download everything stored about you',
          'The session must be less than 5 minutes old, and `X-Refresh-Token` shows that: without it, or later, `reauthentication_required`. Where two factors are on and the session proved one, `X-Otp` proves the second: without it `two_factor_required`. Five times a day. Every verified contact is told.',
        ),
      },
    )
    .get('/events', async ({ signedIn, query }) => success(await accounts.listEvents(signedIn, query)), {
      query: t.Object(pageQuery),
      response: { 200: eventsAnswer, ...errorResponses('validation_failed') },
      detail: detail(
        'listEvents',
        'Read the history of your account',
        'Sign-ins, failed attempts and changes, newest first. `next_cursor` is the `cursor` of the next page, or null. Addresses and devices are forgotten earlier than the events.',
      ),
    })
    .delete('/me', erase, { ...erasure(), detail: erasureDetail })
    .post('/me/remove', erase, { ...erasure(), detail: byPost(erasureDetail) })
}
