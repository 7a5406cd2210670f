/**
 * Cross-origin requests. An origin that is not in the list, letter for letter, gets no CORS headers. The API uses no
 * cookies, so credentials are never allowed.
 */

/** The time for which browsers may cache the answer to a preflight request. */
const PREFLIGHT_SECONDS = 600

/** Further origins that may call one path. */
export type PathOrigins = Readonly<Record<string, readonly string[]>>

/** The headers that calls of the interface read. */
const READ = ['Accept-Language', 'Authorization', 'Content-Type', 'X-Otp', 'X-Refresh-Token']
/** Nobody asks for more. */
const MOST_HEADERS = 64

/**
 * Beside those that are read, each one that the browser asks for: tools that trace calls add headers of their own to every
 * call of a page, and without a cookie a header gives a site nothing.
 */
function allowedHeaders(request: Request): string[] {
  const asked = (request.headers.get('access-control-request-headers') ?? '').split(',', MOST_HEADERS)
  const names = asked
    .map((name) => name.trim().toLowerCase())
    .filter((name) => /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name))
  const known = new Set(READ.map((name) => name.toLowerCase()))
  return [...READ, ...new Set(names).difference(known)]
}

/** The origin of a page that the browser does not let read this answer; null for every other call. For the log: it may be anything. */
export function unlistedOrigin({ headers: asked }: Request, answered: Headers): string | null {
  const isCallOfPage = asked.get('sec-fetch-mode') === 'cors' && asked.get('sec-fetch-site') !== 'same-origin'
  if (!isCallOfPage || answered.has('access-control-allow-origin')) return null
  return asked.get('origin')?.slice(0, 120) ?? null
}

/** `origins`: `https://app.example.com`, without a path; empty: no CORS header at all. */
export function createCors(origins: readonly string[], ofPaths: PathOrigins = {}) {
  const everywhere = new Set(origins)
  const allowedAt = (path: string) => new Set([...everywhere, ...(ofPaths[path] ?? [])])
  const byPath = new Map(Object.keys(ofPaths).map((path) => [path, allowedAt(path)]))
  const isOff = everywhere.size === 0 && byPath.size === 0

  function allowedOrigin(request: Request): string | null {
    const origin = request.headers.get('origin')
    if (origin === null) return null
    const allowed = byPath.size === 0 ? everywhere : (byPath.get(new URL(request.url).pathname) ?? everywhere)
    return allowed.has(origin) ? origin : null
  }

  return {
    /** Called for every answer. */
    apply(request: Request, headers: Headers): void {
      if (isOff) return
      headers.append('vary', 'Origin')
      const origin = allowedOrigin(request)
      if (!origin) return
      headers.set('access-control-allow-origin', origin)
      headers.set('access-control-expose-headers', 'Content-Language, Retry-After, X-Request-Id')
    },

    /** Called in addition for the answer to OPTIONS. */
    applyPreflight(request: Request, headers: Headers, methods: string[]): void {
      if (!allowedOrigin(request) || !request.headers.has('access-control-request-method')) return
      headers.set('access-control-allow-methods', methods.join(', '))
      headers.set('access-control-allow-headers', allowedHeaders(request).join(', '))
      headers.set('access-control-max-age', String(PREFLIGHT_SECONDS))
    },
  }
}
