/** The methods that a path allows: to distinguish 404 from 405, and to answer OPTIONS. */

export interface RoutePattern {
  method: string
  path: string
}

/**
 * Finds the methods of the routes that match a raw (still encoded) path, in the order of an Allow header; empty if no
 * route matches. GET implies HEAD, and every route allows OPTIONS. The routes are read again only when their number
 * changes.
 */
export function createMethodFinder(routes: () => readonly RoutePattern[]) {
  let known = -1
  let patterns: { method: string; segments: string[] }[] = []

  return function findMethods(path: string): string[] {
    const current = routes()
    if (current.length !== known) {
      known = current.length
      patterns = current.map((route) => ({ method: route.method, segments: segmentsOf(route.path) }))
    }
    const segments = segmentsOf(path)
    const found = patterns.filter((pattern) => matches(pattern.segments, segments))
    const methods = new Set(
      found.filter((one) => !found.some((other) => isMoreLiteral(other, one))).map(({ method }) => method),
    )
    if (methods.size === 0) return []
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods.add('OPTIONS')].sort()
  }
}

/** The path of a request's URL, still encoded. If the Host header is unreadable, Bun's URL is only the path. */
export function pathOf(url: string): string {
  return /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)/i.exec(url)?.[1] || '/'
}

/** As in Elysia's router, a slash at the end makes no difference. */
function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/')
}

/** `/passkeys/login` is no passkey with the id `login`, whatever the method. */
function isMoreLiteral(one: { segments: string[] }, other: { segments: string[] }): boolean {
  const first = one.segments.findIndex(
    (part, i) => part.startsWith(':') !== other.segments[i]?.startsWith(':'),
  )
  return first >= 0 && !one.segments[first]?.startsWith(':')
}

function matches(pattern: string[], segments: string[]): boolean {
  if (pattern.length !== segments.length) return false
  return pattern.every((part, i) => (part.startsWith(':') ? segments[i] !== '' : part === segments[i]))
}
