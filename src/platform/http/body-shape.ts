/**
 * Finds what Elysia does not see in a body. It checks a copy with the fields of the schema alone, in which a text or a list
 * in place of an object has become an object without fields.
 */
import { type TSchema, TypeGuard } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { closest } from 'fastest-levenshtein'
import type { FieldError } from '../../texts/errors.ts'
import type { RouteSchemas } from './route-traits.ts'
import { toFieldErrors } from './schema-errors.ts'
import { readableField } from './unstorable.ts'

const checks = new WeakMap<TSchema, TypeCheck<TSchema>>()

/** The fields of a wrong shape, in the body as it was sent. */
export function findMisshapen({ body: schema }: RouteSchemas, body: unknown): FieldError[] {
  if (schema === undefined || !isNested(schema)) return []
  let check = checks.get(schema)
  if (check === undefined) {
    check = TypeCompiler.Compile(opened(schema))
    checks.set(schema, check)
  }
  return check.Check(body) ? [] : toFieldErrors(check.Errors(body))
}

/** The same schema without the marks by which Elysia has its copies lack other fields. */
function opened<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(opened) as Value
  // The marks of TypeBox are symbols, which the copy keeps.
  const copy = { ...value } as Record<string, unknown>
  for (const [key, inner] of Object.entries(value)) copy[key] = opened(inner)
  if (copy.additionalProperties === false) delete copy.additionalProperties
  return copy as Value
}

const membersOf = (schema: TSchema): TSchema[] => schema.anyOf ?? [schema]

/** Texts and numbers alone are the same in the copy. */
const isNested = (schema: TSchema): boolean =>
  TypeGuard.IsObject(schema) &&
  Object.values(schema.properties)
    .flatMap(membersOf)
    .some(({ type }) => type === 'object' || type === 'array')

/** One `unknown_field` for each field of the body and each parameter of the address that the route does not take. */
export function findUnknown(
  { body: schema = NOTHING, query }: RouteSchemas,
  body: unknown,
  url: string,
): FieldError[] {
  const start = url.indexOf('?')
  const given = start < 0 ? [] : [...new URLSearchParams(url.slice(start + 1)).keys()]
  const parameters = Object.keys(query?.properties ?? {})
  return [
    ...unknownIn(schema, body, ''),
    ...given.filter((name) => !parameters.includes(name)).map((name) => unknown(name, name, parameters)),
  ]
}

const NOTHING = { type: 'object', properties: {} } as unknown as TSchema

function unknown(field: string, name: string, known: string[]): FieldError {
  const nearest = known.length > 0 ? { nearest: closest(name, known) } : {}
  return { field: readableField(field), code: 'unknown_field', ...nearest }
}

function unknownIn(schema: TSchema, value: unknown, path: string): FieldError[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) {
    const items = membersOf(schema).find(({ type }) => type === 'array')?.items
    return items ? value.flatMap((one, at) => unknownIn(items, one, `${path}${at}.`)) : []
  }
  const properties = membersOf(schema).find((one) => one.properties && !one.additionalProperties)?.properties
  if (!properties) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    Object.hasOwn(properties, name)
      ? unknownIn(properties[name], inner, `${path}${name}.`)
      : unknown(`${path}${name}`, name, Object.keys(properties)),
  )
}
