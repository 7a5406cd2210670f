/**
 * Sign-in through other providers: in a browser (authorize, callback, exchange) and by the identity token of a native
 * app. The browser never carries a token, only a code that works once, for a minute, for the client that began.
 */

import type { Ground } from '../../../platform/ground.ts'
import { withParameters } from '../../../platform/http/redirect.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Language } from '../../../texts/languages.ts'
import type { EntryBody } from '../../accounts/admission/entry-schema.ts'
import { type Admission, type Entry, noEntry } from '../../accounts/admission/service.ts'
import type { ProvedIdentity } from '../../credentials/providers/provider.ts'
import { ProviderFailure } from '../../credentials/providers/provider.ts'
import type { ProviderService } from '../../credentials/providers/service.ts'
import { type AddressSource, stranger } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { TicketStore } from '../../foundation/tickets/store.ts'
import type { Device } from '../../sessions/core/session.ts'
import type { OpenedSession } from '../../sessions/core/session-opener.ts'
import type { AccountClaims } from '../../sessions/tokens/account-claims.ts'
import { mainIdentifier } from '../core/named-account.ts'
import type { SignInService, TwoFactorDue } from '../core/service.ts'
import type { IdentityProof } from '../identities/identity-schema.ts'
import type { IdentityProofs } from '../identities/proof.ts'
import type { IdentityResolver } from '../identities/resolver.ts'
import { type BrowserBinding, createFlows } from './flow.ts'

interface SocialClient extends AddressSource {
  language: Language
}

interface AuthorizeQuery {
  redirectUri: string
  codeChallenge: string
  state?: string | undefined
}

/** The answer that a provider sends back, by the query or by a form. */
interface ProviderAnswer {
  state?: string | undefined
  code?: string | undefined
  iss?: string | undefined
  error?: string | undefined
}

/** The browser goes on to `location`, and gets the cookie. */
interface BrowserRedirect {
  location: string
  cookie: BrowserBinding
}

/** `identifier` is what `2fa/verify` takes, because no identifier was typed. */
type SocialOutcome = { signedIn: OpenedSession } | { due: TwoFactorDue & { identifier: string } }

interface Needs extends Pick<Ground, 'clock' | 'config' | 'logger' | 'secret'> {
  admission: Admission
  providers: ProviderService
  identityProofs: IdentityProofs
  identityResolver: IdentityResolver
  signIn: SignInService
  accountClaims: AccountClaims
  limits: LimitService
  stores: { tickets: TicketStore }
}

export type SocialService = ReturnType<typeof createSocialService>

