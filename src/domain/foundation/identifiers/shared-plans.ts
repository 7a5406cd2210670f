/** Spellings that are usual where they are dialled, and that libphonenumber does not read. */
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max'

/**
 * France and its departments have one plan: everybody dials a zero and nine digits, whose first ones tell the country
 * code. Numbers that begin with 8 or 9 are of no place.
 */
const FRENCH: readonly string[] = ['FR', 'RE', 'YT', 'GP', 'BL', 'MF', 'MQ', 'GF', 'PM']
const OVERSEAS_CODES = ['262', '590', '594', '596', '508']
const FRENCH_NATIONAL = /^0([1-7]\d{8})$/
const FRENCH_INTERNATIONAL = /^\+(?:33|262|590|594|596|508)0?([1-7]\d{8})$/

const isValid = (number: string): boolean => parsePhoneNumberFromString(number)?.isValid() === true

/** The numbers overseas that these nine digits can be. Saint Pierre's are short, behind its own code. */
function overseas(national: string): string[] {
  const numbers = OVERSEAS_CODES.map((code) => `+${code}${national}`)
  if (national.startsWith('508')) numbers.push(`+${national}`)
  return numbers.filter(isValid)
}

/** What a national number means instead of what its country alone makes of it; null: just that. */
export function overseasNumber(plain: string, country: CountryCode | undefined): string | null {
  const national = frenchNational(plain, country)
  const [one, ...others] = national === undefined ? [] : overseas(national)
  return one !== undefined && others.length === 0 ? one : null
}

/** The other readings of a number that is none as it is written. */
export function otherReadings(plain: string, country: CountryCode | undefined): string[] {
  const french = FRENCH_INTERNATIONAL.exec(plain)?.[1] ?? frenchNational(plain, country)
  return french === undefined ? mexican(plain, country) : [...overseas(french), `+33${french}`]
}

const frenchNational = (plain: string, country: CountryCode | undefined): string | undefined =>
  country && FRENCH.includes(country) ? FRENCH_NATIONAL.exec(plain)?.[1] : undefined

/** Until 2019 a mobile number of Mexico had a 1 behind the country code, and one of these before it inside the country. */
function mexican(plain: string, country: CountryCode | undefined): string[] {
  const [, digits] = /^\+52(?:1|01|04[45])(\d{10})$/.exec(plain) ?? []
  const [, national] = country === 'MX' ? (/^(?:52)?(?:1|01|04[45])(\d{10})$/.exec(plain) ?? []) : []
  const number = digits ?? national
  return number === undefined ? [] : [`+52${number}`]
}
