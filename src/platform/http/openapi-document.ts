/**
 * Turns what @elysiajs/swagger gathers from the routes (OpenAPI 3.0.3, three media types for everything, error
 * responses as plain objects) into the OpenAPI 3.1 document we publish.
 */
import { type ErrorCode, errorStatus, fieldErrorCodes, twoFactorMethods } from '../../errors.ts'
import { languages } from '../../texts/languages.ts'
import { COMPONENT_KEY } from './components.ts'
import { errorAnswerBody } from './error-answer.ts'
import { bodyErrors, ERROR_CODES_KEY, groupByStatus, tokenErrors } from './error-responses.ts'
import { type Components, createComponents, type Json } from './openapi-components.ts'
import { orderTags, type Tag } from './openapi-tags.ts'
import { FORM_ROUTES } from './request-body.ts'

const ERROR_REFERENCE = { $ref: '#/components/schemas/PoterneError' }
const EXAMPLE_REQUEST_ID = '4f3c1d2e-8a57-4b0e-9c36-1f2a7d5b8e90'
const EXAMPLE_RETRY_AFTER_SECONDS = 37

type Paths = Record<string, Record<string, Json>>

/** `gathered` is left as it is. */
export function toOpenapiDocument(gathered: unknown, journey: Tag[]): Json {
  const document = JSON.parse(JSON.stringify(gathered)) as Json
  const components = createComponents()
  const paths = document.paths as Paths
  for (const [path, operations] of Object.entries(paths)) {
    const bodyType = FORM_ROUTES.has(path.replace(/\{(\w+)\}/g, ':$1'))
      ? 'application/x-www-form-urlencoded'
      : 'application/json'
    for (const [method, operation] of Object.entries(operations))
      rewriteOperation(method, operation, bodyType, components)
  }
  const tags = orderTags(
    Object.values(paths).flatMap((operations) => Object.values(operations).flatMap(tagsOf)),
    journey,
  )
  return {
    ...document,
    openapi: '3.1.0',
    tags,
    paths: orderPaths(
      paths,
      tags.map(({ name }) => name),
    ),
    components: {
      ...(document.components as Json),
      schemas: { ...components.all(), ...errorComponents() },
      headers: sharedHeaders(),
    },
  }
}

const tagsOf = ({ tags }: Json) => (tags ?? []) as string[]

/** Ordered by the first tag of the first operation; within a tag in the order of the code. */
function orderPaths(paths: Paths, tags: string[]): Paths {
  const placeOf = (operations: Record<string, Json>) =>
    tags.indexOf(tagsOf(Object.values(operations)[0] ?? {})[0] ?? '')
  return Object.fromEntries(Object.entries(paths).sort(([, a], [, b]) => placeOf(a) - placeOf(b)))
}

/** A body is read, and refused, also where none is asked for; a GET is refused for its parameters alone. */
function rewriteOperation(method: string, operation: Json, bodyType: string, components: Components): void {
  const responses = Object.entries((operation.responses ?? {}) as Record<string, Json>)
  const body = operation.requestBody as Json | undefined
  const declared = responses.flatMap(([, response]) => (response[ERROR_CODES_KEY] ?? []) as ErrorCode[])
  const takesParameters = Array.isArray(operation.parameters) && operation.parameters.length > 0
  const codes = new Set<ErrorCode>([
    ...(needsToken(operation) ? tokenErrors : []),
    ...(method === 'get' ? (takesParameters ? (['validation_failed'] as const) : []) : bodyErrors),
    ...declared,
  ])
  const successes = responses.filter(([, response]) => !(ERROR_CODES_KEY in response))
  operation.description ??= `${operation.summary}.`
  operation.responses = Object.fromEntries([
    ...successes.map(([status, response]) => [status, successResponse(response, components)]),
    ...[...groupByStatus(codes)].map(([status, ofStatus]) => [status, errorResponse(ofStatus)]),
    ...(codes.size > 0 && [...codes].every((code) => errorStatus[code] >= 500) ? [['431', tooLong]] : []),
    ...(successes.every(([status]) => status.startsWith('3')) ? [['default', otherResponse]] : []),
  ])
  if (body) {
    const content = onlyAs(bodyType, body.content, components)
    operation.requestBody = { description: 'Unknown fields are ignored.', ...body, content }
  }
  if (!Array.isArray(operation.parameters) || operation.parameters.length === 0) delete operation.parameters
}

