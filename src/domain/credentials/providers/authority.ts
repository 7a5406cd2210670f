/**
 * Decides for which addresses a provider's statement is worth as much as a code that was sent there. Other providers
 * may have verified an address that has a new holder by now, or repeat what the administrator of a tenant typed.
 * Opening an account on such a statement would give it to somebody else.
 */
import type { Email } from '../../foundation/identifiers/email.ts'

export interface EmailClaims {
  email?: unknown
  email_verified?: unknown
  /** Google: the domain of the organisation that the account belongs to. */
  hd?: unknown
  /** Microsoft: the tenant has verified that it owns the domain of the address. */
  xms_edov?: unknown
}

/** The authority of a provider over an address, by its claims about it. */
export type Authority = (email: Email, claims: EmailClaims) => boolean

/** Only the boolean counts: nothing is guessed from text. */
const saysVerified = ({ email_verified }: EmailClaims) => email_verified === true

const domainOf = ({ key }: Email) => key.slice(key.lastIndexOf('@') + 1)

const APPLE = ['icloud.com', 'me.com', 'mac.com', 'privaterelay.appleid.com']

/** Mailboxes of its own, and those of organisations whose accounts Google hosts. */
export const googleAuthority: Authority = (email, claims) => {
  const domain = domainOf(email)
  const isOwn = domain === 'gmail.com' || domain === 'googlemail.com'
  const isHosted = typeof claims.hd === 'string' && claims.hd.toLowerCase() === domain
  return saysVerified(claims) && (isOwn || isHosted)
}

export const appleAuthority: Authority = (email, claims) =>
  saysVerified(claims) && APPLE.includes(domainOf(email))

export const microsoftAuthority: Authority = (_, { xms_edov }) => xms_edov === true

/** The authority that the operator configured for a provider of their own; `*`: every address. */
export const configuredAuthority =
  (domains: readonly string[]): Authority =>
  (email, claims) =>
    saysVerified(claims) && (domains.includes('*') || domains.includes(domainOf(email)))
