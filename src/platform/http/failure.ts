/** The meaning of a thrown value: an error code for the client, and words for the log. Its message is never used. */
import { NotFoundError, ParseError, ValidationError } from 'elysia'
import { AppError, type ErrorCode, type ErrorDetails } from '../../texts/errors.ts'
import { databaseCode, isUnavailable, refersToErased } from '../postgres/failure.ts'
import { failedStatement } from '../postgres/statement-name.ts'
import { RedisUnavailable } from '../redis/failure.ts'
import { toFieldErrors } from './schema-errors.ts'

export interface Failure extends Omit<ErrorDetails, 'cause'> {
  errorCode: ErrorCode
  /** The name of the thrown error for the log, and the reason in one word. */
  errorName?: string | undefined
  cause?: string | undefined
  /** The statement that failed, where the error came from the database. */
  statement?: string | undefined
}

/** Accepts anything that was thrown; what is not known here becomes an internal_error. */
export function describeFailure(thrown: unknown): Failure {
  const error = thrown instanceof ParseError ? thrown.cause : thrown
  if (error instanceof AppError) {
    return { errorCode: error.errorCode, ...error.details, cause: causeWord(error.cause) }
  }
  if (error instanceof NotFoundError) return { errorCode: 'route_not_found' }
  if (error instanceof ValidationError) return describeValidation(error)
  const unavailable = findUnavailable(error)
  if (unavailable) return { errorCode: 'unavailable', ...namesOf(unavailable) }
  // The client sent the token of an account that existed when the request began.
  if (refersToErased(error)) return { errorCode: 'invalid_token', cause: 'account_erased' }
  return { errorCode: 'internal_error', ...namesOf(error), statement: failedStatement(error) }
}

/** A response that breaks its own schema is our bug, not a mistake of the client. */
function describeValidation(error: ValidationError): Failure {
  if (error.type === 'response') {
    return {
      errorCode: 'internal_error',
      errorName: 'ResponseValidation',
      cause: pathWord(error.valueError?.path),
    }
  }
  const problems = error.all.filter((problem) => 'type' in problem)
  return { errorCode: 'validation_failed', fields: toFieldErrors(problems) }
}

/** The driver's error may be wrapped in another one. */
function findUnavailable(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined
  return [error, cause].find((one) => one instanceof RedisUnavailable || isUnavailable(one))
}

function namesOf(error: unknown): Pick<Failure, 'errorName' | 'cause'> {
  if (!(error instanceof Error)) return { errorName: typeof error }
  const code = error instanceof RedisUnavailable ? error.causeCode : databaseCode(error)
  return { errorName: oneWord(error.name), cause: codeWord(code) ?? causeWord(error.cause) }
}

function causeWord(cause: unknown): string | undefined {
  if (cause instanceof RedisUnavailable) return oneWord(cause.causeCode)
  return (
    oneWord(cause) ??
    codeWord(databaseCode(cause)) ??
    (cause instanceof Error ? oneWord(cause.name) : undefined)
  )
}

/** A SQLSTATE, which may begin with a digit, or the code of a socket or client. */
function codeWord(code: unknown): string | undefined {
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : oneWord(code)
}

/**
 * Codes and class names have this form, and a word with the name of a field; tokens, sentences and what people type mostly
 * do not.
 */
function oneWord(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_]{0,59}(?::[a-z_]{1,40})?$/.test(value)
    ? value
    : undefined
}

function pathWord(path: unknown): string | undefined {
  return typeof path === 'string' && /^[A-Za-z0-9_/]{1,80}$/.test(path) ? path : undefined
}