/** An empty requirement among several makes the token optional. */
function needsToken({ security }: Json): boolean {
  const ways = (security ?? []) as Json[]
  return ways.length > 0 && ways.every((way) => Object.keys(way).length > 0)
}

function successResponse(response: Json, components: Components): Json {
  const { description, examples, content, headers, [COMPONENT_KEY]: name } = response
  const media = onlyAs('application/json', nameSchema(content, name, description, examples), components)
  const json = media?.['application/json'] as Json | undefined
  if (json) json.example = components.exampleOf(json.schema)
  return {
    description: description ?? 'Done.',
    headers: { 'X-Request-Id': headerReference('X-Request-Id'), ...(headers as Json) },
    ...(media && { content: media }),
  }
}

/** What the plugin took from the schema to the response around it, given back. */
function nameSchema(content: unknown, name: unknown, description: unknown, examples: unknown): unknown {
  const json = (content as Json | undefined)?.['application/json'] as Json | undefined
  if (!json) return content
  const about = { ...(examples !== undefined && { examples }) }
  const named =
    name === undefined ? {} : { [COMPONENT_KEY]: name, ...(description !== undefined && { description }) }
  return { 'application/json': { ...json, schema: { ...(json.schema as Json), ...about, ...named } } }
}

function errorResponse(codes: ErrorCode[]): Json {
  const schema = {
    allOf: [
      ERROR_REFERENCE,
      { type: 'object', required: ['code'], properties: { code: { type: 'string', enum: codes } } },
    ],
  }
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

/** What the server itself refuses, before any route: the only refusal of operations that read nothing. */
const tooLong = { description: 'The request line or the headers are too long; without a body.' }

/** Linters want a 2xx of each operation, or this; one that only sends onwards has none. */
const otherResponse = {
  description: 'Everything else is an error.',
  content: { 'application/json': { schema: ERROR_REFERENCE } },
}

function errorExample(code: ErrorCode) {
  const failure = {
    errorCode: code,
    fields: code === 'validation_failed' ? [{ field: 'email', code: 'invalid_email' as const }] : undefined,
    retryAfterSeconds: tellsWhen(code) ? EXAMPLE_RETRY_AFTER_SECONDS : undefined,
    twoFactor: code === 'two_factor_required' ? { methods: ['totp' as const] } : undefined,
    passkey: code === 'unknown_passkey' ? { rp_id: 'example.com', credential_id: 'zTCzmVPBJ0A' } : undefined,
  }
  return errorAnswerBody(failure, languages.en, EXAMPLE_REQUEST_ID)
}

function tellsWhen(code: ErrorCode): boolean {
  return errorStatus[code] === 429 || code === 'server_busy'
}

/** Of the media types gathered, which say the same, one alone. */
function onlyAs(type: string, content: unknown, components: Components): Json | undefined {
  const json = (content as Json | undefined)?.['application/json'] as Json | undefined
  return json && { [type]: { ...json, schema: components.hoist(plainSchema(json.schema)) } }
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
  const constants = members?.filter((member) => 'const' in member) ?? []
  if (constants.length > 0 && members?.every((member) => 'const' in member || member.type === 'null')) {
    const type = constants[0]?.type
    const values = constants.map((member) => member.const)
    return constants.length === members.length
      ? { ...rest, type, enum: values }
      : { ...rest, type: [type, 'null'], enum: [...values, null] }
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
      description: 'Identifies this request in the log.',
      schema: { type: 'string', format: 'uuid' },
    },
    'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  }
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
          description: 'With `two_factor_required`: the methods that can provide `otp`.',
          required: ['methods'],
          properties: { methods: { type: 'array', items: { type: 'string', enum: [...twoFactorMethods] } } },
        },
        passkey: {
          type: 'object',
          description: 'With `unknown_passkey`: what the browser should forget.',
          required: ['rp_id', 'credential_id'],
          properties: { rp_id: text, credential_id: text },
        },
        request_id: { type: 'string', format: 'uuid', description: 'As in X-Request-Id.' },
      },
    },
  }
}
