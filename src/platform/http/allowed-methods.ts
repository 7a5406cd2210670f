/** Which methods a path takes: to tell 404 from 405, and for OPTIONS. */

export interface RoutePattern {
  method: string
  path: string
}

/**
 * Finds the methods of the routes that match a raw (still encoded) path, in the order of an Allow header; empty where
 * no route matches. GET brings HEAD, every route OPTIONS. `routes` is asked anew only when their number changes.
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
    const methods = new Set(
      patterns.filter((pattern) => matches(pattern.segments, segments)).map(({ method }) => method),
    )
    if (methods.size === 0) return []
    if (methods.has('GET')) methods.add('HEAD')
    return [...methods.add('OPTIONS')].sort()
  }
}

/** The path of a request's URL, still encoded. With an unreadable Host header Bun's URL is the path alone. */
export function pathOf(url: string): string {
  return /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)/i.exec(url)?.[1] || '/'
}

/** A slash at the end makes no other path, as in Elysia's router. */
function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/')
}

function matches(pattern: string[], segments: string[]): boolean {
  if (pattern.length !== segments.length) return false
  return pattern.every((part, i) => (part.startsWith(':') ? segments[i] !== '' : part === segments[i]))
}
