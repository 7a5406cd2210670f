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
import { readTyped } from '../../../platform/typed-text.ts'
import { otherReadings, overseasNumber } from './shared-plans.ts'

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

/**
 * Spaces, dashes, brackets, quotes, dots and slashes, also those of other scripts. A comma, a semicolon, a hash and an
 * asterisk begin an extension or another number.
 */
const SEPARATORS =
  /[\s\p{Z}\p{Pd}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u2212\u30fc\uff70.\uff0e\u2024\u3002\uff61·•‧・/\uff0f'"′″‘’_~]/gu
/** Who copies a number from a page gets its link. */
const LINK = /^tel:/i
const PLAIN_NUMBER = /^\+?[0-9]{4,20}$/

/**
 * The number, or null if it is not one that could be called. `defaultCountry` (ISO 3166 alpha-2) decides how a national
 * number is read. `00` means the plus sign in every country; the country's own international prefix works too.
 */
export function parsePhone(input: string, defaultCountry: string): Phone | null {
  const text = input.trim()
  if (text.length > MAXIMUM_LENGTH) return null
  const plain = toPlain(text.replace(LINK, ''))
  if (!PLAIN_NUMBER.test(plain)) return null
  const country = isSupportedCountry(defaultCountry) ? defaultCountry : undefined
  for (const reading of readings(plain, country)) {
    const phone = read(reading, country)
    if (phone) return phone
  }
  return null
}

/** The likeliest comes first. */
function* readings(plain: string, country: CountryCode | undefined): Generator<string> {
  const abroad = overseasNumber(plain, country)
  if (abroad !== null) yield abroad
  const international = plain.startsWith('00') ? `+${plain.slice(2)}` : null
  if (international !== null) yield international
  yield plain
  yield* otherReadings(international ?? plain, country)
}

/** Without what separates the digits of a number; whatever else there is stays. */
export const toPlain = (text: string): string => readTyped(text).replace(SEPARATORS, '')

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
