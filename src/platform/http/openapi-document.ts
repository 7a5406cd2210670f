/**
 * Turns what @elysiajs/swagger gathers from the routes (OpenAPI 3.0.3, three media types for everything, error
 * responses as plain objects) into the OpenAPI 3.1 document we publish.
 */
import { type ErrorCode, errorStatus, fieldErrorCodes, twoFactorMethods } from '../../errors.ts'
import { languages } from '../../texts/languages.ts'
import { errorAnswerBody } from './error-answer.ts'
import { bodyErrors, ERROR_CODES_KEY, groupByStatus, tokenErrors } from './error-responses.ts'
import { FORM_ROUTES } from './request-body.ts'

type Json = Record<string, unknown>

const ERROR_REFERENCE = { $ref: '#/components/schemas/Error' }
const EXAMPLE_REQUEST_ID = '4f3c1d2e-8a57-4b0e-9c36-1f2a7d5b8e90'
const EXAMPLE_RETRY_AFTER_SECONDS = 37

/** `gathered` is left as it is. */
export function toOpenapiDocument(gathered: unknown): Json {
  const document = JSON.parse(JSON.stringify(gathered)) as Json
  const paths = document.paths as Record<string, Record<string, Json>>
  for (const [path, operations] of Object.entries(paths)) {
    const bodyType = FORM_ROUTES.has(path.replace(/\{(\w+)\}/g, ':$1'))
      ? 'application/x-www-form-urlencoded'
      : 'application/json'
    for (const [method, operation] of Object.entries(operations))
      rewriteOperation(method, operation, bodyType)
  }
  const components = (document.components ?? {}) as Json
  return {
    ...document,
    openapi: '3.1.0',
    paths,
    components: {
      ...components,
      schemas: { ...(components.schemas as Json), Error: errorComponent() },
      headers: sharedHeaders(),
    },
  }
}

/** A body is read, and refused, also where none is asked for; broken text in the query is refused everywhere. */
function rewriteOperation(method: string, operation: Json, bodyType: string): void {
  const responses = Object.entries((operation.responses ?? {}) as Record<string, Json>)
  const body = operation.requestBody as Json | undefined
  const declared = responses.flatMap(([, response]) => (response[ERROR_CODES_KEY] ?? []) as ErrorCode[])
  const codes = new Set<ErrorCode>([
    ...(needsToken(operation) ? tokenErrors : []),
    ...(method === 'get' ? (['validation_failed'] as const) : bodyErrors),
    ...declared,
  ])
  const successes = responses.filter(([, response]) => !(ERROR_CODES_KEY in response))
  operation.responses = Object.fromEntries([
    ...successes.map(([status, response]) => [status, successResponse(response)]),
    ...[...groupByStatus(codes)].map(([status, ofStatus]) => [status, errorResponse(ofStatus)]),
    ...(successes.every(([status]) => status.startsWith('3')) ? [['default', otherResponse]] : []),
  ])
  if (body) operation.requestBody = { ...body, content: onlyAs(bodyType, body.content) }
  if (Array.isArray(operation.parameters) && operation.parameters.length === 0) delete operation.parameters
}

/** An empty requirement among several makes the token optional. */
function needsToken({ security }: Json): boolean {
  const ways = (security ?? []) as Json[]
  return ways.length > 0 && ways.every((way) => Object.keys(way).length > 0)
}

function successResponse({ description, examples, content, headers }: Json): Json {
  const media = onlyAs('application/json', content)
  const json = media?.['application/json'] as Json | undefined
  if (json && Array.isArray(examples)) json.example = examples[0]
  return {
    description: description ?? 'Done',
    headers: { 'X-Request-Id': headerReference('X-Request-Id'), ...(headers as Json) },
    ...(media && { content: media }),
  }
}

