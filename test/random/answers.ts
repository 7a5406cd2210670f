/**
 * Says what every answer to any request must be, by the OpenAPI document of the service itself. It checks shape, codes
 * and headers, and finds anything that was sent or must stay secret.
 */
import Ajv, { type ValidateFunction } from 'ajv/dist/2020.js'

type Json = Record<string, unknown>

export interface GivenAnswer {
  status: number
  headers: Headers
  text: string
  /** But for those in which the machine let the process do nothing. */
  ms: number
}

export interface SentRequest {
  method: string
  /** The path in the URL, without the query. */
  path: string
  /** The values of the fields and headers that must not come back in a refusal. */
  sent: string[]
}

export interface AnswerCheck {
  /** Every rule that the answer breaks. */
  check(request: SentRequest, answer: GivenAnswer, secrets: string[]): string[]
}

/** A request that hangs, or work that grows with the input, takes longer. */
export const LONGEST_MS = 5000

/** The keys, what leads to them, and what the server offers: the only answers that may be kept. */
const PUBLISHED =
  /^\/(\.well-known\/(jwks\.json|oauth-authorization-server|openid-configuration)|api\/v1\/auth\/settings)$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Where a token, an enrolment's secret or a recovery code belongs. */
const HANDED_OUT = new Set([
  'access_token',
  'refresh_token',
  'secret',
  'otpauth_uri',
  'qr_svg',
  'recovery_codes',
])
const TOKEN = /\beyJ[\w-]{10,}\.[\w-]+\.[\w-]+|(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/
const FULL_DIGEST = /\$argon2\w*\$v=\d+\$[^$]+\$[\w+/]{8,}/

export function createAnswerCheck(document: Json): AnswerCheck {
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  ajv.addSchema(closed(document) as Json, 'api')
  const paths = document.paths as Record<string, Record<string, Json>>
  const validators = new Map<string, ValidateFunction>()

  function operationOf(method: string, path: string): { template: string; operation: Json } | null {
    // A path that is written out wins, also for a method that it has not.
    const candidates = path in paths ? [[path, paths[path] ?? {}] as const] : Object.entries(paths)
    for (const [template, operations] of candidates) {
      const operation = operations[method.toLowerCase()]
      if (operation !== undefined && matches(template, path)) return { template, operation }
    }
    return null
  }

  function validatorOf(template: string, method: string, status: number, response: Json): ValidateFunction {
    const escaped = template.replaceAll('~', '~0').replaceAll('/', '~1')
    const place = response.$ref ?? `#/paths/${encodeURI(escaped)}/${method.toLowerCase()}/responses/${status}`
    const reference = `api${place}/content/application~1json/schema`
    const known = validators.get(reference) ?? ajv.compile({ $ref: reference })
    validators.set(reference, known)
    return known
  }

  function checkDocumented(method: string, path: string, status: number, body: Json): string[] {
    const found = operationOf(method, path)
    if (found === null) {
      // The router reads a body before it is known that a path which is written out lacks the method.
      const ofBodies = ['malformed_json', 'body_too_large', 'unsupported_media_type', 'validation_failed']
      const codes = ['route_not_found', 'method_not_allowed', ...(path in paths ? ofBodies : [])]
      return codes.includes(String(body.code))
        ? []
        : [`no such operation, yet answered ${status} ${body.code}`]
    }
    const responses = found.operation.responses as Record<string, Json>
    const response = responses[status]
    if (response === undefined) return [`undocumented status ${status} (${body.code})`]
    const validate = validatorOf(found.template, method, status, response)
    const isValid: boolean = validate(body)
    if (isValid) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `breaks its schema: ${instancePath} ${message} ${JSON.stringify(params)} (code ${body.code})`,
    )
  }

  function checkHeaders({ path }: SentRequest, { status, headers, ms }: GivenAnswer): string[] {
    const kept = PUBLISHED.test(path) && status === 200
    const rules: [holds: boolean, otherwise: string][] = [
      [ms < LONGEST_MS, `took ${Math.round(ms)} ms`],
      [status < 500, `answered ${status}`],
      [UUID.test(headers.get('x-request-id') ?? ''), 'no X-Request-Id'],
      [headers.get('x-content-type-options') === 'nosniff', 'no nosniff'],
      [/^(fr|en)$/.test(headers.get('content-language') ?? ''), 'no Content-Language'],
      [kept || headers.get('cache-control') === 'no-store', 'no no-store'],
    ]
    return broken(rules)
  }

  function checkBody(
    { path, sent }: SentRequest,
    { status, headers, text }: GivenAnswer,
    body: Json,
  ): string[] {
    const refusal = status >= 400
    const wait = headers.get('retry-after')
    const told = body.retry_after === undefined ? null : String(body.retry_after)
    return broken([
      [/^application\/json\b/.test(headers.get('content-type') ?? ''), 'no JSON content type'],
      [PUBLISHED.test(path) || body.status === status, `HTTP ${status}, body ${body.status}`],
      [wait === told, `Retry-After ${wait}, retry_after ${told}`],
      [!refusal || body.request_id === headers.get('x-request-id'), 'another request_id'],
      [!refusal || !sent.some((one) => one.length >= 10 && text.includes(one)), 'says back what was sent'],
    ])
  }

  return {
    check(request, answer, secrets) {
      const { method, path } = request
      const { status, headers, text } = answer
      const problems = checkHeaders(request, answer)
      if (method === 'HEAD' || (method === 'OPTIONS' && status === 204))
        return text === '' ? problems : [...problems, 'a body where none belongs']
      // Browsers come to the hidden half of a social sign-in, and are sent on.
      if (status === 302 || status === 303)
        return text === '' && headers.has('location') ? problems : [...problems, 'sent on to nowhere']
      const body = parse(text)
      if (body === null) return [...problems, `no JSON object: ${text.slice(0, 80)}`]
      const shown = JSON.stringify(withoutHandedOut(body))
      return [
        ...problems,
        ...checkBody(request, answer, body),
        ...checkDocumented(method, path, status, body),
        ...broken([
          [!TOKEN.test(shown), 'shows a token'],
          [!FULL_DIGEST.test(shown), 'shows a digest'],
          [!secrets.some((secret) => shown.includes(secret)), 'shows a secret'],
        ]),
      ]
    },
  }
}

