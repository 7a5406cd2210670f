/** `/oauth2/authorize`, `/oauth2/continue`, `/oauth2/token` and `/oauth2/sign-out`; the documents of the issuer of ID tokens. */
import { Elysia } from 'elysia'
import { hasVerified } from '../../domain/accounts/core/account.ts'
import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { KeyService } from '../../domain/sessions/tokens/key-service.ts'
import { publicHeaders } from '../../domain/sessions/tokens/routes.ts'
import type { Ground } from '../../platform/ground.ts'
import { success } from '../../platform/http/answers.ts'
import { describedForOAuth } from '../../platform/http/error-answer.ts'
import type { HttpBase } from '../../platform/http/http-base.ts'
import { withParameters } from '../../platform/http/redirect.ts'
import { hidden, pageRoute } from '../../platform/http/route-traits.ts'
import { pickLanguage } from '../../texts/accept-language.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError } from '../../texts/errors.ts'
import type { Screen, Visit, Visits } from '../visits/service.ts'
import { describeIssuer, IDENTITY_KEYS_PATH } from './issuer-metadata.ts'
import {
  type AuthorizationRequest,
  findUnlisted,
  isSameRedirect,
  needsConsent,
  readAuthorization,
  stateToReturn,
  type Unknown,
} from './request.ts'
import { continueScreen, linesToAdd, signOutScreen, unknownScreen } from './screens.ts'
import type { ApplicationService, IssuedTokens, TokenForm } from './service.ts'

interface Needs extends Pick<Ground, 'config' | 'logger'> {
  visits: Visits
  applications: ApplicationService
  metrics: Metrics
  catalog: Catalog
  dev: boolean
}

