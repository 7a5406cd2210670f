/** An OpenID Connect provider: code flow with PKCE, and identity tokens of native apps. */
import type { JSONWebKeySet } from 'jose'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  fetchUserInfo,
  None,
} from 'openid-client'
import type { Clock } from '../../../platform/clock.ts'
import type { GuardedFetch } from '../../../platform/guarded-fetch.ts'
import { parseEmail } from '../../foundation/identifiers/email.ts'
import type { EmailClaims } from './authority.ts'
import { createCachedDocument } from './cached-document.ts'
import { toProviderFailure, toUnavailable } from './failure.ts'
import { createIdTokenVerifier, type IdTokenClaims } from './id-token.ts'
import type { OpenIdPreset } from './presets.ts'
import { type Provider, ProviderFailure, type ProviderIdentity } from './provider.ts'

interface OpenIdOptions extends Omit<OpenIdPreset, 'protocol'> {
  name: string
  clientId: string
  /** Called at each use; null for a public client. */
  clientSecret: (() => Promise<string>) | null
  nativeClientIds: string[]
  callbackUrl: string
  fetch: GuardedFetch
  clock: Clock
}

/** Providers publish a new key well before they use it, and hardly change anything else. */
const FRESH_MS = 3600_000
const PAUSE_MS = 30_000

export function createOpenIdProvider(options: OpenIdOptions): Provider {
  const { name, label, clientId, callbackUrl, fetch, clock } = options
  const inClear = new URL(options.issuer).protocol === 'http:'

  const loadConfiguration = async () => {
    try {
      return await discovery(new URL(options.issuer), clientId, undefined, clientAuthOf(options), {
        [customFetch]: fetch,
        execute: inClear ? [allowInsecureRequests] : [],
      })
    } catch (error) {
      throw toUnavailable(error)
    }
  }
  const configuration = createCachedDocument({
    load: loadConfiguration,
    clock,
    freshMs: FRESH_MS,
    pauseMs: PAUSE_MS,
  })
  const metadata = {
    get: async () => (await configuration.get()).serverMetadata(),
    renewed: async () => (await configuration.renewed()).serverMetadata(),
  }
  const loadKeys = async () => {
    try {
      const { jwks_uri } = await metadata.get()
      if (jwks_uri === undefined) throw new ProviderFailure('provider_unavailable', 'no_keys')
      return keySetOf(await (await fetch(jwks_uri, { headers: { accept: 'application/json' } })).json())
    } catch (error) {
      throw toUnavailable(error)
    }
  }
  const keys = createCachedDocument({ load: loadKeys, clock, freshMs: FRESH_MS, pauseMs: PAUSE_MS })
  const verify = createIdTokenVerifier({ metadata, keys, issuerAliases: options.issuerAliases, clock })

  /** Claims that the identity token lacks may be in the user info, for the same subject. */
  async function withUserInfo(claims: IdTokenClaims, accessToken: string) {
    const config = await configuration.get()
    if (claims.email !== undefined || !config.serverMetadata().userinfo_endpoint) return claims
    const { email, email_verified, hd } = await fetchUserInfo(config, accessToken, claims.sub)
    return { ...claims, email, email_verified, hd }
  }

  function identityOf(claims: EmailClaims & { iss: string; sub: string }): ProviderIdentity {
    const counts = options.givesClaims || claims.email_verified === true
    const address = counts && typeof claims.email === 'string' ? parseEmail(claims.email) : null
    const email = address && { address, authoritative: options.authority(address, claims) }
    return { issuer: claims.iss, subject: claims.sub, email }
  }

  return {
    name,
    label,
    async authorizationUrl({ state, nonce, codeVerifier }) {
      try {
        const url = buildAuthorizationUrl(await configuration.get(), {
          redirect_uri: callbackUrl,
          scope: options.scopes.join(' '),
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(codeVerifier),
          code_challenge_method: 'S256',
          ...(options.formPost && { response_mode: 'form_post' }),
        })
        if (url.protocol === 'https:' || (inClear && url.protocol === 'http:')) return url
        throw new ProviderFailure('provider_unavailable', 'authorization_endpoint')
      } catch (error) {
        throw toUnavailable(error)
      }
    },

    async redeem(answer, { state, nonce, codeVerifier }) {
      try {
        const url = new URL(callbackUrl)
        url.search = answer.toString()
        const tokens = await authorizationCodeGrant(await configuration.get(), url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        })
        const claims = await verify(tokens.id_token!, { nonce, audiences: [clientId] })
        return identityOf(await withUserInfo(claims, tokens.access_token))
      } catch (error) {
        throw toProviderFailure(error)
      }
    },

    async readIdToken(idToken, nonce) {
      try {
        const claims = await verify(idToken, { nonce, audiences: [clientId, ...options.nativeClientIds] })
        return { ...identityOf(claims), expiresAt: claims.refusedFrom }
      } catch (error) {
        throw toProviderFailure(error)
      }
    },
  }
}

/** The method that the provider announces; by default HTTP Basic (OpenID Connect Discovery 3). */
function clientAuthOf({ clientSecret }: OpenIdOptions): ClientAuth {
  if (clientSecret === null) return None()
  return async (server, client, body, headers) => {
    const secret = await clientSecret()
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_post')
      ? ClientSecretPost(secret)
      : ClientSecretBasic(secret)
    return authenticate(server, client, body, headers)
  }
}

function keySetOf(value: unknown): JSONWebKeySet {
  const { keys } = (value ?? {}) as { keys?: unknown }
  if (!Array.isArray(keys)) throw new ProviderFailure('provider_unavailable', 'no_keys')
  return { keys: keys.filter((key) => typeof key === 'object' && key !== null) }
}
