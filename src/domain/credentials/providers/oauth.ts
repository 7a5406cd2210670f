/**
 * GitHub and Facebook: OAuth 2.0 with PKCE, then a call that returns who signed in. They issue no identity tokens, so
 * native apps use the code flow too.
 */
import { createHmac } from 'node:crypto'
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
} from 'openid-client'
import type { GuardedFetch } from '../../../platform/guarded-fetch.ts'
import { parseEmail } from '../../foundation/identifiers/email.ts'
import { toProviderFailure } from './failure.ts'
import type { OAuthPreset } from './presets.ts'
import { type Provider, ProviderFailure, type ProviderIdentity } from './provider.ts'

interface OAuthOptions {
  name: string
  preset: OAuthPreset
  clientId: string
  clientSecret: string
  scopes: string[]
  callbackUrl: string
  fetch: GuardedFetch
}

/** The person who signed in, according to the provider's own API. */
type Person = Pick<ProviderIdentity, 'subject' | 'email'>

export function createOAuthProvider(options: OAuthOptions): Provider {
  const { name, preset, scopes, callbackUrl } = options
  const { label, issuer } = preset
  const configuration = new Configuration(
    { issuer, authorization_endpoint: preset.authorizationEndpoint, token_endpoint: preset.tokenEndpoint },
    options.clientId,
    options.clientSecret,
  )
  configuration[customFetch] = options.fetch
  const findPerson = preset.protocol === 'github' ? findGithubUser : findFacebookUser

  return {
    name,
    label,
    authorizationUrl: async ({ state, codeVerifier }) =>
      buildAuthorizationUrl(configuration, {
        redirect_uri: callbackUrl,
        scope: scopes.join(' '),
        state,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      }),
    async redeem(answer, { state, codeVerifier }) {
      try {
        const url = new URL(callbackUrl)
        url.search = answer.toString()
        const { access_token } = await authorizationCodeGrant(configuration, url, {
          expectedState: state,
          pkceCodeVerifier: codeVerifier,
        })
        return { issuer, ...(await findPerson(options, access_token)) }
      } catch (error) {
        throw toProviderFailure(error)
      }
    },
    readIdToken: null,
  }
}

async function ask({ fetch }: OAuthOptions, url: URL, accessToken: string): Promise<unknown> {
  const response = await fetch(url.href, {
    headers: { accept: 'application/json', authorization: `Bearer ${accessToken}`, 'user-agent': 'poterne' },
  })
  if (!response.ok) throw new ProviderFailure('provider_refused', `status_${response.status}`)
  return response.json().catch(() => null)
}

/**
 * GitHub: `id` is a number that never changes; the login name can change. GitHub verified the e-mail at some time, which
 * says nothing about who has the mailbox today.
 */
async function findGithubUser(options: OAuthOptions, accessToken: string): Promise<Person> {
  const { api } = options.preset
  const user = (await ask(options, new URL(`${api}/user`), accessToken)) as { id?: unknown } | null
  if (!Number.isSafeInteger(user?.id)) throw new ProviderFailure('invalid_token', 'subject')
  const mayReadEmails = options.scopes.some((scope) => scope === 'user' || scope === 'user:email')
  const list = mayReadEmails
    ? await ask(options, new URL(`${api}/user/emails?per_page=100`), accessToken)
    : []
  const entries = (Array.isArray(list) ? list : []) as ({ [key: string]: unknown } | null)[]
  const primary = entries.find((entry) => entry?.primary === true && entry.verified === true)
  return { subject: String(user?.id), email: claimOf(primary?.email) }
}

/**
 * Facebook: `id` is the person's number within this app. Facebook does not document whether the e-mail was verified, so
 * we take it as a claim. `appsecret_proof` shows that the caller with the access token also has the app's secret.
 */
async function findFacebookUser(options: OAuthOptions, accessToken: string): Promise<Person> {
  const url = new URL(`${options.preset.api}/me`)
  url.searchParams.set('fields', 'id,email')
  const hmac = createHmac('sha256', options.clientSecret).update(accessToken).digest('hex')
  url.searchParams.set('appsecret_proof', hmac)
  const user = (await ask(options, url, accessToken)) as { id?: unknown; email?: unknown } | null
  if (typeof user?.id !== 'string' || !/^\d{1,64}$/.test(user.id)) {
    throw new ProviderFailure('invalid_token', 'subject')
  }
  return { subject: user.id, email: claimOf(user.email) }
}

/** Neither of the two is authoritative for any address. */
function claimOf(email: unknown): ProviderIdentity['email'] {
  const address = typeof email === 'string' ? parseEmail(email) : null
  return address && { address, authoritative: false }
}
