/**
 * The way of a browser that an application sent: sign-in, who may enter, the second factor, "Continue to …", and the code. Each
 * is asked in this order, and again when the way ends.
 */
import { hasVerified } from '../../domain/accounts/core/account.ts'
import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { ApplicationLog } from '../../domain/sessions/application-log/service.ts'
import type { BrowserSession } from '../../domain/sessions/browser-sessions/service.ts'
import { isForOpenId, issuerOf } from '../../platform/config/applications.ts'
import { serviceName } from '../../platform/config/service-name.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { describedForOAuth } from '../../platform/http/error-answer.ts'
import { withParameters } from '../../platform/http/redirect.ts'
import { pickLanguage } from '../../texts/accept-language.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError } from '../../texts/errors.ts'
import { languageOf } from '../visits/flow.ts'
import type { Visits } from '../visits/service.ts'
import type { Screen, Visit } from '../visits/visit.ts'
import {
  type AuthorizationRequest,
  findUnlisted,
  type HandOver,
  needsConsent,
  readAuthorization,
  type Unknown,
} from './request.ts'
import {
  continueScreen,
  linesToAdd,
  notOpenScreen,
  openProgramScreen,
  twoFactorWantedScreen,
  unknownScreen,
} from './screens.ts'
import type { ApplicationService } from './service.ts'

interface Needs extends Pick<Ground, 'config'> {
  visits: Visits
  applications: ApplicationService
  applicationLog: Pick<ApplicationLog, 'refused'>
  metrics: Metrics
  catalog: Catalog
  dev: boolean
}

/** A visit of somebody who is signed in. */
type SignedIn = Visit & { session: BrowserSession }

/** Why nobody is handed over yet, in the words of `prompt=none`, and the page that says so. */
interface Obstacle {
  error: 'access_denied' | 'interaction_required'
  description: string
  answer(): Response | Screen
}

/** 303 to an address of an application. */
export const away = (location: string) =>
  new Response(null, { status: 303, headers: { location, 'referrer-policy': 'no-referrer' } })

