/**
 * Does what every page does before and after its own work. It reads host, browser, flow and session of the request, and
 * writes headers, cookies and flow of the answer. Errors of the services become pages.
 */

import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { TicketStore } from '../../domain/foundation/tickets/store.ts'
import type { Ground } from '../../platform/ground.ts'
import type { Client } from '../../platform/http/http-base.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError } from '../../texts/errors.ts'
import type { Frame } from '../frame/frame.ts'
import { createVisitCookies } from './cookies.ts'
import type { Destinations } from './destinations.ts'
import { createDrawing } from './draw.ts'
import { type Flow, type FlowSeal, languageOf } from './flow.ts'
import { isFromOurPage, keptOf, requireMaySend, requireStorable, shownProblem, typedOf } from './form.ts'
import { createOpening } from './open-visit.ts'
import type { Place } from './place.ts'
import { cookiesBlockedScreen } from './refusals.ts'
import { createPageTickets } from './tickets.ts'
import type { OpenVisit, Screen, Typed, Visit } from './visit.ts'

interface Needs extends Pick<Ground, 'clock' | 'config' | 'logger' | 'secret'> {
  frame: Frame
  seal: FlowSeal
  destinations: Destinations
  place: Place
  catalog: Catalog
  metrics: Metrics
  stores: { tickets: TicketStore }
}

interface PageRequest {
  request: Request
  client: Client
}

type Drawn = Screen | Response

/**
 * An error of the work leads to `back`, with what was typed in the fields that are kept. `finishes`: the form is the purpose
 * of that page. `forAnybody`: the form does nothing with the account that is signed in. Every other one is closed to the
 * account of a test identity.
 */
interface FormOptions {
  back: string
  /** Never a secret. */
  keeps?: readonly string[]
  finishes?: boolean
  forAnybody?: boolean
}

export type Visits = ReturnType<typeof createVisits>

export function createVisits(needs: Needs) {
  const { destinations, place, clock, metrics } = needs
  const tickets = createPageTickets(needs)
  const { begin, recall } = createOpening({ ...needs, tickets })
  const { draw, refusal, otherHost, withoutVisit } = createDrawing(needs)
  const cookies = createVisitCookies({ ...needs, tickets })
  const { setCookie, signIn, signOut, keepRegistration, withCookies, withNewCookie } = cookies

  async function open({ request, client }: PageRequest, path: string): Promise<OpenVisit> {
    const visit = begin(request, client, path)
    try {
      await recall(visit)
      return visit
    } catch (error) {
      throw refusal(visit, error)
    }
  }

  /** Paths of pages are routes of ours, so there are no more steps than pages. */
  const count = (path: string, stage: 'begun' | 'finished') =>
    metrics.count('page_steps_total', {
      step: path.replaceAll(/^\/|\/$/g, '').replaceAll(/[/-]/g, '_'),
      stage,
    })

  /** Refuses a form that no page of ours sent, and one from a browser that keeps no cookie. */
  function requireOwnForm(visit: OpenVisit, request: Request): void {
    const { hasOwnFlow, keepsCookies } = visit
    if (!isFromOurPage({ headers: request.headers, own: place.originOf(request), hasOwnFlow })) {
      throw refusal(visit, new AppError('invalid_sign_in_state', { cause: 'other_site' }))
    }
    if (keepsCookies) return
    const error = new AppError('invalid_sign_in_state', { cause: 'no_cookie' })
    throw refusal(visit, error, cookiesBlockedScreen(visit.texts, visit.path))
  }

  const answer = (visit: Visit, drawn: Drawn): Response =>
    drawn instanceof Response ? drawn : withCookies(visit, draw(visit, drawn))

  /** A handler that answers a GET. `back`: the page whose form shows what went wrong; otherwise a page says so. */
  function show(drawScreen: (visit: Visit) => Drawn | Promise<Drawn>, back?: string) {
    return async ({ request, client }: PageRequest): Promise<Response> => {
      const other = withoutVisit(request, client)
      if (other) return other
      const visit = await open({ request, client }, new URL(request.url).pathname)
      try {
        const screen = await drawScreen(visit)
        // A page that is shown again after a mistake was begun before.
        if (!(screen instanceof Response) && visit.flow.problem === undefined) count(visit.path, 'begun')
        return answer(visit, screen)
      } catch (error) {
        const problem = back === undefined ? null : shownProblem(error, clock, visit)
        if (problem === null) throw refusal(visit, error)
        return go(visit, back!, { ...visit.flow, problem })
      }
    }
  }

  /** A handler that answers a POST. */
  function take(options: FormOptions, work: (visit: Visit, typed: Typed) => Drawn | Promise<Drawn>) {
    const { back, keeps = [], finishes = false, forAnybody = false } = options
    return async ({ request, client, body }: PageRequest & { body: unknown }): Promise<Response> => {
      const other = otherHost(request, client)
      if (other) return other
      const visit = await open({ request, client }, back)
      const typed = typedOf(body)
      requireOwnForm(visit, request)
      const { problem: _, notice: __, ...before } = visit.flow
      visit.flow = { ...before, typed: { ...before.typed, ...keptOf(typed, keeps) } }
      try {
        requireStorable(typed)
        if (!forAnybody) {
          requireMaySend(visit, request)
          // A flow that cannot be read was drawn before the browser lost its cookies, or for nobody.
          visit.isOfEarlierSignIn ||= visit.opened === null
        }
        const done = await work(visit, typed)
        if (finishes) count(back, 'finished')
        return withNewCookie(visit, answer(visit, done))
      } catch (error) {
        const problem = shownProblem(error, clock, visit)
        if (problem === null) throw refusal(visit, error)
        return withNewCookie(visit, go(visit, back, { ...visit.flow, problem }))
      }
    }
  }

  const redirect = (visit: Visit, location: string, more: Record<string, string> = {}): Response =>
    withCookies(visit, new Response(null, { status: 303, headers: { location, ...more } }))

  /** 303 to a page of ours. */
  const go = (visit: Visit, path: string, flow: Flow = visit.flow): Response =>
    redirect(visit, visit.to(path, flow))

  /** Leads to the page that signs in, and from there to `path`. */
  const goToSignIn = (visit: Visit, path: string): Response =>
    place.within
      ? new Response(null, { status: 303, headers: { location: place.within.href } })
      : go(visit, '/sign-in', { to: path, ...languageOf(visit.flow) })

  /** 303, by way of a page of ours where the address is not ours. */
  function leave(visit: Visit, to: string): Response {
    const { handOver, signInAfter } = visit.flow
    if (handOver) return go(visit, '/leave', { handOver, ...(signInAfter !== undefined && { signInAfter }) })
    return to.startsWith('/') ? redirect(visit, to) : go(visit, '/leave', { to, ...languageOf(visit.flow) })
  }

  /** 303 to an address that is not ours. Only for a navigation that began as a GET: see `/leave`. */
  const depart = (visit: Visit, location: string): Response =>
    redirect(visit, location, { 'referrer-policy': 'no-referrer' })

  return {
    ...{ show, take, go, goToSignIn, leave, depart },
    ...{ tickets, setCookie, signIn, signOut, keepRegistration },
    now: (): number => clock.now().getTime(),
    /** People go there when nothing else sent them. */
    home: destinations.home,
  }
}
