/**
 * Reads one e-mail address: the subset of RFC 5321 in which a mailbox has one spelling. Input that could be two
 * addresses, a display name, a header line, or another address in look-alike letters is refused, not repaired.
 */
import { domainToASCII } from 'node:url'

export interface Email {
  kind: 'email'
  /** The address as the person wrote it, trimmed; messages are sent there. */
  destination: string
  /** The form that is compared: lower case with an ASCII domain. */
  key: string
}

/** RFC 5321, 4.5.3.1: a path of 256 with its brackets; local part 64. RFC 1035, 2.3.4: name 253, label 63. */
const MAXIMUM_LENGTH = 254
const LOCAL_PART_MAXIMUM_LENGTH = 64
const DOMAIN_MAXIMUM_LENGTH = 253

/** RFC 5321 dot-string: atoms joined by single dots. `%` and `'` have no special meaning here. */
const DOT_ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
/** RFC 1123 host name with at least two labels; the last one is not a number, which excludes IPv4 addresses. */
const HOST_NAME =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const ASCII_DOMAIN = /^[A-Za-z0-9.-]+$/
/** ASCII characters with a meaning for the URL parser that does IDNA here, and all kinds of spaces. */
const NOT_IN_DOMAIN = /[\0-,/:-@[-`{-\x7f\s]/

/** The address in the form that is compared and the form that is sent to, or null. Never throws. */
export function parseEmail(input: string): Email | null {
  const text = input.trim()
  if (text.length > MAXIMUM_LENGTH) return null
  const at = text.indexOf('@')
  if (at < 1 || at !== text.lastIndexOf('@')) return null
  const localPart = text.slice(0, at)
  if (localPart.length > LOCAL_PART_MAXIMUM_LENGTH || !DOT_ATOM.test(localPart)) return null
  const given = text.slice(at + 1)
  const domain = asciiDomain(given)
  if (domain === null) return null
  const key = `${localPart.toLowerCase()}@${domain}`
  if (key.length > MAXIMUM_LENGTH) return null
  return { kind: 'email', destination: `${localPart}@${ASCII_DOMAIN.test(given) ? given : domain}`, key }
}

/** Says what is wrong with an address that parseEmail refuses. */
export function emailProblem(input: string): 'too_long' | 'invalid_email' {
  return input.trim().length > MAXIMUM_LENGTH ? 'too_long' : 'invalid_email'
}

/** Lower case, with internationalised labels as `xn--…`; null if it is not a host name. */
function asciiDomain(given: string): string | null {
  if (NOT_IN_DOMAIN.test(given)) return null
  const domain = domainToASCII(given)
  return domain.length <= DOMAIN_MAXIMUM_LENGTH && HOST_NAME.test(domain) ? domain : null
}