function errorResponse(codes: ErrorCode[]): Json {
  const schema = { allOf: [ERROR_REFERENCE, { type: 'object', properties: { code: { enum: codes } } }] }
  const examples = Object.fromEntries(codes.map((code) => [code, { value: errorExample(code) }]))
  const waits = codes.some(tellsWhen)
  return {
    description: codes.map((code) => `\`${code}\`: ${languages.en.errors[code]}`).join('\n\n'),
    headers: {
      'X-Request-Id': headerReference('X-Request-Id'),
      ...(waits && { 'Retry-After': headerReference('Retry-After') }),
    },
    content: { 'application/json': { schema, examples } },
  }
}

/** Linters want a 2xx of each operation, or this; one that only sends onwards has none. */
const otherResponse = {
  description: 'Everything else is an error',
  content: { 'application/json': { schema: ERROR_REFERENCE } },
}

function errorExample(code: ErrorCode) {
  const failure = {
    errorCode: code,
    fields: code === 'validation_failed' ? [{ field: 'email', code: 'invalid_email' as const }] : undefined,
    retryAfterSeconds: tellsWhen(code) ? EXAMPLE_RETRY_AFTER_SECONDS : undefined,
    twoFactor: code === 'two_factor_required' ? { methods: ['totp' as const] } : undefined,
  }
  return errorAnswerBody(failure, 'fr', EXAMPLE_REQUEST_ID)
}

function tellsWhen(code: ErrorCode): boolean {
  return errorStatus[code] === 429 || code === 'server_busy'
}

/** Of the media types gathered, which say the same, one alone. */
function onlyAs(type: string, content: unknown): Json | undefined {
  const json = (content as Json | undefined)?.['application/json'] as Json | undefined
  return json && { [type]: { ...json, schema: plainSchema(json.schema) } }
}

/**
 * A union of constants reads better as an enumeration; `nullable` says nothing more in 3.1; and of an integer that
 * Elysia would also read from a string, only the integer is published.
 */
function plainSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const { anyOf, nullable: _nullable, ...rest } = schema as Json
  const members = anyOf as Json[] | undefined
  if (members?.every((member) => 'const' in member)) {
    return { ...rest, type: members[0]?.type, enum: members.map((member) => member.const) }
  }
  const number = members?.find((member) => member.type === 'integer' || member.type === 'number')
  if (members?.[0]?.format === 'integer' || members?.[0]?.format === 'numeric') return { ...rest, ...number }
  const copied = Object.entries(anyOf ? { ...rest, anyOf } : rest)
  return Object.fromEntries(
    copied.map(([key, value]) => [key, key === 'examples' ? value : plainSchema(value)]),
  )
}

function headerReference(name: string) {
  return { $ref: `#/components/headers/${name}` }
}

function sharedHeaders(): Json {
  return {
    'X-Request-Id': {
      description: 'Names this request in the log.',
      schema: { type: 'string', format: 'uuid' },
    },
    'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  }
}

function errorComponent(): Json {
  const fieldError = {
    type: 'object',
    required: ['field', 'code', 'message'],
    properties: {
      field: { type: 'string' },
      code: { type: 'string', enum: [...fieldErrorCodes] },
      message: { type: 'string' },
    },
  }
  return {
    type: 'object',
    description: 'Every answer that is not a success. `code` is stable; `message` follows Accept-Language.',
    required: ['status', 'code', 'message', 'request_id'],
    properties: {
      status: { type: 'integer', description: 'The HTTP status.' },
      code: { type: 'string', enum: Object.keys(errorStatus) },
      message: { type: 'string' },
      errors: { type: 'array', description: 'With `validation_failed`.', items: fieldError },
      retry_after: { type: 'integer', minimum: 1, description: 'Seconds to wait, as in Retry-After.' },
      two_factor: {
        type: 'object',
        description: 'With `two_factor_required`: what can serve as `otp`.',
        required: ['methods'],
        properties: { methods: { type: 'array', items: { type: 'string', enum: [...twoFactorMethods] } } },
      },
      request_id: { type: 'string', format: 'uuid', description: 'As in X-Request-Id.' },
    },
  }
}
