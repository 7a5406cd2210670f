/** Answers that send a browser on, and the cookie that it brings back: the only ones of the service. */

export interface Cookie {
  name: string
  value: string
  /** 0: the browser forgets it. */
  lifetimeSeconds: number
  /** Only over TLS; wanted by names that begin with `__Host-`. */
  secure: boolean
}

/**
 * 302 (after a POST 303: the next one is a GET). The cookie is out of reach of scripts, and not sent along by other
 * sites' forms and images, only when the browser itself comes here.
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

/** The cookies of a request; of two with one name the first. */
export function readCookies(header: string | undefined): Map<string, string> {
  const cookies = new Map<string, string>()
  for (const pair of (header ?? '').split(';')) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, equals).trim()
    if (equals > 0 && !cookies.has(name)) cookies.set(name, pair.slice(equals + 1).trim())
  }
  return cookies
}
