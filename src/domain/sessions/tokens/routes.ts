/** The documents that other services need to verify access tokens: the public keys, and where libraries find them. */
import { Elysia, t } from 'elysia'
import { namedObject } from '../../../platform/http/components.ts'
import { documented } from '../../../platform/http/documented.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { KeyService } from './key-service.ts'

const KEYS_PATH = '/.well-known/jwks.json'
/** RFC 8414, and what OpenID Connect calls the same thing. */
const DISCOVERY_PATHS = [
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
] as const

/**
 * A new key is published a day before it signs, so a copy of this age never misses one. Services that keep a copy trust
 * a revoked key for no longer than this.
 */
const CACHE_SECONDS = 300

/** A document is public, and without any use of cookies: a page of any origin may read it. */
export const publicHeaders = {
  'cache-control': `public, max-age=${CACHE_SECONDS}`,
  'access-control-allow-origin': '*',
}

const detail = documented('Keys')

const publishedKeys = namedObject(
  'PublishedKeys',
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
  'A JSON Web Key Set (RFC 7517).',
)

const metadata = namedObject(
  'IssuerMetadata',
  {
    issuer: t.String({ examples: ['https://auth.example.com'] }),
    jwks_uri: t.String({ examples: ['https://auth.example.com/.well-known/jwks.json'] }),
    authorization_endpoint: t.Optional(t.String({ examples: ['https://auth.example.com/oauth2/authorize'] })),
    token_endpoint: t.Optional(t.String({ examples: ['https://auth.example.com/oauth2/token'] })),
    end_session_endpoint: t.Optional(t.String({ examples: ['https://auth.example.com/oauth2/sign-out'] })),
    response_types_supported: t.Array(t.String()),
    response_modes_supported: t.Optional(t.Array(t.String())),
    code_challenge_methods_supported: t.Optional(t.Array(t.String())),
    token_endpoint_auth_methods_supported: t.Optional(t.Array(t.String())),
    authorization_response_iss_parameter_supported: t.Optional(t.Boolean()),
    prompt_values_supported: t.Optional(t.Array(t.String())),
    subject_types_supported: t.Array(t.Literal('public')),
    id_token_signing_alg_values_supported: t.Array(t.Literal('ES256')),
    grant_types_supported: t.Array(t.String()),
  },
  'Metadata of an authorization server (RFC 8414).',
)

export function createKeyRoutes(keys: Pick<KeyService, 'published'>) {
  return new Elysia({ name: 'tokens' }).get(
    KEYS_PATH,
    ({ set }) => {
      Object.assign(set.headers, publicHeaders)
      return keys.published() as typeof publishedKeys.static
    },
    {
      response: { 200: publishedKeys, ...errorResponses() },
      detail: detail('listKeys', 'The keys that access tokens are verified with'),
    },
  )
}

/** The hand-over to the applications of the pages, for the documents of both issuers. */
export const handOverMetadata = (baseUrl: string) => ({
  authorization_endpoint: `${baseUrl}/oauth2/authorize`,
  token_endpoint: `${baseUrl}/oauth2/token`,
  end_session_endpoint: `${baseUrl}/oauth2/sign-out`,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  authorization_response_iss_parameter_supported: true,
  prompt_values_supported: ['none', 'login', 'create'],
})

interface DiscoveryOptions {
  /** True if applications are handed who signed in under this issuer. */
  handsOver: boolean
  /** Called whenever OpenID's document was read. */
  onOpenId?: () => void
}

/**
 * Serves libraries that are configured by the issuer alone. OAuth's document says how the applications of the pages are
 * handed who signed in, if there are any; OpenID Connect is offered under another issuer (pages/applications). `issuer`:
 * the service's base_url.
 */
export function createDiscoveryRoutes(issuer: string, { handsOver, onOpenId }: DiscoveryOptions) {
  const document: typeof metadata.static = {
    issuer,
    jwks_uri: `${issuer}${KEYS_PATH}`,
    response_types_supported: [],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    grant_types_supported: [],
  }
  const withHandOver: typeof metadata.static = { ...document, ...handOverMetadata(issuer) }
  const routes = new Elysia({ name: 'tokens-discovery' })
  for (const path of DISCOVERY_PATHS) {
    routes.get(
      path,
      ({ set }) => {
        Object.assign(set.headers, publicHeaders)
        if (path.endsWith('openid-configuration')) onOpenId?.()
        return handsOver && path.endsWith('authorization-server') ? withHandOver : document
      },
      {
        response: { 200: metadata, ...errorResponses() },
        detail: detail(
          path.endsWith('openid-configuration') ? 'describeIssuerToOpenId' : 'describeIssuer',
          'Where the keys are, for libraries that only know the issuer',
        ),
      },
    )
  }
  return routes
}
