/**
 * Every call by which somebody without a token may name an identifier. The tests of enumeration and of parity take their
 * operations from here, and this list is compared with the OpenAPI document: an operation that is not described below
 * fails them.
 */
import { expect } from 'bun:test'
import { registration } from './api-client.ts'
import type { TestService } from './service.ts'

export interface StrangersCall {
  /** The path under /api/v1/auth. */
  operation: string
  /** Wrong in everything that only the owner knows. */
  body(identifier: string): Record<string, unknown>
  /** The number of these calls in a row until a limit answers. */
  untilRefused: number
  /** Asks for the code that this call takes. */
  codeFrom?: string
  /** The identifier is free after a call with it, or not any more: each sample of "unknown" needs a new one. */
  takesIdentifier?: boolean
}

const WRONG_PASSWORD = 'not this one'
/** A wrong code is wrong on this many tries, then the budget of the day is used up. */
const WRONG_CODES_OF_A_DAY = 21
const CODES_AT_ONCE = 4
const LOGINS = 11

const otp = '000000'
const newPassword = { password: 'another good one', password_confirmation: 'another good one' }

export const strangersCalls: StrangersCall[] = [
  {
    operation: 'register',
    body: (identifier) => registration(identifier, 'the stranger’s password'),
    untilRefused: CODES_AT_ONCE,
    takesIdentifier: true,
  },
  {
    operation: 'login',
    body: (identifier) => ({ identifier, password: WRONG_PASSWORD }),
    untilRefused: LOGINS,
  },
  { operation: 'resend-verification', body: (identifier) => ({ identifier }), untilRefused: CODES_AT_ONCE },
  { operation: 'resend-confirmation', body: (identifier) => ({ identifier }), untilRefused: CODES_AT_ONCE },
  { operation: '2fa/request-otp', body: (identifier) => ({ identifier }), untilRefused: CODES_AT_ONCE },
  { operation: 'password/forgot', body: (identifier) => ({ identifier }), untilRefused: CODES_AT_ONCE },
  {
    operation: 'verify-account',
    body: (identifier) => ({ identifier, otp }),
    untilRefused: WRONG_CODES_OF_A_DAY,
    codeFrom: 'resend-verification',
  },
  {
    operation: '2fa/verify',
    body: (identifier) => ({ identifier, otp }),
    untilRefused: WRONG_CODES_OF_A_DAY,
    codeFrom: '2fa/request-otp',
  },
  {
    operation: 'password/reset',
    body: (identifier) => ({ identifier, otp, ...newPassword }),
    untilRefused: WRONG_CODES_OF_A_DAY,
    codeFrom: 'password/forgot',
  },
]

export const strangersCall = (operation: string): StrangersCall => {
  const found = strangersCalls.find((call) => call.operation === operation)
  if (!found) throw new Error(`${operation} is not in strangers-calls.ts`)
  return found
}

interface Document {
  paths: Record<
    string,
    Record<string, { security?: object[]; requestBody?: { content: Record<string, Media> } }>
  >
}
interface Media {
  schema: { properties?: Record<string, unknown> }
}

const naming = ['identifier', 'email', 'phone']

/** The operations of the OpenAPI document that take an identifier and need no token. */
export async function operationsThatName(service: TestService): Promise<string[]> {
  const { paths }: Document = (await service.call('GET', '/swagger/json')).body
  return Object.entries(paths)
    .filter(([, { post }]) => {
      const needsToken = post?.security?.length && post.security.every((way) => Object.keys(way).length > 0)
      const properties = post?.requestBody?.content['application/json']?.schema.properties ?? {}
      return !needsToken && naming.some((field) => field in properties)
    })
    .map(([path]) => path.replace('/api/v1/auth/', ''))
    .sort()
}

export async function expectEveryCallIsDescribed(service: TestService): Promise<void> {
  expect(strangersCalls.map(({ operation }) => operation).sort()).toEqual(await operationsThatName(service))
}
