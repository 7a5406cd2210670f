/** Opens a visit: host, browser, flow, tickets and session, read from the request. */

import type { Ground } from '../../platform/ground.ts'
import type { Client } from '../../platform/http/http-base.ts'
import type { Catalog } from '../../texts/catalog.ts'
import type { Language } from '../../texts/languages.ts'
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
import type { Flow, FlowSeal } from './flow.ts'
import type { PageTickets } from './tickets.ts'
import type { Place } from './visit.ts'
import { CHOICE, type OpenVisit } from './visit.ts'

interface Needs extends Pick<Ground, 'clock' | 'logger'> {
  seal: FlowSeal
  destinations: Destinations
  place: Place
  catalog: Catalog
  tickets: PageTickets
}

export function createOpening({ seal, destinations, place, catalog, tickets, clock, logger }: Needs) {
  /** The language that was chosen in the menu before. */
  function chosenIn(jar: CookieJar): Language | null {
    const chosen = jar.read('language') ?? ''
    return catalog.has(chosen) ? chosen : null
  }

  /** Keeps where the way leads in the end, if the configuration knows it. */
  function findDestination(flow: Flow, asked: string | null): void {
    if (flow.to !== undefined && !destinations.holds(flow.to)) {
      logger.warn({ to: shown(flow.to) }, LOST_RETURN)
      delete flow.to
    }
    if (asked === null) return
    const to = destinations.read(asked)
    if (to === null) logger.warn({ return_to: shown(asked) }, UNKNOWN_RETURN)
    else flow.to = to
  }

  /** Most addresses of a page have the same flow. */
  function sealOnce(browser: string) {
    const known = new Map<string, string>()
    return (flow: Flow, sessionId: string | null): string =>
      known.getOrInsertComputed(JSON.stringify([flow, sessionId]), () => seal.seal(flow, browser, sessionId))
  }

  /** The visit as far as the request itself tells. */
  function begin(request: Request, client: Client, path: string): OpenVisit {
    const url = new URL(request.url)
    const jar = place.jar(request.headers.get('cookie') ?? undefined)
    const known = jar.read('browser')
    const trust = jar.read('trusted')
    const browser = isBrowserCookie(known) ? known : newBrowserCookie()
    const sealed = sealOnce(browser)
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
      isOfEarlierSignIn: read !== null,
      needsLinks: isWebKitOfLinux(request.headers.get('user-agent') ?? ''),
      device: (stays) => ({
        ...deviceOfBrowser(browser, request.headers.get('user-agent'), stays),
        ...(trust !== undefined && !visit.flow.distrusts && { trust }),
      }),
      now: clock.now(),
      to: (path, flow = visit.flow) => `${path}?flow=${sealed(flow, visit.session?.sessionId ?? null)}`,
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
    visit.isOfEarlierSignIn = session !== null && opened !== null && !opened.isOfSession(session.sessionId)
    if (session === null) return
    const { language } = session.account
    const isChosen = (flow.language ?? chosenIn(jar)) !== null
    if (!isChosen && catalog.has(language)) speak(visit, language)
  }

  function speak(visit: OpenVisit, language: Language): void {
    visit.texts = catalog.of(language)
    visit.client = { ...visit.client, language, texts: visit.texts }
    visit.caller = { ...visit.caller, language }
  }

  return { begin, recall }
}

/** For the log: another program may have put a code or a token into the query. */
const shown = (address: string) => address.replace(/[?#].*/s, '').slice(0, 200)

const UNKNOWN_RETURN = 'return_to is not pages.home and not in pages.return_to, so the way leads home'
const LOST_RETURN =
  'the configuration does not hold the address any more to which a way through the pages leads, so it leads home'
