/** The one shape of every error answer, in the client's language. */
import {
  type ErrorCode,
  errorStatus,
  type FieldError,
  type TwoFactorMethod,
  type UnknownPasskey,
} from '../../errors.ts'
import type { Language } from '../../texts/languages.ts'
import { languages } from '../../texts/languages.ts'
import type { Failure } from './failure.ts'

/** The keys have this order; `errors`, `retry_after`, `two_factor` and `passkey` are present only if they apply. */
export interface ErrorBody {
  status: number
  code: ErrorCode
  message: string
  errors?: { field: string; code: string; message: string }[]
  retry_after?: number
  two_factor?: { methods: TwoFactorMethod[] }
  passkey?: UnknownPasskey
  request_id: string
}

export function errorAnswerBody(failure: Failure, language: Language, requestId: string): ErrorBody {
  const { errorCode, fields, retryAfterSeconds, twoFactor, passkey } = failure
  return {
    status: errorStatus[errorCode],
    code: errorCode,
    message: languages[language].errors[errorCode],
    ...(fields && { errors: fields.map((field) => fieldBody(field, language)) }),
    ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
    ...(twoFactor && { two_factor: twoFactor }),
    ...(passkey && { passkey }),
    request_id: requestId,
  }
}

export function errorAnswer(failure: Failure, language: Language, requestId: string): Response {
  const { errorCode, retryAfterSeconds } = failure
  const headers = new Headers()
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds))
  if (errorCode === 'invalid_token' || errorCode === 'token_expired') {
    headers.set('www-authenticate', 'Bearer error="invalid_token"')
  }
  const body = errorAnswerBody(failure, language, requestId)
  return Response.json(body, { status: body.status, headers })
}

function fieldBody({ field, code, reason }: FieldError, language: Language) {
  const { fields, weak_password: weakPassword } = languages[language]
  return { field, code, message: reason ? weakPassword[reason] : fields[code] }
}
