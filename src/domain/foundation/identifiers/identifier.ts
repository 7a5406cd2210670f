/** An e-mail address or a phone number, in the form that is compared and stored. */
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
