/** What a route declares of itself in its `detail`, so that what every request passes knows no path. */
import type { RouteSchemas } from './route-schemas.ts'

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
