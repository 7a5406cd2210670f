/**
 * Reads one e-mail address: the part of RFC 5321 that is one mailbox in one spelling. What could be two addresses,
 * a display name, a header line or somebody else's address in look-alike letters is refused, not repaired.
 */
import { domainToASCII } from 'node:url'
import type { Email } from './identifier.ts'

/** RFC 5321, 4.5.3.1: a path of 256 with its brackets; local part 64. RFC 1035, 2.3.4: name 253, label 63. */
const MAXIMUM_LENGTH = 254
const LOCAL_PART_MAXIMUM_LENGTH = 64
const DOMAIN_MAXIMUM_LENGTH = 253

/** RFC 5321 dot-string: atoms joined by single dots. `%` and `'` are letters like others here, and stay literal. */
const DOT_ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
/** RFC 1123 host name of two labels at least; the last is no number, so no IPv4 address passes. */
const HOST_NAME =
  /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?![0-9]+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const ASCII_DOMAIN = /^[A-Za-z0-9.-]+$/
/** ASCII that means something to a URL parser, on which IDNA stands here; and spaces of every kind. */
const NOT_IN_DOMAIN = /[\0-,/:-@[-`{-\x7f\s]/

/** The address in its compared and its deliverable form, or null. Never throws, whatever the input. */
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

/** What is wrong with an address that parseEmail refuses. */
export function emailProblem(input: string): 'too_long' | 'invalid_email' {
  return input.trim().length > MAXIMUM_LENGTH ? 'too_long' : 'invalid_email'
}

/** Lower case, internationalised labels as `xn--…`; null for what is no host name. */
function asciiDomain(given: string): string | null {
  if (NOT_IN_DOMAIN.test(given)) return null
  const domain = domainToASCII(given)
  return domain.length <= DOMAIN_MAXIMUM_LENGTH && HOST_NAME.test(domain) ? domain : null
}
