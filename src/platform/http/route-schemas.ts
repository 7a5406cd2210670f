/** The schemas of the routes as they were written: Elysia checks copies of them, and a copy of the body. */
import type { TSchema } from '@sinclair/typebox'
import type { FieldError } from '../../texts/errors.ts'
import type { RoutePattern } from './allowed-methods.ts'

/** The part of Elysia's routes that is read here. */
export interface RouteWithSchemas extends RoutePattern {
  hooks?: { query?: TSchema; body?: TSchema; detail?: object }
}

export type RouteSchemas = NonNullable<RouteWithSchemas['hooks']>

/** Finds them by method and path pattern. The routes are read again only when their number changes. */
export function createSchemaFinder(routes: () => readonly RouteWithSchemas[]) {
  let schemas = new Map<string, RouteSchemas>()
  let known = -1

  return function schemasOf(method: string, route: string): RouteSchemas {
    const current = routes()
    if (current.length !== known) {
      known = current.length
      schemas = new Map(current.map(({ method, path, hooks }) => [`${method} ${path}`, hooks ?? {}]))
    }
    return schemas.get(`${method === 'HEAD' ? 'GET' : method} ${route}`) ?? {}
  }
}

/**
 * One `invalid_value` for each parameter that the route declares and the address repeats: two programs would read two
 * values of it.
 */
export function findRepeated({ query }: RouteSchemas, url: string): FieldError[] {
  const start = url.indexOf('?')
  if (start < 0 || query?.properties === undefined) return []
  const given = [...new URLSearchParams(url.slice(start + 1)).keys()]
  return Object.keys(query.properties)
    .filter((name) => given.indexOf(name) !== given.lastIndexOf(name))
    .map((field) => ({ field, code: 'invalid_value' as const }))
}