export function createSocialService(needs: Needs) {
  const flows = createFlows(needs)
  const { admission, providers, identityProofs, identityResolver, signIn, accountClaims } = needs
  const { limits, logger, config } = needs
  const { redirectUris } = config.social
  const urlOf = (provider: string, operation: string) =>
    `${config.server.baseUrl}/api/v1/auth/social/${provider}/${operation}`

  async function enter(
    identity: ProvedIdentity,
    entry: Entry,
    device: Device,
    client: SocialClient,
  ): Promise<SocialOutcome> {
    const account = await identityResolver.accountOf(identity, client, entry)
    const identifier = mainIdentifier(account, config.accounts.defaultCountry)
    const outcome = await signIn.continue({ account, identifier, factor: 'fed', device, client })
    return 'due' in outcome ? { due: { ...outcome.due, identifier: account.uuid } } : outcome
  }

  /** A refused entry uses nothing up, so that the same proof may come again with what was missing. */
  async function readEntry(provider: string, brought: IdentityProof, body: EntryBody, client: SocialClient) {
    if (!admission.isRestricted && !body.invitation && !accountClaims.hasRequired) return noEntry
    const identity = await identityProofs.look(provider, brought)
    const entry = await admission.readForProvider(body, client)
    if (identity === null) return entry
    await identityResolver.requireEntry(identity, entry)
    const account = await identityResolver.foresee(identity)
    if (account) accountClaims.require(account)
    return entry
  }

  function noteFailure(provider: string, error: unknown): ProviderFailure {
    if (!(error instanceof ProviderFailure)) throw error
    const { reason, detail: cause } = error
    logger.warn({ provider, reason, cause }, 'a sign-in through a provider failed')
    return error
  }

  return {
    list: () => providers.names.map((name) => ({ name, authorize_url: urlOf(name, 'authorize') })),
    /** `toOwnPage`: the address is one of this service, whatever the configuration lists. */
    async authorize(
      name: string,
      query: AuthorizeQuery,
      { addressBucket }: SocialClient,
      { toOwnPage }: { toOwnPage: boolean } = { toOwnPage: false },
    ): Promise<BrowserRedirect> {
      const { redirectUri, codeChallenge, state } = query
      const provider = providers.get(name)
      if (!toOwnPage && !redirectUris.includes(redirectUri)) throw new AppError('invalid_redirect_uri')
      await limits.chargeVisit('login', stranger({ addressBucket }))
      const { checks, binding } = await flows.begin({
        provider: name,
        redirectUri,
        codeChallenge,
        clientState: state ?? null,
      })
      try {
        return { location: (await provider.authorizationUrl(checks)).href, cookie: binding }
      } catch (error) {
        throw new AppError('provider_unavailable', { cause: noteFailure(name, error).detail })
      }
    },
    /** Goes back to the client with a code or an error. */
    async finish(
      name: string,
      answer: ProviderAnswer,
      cookies: ReadonlyMap<string, string>,
      { addressBucket }: SocialClient,
    ): Promise<BrowserRedirect> {
      const provider = providers.get(name)
      await limits.chargeVisit('login', stranger({ addressBucket }))
      const flow = await flows.take(answer.state ?? '', cookies)
      if (flow === null) throw new AppError('invalid_sign_in_state')
      const { redirectUri, codeChallenge, clientState, provider: begunWith } = flow.request
      const back = (result: Record<string, string>): BrowserRedirect => ({
        location: withParameters(redirectUri, {
          ...result,
          ...(clientState !== null && { state: clientState }),
        }),
        cookie: { ...flow.binding, value: '', lifetimeSeconds: 0 },
      })
      try {
        if (begunWith !== name) throw new ProviderFailure('invalid_token', 'other_provider')
        const identity = await provider.redeem(parametersOf(answer), flow.checks)
        return back({ code: await identityProofs.issueCode({ ...identity, provider: name }, codeChallenge) })
      } catch (error) {
        return back({ error: noteFailure(name, error).reason })
      }
    },
    /** The browser takes an answer that came as a form to this address: a cookie comes along only with a GET. */
    callbackUrl(name: string, answer: ProviderAnswer): string {
      const provider = providers.get(name)
      return `${urlOf(provider.name, 'callback')}?${parametersOf(answer)}`
    },
    async exchange(
      { code, code_verifier, ...body }: { code: string; code_verifier: string } & EntryBody,
      device: Device,
      client: SocialClient,
    ): Promise<SocialOutcome> {
      await limits.chargeVisit('login', stranger(client))
      const entry = await readEntry('', { code, code_verifier }, body, client)
      return enter(await identityProofs.takeCode(code, code_verifier), entry, device, client)
    },
    /** A wrong identity token and a provider that does not answer are refused as well. */
    async signIn(
      provider: string,
      { id_token, nonce, ...body }: { id_token: string; nonce: string } & EntryBody,
      device: Device,
      client: SocialClient,
    ): Promise<SocialOutcome> {
      await limits.chargeVisit('login', stranger(client))
      const entry = await readEntry(provider, { id_token, nonce }, body, client)
      return enter(await identityProofs.takeIdToken(provider, id_token, nonce), entry, device, client)
    },
  }
}

/** The parameters of an answer that are used, each once. */
function parametersOf({ state, code, iss, error }: ProviderAnswer): URLSearchParams {
  const given = Object.entries({ state, code, iss, error }).filter(([, value]) => value)
  return new URLSearchParams(given as [string, string][])
}
