/** The configured providers, ready to use. None of them is called before somebody signs in. */

import type { Clock } from '../../../platform/clock.ts'
import type { Config, SocialProviderConfig } from '../../../platform/config/types.ts'
import { createGuardedFetch, type Network } from '../../../platform/guarded-fetch.ts'
import { AppError } from '../../../texts/errors.ts'
import { createAppleSecret } from './apple-secret.ts'
import { configuredAuthority } from './authority.ts'
import { withoutSecrets } from './failure.ts'
import { createOAuthProvider } from './oauth.ts'
import { createOpenIdProvider } from './openid.ts'
import { type OpenIdPreset, presets, usualOpenId } from './presets.ts'
import type { Provider } from './provider.ts'

interface Options {
  config: Pick<Config, 'server' | 'social'>
  clock: Clock
  network: Network
}

export type ProviderService = ReturnType<typeof createProviderService>

export function createProviderService({ config, clock, network }: Options) {
  const enabled = config.social.providers.filter((provider) => provider.enabled)
  const providers = new Map(
    enabled.map((provider) => [
      provider.name,
      keepingSecrets(createProvider(provider, config.server.baseUrl, clock, network), provider),
    ]),
  )
  return {
    /** The enabled ones, in the order of the configuration. */
    names: [...providers.keys()],
    /** The issuer of its identities; null for a provider that is not configured, or whose issuer is that of each tenant. */
    issuerOf(name: string): string | null {
      const provider = enabled.find((each) => each.name === name)
      if (provider === undefined) return null
      const issuer = provider.preset === null ? provider.issuer : presets[provider.preset].issuer
      return provider.preset === 'microsoft' ? null : issuer
    },
    /** A disabled provider is not found. */
    get(name: string): Provider {
      const provider = providers.get(name)
      if (!provider) throw new AppError('provider_not_found')
      return provider
    },
  }
}

/** The log line of a failure holds nothing of what the provider was sent. */
function keepingSecrets(provider: Provider, { clientSecret }: SocialProviderConfig): Provider {
  const redeem: Provider['redeem'] = async (answer, checks) => {
    try {
      return await provider.redeem(answer, checks)
    } catch (error) {
      const secrets = [clientSecret, answer.get('code'), checks.codeVerifier, checks.state, checks.nonce]
      throw withoutSecrets(
        error,
        secrets.filter((secret) => typeof secret === 'string'),
      )
    }
  }
  return { ...provider, redeem }
}

function createProvider(config: SocialProviderConfig, baseUrl: string, clock: Clock, network: Network) {
  const { name, clientId } = config
  const callbackUrl = new URL(`${baseUrl}/api/v1/auth/social/${name}/callback`).href
  const preset = config.preset === null ? plainOpenId(config) : presets[config.preset]
  const scopes = config.scopes.length > 0 ? config.scopes : preset.scopes
  const common = { name, clientId, scopes, callbackUrl }
  if (preset.protocol !== 'openid') {
    const trusted = [preset.authorizationEndpoint, preset.tokenEndpoint, preset.api]
    const fetch = createGuardedFetch({ trusted, network })
    return createOAuthProvider({ ...common, preset, clientSecret: config.clientSecret!, fetch })
  }
  const { nativeClientIds } = config
  const fetch = createGuardedFetch({ trusted: [preset.issuer], network })
  return createOpenIdProvider({
    ...preset,
    ...common,
    nativeClientIds,
    clientSecret: clientSecretOf(config, clock),
    fetch,
    clock,
  })
}

const plainOpenId = ({ name, issuer, authoritativeFor }: SocialProviderConfig): OpenIdPreset => ({
  ...usualOpenId,
  label: name,
  issuer: issuer!,
  authority: configuredAuthority(authoritativeFor),
})

function clientSecretOf(config: SocialProviderConfig, clock: Clock): (() => Promise<string>) | null {
  const { preset, clientId, clientSecret, teamId, keyId, privateKey } = config
  if (preset === 'apple') {
    return createAppleSecret({ teamId: teamId!, keyId: keyId!, privateKey: privateKey!, clientId }, clock)
  }
  return clientSecret === null ? null : async () => clientSecret
}