export function createAuthorize(needs: Needs) {
  const { visits, applications, applicationLog, config, metrics, catalog, dev } = needs
  const { baseUrl } = config.server
  const find = (id: string) => applications.list.find((one) => one.id === id) as ApplicationConfig

  /** The address with which an application hears that it gets nobody. */
  function refusalAddress(
    application: ApplicationConfig,
    { redirectUri, state }: Pick<HandOver, 'redirectUri' | 'state'>,
    error: string,
    description: string,
  ): string {
    return withParameters(redirectUri, {
      error,
      error_description: describedForOAuth(description),
      ...(state !== undefined && { state }),
      iss: issuerOf(application, baseUrl),
    })
  }

  /** Tells whether the person who is signed in may be handed over without another page of sign-in. */
  async function isSignedIn(
    visit: Visit,
    { loginHint, maxAgeSeconds, idTokenHint, handOver }: Partial<AuthorizationRequest>,
  ): Promise<boolean> {
    const { session, flow } = visit
    if (session === null) return false
    const at = session.authenticatedAt.getTime()
    if (flow.signInAfter !== undefined && at < flow.signInAfter) return false
    if (maxAgeSeconds !== undefined && at < visits.now() - maxAgeSeconds * 1000) return false
    const hint = idTokenHint === undefined ? null : await applications.readHint(idTokenHint)
    // One for another application counts as none.
    if (hint && hint.aud === handOver?.application && hint.sub !== session.account.uuid) return false
    if (loginHint === undefined) return true
    const hinted = parseIdentifier(loginHint, config.accounts.defaultCountry)
    // Any other text, such as a name, only fills the field.
    return hinted === null || hasVerified(session.account, hinted)
  }

  function begin(visit: Visit, { handOver, prompts, loginHint, locales }: AuthorizationRequest): Response {
    const language = locales
      ? pickLanguage(locales.split(' ').join(','), catalog.tags, visit.client.language)
      : visit.flow.language
    return visits.go(visit, prompts.includes('create') ? '/sign-up' : '/sign-in', {
      ...(language !== undefined && { language }),
      handOver,
      ...(loginHint !== undefined && { typed: { identifier: loginHint } }),
      signInAfter: prompts.includes('login') || visit.session ? visits.now() : 0,
    })
  }

  /** Another sign-in on the same way. */
  const signInAgain = (visit: Visit, handOver: HandOver) => ({
    ...languageOf(visit.flow),
    handOver,
    signInAfter: visits.now(),
  })

  /** It returns null if this person may be handed over to this application. */
  function findObstacle(visit: SignedIn, handOver: HandOver): Obstacle | null {
    const application = find(handOver.application)
    const { name } = application
    const another = () => visit.to('/sign-in', signInAgain(visit, handOver))
    // An entry without `own` is refused when the code is made.
    if (isForOpenId(application) && !applications.admits(application, visit.session.account)) {
      const description = 'this account may not enter'
      const back = refusalAddress(application, handOver, 'access_denied', description)
      return {
        error: 'access_denied',
        description,
        answer: () => ({
          ...notOpenScreen(visit, name, { another: another(), back }),
          refusal: new AppError('insufficient_scope', { cause: 'may_not_enter' }),
        }),
      }
    }
    const { account, claims } = visit.session
    if (!application.twoFactor || claims.amr.includes('mfa')) return null
    return {
      error: 'interaction_required',
      description: 'a person has to prove a second factor',
      answer: () =>
        account.twoFactorEnabled
          ? visits.go(visit, '/sign-in', { ...signInAgain(visit, handOver), distrusts: true })
          : twoFactorWantedScreen(visit, name, {
              another: another(),
              setUp: visit.to('/account/two-factor', { ...languageOf(visit.flow), handOver }),
              onwards: visit.to('/oauth2/continue', { handOver }),
            }),
    }
  }

  /** A page that asks for a second factor refuses nobody yet. */
  function meet({ error, description, answer }: Obstacle, application: ApplicationConfig): Response | Screen {
    if (error === 'access_denied')
      applicationLog.refused({ application: application.id, error, reason: description })
    return answer()
  }

  function refuseUnknown(
    visit: Visit,
    { what, nearest }: Unknown,
    asked: Pick<HandOver, 'application' | 'redirectUri'>,
  ): Screen {
    const [field, value, differs] =
      what === 'application'
        ? ['client_id', asked.application, 'application_unknown']
        : ['redirect_uri', asked.redirectUri, 'redirect_uri_differs']
    const cause = value === '' ? `field_missing:${field}` : differs
    applicationLog.refused({
      application: what === 'application' ? null : asked.application,
      ...{ error: 'invalid_request', reason: cause, nearest },
    })
    const screen = unknownScreen(visit, what, {
      service: config.pages.name || serviceName(config),
      application: asked.application,
      lines: !dev ? null : value === '' ? `${field} is missing` : linesToAdd(applications.list, asked),
    })
    return { ...screen, refusal: new AppError('invalid_request', { cause }) }
  }

  async function authorize(visit: Visit): Promise<Response | Screen> {
    const asked = (name: string) => visit.query.get(name) ?? ''
    const read = readAuthorization(visit.query, applications.list)
    if (read.kind === 'unknown') {
      return refuseUnknown(visit, read, {
        application: asked('client_id'),
        redirectUri: asked('redirect_uri'),
      })
    }
    if (read.kind === 'refused') {
      const { error, description } = read
      applicationLog.refused({ application: asked('client_id'), error, reason: description })
      return away(refusalAddress(find(asked('client_id')), read, error, description))
    }
    metrics.count('page_steps_total', { step: 'oauth2_authorize', stage: 'begun' })
    return goOn(visit, read.request)
  }

  async function goOn(visit: Visit, request: AuthorizationRequest): Promise<Response | Screen> {
    const { handOver, prompts } = request
    const application = find(handOver.application)
    const isSilent = prompts.includes('none')
    const refuse = (error: string, description: string) => {
      applicationLog.refused({ application: application.id, error, reason: description })
      return away(refusalAddress(application, handOver, error, description))
    }
    const isKnown = await isSignedIn(visit, request)
    if (isSilent && !isKnown) return refuse('login_required', 'nobody is signed in')
    if (!isKnown || prompts.includes('login') || prompts.includes('create')) return begin(visit, request)
    const obstacle = findObstacle(visit as SignedIn, handOver)
    if (obstacle) return isSilent ? refuse(obstacle.error, obstacle.description) : meet(obstacle, application)
    const isAsked = prompts.includes('consent') || prompts.includes('select_account')
    if (!isAsked && !needsConsent(handOver.redirectUri))
      return away(await applications.handOver(visit.session!, handOver))
    if (isSilent) return refuse('interaction_required', 'a person has to confirm this address')
    const another = isForOpenId(application) ? visit.to('/sign-in', signInAgain(visit, handOver)) : undefined
    return continueScreen(visit, application.name, visit.to('/oauth2/continue', { handOver }), another)
  }

  /** The way ends here after a sign-in, and after "Continue to …". */
  async function finish(visit: Visit): Promise<Response | Screen> {
    const { handOver } = visit.flow
    if (handOver === undefined) return visits.leave(visit, '/sign-in')
    // The flow is good for a day, and the configuration may have changed since.
    const unknown = findUnlisted(handOver, applications.list)
    if (unknown) return refuseUnknown(visit, unknown, handOver)
    if (!(await isSignedIn(visit, {}))) return visits.go(visit, '/sign-in')
    // The page that leads on names who is handed over.
    if (visit.isOfEarlierSignIn) return visits.go(visit, '/leave')
    const obstacle = findObstacle(visit as SignedIn, handOver)
    const application = find(handOver.application)
    if (obstacle) return meet(obstacle, application)
    const location = await applications.handOver(visit.session!, handOver)
    const needsLink = visit.needsLinks && !/^https?:/.test(location)
    return needsLink ? openProgramScreen(visit, application.name, location) : away(location)
  }

  return { authorize, finish }
}
