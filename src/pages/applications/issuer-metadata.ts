/** The document of the issuer of ID tokens, by which libraries of OpenID Connect find everything. */
import { handOverMetadata } from '../../domain/sessions/tokens/routes.ts'
import { applicationsForOpenId } from '../../platform/config/applications.ts'
import type { Config } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { claimsOfScopes } from './claims.ts'
import { PROMPTS } from './request.ts'

export const IDENTITY_KEYS_PATH = '/oauth2/jwks'

const AUTHENTICATION_METHODS = ['client_secret_basic', 'client_secret_post', 'none']

export const describeIssuer = (baseUrl: string) => ({
  issuer: `${baseUrl}/oauth2`,
  ...handOverMetadata(baseUrl),
  jwks_uri: `${baseUrl}${IDENTITY_KEYS_PATH}`,
  userinfo_endpoint: `${baseUrl}/oauth2/userinfo`,
  revocation_endpoint: `${baseUrl}/oauth2/revoke`,
  token_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
  revocation_endpoint_auth_methods_supported: AUTHENTICATION_METHODS,
  prompt_values_supported: PROMPTS,
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  scopes_supported: ['openid', ...Object.keys(claimsOfScopes), 'offline_access'],
  claims_supported: [
    ...['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'amr', 'sid', 'at_hash', 'nonce'],
    ...Object.values(claimsOfScopes).flat(),
  ],
  backchannel_logout_supported: true,
  backchannel_logout_session_supported: true,
  claims_parameter_supported: false,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
})

const HOUR_MS = 3_600_000

/**
 * Who types the service's base_url into an application of OpenID Connect finds a document without endpoints, and no word why. The
 * function is to be called when that document was read; it names the right issuer, once an hour at most.
 */
export function createIssuerNotice(
  config: Pick<Config, 'pages' | 'server'>,
  { clock, logger }: Pick<Ground, 'clock' | 'logger'>,
) {
  if (applicationsForOpenId(config).length === 0) return null
  const issuer = `${config.server.baseUrl}/oauth2`
  let saidAtMs = Number.NEGATIVE_INFINITY
  return (): void => {
    const nowMs = clock.now().getTime()
    if (Math.abs(nowMs - saidAtMs) < HOUR_MS) return
    saidAtMs = nowMs
    logger.info({ issuer }, OTHER_ISSUER)
  }
}

const OTHER_ISSUER =
  'openid-configuration was read at server.base_url, where no application signs in: an application of pages.applications with `own` needs this issuer'
