/**
 * The way of a browser that an application sent: sign-in, who may enter, the second factor, "Continue to …", and the code. Each
 * is asked in this order, and again when the way ends.
 */
import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { ApplicationLog } from '../../domain/sessions/application-log/service.ts'
import { isForOpenId } from '../../platform/config/applications.ts'
import { serviceName } from '../../platform/config/service-name.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import { pickLanguage } from '../../texts/accept-language.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError } from '../../texts/errors.ts'
import type { Visits } from '../visits/service.ts'
import type { Screen, Visit } from '../visits/visit.ts'
import { createObstacles, type Obstacle } from './obstacles.ts'
import {
  type AuthorizationRequest,
  findUnlisted,
  type HandOver,
  needsConsent,
  readAuthorization,
  type Unknown,
} from './request.ts'
import { continueScreen, linesToAdd, openProgramScreen, unknownScreen } from './screens.ts'
import type { ApplicationService } from './service.ts'

interface Needs extends Pick<Ground, 'config'> {
  visits: Visits
  applications: ApplicationService
  applicationLog: Pick<ApplicationLog, 'refused'>
  metrics: Metrics
  catalog: Catalog
  dev: boolean
}

/** 303 to an address of an application. */
export const away = (location: string) =>
  new Response(null, { status: 303, headers: { location, 'referrer-policy': 'no-referrer' } })

export function createAuthorize(needs: Needs) {
  const { visits, applications, applicationLog, config, metrics, catalog, dev } = needs
  const { isSignedIn, findObstacle, toAnother } = createObstacles(needs)
  const find = (id: string) => applications.list.find((one) => one.id === id) as ApplicationConfig

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
      return away(applications.refusalAddress(find(asked('client_id')), read, error, description))
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
      return away(applications.refusalAddress(application, handOver, error, description))
    }
    const isKnown = await isSignedIn(visit, request)
    if (isSilent && !isKnown) return refuse('login_required', 'nobody is signed in')
    if (!isKnown || prompts.includes('login') || prompts.includes('create')) return begin(visit, request)
    const obstacle = findObstacle(visit, handOver, application)
    if (obstacle) return isSilent ? refuse(obstacle.error, obstacle.description) : meet(obstacle, application)
    const isAsked = prompts.includes('consent') || prompts.includes('select_account')
    if (!isAsked && !needsConsent(handOver.redirectUri))
      return away(await applications.handOver(visit.session!, handOver))
    if (isSilent) return refuse('interaction_required', 'a person has to confirm this address')
    return continueScreen(visit, application.name, {
      href: visit.to('/oauth2/continue', { handOver }),
      another: toAnother(visit, handOver),
      isChoice: isForOpenId(application),
    })
  }

  /** The way ends here after a sign-in, and after "Continue to …". */
  async function finish(visit: Visit): Promise<Response | Screen> {
    const { handOver } = visit.flow
    if (handOver === undefined) return visits.leave(visit, '/sign-in')
    // The flow is good for a day, and the configuration may have changed since.
    const unknown = findUnlisted(handOver, applications.list)
    if (unknown) return refuseUnknown(visit, unknown, handOver)
    if (!(await isSignedIn(visit, {}))) return visits.go(visit, '/sign-in')
    // The page that leads on names who is handed over, and waits for a press.
    if (visit.isOfEarlierSignIn) return visits.go(visit, '/leave', { ...visit.flow, asks: true })
    const application = find(handOver.application)
    const obstacle = findObstacle(visit, handOver, application)
    if (obstacle) return meet(obstacle, application)
    const location = await applications.handOver(visit.session!, handOver)
    const needsLink = visit.needsLinks && !/^https?:/.test(location)
    return needsLink ? openProgramScreen(visit, application.name, location) : away(location)
  }

  return { authorize, finish }
}
