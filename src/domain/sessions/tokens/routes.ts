/** What other services need to verify access tokens: the public keys, and the documents by which libraries find them. */
import { Elysia, t } from 'elysia'
import { component } from '../../../platform/http/components.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { KeyService } from './key-service.ts'

const KEYS_PATH = '/.well-known/jwks.json'
/** RFC 8414, and what OpenID Connect calls the same thing. */
const DISCOVERY_PATHS = [
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
] as const

/**
 * A new key is published a day before it signs, so a copy of this age never misses one; and services that keep a copy
 * trust a revoked key for no longer than this.
 */
const CACHE_SECONDS = 300

/** Public, and without any use of cookies: a page of any origin may read them. */
const publicHeaders = {
  'cache-control': `public, max-age=${CACHE_SECONDS}`,
  'access-control-allow-origin': '*',
}

const publishedKeys = component(
  'PublishedKeys',
  t.Object(
    {
      keys: t.Array(
        t.Object({
          kty: t.Literal('EC'),
          crv: t.Literal('P-256'),
          x: t.String({ examples: ['f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU'] }),
          y: t.String({ examples: ['x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0'] }),
          kid: t.String({ examples: ['oHk0-Oj0FTQ3FH0rXnzL2CPTMxCg5pfmSfm3ZhpWZLI'] }),
          use: t.Literal('sig'),
          alg: t.Literal('ES256'),
        }),
      ),
    },
    { description: 'A JSON Web Key Set (RFC 7517).' },
  ),
)

const metadata = component(
  'IssuerMetadata',
  t.Object(
    {
      issuer: t.String({ examples: ['https://auth.example.com'] }),
      jwks_uri: t.String({ examples: ['https://auth.example.com/.well-known/jwks.json'] }),
      response_types_supported: t.Array(t.String(), { maxItems: 0 }),
      subject_types_supported: t.Array(t.Literal('public')),
      id_token_signing_alg_values_supported: t.Array(t.Literal('ES256')),
      grant_types_supported: t.Array(t.String(), { maxItems: 0 }),
    },
    { description: 'Metadata of an authorization server (RFC 8414).' },
  ),
)

export function createKeyRoutes(keys: Pick<KeyService, 'published'>) {
  return new Elysia({ name: 'keys' }).get(
    KEYS_PATH,
    ({ set }) => {
      Object.assign(set.headers, publicHeaders)
      return keys.published() as typeof publishedKeys.static
    },
    {
      response: { 200: publishedKeys, ...errorResponses() },
      detail: {
        tags: ['Keys'],
        operationId: 'listKeys',
        summary: 'The keys that access tokens are verified with',
      },
    },
  )
}

/**
 * For libraries that are configured by the issuer alone, and look up where its keys are. Nothing else that such a
 * document can promise is offered: nobody signs in here by OAuth or OpenID Connect. `issuer`: the service's base_url.
 */
export function createDiscoveryRoutes(issuer: string) {
  const document: typeof metadata.static = {
    issuer,
    jwks_uri: `${issuer}${KEYS_PATH}`,
    response_types_supported: [],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    grant_types_supported: [],
  }
  const routes = new Elysia({ name: 'discovery' })
  for (const path of DISCOVERY_PATHS) {
    routes.get(
      path,
      ({ set }) => {
        Object.assign(set.headers, publicHeaders)
        return document
      },
      {
        response: { 200: metadata, ...errorResponses() },
        detail: {
          tags: ['Keys'],
          operationId: path.endsWith('openid-configuration') ? 'describeIssuerToOpenId' : 'describeIssuer',
          summary: 'Where the keys are, for libraries that only know the issuer',
        },
      },
    )
  }
  return routes
}
