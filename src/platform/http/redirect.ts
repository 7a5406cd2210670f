/** Redirects of a browser, and the cookies that it brings back. */
import { stripBlanks } from './header-text.ts'

export interface Cookie {
  name: string
  value: string
  /** 0 makes the browser delete it; null: it lives until the browser is closed. */
  lifetimeSeconds: number | null
  /** Sent over TLS only; required for names that begin with `__Host-`. */
  secure: boolean
}

/** A Set-Cookie header. Scripts cannot read the cookie, and other sites' forms and images do not bring it along. */
export function cookieHeader({ name, value, lifetimeSeconds, secure }: Cookie): string {
  const age = lifetimeSeconds === null ? '' : `; Max-Age=${lifetimeSeconds}`
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}${age}`
}

/** Appends parameters to an address that somebody registered, whose query stays as it is (RFC 6749, 3.1.2). */
export function withParameters(uri: string, parameters: Record<string, string>): string {
  const [address = '', ...fragment] = uri.split(/(?=#)/)
  const added = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  const joint = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&'
  return address + joint + added.join('&') + fragment.join('')
}

/** 302, or 303 after a POST so that the next request is a GET. */
export function redirect(status: 302 | 303, location: string, ...cookies: Cookie[]): Response {
  const headers = new Headers({ location, 'referrer-policy': 'no-referrer' })
  for (const cookie of cookies) headers.append('set-cookie', cookieHeader(cookie))
  return new Response(null, { status, headers })
}

/** RFC 9110, 5.6.2: a name that no browser and no server reads in two ways. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * The cookies of a request (RFC 6265). A name that is no token is passed over: to the browser it lacks the prefix, so any host
 * of the site may set it. A name that occurs twice, in whatever case, counts as none: somebody else set one of the two.
 */
export function readCookies(header: string | undefined): Map<string, string> {
  const pairs = (header ?? '').split(';').flatMap((pair): [string, string][] => {
    const [name = '', ...value] = pair.split('=')
    const stripped = stripBlanks(name)
    return value.length > 0 && TOKEN.test(stripped) ? [[stripped, stripBlanks(value.join('='))]] : []
  })
  const times = new Map<string, number>()
  for (const [name] of pairs) times.set(name.toLowerCase(), (times.get(name.toLowerCase()) ?? 0) + 1)
  return new Map(pairs.filter(([name]) => times.get(name.toLowerCase()) === 1))
}

/**
 * Under --dev the service is known as `localhost`, and answers at the addresses of this machine as well. A page that is
 * opened there leads to the name: cookies, passkeys and the hand-over belong to one. Returns nothing where the service has a
 * name of its own. Whatever asks for JSON is answered under both names.
 */
export function ownNameOf(baseUrl: string) {
  const { hostname, host, origin } = new URL(baseUrl)
  if (hostname !== 'localhost') return undefined
  const others = ['127.0.0.1', '[::1]'].map((address) => host.replace('localhost', address))
  return (request: Request): Response | null => {
    if (!others.includes(request.headers.get('host') ?? '')) return null
    const { pathname, search } = new URL(request.url)
    return new Response(null, { status: 303, headers: { location: `${origin}${pathname}${search}` } })
  }
}
