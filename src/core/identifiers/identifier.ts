/** An e-mail address or a phone number, in the one form that is compared and stored. */
import { parseEmail } from './email.ts'
import { parsePhone } from './phone.ts'

export interface Email {
  kind: 'email'
  /** As the person wrote it, trimmed: where messages go. */
  destination: string
  /** Lower case, domain in ASCII: what is compared. */
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

/**
 * What a client sent as `identifier`: with an `@` (the ASCII one) an e-mail address, else a phone number. Null for
 * what is neither; the caller treats that as an identifier nobody has.
 */
export function parseIdentifier(input: string, defaultCountry: string): Identifier | null {
  return input.includes('@') ? parseEmail(input) : parsePhone(input, defaultCountry)
}
