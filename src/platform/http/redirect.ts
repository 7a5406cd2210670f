/** Redirects of a browser, and the cookies that it brings back. */

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

/** The address with these parameters in its query. */
export function withParameters(uri: string, parameters: Record<string, string>): string {
  const url = new URL(uri)
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
  return url.href
}

/** 302, or 303 after a POST so that the next request is a GET. */
export function redirect(status: 302 | 303, location: string, cookie?: Cookie): Response {
  const headers = new Headers({ location, 'referrer-policy': 'no-referrer' })
  if (cookie) headers.set('set-cookie', cookieHeader(cookie))
  return new Response(null, { status, headers })
}

/** The cookies of a request; if a name occurs twice, the first one counts. */
export function readCookies(header: string | undefined): Map<string, string> {
  const cookies = new Map<string, string>()
  for (const pair of (header ?? '').split(';')) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, equals).trim()
    if (equals > 0 && !cookies.has(name)) cookies.set(name, pair.slice(equals + 1).trim())
  }
  return cookies
}
