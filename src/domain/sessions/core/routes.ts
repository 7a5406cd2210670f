/** Refresh, logout and the list of sessions. */
import { Elysia, t } from 'elysia'
import { messageAnswer, success } from '../../../platform/http/answers.ts'
import { type Bearer, bearerSecurity } from '../../../platform/http/bearer.ts'
import { documented, documentedInSession } from '../../../platform/http/documented.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import type { Authenticated } from './authentication.ts'
import type { SessionService } from './service.ts'
import { logoutBody, refreshBody, refreshedAnswer, sessionsAnswer, tokensRecord } from './session-schema.ts'

// Its form is not checked: a text that is no UUID is no session either, so the answer is 404.
const sessionId = t.String({
  description: 'The `id` of the session in the list, a UUID',
  examples: ['0f8f1e52-6c0e-4b6a-9c57-0a4f2f5c7d11'],
})

const trustedDeviceId = t.String({
  description: 'The `id` of the device in `me/security`, a UUID',
  examples: ['5c1f0b8e-3f8a-4d2b-9a60-7e2d4c9b1a33'],
})

const detail = documented('Sessions')
const detailInSession = documentedInSession('Sessions')

export function createSessionRoutes(
  httpBase: HttpBase,
  bearer: Bearer<Authenticated>,
  sessions: SessionService,
) {
  return createOpenRoutes(httpBase, sessions)
    .use(bearer)
    .post(
      '/logout-all',
      async ({ signedIn, client }) => {
        await sessions.logOutAll(signedIn)
        return success({ message: client.texts.sentences.logged_out_everywhere })
      },
      {
        response: { 200: messageAnswer(200), ...errorResponses() },
        detail: detailInSession('logOutEverywhere', 'End all sessions of the account, including this one'),
      },
    )
    .get('/sessions', async ({ signedIn }) => success({ sessions: await sessions.list(signedIn) }), {
      response: {
        200: sessionsAnswer,
        ...errorResponses(),
      },
      detail: detailInSession(
        'listSessions',
        'List the sessions of the account',
        'An account has at most 100; ended ones are not among them.',
      ),
    })
    .delete(
      '/sessions/:id',
      async ({ signedIn, params, client }) => {
        await sessions.end(signedIn, params.id)
        return success({ message: client.texts.sentences.session_ended })
      },
      {
        params: t.Object({ id: sessionId }),
        response: { 200: messageAnswer(200), ...errorResponses('session_not_found') },
        detail: detailInSession('endSession', 'End one session of the account'),
      },
    )
    .delete(
      '/sessions/:id/trusted-device',
      async ({ signedIn, params, client }) => {
        await sessions.forgetDevice(signedIn, params.id)
        return success({ message: client.texts.sentences.device_forgotten })
      },
      {
        params: t.Object({ id: sessionId }),
        response: { 200: messageAnswer(200), ...errorResponses('session_not_found') },
        detail: detailInSession(
          'forgetTrustedDevice',
          'Trust the device of a session no longer',
          'Its next login needs the second step again. The session goes on.',
        ),
      },
    )
    .delete(
      '/trusted-devices/:id',
      async ({ signedIn, params, client }) => {
        await sessions.forgetTrustedDevice(signedIn, params.id)
        return success({ message: client.texts.sentences.device_forgotten })
      },
      {
        params: t.Object({ id: trustedDeviceId }),
        response: { 200: messageAnswer(200), ...errorResponses('device_not_found') },
        detail: detailInSession(
          'endTrustedDevice',
          'Trust one device no longer',
          'Whether the session that made it lives or not. `GET me/security` lists them. Its next login needs the second step again.',
        ),
      },
    )
}

function createOpenRoutes(httpBase: HttpBase, sessions: SessionService) {
  return new Elysia({ name: 'sessions', prefix: '/api/v1/auth' })
    .use(httpBase)
    .post(
      '/refresh',
      async ({ body, client: { address } }) => {
        const fingerprint = body.device_fingerprint || null
        const tokens = await sessions.refresh(body.refresh_token, { address, fingerprint })
        return success(tokensRecord(tokens))
      },
      {
        body: refreshBody,
        response: {
          200: refreshedAnswer,
          ...errorResponses('invalid_token', 'token_expired', 'account_incomplete'),
        },
        detail: detail(
          'refresh',
          'Exchange a refresh token for new tokens',
          'Each refresh token can be used once. The same one again returns the same successor for 10 seconds to anybody, for 30 seconds to the device of the session (its `device_fingerprint`, or its address if the sign-in named none or an application has the session), and twice a week later than that to its `device_fingerprint`. Otherwise, and once the successor was used, the session ends and the owner is told.',
        ),
      },
    )
    .post(
      '/logout',
      async ({ body, headers, client }) => {
        const { refresh_token: refreshToken = null } = body
        await sessions.logOut(refreshToken, headers.authorization)
        return success({ message: client.texts.sentences.logged_out })
      },
      {
        body: logoutBody,
        response: { 200: messageAnswer(200), ...errorResponses() },
        detail: {
          ...detail(
            'logOut',
            'End the session of a refresh token, or of the access token',
            'The same answer for tokens whose session has ended, and for what is not a token at all. Without any token there is no session to end: 422 `required`.',
          ),
          security: [...bearerSecurity, {}],
        },
      },
    )
}
