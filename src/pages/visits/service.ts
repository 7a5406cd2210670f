/**
 * Does what every page does before and after its own work. It reads host, browser, flow and session of the request, and
 * writes headers, cookies and flow of the answer. Errors of the services become pages.
 */

import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { TicketStore } from '../../domain/foundation/tickets/store.ts'
import type { BrowserSession } from '../../domain/sessions/browser-sessions/service.ts'
import type { Device } from '../../domain/sessions/core/session.ts'
import type { OpenedSession } from '../../domain/sessions/core/session-opener.ts'
import { requireMayCall } from '../../domain/sessions/core/test-accounts.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Ground } from '../../platform/ground.ts'
import { describeFailure } from '../../platform/http/failure.ts'
import type { Client } from '../../platform/http/http-base.ts'
import { pageAnswer } from '../../platform/http/page-answer.ts'
import { cookieHeader } from '../../platform/http/redirect.ts'
import { findUnstorable } from '../../platform/http/unstorable.ts'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError, errorStatus } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import { ownSentence } from '../../texts/sentences.ts'
import type { Texts } from '../../texts/texts.ts'
import { type Frame, PAGE_POLICY } from '../frame/frame.ts'
import type { Html } from '../frame/html.ts'
import {
  BROWSER_SECONDS,
  type CookieJar,
  deviceOfBrowser,
  fingerprintOf,
  isBrowserCookie,
  isWebKitOfLinux,
  newBrowserCookie,
  registrationTag,
} from './browser.ts'
import type { Destinations } from './destinations.ts'
import { type Flow, type FlowSeal, languageOf, type OpenedFlow, type Problem } from './flow.ts'
import type { Place } from './place.ts'
import { cookiesBlockedScreen, failedScreen, otherHostScreen } from './refusals.ts'
import { isFromOurPage } from './same-site.ts'
import { createPageTickets, type PageTicket } from './tickets.ts'

export type Typed = Readonly<Record<string, string>>

export interface Visit {
  client: Client
  texts: Texts
  /** The path of the page that is shown, or to which a refused form goes back. */
  path: string
  flow: Flow
  query: URLSearchParams
  /** The values that were proved or sent on this way; null where there is no ticket any more. */
  ticket: PageTicket | null
  session: BrowserSession | null
  within: Place['within']
  /**
   * True if somebody is signed in now, and the flow is from before that sign-in, or a form has none that can be read. A
   * form that acts on the account does nothing then.
   */
  isOfEarlierSignIn: boolean
  /** The browser shows an error where a redirect leads to another program. A link that is pressed opens it. */
  needsLinks: boolean
  device(stays: boolean): Device
  now: Date
  /** The address of a path with the flow of the visit, or with another one. */
  to(path: string, flow?: Flow): string
  /** Services that take the caller get this. */
  caller: { address: string; addressBucket: string; fingerprint: string; language: string }
}

/** The data that a screen is drawn from. */
export type View = Pick<Visit, 'texts' | 'flow' | 'ticket' | 'session'>

/** A page that is shown. */
export interface Screen {
  title: string
  content: Html
  wide?: boolean
  refreshTo?: string
  aside?: Html
  /** It is not shown as a page that works: the answer has the status of this error. */
  refusal?: AppError
}

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

interface FormOptions {
  back: string
  keeps?: readonly string[]
  finishes?: boolean
  forAnybody?: boolean
}

interface OpenVisit extends Visit {
  browser: string
  jar: CookieJar
  opened: OpenedFlow | null
  setCookies: string[]
  hasOwnFlow: boolean
  /** True if the browser sent a cookie of ours. Those that block cookies never do. */
  keepsCookies: boolean
}

/** The links of the language menu have it in their query: the browser keeps what was chosen there until it is closed. */
const CHOICE = 'chosen'

export type Visits = ReturnType<typeof createVisits>

