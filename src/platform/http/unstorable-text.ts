/** Strings, keys among them, that no database can store and no person types: with NUL or lone surrogates. */
import type { FieldError } from '../../errors.ts'

/**
 * Returns one `invalid_characters` for each string of a parsed body, query or path that holds NUL or a lone surrogate.
 * `field` is its dotted path, for a key that of the object. Recursion is safe, because request-body.ts bounds the
 * depth.
 */
export function findUnstorableText(value: unknown, field = ''): FieldError[] {
  if (typeof value === 'string') {
    return isBroken(value) ? [{ field: readableField(field), code: 'invalid_characters' }] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    isBroken(key)
      ? [{ field: readableField(field), code: 'invalid_characters' as const }]
      : findUnstorableText(inner, field ? `${field}.${key}` : key),
  )
}

function isBroken(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/** A key is input too: only one that looks like a field name of ours is repeated in the answer. */
export function readableField(field: string): string {
  return /^[A-Za-z0-9_.]{1,64}$/.test(field) ? field : 'body'
}
