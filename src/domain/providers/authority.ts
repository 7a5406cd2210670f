/**
 * For which addresses a provider's word is as good as a code sent there. Others may once have verified an address that
 * has a new holder by now, or repeat what the administrator of a tenant wrote: an account opened by such a word would
 * be somebody else's.
 */
import type { Email } from '../identifiers/identifier.ts'

export interface EmailClaims {
  email?: unknown
  email_verified?: unknown
  /** Google: the domain of the organisation that the account belongs to. */
  hd?: unknown
  /** Microsoft: the tenant has proved to own the domain of the address. */
  xms_edov?: unknown
}

/** Whether the provider answers for the address, by what it said of it. */
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

/** What the operator says of a provider of their own; `*`: every address. */
export const configuredAuthority =
  (domains: readonly string[]): Authority =>
  (email, claims) =>
    saysVerified(claims) && (domains.includes('*') || domains.includes(domainOf(email)))
