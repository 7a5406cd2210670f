/** Strings that no database stores and no person types: NUL and lone surrogates. */
import type { FieldError } from '../../errors.ts'

/**
 * One `invalid_characters` for each string of a parsed body, query or path that holds NUL or a lone surrogate;
 * `field` is its dotted path. The values are shallow: request-body.ts bounds their depth.
 */
export function findUnstorableText(value: unknown, field = ''): FieldError[] {
  if (typeof value === 'string') {
    return isBroken(value) ? [{ field: readableField(field), code: 'invalid_characters' }] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    findUnstorableText(inner, field ? `${field}.${key}` : key),
  )
}

function isBroken(text: string): boolean {
  return text.includes('\0') || !text.isWellFormed()
}

/** A key is input too: only what looks like a name of ours is said back. */
export function readableField(field: string): string {
  return /^[A-Za-z0-9_.]{1,64}$/.test(field) ? field : 'body'
}
