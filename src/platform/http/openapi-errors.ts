/**
 * The error answers of the OpenAPI document. Each set of codes that some operation can answer with one status stands
 * once in `components.responses`, each code once in `components.examples`, and the operations refer to them.
 */

import { type ErrorCode, errorStatus, fieldErrorCodes, twoFactorMethods } from '../../texts/errors.ts'
import { languages } from '../../texts/languages.ts'
import { errorSentence } from '../../texts/sentences.ts'
import { errorAnswerBody } from './error-answer.ts'
import type { Json } from './openapi-components.ts'

export const ERROR_REFERENCE = { $ref: '#/components/schemas/PoterneError' }
const EXAMPLE_REQUEST_ID = '4f3c1d2e-8a57-4b0e-9c36-1f2a7d5b8e90'
const EXAMPLE_RETRY_AFTER_SECONDS = 37

export type ErrorAnswers = ReturnType<typeof createErrorAnswers>

export function createErrorAnswers() {
  const answers = new Map<string, ErrorCode[]>()
  const byName = <Value>(values: Iterable<[string, Value]>) =>
    Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)))

  return {
    /**
     * A reference to the answer that holds one of these codes; they share one HTTP status, and their order is nothing. Up to two
     * name the answer, which operations then share; editors show the name of what is returned, so that more would be no name.
     */
    reference(codes: ErrorCode[], operation: string) {
      const sorted = tableOrder.filter((code) => codes.includes(code))
      const [first] = sorted
      const name =
        sorted.length <= 2 || first === undefined
          ? sorted.map(pascalCase).join('Or')
          : `${operation[0]!.toUpperCase()}${operation.slice(1)}Error${errorStatus[first]}`
      answers.set(name, sorted)
      return { $ref: `#/components/responses/${name}` }
    },
    /** Returns the targets of the references so far, by name. */
    responses: () => byName([...answers].map(([name, codes]) => [name, answerOf(codes)])),
    examples: () =>
      byName([...new Set([...answers.values()].flat())].map((code) => [code, { value: errorExample(code) }])),
    schemas: errorComponents,
  }
}

/**
 * The order of the table of errors, so that the answers do not depend on the order in which a route names its codes.
 */
const tableOrder = Object.keys(errorStatus) as ErrorCode[]

const pascalCase = (code: string) =>
  code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())

export function headerReference(name: string) {
  return { $ref: `#/components/headers/${name}` }
}

function answerOf(codes: ErrorCode[]): Json {
  const schema = {
    allOf: [ERROR_REFERENCE, { type: 'object', properties: { code: { enum: codes } } }],
  }
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  const waits = codes.some(tellsWhen)
  return {
    description: codes.map((code) => `\`${code}\`: ${errorSentence(code, languages.en)}`).join('\n\n'),
    headers: {
      'X-Request-Id': headerReference('X-Request-Id'),
      ...(waits && { 'Retry-After': headerReference('Retry-After') }),
    },
    content: { 'application/json': { schema, examples } },
  }
}

function errorExample(code: ErrorCode) {
  const failure = {
    errorCode: code,
    ...(code === 'validation_failed' && { fields: [{ field: 'email', code: 'invalid_email' as const }] }),
    ...(tellsWhen(code) && { retryAfterSeconds: EXAMPLE_RETRY_AFTER_SECONDS }),
    ...(namesMethods(code) && { twoFactor: { methods: ['totp' as const] } }),
    ...(code === 'terms_required' && { terms: '2026-11' }),
    ...(code === 'unknown_passkey' && { passkey: { rp_id: 'example.com', credential_id: 'zTCzmVPBJ0A' } }),
  }
  return errorAnswerBody(failure, { texts: languages.en, language: 'en', requestId: EXAMPLE_REQUEST_ID })
}

const namesMethods = (code: ErrorCode) => code === 'two_factor_required' || code === 'use_another_method'

function tellsWhen(code: ErrorCode): boolean {
  return errorStatus[code] === 429 || code === 'server_busy'
}

function errorComponents(): Json {
  const text = { type: 'string' }
  return {
    FieldError: {
      type: 'object',
      description: 'One field of the request that is not valid.',
      required: ['field', 'code', 'message'],
      properties: { field: text, code: { type: 'string', enum: [...fieldErrorCodes] }, message: text },
    },
    PoterneError: {
      type: 'object',
      description: 'Every error. `code` is stable; `message` follows Accept-Language.',
      required: ['status', 'code', 'message', 'request_id'],
      properties: {
        status: { type: 'integer', description: 'The HTTP status.' },
        code: { type: 'string', enum: Object.keys(errorStatus) },
        message: text,
        errors: {
          type: 'array',
          description: 'With `validation_failed`.',
          items: { $ref: '#/components/schemas/FieldError' },
        },
        retry_after: { type: 'integer', minimum: 1, description: 'Seconds to wait, as in Retry-After.' },
        two_factor: {
          type: 'object',
          description:
            'With `two_factor_required` and `use_another_method`: the methods that can provide `otp`.',
          required: ['methods'],
          properties: { methods: { type: 'array', items: { type: 'string', enum: [...twoFactorMethods] } } },
        },
        terms: { ...text, description: 'With `terms_required`: the version that has to be accepted.' },
        passkey: {
          type: 'object',
          description: 'With `unknown_passkey`: what the browser should forget.',
          required: ['rp_id', 'credential_id'],
          properties: { rp_id: text, credential_id: text },
        },
        reason: { ...text, description: 'Only at `/readyz`: why, in English.' },
        cause: { ...text, description: 'Only with `--dev`: one word for the cause, as in the log.' },
        request_id: { type: 'string', format: 'uuid', description: 'As in X-Request-Id.' },
        error: { ...text, description: 'Only below `/oauth2`: the name that OAuth has for it.' },
        error_description: { ...text, description: 'Beside `error`: the reason, for developers.' },
      },
    },
  }
}
