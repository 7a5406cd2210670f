/** The interface of every sign-in provider, whatever its protocol, and the ways it can fail. */
import type { Email } from '../../foundation/identifiers/email.ts'

/** The person who signed in, identified by issuer and subject alone. */
export interface ProviderIdentity {
  issuer: string
  subject: string
  /** It is null where the provider gives none, or states that it did not verify the address. */
  email: ProviderEmail | null
}

interface ProviderEmail {
  address: Email
  /** The provider's word is as good as a code sent there (see authority.ts). */
  authoritative: boolean
}

/** The values of one sign-in that its answer must match. */
export interface FlowChecks {
  state: string
  nonce: string
  codeVerifier: string
}

export interface Provider {
  /** The configured name; part of paths, and the value of `account.provider`. */
  readonly name: string
  /** The name for people. */
  readonly label: string
  /** The browser is sent there. Throws ProviderFailure. */
  authorizationUrl(checks: FlowChecks): Promise<URL>
  /** Exchanges and checks what the browser brought back. Throws ProviderFailure. */
  redeem(answer: URLSearchParams, checks: FlowChecks): Promise<ProviderIdentity>
  /**
   * Checks an identity token that a native app received. It returns null if this provider issues none. Throws
   * ProviderFailure. The token is not accepted any more from `expiresAt` on.
   */
  readIdToken: ((idToken: string, nonce: string) => Promise<ProviderIdentity & { expiresAt: Date }>) | null
}

/** Clients see these reasons as `error` of the redirect. */
export const providerFailureReasons = [
  /** The person refused, or has no account there. */
  'access_denied',
  /** The provider does not answer, or asks us to try again later. */
  'provider_unavailable',
  /** The provider refuses this service, mostly because of a wrong client id, secret or callback address. */
  'provider_refused',
  /** Its answer is not valid, or is not meant for this service or this sign-in. */
  'invalid_token',
] as const

export type ProviderFailureReason = (typeof providerFailureReasons)[number]

export class ProviderFailure extends Error {
  override name = 'ProviderFailure'
  readonly reason: ProviderFailureReason
  /** A code for the log; never a token, an address or anything about the person. */
  readonly detail: string

  constructor(reason: ProviderFailureReason, detail: string) {
    super(reason)
    this.reason = reason
    this.detail = detail
  }
}

/** An identity with which somebody has just signed in at the provider. */
export interface ProvedIdentity extends ProviderIdentity {
  /** The name of the provider in the configuration. */
  provider: string
}
