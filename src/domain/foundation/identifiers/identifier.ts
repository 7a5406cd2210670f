/** An e-mail address or a phone number, in the form that is compared and stored. */

import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { decoyIdentifier } from '../decoys/decoys.ts'
import { type Email, parseEmail } from './email.ts'
import { type Phone, parsePhone } from './phone.ts'

export type Identifier = Email | Phone

/**
 * Reads an e-mail address if the input holds an (ASCII) `@`, otherwise a phone number. It returns null if it is
 * neither.
 */
export function parseIdentifier(input: string, defaultCountry: string): Identifier | null {
  return input.includes('@') ? parseEmail(input) : parsePhone(input, defaultCountry)
}

/**
 * Reads the value that a client sent as `identifier`. A value that is none is treated as an address that nobody has:
 * looked up, counted and answered like one.
 */
export function readIdentifier(input: string, defaultCountry: string): Identifier {
  return parseIdentifier(input, defaultCountry) ?? decoyIdentifier(input)
}

/** The way that messages take to an address or number, as it is stored. */
export const channelOfDestination = (destination: string): 'email' | 'sms' =>
  destination.startsWith('+') ? 'sms' : 'email'

/** A uuid of any version, as paths and bodies name accounts, sessions and tokens. */
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export const isUuid = (text: string): boolean => UUID.test(text)

const DOT = '•'

/**
 * Shows a destination so that only somebody who already knows it recognises it:
 * `alice@example.com` → `a•••@example.com`; `+33612345678` → `+33 • •• •• •• 78`. The number of dots in an e-mail address
 * does not reveal its length. Expects the `destination` of a parsed identifier.
 */
export function maskDestination(destination: string): string {
  const at = destination.lastIndexOf('@')
  if (at > 0) return `${destination.slice(0, 1)}${DOT.repeat(3)}${destination.slice(at)}`
  const number = parsePhoneNumberFromString(destination)
  if (!number) return DOT.repeat(3)
  const callingCode = `+${number.countryCallingCode}`
  const national = number.formatInternational().slice(callingCode.length)
  const shownFrom = national.length - 2
  return callingCode + national.replace(/[0-9]/g, (digit, index: number) => (index < shownFrom ? DOT : digit))
}
