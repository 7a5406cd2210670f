/**
 * A visit of a page: what the request says, and what is kept for its answer; and the place of pages, an origin with cookies
 * and sessions of its own.
 */

import type { BrowserSession, BrowserSessions } from '../../domain/sessions/browser-sessions/service.ts'
import type { Device } from '../../domain/sessions/core/session.ts'
import { hostNameOf, isLoopbackHost } from '../../platform/config/formats.ts'
import type { Client } from '../../platform/http/http-base.ts'
import { readCookies } from '../../platform/http/redirect.ts'
import type { AppError } from '../../texts/errors.ts'
import type { Texts } from '../../texts/texts.ts'
import type { Html } from '../frame/html.ts'
import { type CookieJar, createCookieJar } from './browser.ts'
import type { Flow, OpenedFlow } from './flow.ts'
import type { PageTicket } from './tickets.ts'

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
   * form that acts on the account does nothing then. Until it is known who is signed in, any flow may be from before.
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
export type View = Pick<Visit, 'client' | 'texts' | 'flow' | 'ticket' | 'session'>

/** A page that is shown. */
export interface Screen {
  title: string
  content: Html
  wide?: boolean
  refreshTo?: string
  aside?: Html
  /** It cannot be shown again. */
  shownOnce?: boolean
  /** It is not shown as a page that works: the answer has the status of this error. */
  refusal?: AppError
}

/** What pages do not need to know of their visit. */
export interface OpenVisit extends Visit {
  browser: string
  jar: CookieJar
  opened: OpenedFlow | null
  setCookies: string[]
  hasOwnFlow: boolean
  /** True if the browser sent a cookie of ours. Those that block cookies never do. */
  keepsCookies: boolean
}

/** Every visit comes from `createOpening`. */
export const insideOf = (visit: Visit) => visit as OpenVisit

/** The links of the language menu have it in their query: the browser keeps what was chosen there until it is closed. */
export const CHOICE = 'chosen'

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
