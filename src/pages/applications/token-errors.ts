/** The refusals of the endpoint for tokens: OAuth's name of each, its cause for the log, and a description for developers. */

import { describeFailure } from '../../platform/http/failure.ts'
import { AppError, type ErrorCode } from '../../texts/errors.ts'

const oauthNames: Partial<Record<ErrorCode, string>> = {
  invalid_token: 'invalid_token',
  insufficient_scope: 'insufficient_scope',
  invalid_request: 'invalid_request',
  invalid_grant: 'invalid_grant',
  invalid_client: 'invalid_client',
  unsupported_grant_type: 'unsupported_grant_type',
  internal_error: 'server_error',
}

/** A token that gives nothing any more is OAuth's `invalid_grant`: the application has to send the person again. */
const OVER = new Set<ErrorCode>(['invalid_token', 'token_expired', 'account_incomplete'])

export function withOAuthName(error: unknown): AppError {
  return named(error, 'invalid_grant')
}

/** The refusals of a route that an access token opens (RFC 6750, 3.1). */
export const withBearerName = (error: unknown): AppError => named(error, 'invalid_token')

function named(error: unknown, over: 'invalid_grant' | 'invalid_token'): AppError {
  const { errorCode, retryAfterSeconds, scheme, oauthDescription } = describeFailure(error)
  const code = OVER.has(errorCode) ? over : errorCode
  const cause =
    error instanceof AppError ? (error.cause ?? (OVER.has(errorCode) ? errorCode : undefined)) : error
  return new AppError(code, {
    oauthError: oauthNames[code] ?? 'temporarily_unavailable',
    oauthDescription: oauthDescription ?? (typeof cause === 'string' ? DESCRIBED[cause] : undefined),
    cause,
    ...(scheme && { scheme }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

/** Without its id an application is not known. */
export const missing = (field: string, code: 'invalid_request' | 'invalid_client' = 'invalid_request') =>
  new AppError(code, { cause: `field_missing:${field}`, oauthDescription: `${field} is missing` })

export const unreadable = (field: string) =>
  new AppError('invalid_request', {
    cause: 'field_unreadable',
    oauthDescription: `${field} holds characters that are not allowed`,
  })

/** `cause`: what is wrong with it. */
export const wrongSecret = (cause: string, scheme?: 'Basic') =>
  new AppError('invalid_client', {
    cause,
    ...(scheme && { scheme }),
  })

/** For the developer of an application: nothing that an attacker with the same request would not know. */
const DESCRIBED: Record<string, string> = {
  application_unknown: 'this application is not known here: compare client_id with the configuration',
  redirect_uri_differs: 'this code is not valid: redirect_uri is not the one for which it was made',
  verifier_missing: 'this code is not valid without code_verifier: an application without a secret sends it',
  verifier_wrong:
    'this code is not valid: code_verifier and the code_challenge of the request do not belong together',
  code_used: 'this code is not valid any more: it works once, and was used',
  code_expired: 'this code is not valid any more: it lives for a minute',
  code_unknown:
    'this code is not valid: it was never made, newer ones took its place, or the session of the browser is over',
  code_of_another_application: 'this code is not valid: it was made for another application',
  token_of_another_application: 'this token is not valid: it is of another application, or not of this route',
  not_ours: 'this token is not valid: it is no refresh token of this service, or its session is long over',
  reused:
    'this token is not valid any more: it was used before, so the session was ended; refresh one at a time',
  session_over: 'this token is not valid any more: its session was ended',
  token_expired: 'this token is not valid any more: its time is over',
  application_removed: 'this token is not valid: its application is not in the configuration any more',
  may_not_enter: 'this account may not enter: it is in none of the groups of this application',
  no_bearer_token: 'the access token is missing: send it as Authorization: Bearer',
  client_id_differs: 'client_id in the form is not that of Authorization',
  secret_of_public_application: 'this application has no secret: send client_id alone',
  secret_missing: 'this application has a secret: send it by client_secret_basic or client_secret_post',
  secret_wrong: 'the secret is not that of this application',
}

/** Many libraries send an id and a secret in this way unless they are told not to. */
export const secretNotTaken = () =>
  new AppError('invalid_client', {
    cause: 'secret_not_taken',
    oauthDescription: 'applications have no secret here: send client_id in the form, and no Authorization',
    scheme: 'Basic',
  })
