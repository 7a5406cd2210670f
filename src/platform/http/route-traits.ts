/**
 * What is known of the routes: what each declares of itself, so that what every request passes knows no path; the schemas
 * as they were written, of which Elysia checks copies; and the methods of a path, to distinguish 404 from 405.
 */
import type { TSchema } from '@sinclair/typebox'
import type { FieldError } from '../../texts/errors.ts'

export interface RoutePattern {
  method: string
  path: string
}

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

export interface RouteTraits {
  /**
   * The body is a form, with `pairs` as it was sent, or with `any` a form or JSON of any shape. It is a JSON object otherwise;
   * with `nothing` it is not read.
   */
  takes?: 'form' | 'pairs' | 'any' | 'nothing'
  /** A JSON object of up to 2 MB. */
  takesLarge?: true
  /** A browser is shown a page, whatever fails; or errors have the form of OAuth. */
  answers?: 'page' | 'oauth'
  /** It says by itself what it cannot read of a field. */
  checksOwnFields?: true
  /** Somebody whom a test identity signed in may call it, though it changes the account. */
  allowsTestIdentity?: true
}

/** Never part of the description of the interface. */
const KEY = 'x-traits'

export const declare = (traits: RouteTraits) => ({ [KEY]: traits })

/** The options of a route without a description in the interface. */
export const hidden = (traits: RouteTraits = {}) => ({ detail: { hide: true, ...declare(traits) } })

/** A page of the ways in, of an account or of a hand-over, and the forms on it. */
export const pageRoute = hidden({ takes: 'form', answers: 'page', checksOwnFields: true })

const NOTHING: RouteTraits = {}
type Declaring = Record<string, unknown> & { [KEY]?: RouteTraits }

export const traitsOf = ({ detail }: RouteSchemas): RouteTraits =>
  (detail as Declaring | undefined)?.[KEY] ?? NOTHING

/** Takes them out of a described operation. */
export function takeTraits(operation: Record<string, unknown>): RouteTraits {
  const { [KEY]: traits = NOTHING } = operation as Declaring
  delete operation[KEY]
  return traits
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
