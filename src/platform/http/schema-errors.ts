/** Translates what a TypeBox schema found wrong into field errors. Never repeats a value. */
import type { TSchema } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import type { FieldError, FieldErrorCode } from '../../errors.ts'
import { readableField } from './unstorable-text.ts'

/** One error a field, the first found: a missing field may be reported twice, as missing and as of a wrong type. */
export function toFieldErrors(errors: Iterable<ValueError>): FieldError[] {
  const found = new Map<string, FieldError>()
  for (const error of errors) {
    const field = readableField(error.path.slice(1).replaceAll('/', '.'))
    if (!found.has(field)) found.set(field, { field, code: fieldErrorCode(error) })
  }
  return [...found.values()]
}

function fieldErrorCode({ type, value, schema, errors }: ValueError): FieldErrorCode {
  // Elysia fills in the absent properties of a schema with undefined before it checks.
  if (value === undefined) return 'required'
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
      const inner = errors[memberOfType(schema, value)]?.First()
      return inner ? fieldErrorCode(inner) : 'invalid_type'
    }
    default:
      return WRONG_TYPES.has(type) ? 'invalid_type' : 'invalid_value'
  }
}

/** An enumeration is a union of literals: a string beside it has the right type and the wrong value. */
function namesOfType(schema: TSchema, value: unknown): boolean {
  if ('const' in schema) return typeof schema.const === typeof value
  return Array.isArray(schema.anyOf) && schema.anyOf.some((member: TSchema) => namesOfType(member, value))
}

/** Of "a string or null" the string, for a string. Elysia's numbers are unions too, with a formatted string. */
function memberOfType(schema: TSchema, value: unknown): number {
  return schema.anyOf.findIndex((member: TSchema) => member.type === typeof value && !('format' in member))
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
