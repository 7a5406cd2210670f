/** The fields that calls send which may open an account, and the errors that refuse them. */
import { t } from 'elysia'
import { type Given, optionalField } from '../../../platform/http/schemas.ts'
import type { ErrorCode } from '../../../texts/errors.ts'

export const entryFields = {
  invitation: optionalField(
    t.String({
      maxLength: 256,
      description: 'The code of an invitation; it is spent when the account is opened',
      examples: ['7K3M-9QWX-2T4V-H8ZN'],
    }),
  ),
  terms: optionalField(
    t.String({
      maxLength: 256,
      description: 'The version of the terms that the person accepts, where `accounts.terms` is set',
      examples: ['2026-11'],
    }),
  ),
}

const entryBody = t.Object(entryFields)
export type EntryBody = Given<typeof entryBody>

export const entryErrors = [
  'registration_closed',
  'invalid_invitation',
  'domain_not_allowed',
  'terms_required',
  'registration_refused',
] as const satisfies ErrorCode[]