const broken = (rules: [holds: boolean, otherwise: string][]) =>
  rules.filter(([holds]) => !holds).map(([, otherwise]) => otherwise)

function parse(text: string): Json | null {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

function matches(template: string, path: string): boolean {
  const parts = path.replace(/(?<=.)\/$/, '').split('/')
  const wanted = template.split('/')
  return (
    parts.length === wanted.length &&
    wanted.every((part, i) => (part.startsWith('{') ? parts[i] !== '' : part === parts[i]))
  )
}

/** Closes every object: a field that is not documented is a fault. Schemas within an `allOf` close as one. */
function closed(schema: unknown, within = false): unknown {
  if (Array.isArray(schema)) return schema.map((member) => closed(member, within))
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.entries(schema).map(([key, value]) => [
    key,
    key === 'example' || key === 'examples' ? value : closed(value, key === 'allOf'),
  ])
  const copy = Object.fromEntries(inner) as Json
  if ('allOf' in copy) copy.unevaluatedProperties = false
  else if (
    'properties' in copy &&
    copy.type === 'object' &&
    !within &&
    copy.description !== ERROR_DESCRIPTION
  )
    copy.additionalProperties ??= false
  return copy
}

/** The component that every `allOf` of an error refers to must stay open. */
const ERROR_DESCRIPTION = 'Every error. `code` is stable; `message` follows Accept-Language.'

function withoutHandedOut(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHandedOut)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      HANDED_OUT.has(key) ? [] : [[key, withoutHandedOut(inner)]],
    ),
  )
}
