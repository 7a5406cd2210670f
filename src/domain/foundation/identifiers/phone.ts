/**
 * Reads one phone number: every spelling becomes the same E.164 form. Only plain digits go to libphonenumber, so that
 * it does not guess a number from an extension, vanity letters or a second number.
 */
import {
  type CountryCode,
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'

export interface Phone {
  kind: 'phone'
  /** E.164 with the leading plus; the same as `key`. */
  destination: string
  key: string
  /** ISO 3166 alpha-2, or null for a number of no single country. */
  country: string | null
}

/** E.164 allows 15 digits; with separators and direction marks there are still no more characters than this. */
const MAXIMUM_LENGTH = 64

/** Spaces, dashes, brackets, dots, slashes, their full-width forms, and invisible marks that contact lists add. */
const SEPARATORS =
  /[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\u2010-\u2015\u2212\u30fc\uff08\uff09\uff0d\uff0e\uff0f()./~-]/g
/** Full-width, Arabic-Indic and Persian digits; in each block the lowest four bits are the digit. */
const FOREIGN_DIGIT = /[\uff10-\uff19\u0660-\u0669\u06f0-\u06f9]/g
const PLAIN_NUMBER = /^\+?[0-9]{4,20}$/

/**
 * The number, or null if it is not one that could be called. `defaultCountry` (ISO 3166 alpha-2) decides how a national
 * number is read. `00` means the plus sign in every country; the country's own international prefix works too.
 */
export function parsePhone(input: string, defaultCountry: string): Phone | null {
  const text = input.trim()
  if (text.length > MAXIMUM_LENGTH) return null
  const plain = toPlain(text)
  if (!PLAIN_NUMBER.test(plain)) return null
  const country = isSupportedCountry(defaultCountry) ? defaultCountry : undefined
  return (plain.startsWith('00') ? read(`+${plain.slice(2)}`, undefined) : null) ?? read(plain, country)
}

const toPlain = (text: string): string =>
  text
    .replace(FOREIGN_DIGIT, (digit) => String((digit.codePointAt(0) as number) & 0xf))
    .replace(SEPARATORS, '')
    .replace(/^\uff0b/, '+')

/**
 * The beginning of a number, as E.164 begins: international with `+` or `00`, national with a zero. It is null for
 * anything else; digits alone may be something else than a number.
 */
export function parsePhonePrefix(input: string, defaultCountry: string): string | null {
  const plain = input.length > MAXIMUM_LENGTH ? '' : toPlain(input.trim())
  if (!/^\+?\d{3,15}$/.test(plain)) return null
  if (plain.startsWith('+')) return plain
  if (plain.startsWith('00')) return `+${plain.slice(2)}`
  if (!plain.startsWith('0') || !isSupportedCountry(defaultCountry)) return null
  return `+${getCountryCallingCode(defaultCountry)}${plain.slice(1)}`
}

function read(plain: string, country: CountryCode | undefined): Phone | null {
  const number = parsePhoneNumberFromString(plain, {
    extract: false,
    ...(country && { defaultCountry: country }),
  })
  if (!number?.isPossible() || !number.isValid()) return null
  return { kind: 'phone', destination: number.number, key: number.number, country: number.country ?? null }
}

/** The types of numbers that messages are sent to; the others are landlines, pagers, and numbers with a tariff. */
const TYPES_WITH_SMS = ['MOBILE', 'FIXED_LINE_OR_MOBILE', 'PERSONAL_NUMBER', 'VOIP']

/** Tells whether an E.164 number takes an SMS by its type. A number that the numbering plan no longer knows may. */
export function takesSms(number: string): boolean {
  const type = parsePhoneNumberFromString(number)?.getType()
  return type === undefined || TYPES_WITH_SMS.includes(type)
}