export function createApplicationRoutes(httpBase: HttpBase, needs: Needs) {
  const { visits, applications, config, logger, metrics, catalog, dev } = needs
  const { baseUrl } = config.server
  const nameOf = (id: string) => applications.list.find((one) => one.id === id)?.name ?? id

  const away = (location: string) =>
    new Response(null, { status: 303, headers: { location, 'referrer-policy': 'no-referrer' } })

  const refused = (redirectUri: string, error: string, description: string, state?: string) =>
    away(
      withParameters(redirectUri, {
        error,
        error_description: describedForOAuth(description),
        ...(state !== undefined && { state }),
        iss: baseUrl,
      }),
    )

  /** Tells whether the person who is signed in may be handed over without another page of sign-in. */
  function isSignedIn({ session, flow }: Visit, { loginHint }: AuthorizationRequest): boolean {
    if (session === null) return false
    if (flow.signInAfter !== undefined && session.authenticatedAt.getTime() < flow.signInAfter) return false
    if (loginHint === undefined) return true
    const hinted = parseIdentifier(loginHint, config.accounts.defaultCountry)
    // Any other text, such as a name, only fills the field.
    return hinted === null || hasVerified(session.account, hinted)
  }

  function begin(visit: Visit, request: AuthorizationRequest): Response {
    const { prompt, loginHint, locales, ...handOver } = request
    const language = locales
      ? pickLanguage(locales.split(' ').join(','), catalog.tags, visit.client.language)
      : visit.flow.language
    return visits.go(visit, prompt === 'create' ? '/sign-up' : '/sign-in', {
      ...(language !== undefined && { language }),
      handOver,
      ...(loginHint !== undefined && { typed: { identifier: loginHint } }),
      signInAfter: prompt === 'login' || visit.session ? visits.now() : 0,
    })
  }

  function refuseUnknown(visit: Visit, { what, nearest }: Unknown, asked: Asked): Screen {
    logger.warn({ what, nearest }, UNKNOWN)
    const screen = unknownScreen(visit, what, dev ? linesToAdd(applications.list, asked) : null)
    const cause = what === 'application' ? 'application_unknown' : 'redirect_uri_differs'
    return { ...screen, refusal: new AppError('invalid_request', { cause }) }
  }

  async function authorize(visit: Visit): Promise<Response | Screen> {
    const read = readAuthorization(visit.query, applications.list)
    if (read.kind === 'unknown') {
      const asked = (name: string) => visit.query.get(name) ?? ''
      return refuseUnknown(visit, read, {
        application: asked('client_id'),
        redirectUri: asked('redirect_uri'),
      })
    }
    if (read.kind === 'refused') {
      const { redirectUri, error, description, state } = read
      logger.warn({ application: visit.query.get('client_id'), error, reason: description }, REFUSED)
      return refused(redirectUri, error, description, state)
    }
    const { request } = read
    metrics.count('page_steps_total', { step: 'oauth2_authorize', stage: 'begun' })
    const { redirectUri, state, prompt, application } = request
    const known = isSignedIn(visit, request)
    if (prompt === 'none' && !known)
      return refused(redirectUri, 'login_required', 'nobody is signed in', state)
    if (!known || prompt === 'login' || prompt === 'create') return begin(visit, request)
    if (!needsConsent(redirectUri)) return away(await applications.handOver(visit.session!, request))
    if (prompt === 'none') {
      return refused(redirectUri, 'interaction_required', 'a person has to confirm this address', state)
    }
    const { loginHint: _, locales: __, prompt: ___, ...handOver } = request
    return continueScreen(visit, nameOf(application), visits.address(visit, '/oauth2/continue', { handOver }))
  }

  /** The way ends here after a sign-in, and after "Continue to …". */
  async function finish(visit: Visit): Promise<Response | Screen> {
    const { handOver } = visit.flow
    if (handOver === undefined) return visits.leave(visit, '/sign-in')
    // The flow is good for a day, and the configuration may have changed since.
    const unknown = findUnlisted(handOver, applications.list)
    if (unknown) return refuseUnknown(visit, unknown, handOver)
    if (!isSignedIn(visit, handOver)) return visits.go(visit, '/sign-in')
    // The page that leads on names who is handed over.
    if (visit.isOfEarlierSignIn) return visits.go(visit, '/leave')
    return away(await applications.handOver(visit.session!, handOver))
  }

  /** The browser goes there after signing out: an address of the application, or nowhere. */
  function afterSignOut(query: URLSearchParams): string | undefined {
    const application = applications.list.find(({ id }) => id === query.get('client_id'))
    const asked = query.get('post_logout_redirect_uri') ?? ''
    if (['client_id', 'post_logout_redirect_uri'].some((name) => query.getAll(name).length > 1))
      return undefined
    if (!application?.signOutUris.some((uri) => isSameRedirect(uri, asked))) return undefined
    const state = stateToReturn(query)
    return state === undefined ? asked : withParameters(asked, { state })
  }

  return new Elysia({ name: 'applications' })
    .use(httpBase)
    .get('/oauth2/authorize', visits.show(authorize), pageRoute)
    .get('/oauth2/continue', visits.show(finish), pageRoute)
    .get(
      '/oauth2/sign-out',
      visits.show((visit) => {
        const to = afterSignOut(visit.query)
        if (visit.session) {
          return signOutScreen(visit, visits.address(visit, '/sign-out', to === undefined ? {} : { to }))
        }
        return to === undefined ? visits.go(visit, '/signed-out', {}) : away(to)
      }),
      pageRoute,
    )
    .post(
      '/oauth2/token',
      async ({ body, client, request }) => {
        const authorization = request.headers.get('authorization')
        const issued = await applications.token((body ?? {}) as TokenForm, { ...client, authorization })
        if ('account' in issued)
          metrics.count('page_steps_total', { step: 'oauth2_authorize', stage: 'finished' })
        return success(tokenRecord(issued, config.tokens.accessLifetimeSeconds))
      },
      hidden({ takes: 'form', answers: 'oauth', checksOwnFields: true }),
    )
}

/** OpenID Connect appends its path to the issuer, and RFC 8414 puts it before the issuer's own path. */
const ISSUER_DOCUMENTS = [
  '/oauth2/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server/oauth2',
]

/** The documents of the issuer of ID tokens; `keys` are those that sign them. */
export function createIssuerRoutes(baseUrl: string, keys: Pick<KeyService, 'haveBeenRead' | 'published'>) {
  const document = describeIssuer(baseUrl)
  const routes = new Elysia({ name: 'applications-issuer' }).get(
    IDENTITY_KEYS_PATH,
    async ({ set }) => {
      await keys.haveBeenRead()
      Object.assign(set.headers, publicHeaders)
      return keys.published()
    },
    hidden(),
  )
  for (const path of ISSUER_DOCUMENTS)
    routes.get(
      path,
      ({ set }) => {
        Object.assign(set.headers, publicHeaders)
        return document
      },
      hidden(),
    )
  return routes
}

const tokenRecord = ({ accessToken, refreshToken, account }: IssuedTokens, lifetimeSeconds: number) => ({
  access_token: accessToken,
  refresh_token: refreshToken,
  token_type: 'Bearer',
  expires_in: lifetimeSeconds,
  ...(account && { account }),
})

type Asked = Pick<AuthorizationRequest, 'application' | 'redirectUri'>

const REFUSED = 'an application was refused a hand-over'
const UNKNOWN =
  'an application asked for a hand-over that pages.applications does not list: compare its id and redirect_uris'
