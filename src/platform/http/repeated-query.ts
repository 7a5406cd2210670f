/** A parameter of a query that is given twice: two programs would read two values of it. */
import type { FieldError } from '../../errors.ts'
import type { RoutePattern } from './allowed-methods.ts'

/** The part of Elysia's routes that is read here. */
export interface RouteWithQuery extends RoutePattern {
  hooks?: { query?: { properties?: Record<string, unknown> } }
}

/** One `invalid_value` for each parameter that the route declares and the address repeats; what is not declared is ignored. */
export function createRepetitionFinder(routes: () => readonly RouteWithQuery[]) {
  const declared = new Map<string, Set<string>>()
  let known = -1

  function namesOf(method: string, route: string): Set<string> | undefined {
    const current = routes()
    if (current.length !== known) {
      known = current.length
      for (const { method, path, hooks } of current)
        if (hooks?.query?.properties)
          declared.set(`${method} ${path}`, new Set(Object.keys(hooks.query.properties)))
    }
    return declared.get(`${method === 'HEAD' ? 'GET' : method} ${route}`)
  }

  return function findRepeated(method: string, route: string, url: string): FieldError[] {
    const start = url.indexOf('?')
    if (start < 0) return []
    const names = namesOf(method, route)
    if (names === undefined) return []
    const given = [...new URLSearchParams(url.slice(start + 1)).keys()]
    return [...names]
      .filter((name) => given.indexOf(name) !== given.lastIndexOf(name))
      .map((field) => ({ field, code: 'invalid_value' as const }))
  }
}
