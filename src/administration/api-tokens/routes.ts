/** Tokens of administration: made, listed and revoked. */

import { Elysia, t } from 'elysia'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { recordsOf } from '../../domain/foundation/events/page.ts'
import { answer, listAnswer, success } from '../../platform/http/answers.ts'
import { namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { iso, isoOrNull, recordOf } from '../../platform/http/records.ts'
import { nullable, timeField } from '../../platform/http/schemas.ts'
import type { AdminBase } from '../access/access.ts'
import { detail, done, scopeField } from '../access/operation-schema.ts'
import type { Once } from '../idempotency/service.ts'
import type { TokenService } from './service.ts'
import type { StoredToken } from './store.ts'

const { fields, read: tokenRecord } = recordOf<StoredToken>()({
  id: [t.String({ format: 'uuid' }), ({ uuid }) => uuid],
  name: [t.String({ examples: ['nightly export'] }), ({ name }) => name],
  scopes: [t.Array(scopeField), ({ scopes }) => scopes],
  addresses: [
    t.Array(t.String({ examples: ['203.0.113.0/24'] }), {
      description: 'From where it is taken; empty: from everywhere',
    }),
    ({ addresses }) => addresses,
  ],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
  expires_at: [timeField(), ({ expiresAt }) => iso(expiresAt)],
  last_used_at: [nullable(timeField()), ({ lastUsedAt }) => isoOrNull(lastUsedAt)],
  created_by: [
    t.Object({
      type: t.String({ enum: ['operator', 'administrator', 'token'] }),
      id: nullable(t.String()),
      name: nullable(t.String({ examples: ['ada@example.com'] })),
    }),
    ({ creator }) => creator,
  ],
})
const token = namedObject('Token', fields, 'A token of administration, without itself.')

export type TokenRecord = ReturnType<typeof tokenRecord>

const createdAnswer = answer(
  'TokenCreated',
  {
    token: nullable(
      t.String({
        pattern: '^pot_adm_[0-9A-Za-z]{28}$',
        description: 'Shown once; null when a call is repeated with its `Idempotency-Key`',
        examples: ['pot_adm_4fT0qZrW8sKx2LmNc7YbVe1BjXkP'],
      }),
    ),
    ...fields,
  },
  'The token, which is shown only here.',
  201,
)

const tokensAnswer = listAnswer(
  'TokenPage',
  token,
  'One page of tokens, newest first; without those that were revoked.',
)

const revokedAnswer = answer('TokenRevoked', {}, 'It is refused from now on, everywhere.')

export function createTokenRoutes(base: AdminBase, once: Once, tokens: TokenService) {
  return new Elysia({ name: 'api-tokens', prefix: '/admin/v1' })
    .use(base)
    .get('/tokens', async ({ query }) => success(recordsOf(await tokens.list(query), tokenRecord)), {
      query: t.Object(pageQuery),
      response: { 200: tokensAnswer, ...errorResponses('validation_failed') },
      detail: detail('listTokens', 'List the tokens', 'With their last use, to the minute.'),
    })
    .post(
      '/tokens',
      async ({ body, caller, headers, path, status }) => {
        const created = await once({
          ...{ headers, caller, path, body },
          async make(wanted) {
            const wish = { ...body, expiresIn: body.expires_in }
            const { token, stored } = await tokens.create(caller, wish, wanted)
            const made: { token: string | null } = { token }
            return { id: stored.uuid, answer: { status: 201 as const, ...made, ...tokenRecord(stored) } }
          },
          repeat: async (id) => ({
            status: 201 as const,
            token: null,
            ...tokenRecord(await tokens.get(id)),
          }),
        })
        return status(201, created)
      },
      {
        body: t.Object({
          name: t.String({ minLength: 1, maxLength: 100, examples: ['nightly export'] }),
          scopes: t.Array(scopeField, { maxItems: 20 }),
          expires_in: t.String({ description: 'A duration of a year at most', examples: ['90d'] }),
          addresses: t.Optional(
            t.Union(
              [
                t.Array(t.String({ maxLength: 60, examples: ['203.0.113.0/24'] }), { maxItems: 50 }),
                t.Null(),
              ],
              {
                description:
                  'Addresses and ranges from which it is taken. Default: those of the token that makes it, else everywhere',
              },
            ),
          ),
        }),
        response: { 201: createdAnswer, ...errorResponses('validation_failed', 'insufficient_scope') },
        detail: detail(
          'createToken',
          'Make a token',
          'A token makes only tokens with a part of its own scopes and addresses, and no later expiry.',
        ),
      },
    )
    .delete('/tokens/:id', async ({ params, caller }) => done(tokens.revoke(params.id, caller)), {
      response: { 200: revokedAnswer, ...errorResponses('token_not_found', 'insufficient_scope') },
      detail: detail(
        'revokeToken',
        'Revoke a token',
        'The tokens that were made with it are revoked too. A token revokes none that has a scope which it lacks.',
      ),
    })
}
