/** The one shape of every error answer, in the client's language. */

import { en } from '../../texts/en.ts'
import { errorStatus, type FieldError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import { errorSentence, fieldSentence, ownSentence } from '../../texts/sentences.ts'
import type { Texts } from '../../texts/texts.ts'
import type { Failure } from './failure.ts'
import { pageAnswer } from './page-answer.ts'

interface Reader {
  texts: Texts
  language: Language
  requestId: string
}

/** The keys have this order; those between `message` and `request_id` are present only if they apply. */
export function errorAnswerBody(
  failure: Failure,
  { texts, language, requestId }: Reader,
  showsCause = false,
) {
  const { errorCode, fields, retryAfterSeconds, twoFactor, terms, passkey, oauthError, reason } = failure
  const message = failure.sentence
    ? texts.sentences[failure.sentence]
    : (ownSentence(failure.message, language) ?? errorSentence(errorCode, texts, failure.wantedType))
  const described = failure.oauthDescription ?? errorSentence(errorCode, en, failure.wantedType)
  return {
    status: errorStatus[errorCode],
    code: errorCode,
    message,
    ...(fields && { errors: fields.map((field) => fieldBody(field, texts)) }),
    ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
    ...(twoFactor && { two_factor: twoFactor }),
    ...(terms !== undefined && { terms }),
    ...(passkey && { passkey }),
    ...(reason !== undefined && { reason }),
    // Only with --dev.
    ...(showsCause && failure.cause !== undefined && { cause: failure.cause }),
    request_id: requestId,
    // As RFC 6749, 5.2, has them.
    ...(oauthError !== undefined && { error: oauthError, error_description: describedForOAuth(described) }),
  }
}

export function errorAnswer(failure: Failure, reader: Reader, showsCause = false): Response {
  const { errorCode, retryAfterSeconds } = failure
  const headers = new Headers()
  if (retryAfterSeconds !== undefined) headers.set('retry-after', String(retryAfterSeconds))
  if (errorCode === 'invalid_token' || errorCode === 'token_expired') {
    headers.set('www-authenticate', 'Bearer error="invalid_token"')
  }
  if (failure.oauthError === 'insufficient_scope')
    headers.set('www-authenticate', 'Bearer error="insufficient_scope", scope="openid"')
  if (failure.scheme) headers.set('www-authenticate', `${failure.scheme} realm="applications"`)
  if (failure.page) return pageAnswer(failure.page, errorStatus[errorCode], headers)
  const body = errorAnswerBody(failure, reader, showsCause)
  return Response.json(body, { status: body.status, headers })
}

/** RFC 6749, 5.2 allows no other characters, and clients put it into headers. */
export const describedForOAuth = (text: string): string =>
  text.replace(/[‘’“”"]/g, "'").replace(/[^ -!#-[\]-~]/g, '?')

function fieldBody(error: FieldError, texts: Texts) {
  return { field: error.field, code: error.code, message: fieldSentence(error, texts) }
}
