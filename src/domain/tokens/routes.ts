/** The public keys that access tokens are verified with, for other services. */
import { Elysia, t } from 'elysia'
import { errorResponses } from '../../platform/http/error-responses.ts'
import type { KeyService } from './key-service.ts'

/**
 * A new key is published a day before it signs, so copies of this age never miss one; and a revoked key is trusted no
 * longer than this by services that keep a copy.
 */
const CACHE_SECONDS = 300

const publishedKeys = t.Object(
  {
    keys: t.Array(
      t.Object({
        kty: t.Literal('EC'),
        crv: t.Literal('P-256'),
        x: t.String(),
        y: t.String(),
        kid: t.String(),
        use: t.Literal('sig'),
        alg: t.Literal('ES256'),
      }),
    ),
  },
  { description: 'A JSON Web Key Set (RFC 7517)' },
)

export function createKeyRoutes(keys: Pick<KeyService, 'published'>) {
  return new Elysia({ name: 'keys' }).get(
    '/.well-known/jwks.json',
    ({ set }) => {
      set.headers['cache-control'] = `public, max-age=${CACHE_SECONDS}`
      return keys.published() as typeof publishedKeys.static
    },
    {
      response: { 200: publishedKeys, ...errorResponses() },
      detail: { tags: ['Keys'], summary: 'The keys that access tokens are verified with' },
    },
  )
}
