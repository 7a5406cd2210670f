/** GET /api/v1/auth/sessions/ended, on the public listener, where those who verify access tokens get their keys. */
import { Elysia, t } from 'elysia'
import { answer, success } from '../../platform/http/answers.ts'
import { component } from '../../platform/http/components.ts'
import { documented } from '../../platform/http/documented.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import type { HttpBase } from '../../platform/http/http-base.ts'
import { integer } from '../../platform/http/schemas.ts'
import type { EndedTokensFeed } from './service.ts'

const ended = component(
  'EndedTokens',
  t.Object(
    {
      session: t.Optional(t.String({ format: 'uuid', description: 'The `sid` of the tokens' })),
      account: t.Optional(t.String({ format: 'uuid', description: 'The `sub` of the tokens' })),
      key: t.Optional(t.String({ description: 'The `kid` of the tokens' })),
      before: t.Optional(
        integer({ description: 'Only tokens with a smaller `iat`; alone: those of anybody. Unix seconds' }),
      ),
      until: integer({ description: 'Unix seconds; afterwards the entry can be forgotten' }),
    },
    { description: 'Access tokens that are refused though they have not expired.' },
  ),
)

const endedAnswer = answer(
  'EndedTokensPage',
  { cursor: t.String({ description: 'From where the next call goes on' }), ended: t.Array(ended) },
  'Oldest first, at most 1,000; after 1,000 ask again at once.',
)

const detail = documented('Sessions')

export function createEndedTokensRoutes(httpBase: HttpBase, feed: EndedTokensFeed) {
  return new Elysia({ name: 'ended-tokens', prefix: '/api/v1/auth' })
    .use(httpBase)
    .get(
      '/sessions/ended',
      async ({ query, headers, client, request: { signal } }) =>
        success(await feed.list(query, { authorization: headers.authorization, client, signal })),
      {
        query: t.Object({
          after: t.Optional(
            t.String({
              description: 'The `cursor` of the answer before; without it, everything that still matters',
            }),
          ),
          wait: t.Optional(
            t.String({ description: 'Seconds to wait for an entry, at most 25', pattern: '^[0-9]{1,2}$' }),
          ),
        }),
        response: {
          200: endedAnswer,
          ...errorResponses(
            'invalid_token',
            'token_expired',
            'insufficient_scope',
            'too_many_requests',
            'validation_failed',
          ),
        },
        detail: {
          ...detail(
            'followEndedTokens',
            'Follow which access tokens were ended',
            'For services that verify access tokens themselves, with a token of administration that has the scope `sessions:watch`.',
          ),
          security: [{ administrationToken: [] }],
        },
      },
    )
}
