/**
 * Counts sign-ins, refreshes and limits by an answered request: by its route, status and error, and nothing of its
 * body.
 */
import type { AnsweredRequest } from '../../../platform/http/http-base.ts'
import type { RequestWork } from '../../../platform/request-context.ts'
import type { Metrics } from './metrics.ts'

/** The calls that sign somebody in. `verify-account` with `sign_in` counts as a registration, not here. */
const loginMethods: Record<string, string> = {
  '/api/v1/auth/login': 'password',
  '/api/v1/auth/2fa/verify': 'code',
  '/api/v1/auth/passkeys/login': 'passkey',
  '/api/v1/auth/social/exchange': 'social',
  '/api/v1/auth/social/:provider/token': 'social',
}
const REFRESH = '/api/v1/auth/refresh'

export function countAnswer(metrics: Metrics, answer: AnsweredRequest): void {
  const { route, method, status, durationMs, work } = answer
  metrics.count('http_requests_total', { route: route ?? 'unknown', method, status })
  metrics.observe('http_request_duration_seconds', durationMs / 1000, { kind: kindOf(work) })
  if (status === 429) metrics.count('limit_refusals_total', { limit: answer.cause ?? 'unknown' })
  if (method !== 'POST' || route === null) return
  const login = loginMethods[route]
  if (login !== undefined) metrics.count('logins_total', { method: login, outcome: outcomeOf(answer) })
  else if (route === REFRESH) metrics.count('refreshes_total', { outcome: outcomeOf(answer) })
}

const kindOf = ({ hashed, askedStore }: RequestWork) => (hashed ? 'hash' : askedStore ? 'database' : 'static')

/**
 * | outcome         | meaning                                                               |
 * |-----------------|-----------------------------------------------------------------------|
 * | `success`       | signed in, or refreshed                                               |
 * | `second_factor` | the first factor was right, and a second one is due                   |
 * | `failure`       | a wrong password, code or token                                       |
 * | `refused`       | right, but the account is locked, unconfirmed or belongs to another   |
 * | `expired`       | the session of a refresh token is over                                |
 * | `limited`       | too many of them                                                      |
 * | `invalid`       | a body that cannot be read                                            |
 * | `error`         | the service could not answer: a full queue, a store that is away      |
 */
function outcomeOf({ status, errorCode }: AnsweredRequest): string {
  if (status === 202) return 'second_factor'
  if (status < 400) return 'success'
  if (status >= 500) return 'error'
  if (status === 429) return 'limited'
  if (errorCode === 'token_expired') return 'expired'
  if (status === 403 || status === 409) return 'refused'
  return errorCode === 'validation_failed' || status === 400 || status === 413 || status === 415
    ? 'invalid'
    : 'failure'
}
