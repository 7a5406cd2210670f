/** Declares the errors that a route can answer: `response: { 201: …, ...errorResponses('invalid_code') }`. */
import { t } from 'elysia'
import { type ErrorCode, errorStatus } from '../../texts/errors.ts'

/** Everything that reading a body can end in; openapi-document.ts adds them to each route but GET. */
export const bodyErrors = [
  'malformed_json',
  'body_too_large',
  'unsupported_media_type',
] as const satisfies ErrorCode[]

/** The errors that refuse an access token; openapi-document.ts adds them to each route with `security`. */
export const tokenErrors = ['invalid_token', 'token_expired'] as const satisfies ErrorCode[]

/** The errors that no route can rule out. */
const anywhere = ['internal_error', 'unavailable'] as const satisfies ErrorCode[]

/** The errors of asking for the password and the second factor inside a session. */
export const ownerProofErrors = [
  'two_factor_required',
  'reauthentication_required',
  'password_not_set',
  'invalid_code',
  'invalid_passkey',
  'unknown_passkey',
  'passkey_too_new',
  'too_many_attempts',
  'too_many_requests',
  'server_busy',
] as const satisfies ErrorCode[]

type StatusOf<Code extends ErrorCode> = (typeof errorStatus)[Code]

/** The key under which a response's schema carries its codes to openapi-document.ts. */
export const ERROR_CODES_KEY = 'x-error-codes'

/** The fields of every error; openapi-errors.ts describes all of them. */
const properties = { status: t.Number(), code: t.String(), message: t.String(), request_id: t.String() }

function errorSchema(codes: ErrorCode[]) {
  return t.Object(properties, { [ERROR_CODES_KEY]: codes })
}

type ErrorSchema = ReturnType<typeof errorSchema>

/**
 * One schema for each HTTP status of the codes given, to spread into a route's `response`; internal_error and
 * unavailable come by themselves. Elysia checks only what a handler returns, so at run time these do nothing:
 * errors are thrown and take their shape from error-answer.ts.
 */
export function errorResponses<const Code extends ErrorCode>(
  ...codes: Code[]
): { [Status in StatusOf<Code | (typeof anywhere)[number]>]: ErrorSchema } {
  const byStatus = groupByStatus(new Set<ErrorCode>([...codes, ...anywhere]))
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [status, errorSchema(ofStatus)]),
  ) as ReturnType<typeof errorResponses<Code>>
}

export function groupByStatus(codes: Set<ErrorCode>): Map<number, ErrorCode[]> {
  return Map.groupBy(codes, (code) => errorStatus[code])
}
