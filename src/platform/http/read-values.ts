/** The one reader of numbers, times and words that arrive as text; the readers of a query name its field in what they throw. */
import { AppError, type FieldError } from '../../texts/errors.ts'

export const invalid = (...fields: string[]) =>
  new AppError('validation_failed', {
    fields: fields.map((field) => ({ field, code: 'invalid_value' as const })),
  })

interface Bounds {
  minimum?: number
  maximum?: number
}

/** A whole number in decimal digits; null for anything else, such as `0x10`, `1e2`, `-7` and an empty text. */
export function parseWholeNumber(
  text: string,
  { minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Bounds = {},
): number | null {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return number >= minimum && number <= maximum ? number : null
}

export function readNumber(field: string, text: string, bounds?: Bounds): number {
  const number = parseWholeNumber(text, bounds)
  if (number === null) throw new AppError('validation_failed', { fields: [outOfBounds(field, bounds)] })
  return number
}

/** The sentence names the bounds where there are two. */
export const outOfBounds = (field: string, { minimum = 0, maximum }: Bounds = {}): FieldError => ({
  field,
  code: 'invalid_value',
  ...(maximum !== undefined && { minimum, maximum }),
})

const DAY = /^(\d{4})-(\d\d)-(\d\d)/
const TIME = /^[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d\d):(\d\d))?$/
/** The first moment that both a database of ours and RFC 3339 can write. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z')
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z')

/** A time as RFC 3339 writes it, or a day; UTC where no zone is given, whatever the zone of the machine. */
export function parseTime(text: string): Date | null {
  const day = DAY.exec(text)
  if (day === null) return null
  const time = text.length === day[0].length ? [] : TIME.exec(text.slice(day[0].length))
  if (time === null) return null
  const [year, month, date] = day.slice(1).map(Number) as [number, number, number]
  const [hour, minute, second, offsetHour, offsetMinute] = [1, 2, 3, 6, 7].map((at) => Number(time[at] ?? 0))
  const midnight = new Date(0)
  midnight.setUTCFullYear(year, month - 1, date)
  const isDay = midnight.getUTCMonth() === month - 1 && midnight.getUTCDate() === date
  // RFC 3339 writes a leap second as 60; here it is the second after it.
  const isTime = hour! < 24 && minute! < 60 && second! <= 60 && offsetHour! < 24 && offsetMinute! < 60
  if (!isDay || !isTime) return null
  const offsetMinutes = (time[5] === '-' ? -1 : 1) * (offsetHour! * 60 + offsetMinute!)
  const fractionMs = Number(`${time[4] ?? ''}000`.slice(0, 3))
  const ms = midnight.getTime() + ((hour! * 60 + minute! - offsetMinutes) * 60 + second!) * 1000 + fractionMs
  return ms >= FIRST_MS && ms <= LAST_MS ? new Date(ms) : null
}

export function readTime(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const time = parseTime(text)
  if (time === null) throw invalid(field)
  return time
}

/** One of these words. */
export function readOneOf<Value extends string>(
  field: string,
  text: string | undefined,
  values: readonly Value[],
): Value | undefined {
  const found = values.find((value) => value === text)
  if (text !== undefined && found === undefined) throw invalid(field)
  return found
}
