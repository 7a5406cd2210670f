/** A parameter of a query that is given twice: two programs would read two values of it. */
import type { FieldError } from '../../texts/errors.ts'
import type { RouteSchemas } from './route-schemas.ts'

/** One `invalid_value` for each parameter that the route declares and the address repeats. */
export function findRepeated({ query }: RouteSchemas, url: string): FieldError[] {
  const start = url.indexOf('?')
  if (start < 0 || query?.properties === undefined) return []
  const given = [...new URLSearchParams(url.slice(start + 1)).keys()]
  return Object.keys(query.properties)
    .filter((name) => given.indexOf(name) !== given.lastIndexOf(name))
    .map((field) => ({ field, code: 'invalid_value' as const }))
}
