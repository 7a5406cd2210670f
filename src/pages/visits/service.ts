/**
 * Does what every page does before and after its own work. It reads host, browser, flow and session of the request, and
 * writes headers, cookies and flow of the answer. Errors of the services become pages.
 */

import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { TicketStore } from '../../domain/foundation/tickets/store.ts'
import type { OpenedSession } from '../../domain/sessions/core/session-opener.ts'
import { requireMayCall } from '../../domain/sessions/core/test-accounts.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Ground } from '../../platform/ground.ts'
import type { Client } from '../../platform/http/http-base.ts'
import { cookieHeader } from '../../platform/http/redirect.ts'
import { findUnstorable } from '../../platform/http/unstorable.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError, errorStatus } from '../../texts/errors.ts'
import { ownSentence } from '../../texts/sentences.ts'
import type { Frame } from '../frame/frame.ts'
import {
  BROWSER_SECONDS,
  type CookieJar,
  isBrowserCookie,
  newBrowserCookie,
  registrationTag,
} from './browser.ts'
import type { Destinations } from './destinations.ts'
import { createDrawing } from './draw.ts'
import { type Flow, type FlowSeal, languageOf, type Problem, toSignIn } from './flow.ts'
import { createOpening } from './open-visit.ts'
import { cookiesBlockedScreen } from './refusals.ts'
import { createPageTickets, type PageTicket, type PageTickets } from './tickets.ts'
import { insideOf, type OpenVisit, type Place, type Screen, type Typed, type Visit } from './visit.ts'

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
      : go(visit, '/sign-in', toSignIn(visit.flow, path))

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

interface CookieNeeds extends Pick<Ground, 'config'> {
  place: Place
  tickets: PageTickets
}

/** The cookies of a visit: who is signed in, and what else the browser keeps. They go with the next answer. */
function createVisitCookies({ place, tickets, config: { tokens, twoFactor } }: CookieNeeds) {
  const secure = place.base.protocol === 'https:'

  const sessionCookie = (jar: CookieJar, cookie: string, stays: boolean): string[] =>
    jar.write('session', cookie, stays ? tokens.refreshAbsoluteLifetimeSeconds : null)

  function setCookie(visit: Visit, cookie: { name: string; value: string; lifetimeSeconds: number }): void {
    insideOf(visit).setCookies.push(cookieHeader({ ...cookie, secure }))
  }

  /** Signs the browser in. */
  async function signIn(visit: Visit, { refreshToken: cookie, deviceToken: trusted }: OpenedSession) {
    const { jar, setCookies, browser, flow } = insideOf(visit)
    await place.sessions?.replace(jar.read('session'), cookie)
    setCookies.push(
      ...sessionCookie(jar, cookie, flow.typed?.stay === 'yes'),
      ...jar.write('browser', browser, BROWSER_SECONDS),
    )
    if (trusted) setCookies.push(...jar.write('trusted', trusted, twoFactor.trustDevice))
  }

  async function signOut(visit: Visit): Promise<void> {
    const { jar, setCookies, session } = insideOf(visit)
    const cookie = session?.cookie ?? jar.read('session')
    if (cookie !== undefined) await place.sessions?.end(cookie)
    visit.session = null
    setCookies.push(...jar.write('session', '', 0))
    // The next person has a language of their own.
    if (jar.read('language') !== undefined) setCookies.push(...jar.write('language', '', 0))
  }

  /**
   * Keeps a registration for this browser as it is now. The cookie of the browser itself lives for a year. Somebody who
   * learned or planted it could have the owner of an address confirm a password of theirs.
   */
  function keepRegistration(visit: Visit, ticket: PageTicket, seconds: number): Promise<string> {
    const { jar, setCookies } = insideOf(visit)
    const known = jar.read('registration')
    // One cookie for all tabs, which do not disturb each other.
    const cookie = isBrowserCookie(known) ? known : newBrowserCookie()
    setCookies.push(...jar.write('registration', cookie, seconds))
    return tickets.keep({ ...ticket, registration: registrationTag(cookie) }, seconds)
  }

  function withCookies(visit: Visit, answer: Response): Response {
    for (const cookie of insideOf(visit).setCookies) answer.headers.append('set-cookie', cookie)
    return answer
  }

  /** A form after which the session has another cookie gives it to the browser. */
  function withNewCookie(visit: Visit, answer: Response): Response {
    const { session, jar } = insideOf(visit)
    if (session !== null && session.cookie !== jar.read('session'))
      for (const cookie of sessionCookie(jar, session.cookie, session.stays))
        answer.headers.append('set-cookie', cookie)
    return answer
  }

  return { setCookie, signIn, signOut, keepRegistration, withCookies, withNewCookie }
}

/** The fields of a form; a field that is no text is left out. */
function typedOf(body: unknown): Typed {
  const fields = typeof body === 'object' && body !== null ? Object.entries(body) : []
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'))
}

function requireStorable(typed: Typed): void {
  const unstorable = findUnstorable(typed)
  if (unstorable.length > 0) throw new AppError('validation_failed', { fields: unstorable })
}

function requireMaySend({ session }: Visit, { method, url }: Request): void {
  if (session) requireMayCall(session, `${method} ${new URL(url).pathname}`)
}

/** The fields that come back after a mistake: never a secret. */
const keptOf = (typed: Typed, keeps: readonly string[]): Typed =>
  Object.fromEntries(
    keeps.flatMap((name) => (typed[name] ? [[name, typed[name].slice(0, 512).replaceAll('\0', '')]] : [])),
  )

/** Returns what the form can show. It is null if the form cannot, as for a store that is away. */
function shownProblem(error: unknown, clock: Clock, { client }: Visit): Problem | null {
  if (!(error instanceof AppError) || error.details.page) return null
  const { errorCode: code, details } = error
  const { fields, retryAfterSeconds } = details
  const message = ownSentence(details.message, client.language)
  // Where it is worth another try soon, the code that was typed is as good as before.
  const passes = code === 'server_busy' || code === 'provider_unavailable' || retryAfterSeconds !== undefined
  if (errorStatus[code] >= 500 && !passes) return null
  const until = Math.ceil(clock.now().getTime() / 1000) + (retryAfterSeconds ?? 0)
  const said = { ...(fields && { fields }), ...(message !== undefined && { message }) }
  return { code, ...said, ...(retryAfterSeconds !== undefined && { until }) }
}

interface FormOrigin {
  /** The headers of the request. */
  headers: { get(name: string): string | null }
  /** The origin of the pages. */
  own: string
  /** True if the form brought a flow of this browser. */
  hasOwnFlow: boolean
}

/** By what the browser says where it says something, else by its flow. */
function isFromOurPage({ headers, own, hasOwnFlow }: FormOrigin): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = headers.get('origin')
  return origin === null ? hasOwnFlow : origin === own
}
