/** Maps what openid-client, jose and the network throw to the ways in which a provider can fail. */
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client'
import { OutboundFailure } from '../../../platform/guarded-fetch.ts'
import { createRedactor } from '../../../platform/redact.ts'
import { ProviderFailure, type ProviderFailureReason } from './provider.ts'

/** RFC 6749 4.1.2.1, OpenID Connect Core 3.1.2.6, and Apple's code for a cancelled sign-in. */
const DENIED = new Set([
  'access_denied',
  'user_cancelled_authorize',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
])
const AWAY = new Set(['server_error', 'temporarily_unavailable'])

/** Keeps a code only, because a provider's text may hold anything. Codes have no digits; tokens nearly always do. */
const codeOf = (text: unknown): string =>
  typeof text === 'string' && /^[A-Za-z_.-]{1,60}$/.test(text) ? text : 'other'

/** A provider may also repeat, in the place of a code, what it was given in confidence. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof ProviderFailure) || createRedactor(secrets)(error.detail) === error.detail)
    return error
  return new ProviderFailure(error.reason, 'other')
}

export function toProviderFailure(error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure) return error
  const outbound = outboundFailureOf(error)
  if (outbound) return new ProviderFailure('provider_unavailable', outbound.reason)
  if (error instanceof AuthorizationResponseError) {
    return new ProviderFailure(reasonOfAnswer(error.error), codeOf(error.error))
  }
  if (error instanceof ResponseBodyError) {
    // invalid_grant: the code is wrong or used. Everything else concerns our registration with the provider.
    const reason = error.error === 'invalid_grant' ? 'invalid_token' : 'provider_refused'
    return new ProviderFailure(reason, codeOf(error.error))
  }
  const code =
    error instanceof ClientError || error instanceof Error ? (error as { code?: unknown }).code : null
  return new ProviderFailure('invalid_token', codeOf(code))
}

/** Turns errors in what a provider publishes into one: whatever is wrong, sign-in through it is impossible now. */
export function toUnavailable(error: unknown): ProviderFailure {
  return new ProviderFailure('provider_unavailable', toProviderFailure(error).detail)
}

function reasonOfAnswer(error: string): ProviderFailureReason {
  if (DENIED.has(error)) return 'access_denied'
  return AWAY.has(error) ? 'provider_unavailable' : 'provider_refused'
}

function outboundFailureOf(error: unknown): OutboundFailure | null {
  if (error instanceof OutboundFailure) return error
  return error instanceof Error && error.cause !== undefined ? outboundFailureOf(error.cause) : null
}
