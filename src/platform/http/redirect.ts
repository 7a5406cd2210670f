/** Redirects of a browser, and the cookie that it brings back; the service uses neither anywhere else. */

export interface Cookie {
  name: string
  value: string
  /** 0 makes the browser delete it. */
  lifetimeSeconds: number
  /** Sent over TLS only; required for names that begin with `__Host-`. */
  secure: boolean
}

/**
 * 302, or 303 after a POST so that the next request is a GET. Scripts cannot read the cookie, and browsers send it only
 * with navigations to this site, not with other sites' forms and images.
 */
export function redirect(status: 302 | 303, location: string, cookie?: Cookie): Response {
  const headers = new Headers({ location, 'referrer-policy': 'no-referrer' })
  if (cookie) {
    const { name, value, lifetimeSeconds, secure } = cookie
    const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${lifetimeSeconds}${secure ? '; Secure' : ''}`
    headers.set('set-cookie', `${name}=${value}; ${attributes}`)
  }
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
