/** The form of refusals: status and code belong together, as the table of errors has them. */
import { expect } from 'bun:test'
import { type ErrorCode, errorStatus, type FieldErrorCode } from '../../src/texts/errors.ts'
import type { Answer } from './api-client.ts'

type Refusal = Pick<Answer, 'status' | 'body'>

export function expectRefusal({ status, body }: Refusal, code: ErrorCode): void {
  expect({ status, code: body?.code }).toEqual({ status: errorStatus[code], code })
}

/** `fields`: what is wrong with each, `{ password: 'weak_password' }`. */
export function expectInvalid({ status, body }: Refusal, fields: Record<string, FieldErrorCode>): void {
  const wrong = body?.errors?.map(({ field, code }: { field: string; code: string }) => [field, code]) ?? []
  expect({ status, code: body?.code, fields: Object.fromEntries(wrong) }).toEqual({
    status: 422,
    code: 'validation_failed',
    fields,
  })
}

/** Status and code of each answer, or 'accepted', to compare many at once with `refusedBy`. */
export const outcomeOf = ({ status, body }: Refusal): string =>
  status < 400 ? 'accepted' : `${status} ${body?.code}`

export const refusedBy = (code: ErrorCode): string => `${errorStatus[code]} ${code}`
