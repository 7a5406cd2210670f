/** Dates and lists in the language of their reader. */

type Style = Pick<Intl.DateTimeFormatOptions, 'dateStyle' | 'timeStyle'>

/** Making one takes a hundred times as long as writing with it. */
const formats = new Map<string, Intl.DateTimeFormat>()
const pastFormats = new Map<string, Intl.RelativeTimeFormat>()
const unitFormats = new Map<string, Intl.NumberFormat>()
const listFormats = new Map<string, Intl.ListFormat>()

/** Writes a date as it is in UTC, by a locale made of a language of the catalog. */
export function writeDate(date: Date, locale: string, style: Style): string {
  const format = formats.getOrInsertComputed(
    JSON.stringify([locale, style]),
    () => new Intl.DateTimeFormat(locale, { ...style, timeZone: 'UTC' }),
  )
  return format.format(date)
}

/** Writes "3 hours ago". */
export const writeAgo = (count: number, unit: Intl.RelativeTimeFormatUnit, locale: string): string =>
  pastFormats
    .getOrInsertComputed(locale, () => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))
    .format(-count, unit)

/** Writes "45 seconds", "2 minutes" or "3 hours", rounded up, with the digits of codes and numbers. A minute makes no further hour. */
export function writeDuration(seconds: number, locale: string): string {
  const [unit, count] =
    seconds < 60
      ? ['second', seconds]
      : seconds < 7200
        ? ['minute', seconds / 60]
        : ['hour', (seconds - 60) / 3600]
  const format = unitFormats.getOrInsertComputed(
    `${locale} ${unit}`,
    () => new Intl.NumberFormat(`${locale}-u-nu-latn`, { style: 'unit', unit, unitDisplay: 'long' }),
  )
  return format.format(Math.max(1, Math.ceil(count)))
}

/** Writes names one after the other, with the comma of that language. */
export const writeList = (names: readonly string[], locale: string): string =>
  listFormats
    .getOrInsertComputed(locale, () => new Intl.ListFormat(locale, { type: 'unit', style: 'short' }))
    .format(names)
