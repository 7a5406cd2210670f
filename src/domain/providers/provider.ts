/** What every provider of sign-in does for us, whatever it speaks; and how it fails. */
import type { Email } from '../identifiers/identifier.ts'

/** Who signed in. Issuer and subject say who it is, nothing else does. */
export interface ProviderIdentity {
  issuer: string
  subject: string
  /** Null unless the provider says, by the boolean, that it verified it. */
  verifiedEmail: Email | null
}

/** What one sign-in sends along, to find again in the answer. */
export interface FlowChecks {
  state: string
  nonce: string
  codeVerifier: string
}

export interface Provider {
  /** As configured: stands in paths and as `account.provider`. */
  readonly name: string
  /** For people. */
  readonly label: string
  /** Where the browser goes. Throws ProviderFailure. */
  authorizationUrl(checks: FlowChecks): Promise<URL>
  /** What the browser brought back, exchanged and checked. Throws ProviderFailure. */
  redeem(answer: URLSearchParams, checks: FlowChecks): Promise<ProviderIdentity>
  /**
   * An identity token that a native app was given. Null: this provider hands out none. Throws ProviderFailure.
   * `expiresAt`: when nobody would accept it any more.
   */
  readIdToken: ((idToken: string, nonce: string) => Promise<ProviderIdentity & { expiresAt: Date }>) | null
}

/** Clients see these, as `error` of the redirect. */
export const providerFailureReasons = [
  /** The person said no, or had no account there. */
  'access_denied',
  /** It does not answer, or asks to come back later. */
  'provider_unavailable',
  /** It refuses this service: most often a wrong client id, secret or callback address. */
  'provider_refused',
  /** What it said is not valid, or not meant for this service or this sign-in. */
  'invalid_token',
] as const

export type ProviderFailureReason = (typeof providerFailureReasons)[number]

export class ProviderFailure extends Error {
  override name = 'ProviderFailure'
  readonly reason: ProviderFailureReason
  /** For the log: a code, never a token, an address or a person. */
  readonly detail: string

  constructor(reason: ProviderFailureReason, detail: string) {
    super(reason)
    this.reason = reason
    this.detail = detail
  }
}