export function createVisits(needs: Needs) {
  const { frame, seal, destinations, place, catalog, clock, config, logger, metrics } = needs
  const tickets = createPageTickets(needs)
  const { base, isOwnHost, originOf } = place
  const secure = base.protocol === 'https:'

  async function open(request: Request, client: Client, path: string): Promise<OpenVisit> {
    const visit = begin(request, client, path)
    try {
      await recall(visit)
      return visit
    } catch (error) {
      throw refusal(visit, error)
    }
  }

  /** The language that was chosen in the menu before. */
  function chosenIn(jar: CookieJar): Language | null {
    const chosen = jar.read('language') ?? ''
    return catalog.has(chosen) ? chosen : null
  }

  /** Keeps where the way leads in the end, if the configuration knows it. */
  function findDestination(flow: Flow, asked: string | null): void {
    if (flow.to !== undefined && !destinations.holds(flow.to)) {
      logger.warn({ to: flow.to.slice(0, 200) }, LOST_RETURN)
      delete flow.to
    }
    if (asked === null) return
    const to = destinations.read(asked)
    if (to === null) logger.warn({ return_to: asked.slice(0, 200) }, UNKNOWN_RETURN)
    else flow.to = to
  }

  /** The visit as far as the request itself tells. */
  function begin(request: Request, client: Client, path: string): OpenVisit {
    const url = new URL(request.url)
    const jar = place.jar(request.headers.get('cookie') ?? undefined)
    const known = jar.read('browser')
    const trust = jar.read('trusted')
    const browser = isBrowserCookie(known) ? known : newBrowserCookie()
    const read = seal.open(url.searchParams.get('flow') ?? undefined, browser)
    const flow: Flow = read?.flow ?? {}
    findDestination(flow, url.searchParams.get('return_to'))
    const language = flow.language ?? chosenIn(jar) ?? client.language
    const isChoice = url.searchParams.has(CHOICE) && flow.language !== undefined
    const visit: OpenVisit = {
      client: { ...client, language, texts: catalog.of(language) },
      texts: catalog.of(language),
      path,
      flow,
      query: url.searchParams,
      ticket: null,
      session: null,
      within: place.within,
      isOfEarlierSignIn: false,
      needsLinks: isWebKitOfLinux(request.headers.get('user-agent') ?? ''),
      device: (stays) => ({
        ...deviceOfBrowser(browser, request.headers.get('user-agent'), stays),
        ...(trust !== undefined && !visit.flow.distrusts && { trust }),
      }),
      now: clock.now(),
      to: (path, flow) => address(visit, path, flow),
      caller: {
        address: client.address,
        addressBucket: client.addressBucket,
        fingerprint: fingerprintOf(browser),
        language,
      },
      browser,
      jar,
      opened: read,
      setCookies: [
        ...(known === browser ? [] : jar.write('browser', browser, BROWSER_SECONDS)),
        ...(isChoice ? jar.write('language', language, null) : []),
      ],
      hasOwnFlow: read !== null && known === browser,
      keepsCookies: known !== undefined || jar.read('session') !== undefined,
    }
    return visit
  }

  /** Reads who is signed in and what was proved before. */
  async function recall(visit: OpenVisit): Promise<void> {
    const { opened, jar, flow, client } = visit
    const session = await place.find(jar.read('session'), client.address)
    visit.session = session
    const holder = {
      session: session?.sessionId,
      registration: registrationTag(jar.read('registration') ?? ''),
    }
    visit.ticket = opened?.isFresh ? await tickets.find(flow.ticket, holder) : null
    if (session === null) return
    visit.isOfEarlierSignIn = opened !== null && !opened.isOfSession(session.sessionId)
    const { language } = session.account
    const isChosen = (flow.language ?? chosenIn(jar)) !== null
    if (!isChosen && catalog.has(language)) speak(visit, language)
  }

  function speak(visit: OpenVisit, language: Language): void {
    visit.texts = catalog.of(language)
    visit.client = { ...visit.client, language, texts: visit.texts }
    visit.caller = { ...visit.caller, language }
  }

  /** Paths of pages are routes of ours, so there are no more steps than pages. */
  const count = (path: string, stage: 'begun' | 'finished') =>
    metrics.count('page_steps_total', {
      step: path.replaceAll(/^\/|\/$/g, '').replaceAll(/[/-]/g, '_'),
      stage,
    })

  /** Every visit comes from `open`. */
  const state = (visit: Visit) => visit as OpenVisit

  const address = (visit: Visit, path: string, flow: Flow = visit.flow): string =>
    `${path}?flow=${seal.seal(flow, state(visit).browser, visit.session?.sessionId ?? null)}`

  function withCookies(visit: Visit, answer: Response): Response {
    for (const cookie of state(visit).setCookies) answer.headers.append('set-cookie', cookie)
    return answer
  }

  /** A form after which the session has another cookie gives it to the browser. */
  function withNewCookie(visit: Visit, answer: Response): Response {
    const { session, jar } = state(visit)
    if (session !== null && session.cookie !== jar.read('session'))
      for (const cookie of sessionCookie(jar, session.cookie, session.stays))
        answer.headers.append('set-cookie', cookie)
    return answer
  }

  const sessionCookie = (jar: CookieJar, cookie: string, stays: boolean): string[] =>
    jar.write('session', cookie, stays ? config.tokens.refreshAbsoluteLifetimeSeconds : null)

  function render(visit: Visit, screen: Screen, bare = false): string {
    const { client, texts, path, flow } = visit
    const { language: _, problem, ...same } = flow
    // The query holds what an application asks for, so it stays.
    const asked = new URLSearchParams(path.startsWith('/oauth2/') ? visit.query : '')
    asked.delete('flow')
    asked.delete(CHOICE)
    const rest = asked.size > 0 ? `&${asked}` : ''
    return frame.render({
      ...screen,
      title: problem === undefined ? screen.title : `${texts.pages.error}: ${screen.title}`,
      bare,
      language: client.language,
      texts,
      languages: catalog.tags.map((tag) => ({
        tag,
        href: `${address(visit, path, { ...same, language: tag })}&${CHOICE}${rest}`,
      })),
    })
  }

  function draw(visit: Visit, { refusal: refused, ...screen }: Screen): Response {
    if (refused) throw refusal(visit, refused, screen)
    const page = { html: render(visit, screen), policy: PAGE_POLICY, language: visit.client.language }
    const answer = pageAnswer(page)
    // With `no-referrer` browsers would send `Origin: null` with our forms.
    answer.headers.set('referrer-policy', 'same-origin')
    return withCookies(visit, answer)
  }

  const go = (visit: Visit, path: string, flow: Flow = visit.flow): Response =>
    withCookies(visit, new Response(null, { status: 303, headers: { location: address(visit, path, flow) } }))

  /** Answers where a page cannot be drawn or a form cannot be taken. */
  function refusal(visit: Visit, thrown: unknown, shown?: Screen): AppError {
    if (thrown instanceof AppError && thrown.details.page) return thrown
    const failure = describeFailure(thrown)
    const { errorCode, retryAfterSeconds } = failure
    const { texts, client } = visit
    const isDown = errorStatus[errorCode] >= 500
    const own = ownSentence(failure.message, client.language)
    const screen = shown ?? failedScreen(texts, errorCode, visit.path, retryAfterSeconds, own)
    const page = {
      html: render(visit, screen, isDown),
      policy: frame.policy(isDown),
      language: client.language,
    }
    return new AppError(errorCode, {
      page,
      cause: thrown instanceof AppError ? thrown.cause : thrown,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    })
  }

  function otherHost(request: Request, client: Client): Response | null {
    const host = request.headers.get('host') ?? ''
    if (isOwnHost(host)) return null
    logger.warn({ host: host.slice(0, 200), key: 'server.base_url' }, OTHER_HOST)
    const texts = client.texts
    const page = {
      ...otherHostScreen(texts, base),
      language: client.language,
      texts,
      languages: [],
    }
    return pageAnswer({
      html: frame.render({ ...page, bare: true }),
      policy: frame.policy(true),
      language: client.language,
    })
  }

  /** HEAD gets no visit either: a page may make a code or sign somebody in, and nobody would see its answer. */
  const withoutVisit = (request: Request, client: Client): Response | null =>
    otherHost(request, client) ??
    (request.method === 'HEAD'
      ? pageAnswer({ html: '', policy: PAGE_POLICY, language: client.language })
      : null)

  /** Refuses a form that no page of ours sent, and one from a browser that keeps no cookie. */
  function requireOwnForm(visit: Visit, request: Request): void {
    const { hasOwnFlow, keepsCookies } = state(visit)
    if (!isFromOurPage({ headers: request.headers, own: originOf(request), hasOwnFlow })) {
      throw refusal(visit, new AppError('invalid_sign_in_state', { cause: 'other_site' }))
    }
    if (keepsCookies) return
    const error = new AppError('invalid_sign_in_state', { cause: 'no_cookie' })
    throw refusal(visit, error, cookiesBlockedScreen(visit.texts, visit.path))
  }

  function leave(visit: Visit, to: string): Response {
    const { handOver, signInAfter } = visit.flow
    if (handOver) return go(visit, '/leave', { handOver, ...(signInAfter !== undefined && { signInAfter }) })
    if (to.startsWith('/')) {
      return withCookies(visit, new Response(null, { status: 303, headers: { location: to } }))
    }
    return go(visit, '/leave', { to, ...languageOf(visit.flow) })
  }

  /** 303 to an address that is not ours. Only for a navigation that began as a GET: see `/leave`. */
  const depart = (visit: Visit, location: string): Response =>
    withCookies(
      visit,
      new Response(null, { status: 303, headers: { location, 'referrer-policy': 'no-referrer' } }),
    )

  return {
    depart,
    /** A handler that answers a GET. `back`: the page whose form shows what went wrong; otherwise a page says so. */
    show:
      (drawScreen: (visit: Visit) => Drawn | Promise<Drawn>, back?: string) =>
      async ({ request, client }: PageRequest): Promise<Response> => {
        const answer = withoutVisit(request, client)
        if (answer) return answer
        const visit = await open(request, client, new URL(request.url).pathname)
        try {
          const screen = await drawScreen(visit)
          if (screen instanceof Response) return screen
          // A page that is shown again after a mistake was begun before.
          if (visit.flow.problem === undefined) count(visit.path, 'begun')
          return draw(visit, screen)
        } catch (error) {
          const problem = back === undefined ? null : problemOf(error, clock, visit)
          if (problem === null) throw refusal(visit, error)
          return go(visit, back!, { ...visit.flow, problem })
        }
      },
    /**
     * A handler that answers a POST. An error of `work` leads back to the page with what was typed, except secrets.
     * `finishes`: the form is the purpose of the page `back`. `forAnybody`: the form does nothing with the account that is
     * signed in. Every other one is closed to the account of a test identity.
     */
    take:
      (
        { back, keeps = [], finishes = false, forAnybody = false }: FormOptions,
        work: (visit: Visit, typed: Typed) => Drawn | Promise<Drawn>,
      ) =>
      async ({ request, client, body }: PageRequest & { body: unknown }): Promise<Response> => {
        const other = otherHost(request, client)
        if (other) return other
        const visit = await open(request, client, back)
        const typed = typedOf(body)
        requireOwnForm(visit, request)
        const { problem: _, notice: __, ...before } = visit.flow
        visit.flow = { ...before, typed: { ...before.typed, ...keptOf(typed, keeps) } }
        try {
          requireStorable(typed)
          if (!forAnybody) {
            requireMaySend(visit, request)
            // A flow that cannot be read was drawn before the browser lost its cookies, or for nobody.
            visit.isOfEarlierSignIn ||= state(visit).opened === null
          }
          const done = await work(visit, typed)
          if (finishes) count(back, 'finished')
          return withNewCookie(visit, done instanceof Response ? done : draw(visit, done))
        } catch (error) {
          const problem = problemOf(error, clock, visit)
          if (problem === null) throw refusal(visit, error)
          return withNewCookie(visit, go(visit, back, { ...visit.flow, problem }))
        }
      },
    /** 303 to a page of ours. */
    go,
    /** Leads to the page that signs in, and from there to `path`. */
    goToSignIn: (visit: Visit, path: string): Response =>
      place.within
        ? new Response(null, { status: 303, headers: { location: place.within.href } })
        : go(visit, '/sign-in', { to: path, ...languageOf(visit.flow) }),
    tickets,
    /**
     * Keeps a registration for this browser as it is now. The cookie of the browser itself lives for a year. Somebody who
     * learned or planted it could have the owner of an address confirm a password of theirs.
     */
    keepRegistration(visit: Visit, ticket: PageTicket, seconds: number): Promise<string> {
      const { jar, setCookies } = state(visit)
      const known = jar.read('registration')
      // One cookie for all tabs, which do not disturb each other.
      const cookie = isBrowserCookie(known) ? known : newBrowserCookie()
      setCookies.push(...jar.write('registration', cookie, seconds))
      return tickets.keep({ ...ticket, registration: registrationTag(cookie) }, seconds)
    },
    /** Signs the browser in: its cookies go with the next answer. */
    async signIn(visit: Visit, { refreshToken: cookie, deviceToken: trusted }: OpenedSession): Promise<void> {
      const { jar, setCookies, browser, flow } = state(visit)
      await place.sessions?.replace(jar.read('session'), cookie)
      setCookies.push(
        ...sessionCookie(jar, cookie, flow.typed?.stay === 'yes'),
        ...jar.write('browser', browser, BROWSER_SECONDS),
      )
      if (trusted) setCookies.push(...jar.write('trusted', trusted, config.twoFactor.trustDevice))
    },
    async signOut(visit: Visit): Promise<void> {
      const { jar, setCookies, session } = state(visit)
      const cookie = session?.cookie ?? jar.read('session')
      if (cookie !== undefined) await place.sessions?.end(cookie)
      visit.session = null
      setCookies.push(...jar.write('session', '', 0))
      // The next person has a language of their own.
      if (jar.read('language') !== undefined) setCookies.push(...jar.write('language', '', 0))
    },
    setCookie(visit: Visit, cookie: { name: string; value: string; lifetimeSeconds: number }): void {
      state(visit).setCookies.push(cookieHeader({ ...cookie, secure }))
    },
    /** The address of a page with a flow. */
    address,
    now: (): number => clock.now().getTime(),
    /** People go there when nothing else sent them. */
    home: destinations.home,
    /** 303, by way of a page of ours where the address is not ours. */
    leave,
  }
}

const OTHER_HOST =
  'a page was asked for under a host that is not that of server.base_url: the reverse proxy has to pass Host on'
const UNKNOWN_RETURN = 'return_to is not pages.home and not in pages.return_to, so the way leads home'
const LOST_RETURN =
  'the configuration does not hold the address any more to which a way through the pages leads, so it leads home'

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
function problemOf(error: unknown, clock: Clock, { client }: Visit): Problem | null {
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
