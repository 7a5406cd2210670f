/** The browser of a visit: the cookie that names it, and what its own words say about it. */
import { createHash, randomBytes } from 'node:crypto'
import type { Device } from '../../domain/sessions/core/session.ts'
import { cookieHeader } from '../../platform/http/redirect.ts'

/**
 * The browser itself, who is signed in with it, the token of a device that needs no second step, that somebody registers
 * here, and the language that was chosen in the menu.
 */
type CookieName = 'browser' | 'session' | 'trusted' | 'registration' | 'language'

const names: Record<CookieName, string> = {
  browser: 'poterne-browser',
  session: 'poterne',
  trusted: 'poterne-trusted',
  registration: 'poterne-registration',
  language: 'poterne-language',
}

export const BROWSER_SECONDS = 365 * 86_400

export interface CookieJar {
  read(name: CookieName): string | undefined
  /** Set-Cookie headers. 0 seconds: the browser forgets it; null: until the browser is closed. */
  write(name: CookieName, value: string, seconds: number | null): string[]
}

/** `__Host-` binds a cookie to this host alone; it needs https. */
export function createCookieJar(cookies: ReadonlyMap<string, string>, secure: boolean): CookieJar {
  const prefix = secure ? '__Host-' : ''
  return {
    read: (name) => cookies.get(prefix + names[name]),
    write: (name, value, seconds) => [
      cookieHeader({ name: prefix + names[name], value, lifetimeSeconds: seconds, secure }),
    ],
  }
}

const COOKIE = /^[0-9a-f]{32}$/

/** 128 bits in hex. */
export const newBrowserCookie = () => randomBytes(16).toString('hex')

export const isBrowserCookie = (cookie: string | undefined): cookie is string =>
  cookie !== undefined && COOKIE.test(cookie)

/** Returns the fingerprint of the device that the database holds: a stolen backup does not hold the cookie. */
export const fingerprintOf = (cookie: string): string =>
  createHash('sha256').update('poterne browser ').update(cookie).digest('hex')

/** The part of a registration's ticket that only the browser with its cookie answers. */
export const registrationTag = (cookie: string): string =>
  createHash('sha256').update('poterne registration ').update(cookie).digest('base64url')

export const deviceOfBrowser = (cookie: string, userAgent: string | null, stays: boolean): Device => ({
  type: 'Navigateur',
  ...nameOfBrowser(userAgent ?? ''),
  fingerprint: fingerprintOf(cookie),
  browser: { stays },
})

/** In this order, since browsers name those from which they come as well. */
const browsers = [
  [/\bEdgA?\/|\bEdgiOS\//, 'Edge'],
  [/\bOPR\/|\bOPT\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrome\/|\bCriOS\/|\bChromium\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const

const systems = [
  [/\bAndroid\b/, 'Android'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const

/** Words of our own, never those of the header, which a stranger may choose. */
function nameOfBrowser(userAgent: string): { name: string | null; os: string | null } {
  const find = (list: readonly (readonly [RegExp, string])[]) =>
    list.find(([pattern]) => pattern.test(userAgent))?.[1] ?? null
  const [browser, os] = [find(browsers), find(systems)]
  return { name: browser && os ? `${browser} on ${os}` : (browser ?? os), os }
}

/** WebKitGTK and WPE. Safari and the engines that name it follow a redirect to another program. */
export const isWebKitOfLinux = (userAgent: string): boolean =>
  ['Linux', ' Version/', ' Safari/'].every((word) => userAgent.includes(word)) &&
  !['Android', 'Chrom'].some((word) => userAgent.includes(word))
