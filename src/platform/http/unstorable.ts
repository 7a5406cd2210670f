/**
 * Values that nothing keeps as they are: strings, keys among them, with NUL or lone surrogates, and whole numbers that
 * request-body.ts gives as NaN.
 */
import type { FieldError } from '../../texts/errors.ts'

/**
 * Returns one `invalid_characters` or `invalid_value` for each of them in a parsed body, query or path. `field` is its
 * dotted path, for a key that of the object. Recursion is safe, because request-body.ts bounds the depth.
 */
export function findUnstorable(value: unknown, field = ''): FieldError[] {
  if (typeof value === 'string') {
    return isBroken(value) ? [{ field: readableField(field), code: 'invalid_characters' }] : []
  }
  if (Number.isNaN(value)) return [{ field: readableField(field), code: 'invalid_value' }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    isBroken(key)
      ? [{ field: readableField(field), code: 'invalid_characters' as const }]
      : findUnstorable(inner, field ? `${field}.${key}` : key),
  )
}

function isBroken(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/** A key is input too: only one that looks like a field name of ours is repeated in the answer. */
export function readableField(field: string): string {
  return /^[A-Za-z0-9_.]{1,64}$/.test(field) ? field : 'body'
}

/** The fields that only describe the caller decide nothing, and so refuse nothing: they are mended and cut. */
const DESCRIBING = ['device_type', 'device_name', 'device_os']

const MAXIMUM_LENGTH = 255

/** Cuts at the end of a character, and leaves out what no database keeps. */
export const mendDescription = (text: string, length = MAXIMUM_LENGTH): string =>
  [...text.replace(/[\0\p{Cs}]/gu, '')].slice(0, length).join('')

/** Mends them in the body, before it is checked. */
export function mendDescriptions(body: Record<string, unknown>): Record<string, unknown> {
  for (const field of DESCRIBING) {
    const value = body[field]
    if (typeof value === 'string') body[field] = mendDescription(value)
  }
  return body
}
