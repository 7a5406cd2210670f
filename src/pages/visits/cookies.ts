/** The cookies of a visit: who is signed in, and what else the browser keeps. They go with the next answer. */

import type { OpenedSession } from '../../domain/sessions/core/session-opener.ts'
import type { Ground } from '../../platform/ground.ts'
import { cookieHeader } from '../../platform/http/redirect.ts'
import {
  BROWSER_SECONDS,
  type CookieJar,
  isBrowserCookie,
  newBrowserCookie,
  registrationTag,
} from './browser.ts'
import type { Place } from './place.ts'
import type { PageTicket, PageTickets } from './tickets.ts'
import { insideOf, type Visit } from './visit.ts'

interface Needs extends Pick<Ground, 'config'> {
  place: Place
  tickets: PageTickets
}

export function createVisitCookies({ place, tickets, config: { tokens, twoFactor } }: Needs) {
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
