/** The place of pages: an origin with cookies and sessions of its own. */
import type { BrowserSession, BrowserSessions } from '../../domain/sessions/browser-sessions/service.ts'
import { hostNameOf, isLoopbackHost } from '../../platform/config/formats.ts'
import { readCookies } from '../../platform/http/redirect.ts'
import { type CookieJar, createCookieJar } from './browser.ts'

export interface Place {
  base: URL
  isOwnHost(host: string): boolean
  /** Forms of the place have this origin. */
  originOf(request: Request): string
  jar(cookies: string | undefined): CookieJar
  find(cookie: string | undefined, address: string): Promise<BrowserSession | null>
  sessions: Pick<BrowserSessions, 'replace' | 'end'> | null
  /** The pages are a part of another one, which signs in and out; null: they do that themselves. */
  within: { href: string; label: string } | null
}

/** The pages for everybody, at `server.base_url`. Under --dev the service has whatever name leads to this machine. */
export function placeOfPeople(baseUrl: string, browserSessions: BrowserSessions, dev: boolean): Place {
  const base = new URL(baseUrl)
  return {
    base,
    isOwnHost: (host) => host === base.host || (dev && isLoopbackHost(hostNameOf(host))),
    originOf: ({ headers }) => (dev ? `${base.protocol}//${headers.get('host')}` : base.origin),
    jar: (cookies) => createCookieJar(readCookies(cookies), base.protocol === 'https:'),
    find: browserSessions.find,
    sessions: browserSessions,
    within: null,
  }
}
