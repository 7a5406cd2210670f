/**
 * Turns what @elysiajs/swagger gathers from the routes (OpenAPI 3.0.3, three media types for everything, error
 * responses as plain objects) into the OpenAPI 3.1 document we publish.
 */
import { type ErrorCode, errorStatus } from '../../texts/errors.ts'
import { COMPONENT_KEY } from './components.ts'
import { bodyErrors, ERROR_CODES_KEY, groupByStatus, tokenErrors } from './error-responses.ts'
import { type Components, createComponents, type Json } from './openapi-components.ts'
import { createErrorAnswers, ERROR_REFERENCE, type ErrorAnswers, headerReference } from './openapi-errors.ts'
import { orderTags, type Tag } from './openapi-tags.ts'
import { takeTraits } from './route-traits.ts'

type Paths = Record<string, Record<string, Json>>

/** Elysia closes the body of a route when it is called for the first time, and the routes describe none as closed. */
const unlessClosed = (key: string, value: unknown) =>
  key === 'additionalProperties' && value === false ? undefined : value

/** `gathered` is left as it is. */
export function toOpenapiDocument(gathered: unknown, journey: Tag[]): Json {
  const document = JSON.parse(JSON.stringify(gathered, unlessClosed)) as Json
  const components = createComponents()
  const errors = createErrorAnswers()
  const paths = document.paths as Paths
  for (const operations of Object.values(paths)) {
    for (const [method, operation] of Object.entries(operations))
      rewriteOperation(method, operation, components, errors)
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
      schemas: { ...components.all(), ...errors.schemas() },
      responses: { ...shareAnswers(paths), ...errors.responses() },
      examples: errors.examples(),
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

/**
 * Moves an answer that several operations give to the shared ones, under the name of what it holds, and leaves
 * references behind. Returns the shared ones.
 */
function shareAnswers(paths: Paths): Json {
  const places = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .map(({ responses }) => responses as Record<string, Json>)
    .flatMap((responses) =>
      Object.entries(responses).map(([status, response]) => ({ responses, status, response })),
    )
    .filter(({ response }) => componentOf(response) !== undefined)
  const shared: Json = {}
  for (const alike of Map.groupBy(places, ({ response }) => JSON.stringify(response)).values()) {
    const [{ response } = { response: {} }] = alike
    const name = componentOf(response) as string
    if (alike.length === 1 || name in shared) continue
    shared[name] = response
    for (const { responses, status } of alike) responses[status] = { $ref: `#/components/responses/${name}` }
  }
  return shared
}

/** The name of the schema that an answer in JSON holds; nothing where its schema has none, or is an error. */
function componentOf({ content }: Json): string | undefined {
  const media = (content as Record<string, Json> | undefined)?.['application/json']
  const { $ref } = (media?.schema ?? {}) as { $ref?: string }
  return $ref === ERROR_REFERENCE.$ref ? undefined : $ref?.split('/').at(-1)
}

/**
 * A body is read, and refused, also where none is asked for; a GET is refused for its parameters alone. Who checks their own
 * fields says so by codes of their own.
 */
function rewriteOperation(
  method: string,
  operation: Json,
  components: Components,
  errors: ErrorAnswers,
): void {
  const traits = takeTraits(operation)
  const responses = Object.entries((operation.responses ?? {}) as Record<string, Json>)
  const body = operation.requestBody as Json | undefined
  const declared = responses.flatMap(([, response]) => (response[ERROR_CODES_KEY] ?? []) as ErrorCode[])
  const takesParameters = Array.isArray(operation.parameters) && operation.parameters.length > 0
  const checked: ErrorCode[] = traits.checksOwnFields ? [] : ['validation_failed']
  const codes = new Set<ErrorCode>([
    ...(needsToken(operation) ? tokenErrors : []),
    ...(needsToken(operation) && method !== 'get' && !traits.allowsTestIdentity ? testIdentityErrors : []),
    ...(method !== 'get' ? bodyErrors : []),
    ...(method !== 'get' || takesParameters ? checked : []),
    ...declared,
  ])
  const successes = responses.filter(([, response]) => !(ERROR_CODES_KEY in response))
  operation.description ??= `${operation.summary}.`
  operation.responses = Object.fromEntries([
    ...successes.map(([status, response]) => [status, successResponse(response, components)]),
    ...[...groupByStatus(codes)].map(([status, ofStatus]) => [
      status,
      errors.reference(ofStatus, String(operation.operationId)),
    ]),
    ...(codes.size > 0 && [...codes].every((code) => errorStatus[code] >= 500) ? [['431', tooLong]] : []),
    ...(successes.every(([status]) => status.startsWith('3')) ? [['default', otherResponse]] : []),
  ])
  if (body) {
    const type = traits.takes === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
    const content = onlyAs(type, body.content, components)
    operation.requestBody = { description: 'Unknown fields are ignored.', ...body, content }
  }
  if (!takesParameters) delete operation.parameters
  else operation.parameters = (operation.parameters as Json[]).map(withOwnExamples)
}

/** The plugin lifts a list of examples out of the schema, where only the schema may have one. */
function withOwnExamples({ examples, ...parameter }: Json): Json {
  return Array.isArray(examples)
    ? { ...parameter, schema: { ...(parameter.schema as Json), examples } }
    : { ...parameter, ...(examples !== undefined && { examples }) }
}

/** The owner of an account that a test identity opened can change next to nothing. */
const testIdentityErrors: ErrorCode[] = ['test_identity']

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

/** Gives the response back that the plugin took from the schema. */
function nameSchema(content: unknown, name: unknown, description: unknown, examples: unknown): unknown {
  const json = (content as Json | undefined)?.['application/json'] as Json | undefined
  if (!json) return content
  const about = { ...(examples !== undefined && { examples }) }
  const named =
    name === undefined ? {} : { [COMPONENT_KEY]: name, ...(description !== undefined && { description }) }
  return { 'application/json': { ...json, schema: { ...(json.schema as Json), ...about, ...named } } }
}

/** The refusal by the server itself, before any route: the only one of operations that read nothing. */
const tooLong = { description: 'The request line or the headers are too long; without a body.' }

/** Linters want a 2xx of each operation, or this; one that only sends onwards has none. */
const otherResponse = {
  description: 'Everything else is an error.',
  content: { 'application/json': { schema: ERROR_REFERENCE } },
}

/** Keeps one of the gathered media types, which all say the same. */
function onlyAs(type: string, content: unknown, components: Components): Json | undefined {
  const json = (content as Json | undefined)?.['application/json'] as Json | undefined
  return json && { [type]: { ...json, schema: components.hoist(plainSchema(json.schema)) } }
}

/**
 * Publishes a union of constants as an enumeration, and a union of one type and null as one schema of two types.
 * An integer that Elysia would also read from a string is an integer. `nullable` says nothing more in 3.1, so it goes.
 */
function plainSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainSchema)
  if (typeof schema !== 'object' || schema === null) return schema
  const { anyOf, nullable: _nullable, ...rest } = schema as Json
  const members = anyOf as Json[] | undefined
  const constants = members?.filter((member) => 'const' in member) ?? []
  if (constants.length > 0 && members?.every((member) => 'const' in member || member.type === 'null')) {
    const [{ type, description }] = constants as [Json]
    const values = constants.map((member) => member.const)
    // Of a single constant, because that of several is said beside the union.
    const said = constants.length === 1 && description !== undefined ? { description } : {}
    return constants.length === members.length
      ? { ...said, ...rest, type, enum: values }
      : { ...said, ...rest, type: [type, 'null'], enum: [...values, null] }
  }
  const number = members?.find((member) => member.type === 'integer' || member.type === 'number')
  if (members?.[0]?.format === 'integer' || members?.[0]?.format === 'numeric') return { ...rest, ...number }
  const [only, ...others] = members?.filter(({ type }) => type !== 'null') ?? []
  const single = others.length === 0 && typeof only?.type === 'string' && !(COMPONENT_KEY in only)
  const plain = single ? { ...only, ...rest, type: [only.type, 'null'] } : anyOf ? { ...rest, anyOf } : rest
  return Object.fromEntries(
    Object.entries(plain).map(([key, value]) => [key, key === 'examples' ? value : plainSchema(value)]),
  )
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
