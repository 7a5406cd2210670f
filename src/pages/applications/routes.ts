/**
 * `/oauth2/authorize`, `/oauth2/continue`, `/oauth2/token` and `/oauth2/sign-out`; with an application for OpenID also
 * `/oauth2/userinfo` and `/oauth2/revoke`, the two pages by POST, and
 * the documents of the issuer of ID tokens.
 */
import { type AnyElysia, Elysia } from 'elysia'
import { closest } from 'fastest-levenshtein'
import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { ApplicationLog } from '../../domain/sessions/application-log/service.ts'
import type { KeyService } from '../../domain/sessions/tokens/key-service.ts'
import { publicHeaders } from '../../domain/sessions/tokens/routes.ts'
import { isForOpenId } from '../../platform/config/applications.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { success } from '../../platform/http/answers.ts'
import type { HttpBase } from '../../platform/http/http-base.ts'
import { withParameters } from '../../platform/http/redirect.ts'
import { hidden, pageRoute } from '../../platform/http/route-traits.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError } from '../../texts/errors.ts'
import { languageOf } from '../visits/flow.ts'
import type { Visits } from '../visits/service.ts'
import type { Screen, Visit } from '../visits/visit.ts'
import {
  authorizeRoute,
  revokeRoute,
  signOutRoute,
  tokenRoute,
  userinfoRoute,
} from './applications-schema.ts'
import { away, createAuthorize } from './authorize.ts'
import type { TokenForm } from './clients.ts'
import type { IssuedTokens } from './grants.ts'
import { describeIssuer, IDENTITY_KEYS_PATH } from './issuer-metadata.ts'
import { isSameRedirect, stateToReturn } from './request.ts'
import { signOutScreen } from './screens.ts'
import type { ApplicationService } from './service.ts'
import type { UserinfoService } from './userinfo.ts'

interface Needs extends Pick<Ground, 'config'> {
  visits: Visits
  applications: ApplicationService
  applicationLog: ApplicationLog
  userinfo: UserinfoService
  metrics: Metrics
  catalog: Catalog
  dev: boolean
}

export function createApplicationRoutes(httpBase: HttpBase, needs: Needs): AnyElysia {
  const { visits, applications, applicationLog, config, metrics } = needs
  const { authorize, finish } = createAuthorize(needs)
  const hasOpenId = applications.list.some(isForOpenId)

  /** Nobody is sent to an address that is not known, and the page that ends the way says nothing of it. */
  function noteSignOut(application: ApplicationConfig | undefined, asked: string): void {
    applicationLog.refused({
      application: application?.id ?? null,
      error: 'invalid_request',
      reason: application ? 'sign_out_uri_differs' : 'application_unknown',
      nearest: application?.signOutUris.length ? closest(asked, application.signOutUris) : null,
    })
  }

  /** The browser goes there after signing out: an address of the application, or nowhere. */
  function afterSignOut(query: URLSearchParams, id: string | null): string | undefined {
    const application = applications.list.find((one) => one.id === id)
    const asked = query.get('post_logout_redirect_uri') ?? ''
    if (['client_id', 'post_logout_redirect_uri'].some((name) => query.getAll(name).length > 1))
      return undefined
    if (!application?.signOutUris.some((uri) => isSameRedirect(uri, asked))) {
      if (asked !== '') noteSignOut(application, asked)
      return undefined
    }
    const state = stateToReturn(query)
    return state === undefined ? asked : withParameters(asked, { state })
  }

  /** Asks, unless the application shows by an ID token that its session is below that of this browser. */
  async function signOut(visit: Visit): Promise<Response | Screen> {
    const { query, session } = visit
    const [text, ...others] = hasOpenId ? query.getAll('id_token_hint') : []
    const hint = text && others.length === 0 ? await applications.readHint(text) : null
    const id = query.get('client_id') || (hint?.aud ?? null)
    const to = afterSignOut(query, id)
    if (session && hint && hint.aud === id && (await applications.isBelow(hint.sid, session))) {
      await visits.signOut(visit)
      return to === undefined ? visits.go(visit, '/signed-out', {}) : visits.depart(visit, to)
    }
    if (session)
      return signOutScreen(visit, {
        action: visit.to('/sign-out', to === undefined ? {} : { to }),
        stay: visit.to('/leave', languageOf(visit.flow)),
      })
    return to === undefined ? visits.go(visit, '/signed-out', {}) : away(to)
  }

  const routes = new Elysia({ name: 'applications' })
    .use(httpBase)
    .get('/oauth2/authorize', visits.show(authorize), authorizeRoute)
    .get('/oauth2/continue', visits.show(finish), pageRoute)
    .get('/oauth2/sign-out', visits.show(signOut), signOutRoute)
    .post(
      '/oauth2/token',
      async ({ body, client, request }) => {
        const authorization = request.headers.get('authorization')
        const issued = await applications.token((body ?? {}) as TokenForm, { ...client, authorization })
        if (issued.isFirst) metrics.count('page_steps_total', { step: 'oauth2_authorize', stage: 'finished' })
        return success(tokenRecord(issued, config.tokens.accessLifetimeSeconds))
      },
      tokenRoute,
    )
  return hasOpenId ? routes.use(createOpenIdRoutes(httpBase, needs)) : routes
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

function createOpenIdRoutes(httpBase: HttpBase, { userinfo }: Needs) {
  const describe = async ({ request }: { request: Request }) =>
    Response.json(await userinfo.userinfo(request.headers.get('authorization')))
  const routes = new Elysia({ name: 'applications-openid' })
    .use(httpBase)
    .post(
      '/oauth2/revoke',
      async ({ body, client, request }) => {
        const authorization = request.headers.get('authorization')
        await userinfo.revoke((body ?? {}) as TokenForm, { ...client, authorization })
        return success({})
      },
      revokeRoute,
    )
    .get('/oauth2/userinfo', ({ request }) => describe({ request }), userinfoRoute)
    // Its body may have any form, and nothing reads it.
    .post(
      '/oauth2/userinfo',
      ({ request }) => describe({ request }),
      hidden({ takes: 'nothing', answers: 'oauth', checksOwnFields: true }),
    )
  for (const path of ['/oauth2/authorize', '/oauth2/sign-out']) {
    routes.post(
      path,
      ({ body }) => toQuery(path, body as URLSearchParams),
      hidden({ takes: 'pairs', answers: 'page', checksOwnFields: true }),
    )
  }
  return routes
}

/** nginx as it comes takes an address of some 8,000 bytes, and other programs less. */
const MAXIMUM_QUERY = 3000

/** A form that another site sent brings no cookie: the browser comes again by GET, with its cookies. */
function toQuery(path: string, fields: URLSearchParams): Response {
  if (fields.toString().length > MAXIMUM_QUERY) fields.delete('id_token_hint')
  if (fields.toString().length > MAXIMUM_QUERY)
    throw new AppError('invalid_request', { cause: 'request_too_long' })
  return away(`${path}?${fields}`)
}

const tokenRecord = (
  { accessToken, refreshToken, account, scope, idToken }: IssuedTokens,
  lifetimeSeconds: number,
) => ({
  access_token: accessToken,
  ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  token_type: 'Bearer' as const,
  expires_in: lifetimeSeconds,
  ...(account && { account }),
  ...(scope !== undefined && { scope }),
  ...(idToken !== undefined && { id_token: idToken }),
})
