/** An e-mail address or a phone number, in the form that is compared and stored. */
import { decoyIdentifier } from '../decoys/decoys.ts'
import { parseEmail } from './email.ts'
import { parsePhone } from './phone.ts'

export interface Email {
  kind: 'email'
  /** As the person wrote it, trimmed; messages are sent there. */
  destination: string
  /** In lower case with an ASCII domain; this is what is compared. */
  key: string
}

export interface Phone {
  kind: 'phone'
  /** E.164 with the leading plus; the same as `key`. */
  destination: string
  key: string
  /** ISO 3166 alpha-2, or null for a number of no single country. */
  country: string | null
}

export type Identifier = Email | Phone

/** Reads an e-mail address if the input holds an (ASCII) `@`, otherwise a phone number. Null if it is neither. */
export function parseIdentifier(input: string, defaultCountry: string): Identifier | null {
  return input.includes('@') ? parseEmail(input) : parsePhone(input, defaultCountry)
}

/**
 * What a client sent as `identifier`. What is none is treated as an address that nobody has: looked up, counted and
 * answered like one.
 */
export function readIdentifier(input: string, defaultCountry: string): Identifier {
  return parseIdentifier(input, defaultCountry) ?? decoyIdentifier(input)
}
