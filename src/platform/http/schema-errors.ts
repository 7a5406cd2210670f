/** Translates the errors of a TypeBox schema into field errors, which never repeat a value. */
import type { TSchema } from '@sinclair/typebox'
import { type ValueError, type ValueErrorIterator, ValueErrorType } from '@sinclair/typebox/errors'
import type { FieldError, FieldErrorCode } from '../../texts/errors.ts'
import { readableField } from './unstorable.ts'

/** One error for each field, the first one: TypeBox reports a missing field also as having the wrong type. */
export function toFieldErrors(errors: Iterable<ValueError>): FieldError[] {
  const found = new Map<string, FieldError>()
  for (const error of withPlaces(errors)) {
    const field = readableField(error.path.slice(1).replaceAll('/', '.'))
    if (!found.has(field)) found.set(field, { field, code: fieldErrorCode(error) })
  }
  return [...found.values()]
}

/** Of an object or a list that no member of a union takes, the errors are those of the member for objects, or for lists. */
function* withPlaces(errors: Iterable<ValueError>): Generator<ValueError> {
  for (const error of errors) {
    const member = typeof error.value === 'object' && error.value !== null ? memberOfType(error) : undefined
    if (member) yield* withPlaces(member)
    else yield error
  }
}

function fieldErrorCode(error: ValueError): FieldErrorCode {
  const { type, value, schema } = error
  // Elysia sets absent properties of a schema to undefined before it checks them.
  if (value === undefined) return 'required'
  if (Number.isNaN(value)) return 'invalid_value'
  switch (type) {
    case ValueErrorType.StringMaxLength:
    case ValueErrorType.ArrayMaxItems:
      return 'too_long'
    case ValueErrorType.StringMinLength:
      return value === '' ? 'required' : 'invalid_value'
    case ValueErrorType.Literal:
      return namesOfType(schema, value) ? 'invalid_value' : 'invalid_type'
    case ValueErrorType.Union: {
      if (namesOfType(schema, value)) return 'invalid_value'
      const inner = memberOfType(error)?.First()
      return inner ? fieldErrorCode(inner) : 'invalid_type'
    }
    default:
      return WRONG_TYPES.has(type) ? 'invalid_type' : 'invalid_value'
  }
}

/** An enumeration is a union of literals; another string has the right type but the wrong value. */
function namesOfType(schema: TSchema, value: unknown): boolean {
  if ('const' in schema) return typeof schema.const === typeof value
  return Array.isArray(schema.anyOf) && schema.anyOf.some((member: TSchema) => namesOfType(member, value))
}

/**
 * The errors of the member of a union for the type of this value: of "string or null" the string, for a string. Elysia's
 * numbers are unions as well, with a formatted string.
 */
function memberOfType({ schema, value, errors }: ValueError): ValueErrorIterator | undefined {
  const wanted = Array.isArray(value) ? 'array' : typeof value
  const typeOf = ({ type }: TSchema) => (type === 'integer' ? 'number' : type)
  const isOfType = (member: TSchema) => typeOf(member) === wanted && !('format' in member)
  return errors[schema.anyOf?.findIndex(isOfType) ?? -1]
}

const WRONG_TYPES: ReadonlySet<ValueErrorType> = new Set([
  ValueErrorType.Array,
  ValueErrorType.Boolean,
  ValueErrorType.Integer,
  ValueErrorType.Null,
  ValueErrorType.Number,
  ValueErrorType.Object,
  ValueErrorType.String,
  ValueErrorType.Kind,
])
