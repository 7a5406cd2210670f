/** Reads single values of a line; throws LineRefused with the field at fault. A null counts as none. */
import { LineRefused } from './line.ts'

export type Fields = Record<string, unknown>

const TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

export function textOf(fields: Fields, field: string, longest: number, outer = field): string | null {
  const value = fields[field]
  if (value === undefined || value === null) return null
  if (
    typeof value !== 'string' ||
    value === '' ||
    value.length > longest ||
    value.includes('\0') ||
    !value.isWellFormed()
  )
    throw new LineRefused('invalid_value', outer)
  return value
}

/** RFC 3339, with a zone and not in the future. */
export function pastTimeOf(fields: Fields, field: string, now: Date, outer = field): Date | null {
  const text = textOf(fields, field, 40, outer)
  if (text === null) return null
  const time = TIME.test(text) ? new Date(text.replace(' ', 'T').toUpperCase()) : null
  const isReal = time !== null && !Number.isNaN(time.getTime()) && isDay(text.slice(0, 10))
  if (!isReal || time.getTime() > now.getTime() || time.getUTCFullYear() < 1900)
    throw new LineRefused('invalid_value', outer)
  return time
}

/** JavaScript takes 31 February for a day of March. */
const isDay = (day: string) => new Date(`${day}T00:00:00Z`).toISOString().startsWith(day)

export function integerOf(
  fields: Fields,
  field: string,
  most = Number.MAX_SAFE_INTEGER,
  outer = field,
): number | null {
  const value = fields[field]
  if (value === undefined || value === null) return null
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > most)
    throw new LineRefused('invalid_value', outer)
  return value
}

export function booleanOf(fields: Fields, field: string, outer = field): boolean | null {
  const value = fields[field]
  if (value === undefined || value === null) return null
  if (typeof value !== 'boolean') throw new LineRefused('invalid_value', outer)
  return value
}

export function listOf(fields: Fields, field: string, most: number): unknown[] {
  const value = fields[field]
  if (value === undefined || value === null) return []
  if (!Array.isArray(value) || value.length > most) throw new LineRefused('invalid_value', field)
  return value
}

/** An object with no other fields than these. */
export function objectOf(value: unknown, field: string, names: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new LineRefused('invalid_value', field)
  const fields = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
  if (!Object.keys(fields).every((name) => names.includes(name)))
    throw new LineRefused('invalid_value', field)
  return fields
}
