/**
 * Arbitrary requests to one operation of the OpenAPI document: honest ones of a person of the world, the same broken
 * in a few places, and wild ones. A request names people and what they have by number, so that a seed gives the same
 * request whatever codes and tokens that run has.
 */
import fc from 'fast-check'
import { APP } from '../helpers/social.ts'
import { contentTypes, fieldNames, header, methods, oddJson, queries, rawBytes } from './odd-values.ts'

/** The values that a person of the world has; `person` picks one of them. */
export const possessions = [
  'email',
  'phone',
  'uuid',
  'password',
  'code',
  'access',
  'expired',
  'ended',
  'refresh',
  'session',
] as const
export type Possession = (typeof possessions)[number]

export interface Held {
  held: Possession
  person: number
}

export type Value = Held | { json: unknown } | { text: string }

export interface GeneratedRequest {
  method: string
  /** The templates are filled in, still symbolic. */
  segments: (string | Value)[]
  query: string
  /** The fields of the body go as a browser sends a form. */
  form: boolean
  headers: [name: string, value: string][]
  /** Goes into the Authorization header; null: none. */
  bearer: Value | null
  /** `bytes`: in hex, sent as they are. */
  body: { fields: [name: string, value: Value][] } | { bytes: string } | null
}

export interface Operation {
  method: string
  path: string
  fields: string[]
  enums: Record<string, unknown[]>
  /** Takes a form, and no JSON. */
  form: boolean
  /** Names of the parameters in the query. */
  parameters: string[]
  secured: boolean
}

/** `socialSettings` names the first one so. */
const PROVIDER = 'p1'

const person = fc.nat({ max: 63 })
const held = fc.record({ held: fc.constantFrom(...possessions), person })
const junkValue: fc.Arbitrary<Value> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ json: oddJson }) },
  { weight: 1, arbitrary: held },
)

/** Makes an assertion and an attestation in their form, by a key that nobody has. */
function credentialOf(fresh: string) {
  const encoded = (value: object | string) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
  const clientData = { type: 'webauthn.get', challenge: encoded(fresh), origin: 'https://example.com' }
  return {
    id: encoded(fresh),
    rawId: encoded(fresh),
    type: 'public-key',
    response: {
      clientDataJSON: encoded(clientData),
      attestationObject: encoded(fresh),
      authenticatorData: encoded(fresh),
      signature: encoded(fresh),
    },
  }
}

/** Returns the value that an honest client would send in a field of that name. */
function honestValue(name: string, operation: Operation, who: number, fresh: string): fc.Arbitrary<Value> {
  const listed = operation.enums[name]
  if (listed !== undefined) return fc.constantFrom(...listed).map((json) => ({ json }))
  const own = (possession: Possession): Value => ({ held: possession, person: who })
  const text = (value: string): Value => ({ text: value })
  switch (name) {
    case 'identifier':
      return fc.constantFrom(own('email'), own('email'), own('phone'), own('uuid'))
    case 'email':
      return fc.constantFrom(text(`new-${fresh}@example.com`), own('email'))
    case 'phone':
      return fc.constantFrom(text(`+336${fresh}`), own('phone'))
    case 'otp':
      return fc.constant(own('code'))
    case 'refresh_token':
      return fc.constant(own('refresh'))
    case 'password':
    case 'password_confirmation':
    case 'current_password':
      return fc.constant(own('password'))
    case 'credential':
      return fc.constant({ json: credentialOf(fresh) })
    case 'redirect_uri':
      return fc.constant(text(APP))
    case 'code_challenge':
    case 'code_verifier':
      return fc.constant(text(`${fresh}-abcdefghijklmnopqrstuvwxyz_012345678901`.slice(0, 43)))
    case 'id_token':
      return fc.constant(text(`eyJhbGciOiJSUzI1NiJ9.${fresh}.${fresh}`))
    case 'state':
    case 'nonce':
      return fc.constant(text(`state-${fresh}`))
    default:
      return fc.constantFrom(text('Pixel'), text('Android 16'), text(`device-${fresh}`))
  }
}

function honest(operation: Operation): fc.Arbitrary<GeneratedRequest> {
  return fc.tuple(person, fc.integer({ min: 10_000_000, max: 99_999_999 })).chain(([who, number]) => {
    const fields = operation.fields.map((name) =>
      honestValue(name, operation, who, String(number)).map((value): [string, Value] => [name, value]),
    )
    const parameters = fc.tuple(
      ...operation.parameters.map((name) => honestValue(name, operation, who, String(number))),
    )
    const all = fc.tuple(fc.tuple(...fields), parameters, parameterOf(operation, who))
    return all.map(([values, given, parameter]) => ({
      method: operation.method,
      segments: segmentsOf(operation.path, parameter),
      query: queryOf(operation.parameters, given),
      form: operation.form,
      headers: [] as [string, string][],
      bearer: operation.secured ? ({ held: 'access', person: who } as Value) : null,
      body: values.length > 0 ? { fields: values } : null,
    }))
  })
}

/** Returns the value that stands in the path: a session of that person, or a provider that is there. */
function parameterOf({ path }: Operation, who: number): fc.Arbitrary<Value> {
  const session: Value = { held: 'session', person: who }
  if (!path.includes('{provider}')) return fc.constant(session)
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant<Value>({ text: PROVIDER }) },
    { weight: 1, arbitrary: fc.constant(session) },
  )
}

function queryOf(names: string[], values: Value[]): string {
  const pairs = values.flatMap((value, i): [string, string][] =>
    'text' in value ? [[names[i]!, value.text]] : [],
  )
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : ''
}

function segmentsOf(path: string, parameter: Value): (string | Value)[] {
  return path.split('/').map((part) => (part.startsWith('{') ? parameter : part))
}

type Change = (request: GeneratedRequest) => GeneratedRequest

const onFields = (change: (fields: [string, Value][]) => [string, Value][]): Change => {
  return (request) =>
    request.body !== null && 'fields' in request.body
      ? { ...request, body: { fields: change(request.body.fields) } }
      : request
}

const fieldChange: fc.Arbitrary<Change> = fc.oneof(
  fc.nat({ max: 15 }).map((at) => onFields((fields) => fields.filter((_, i) => i !== at % fields.length))),
  fc
    .tuple(fc.nat({ max: 15 }), junkValue)
    .map(([at, value]) =>
      onFields((fields) => fields.map(([name, old], i) => [name, i === at % fields.length ? value : old])),
    ),
  fc
    .tuple(fc.constantFrom(...fieldNames), junkValue)
    .map(([name, value]) => onFields((fields) => [...fields, [name, value]])),
)

const outerChange: fc.Arbitrary<Change> = fc.oneof(
  header.map(
    (one): Change =>
      (request) => ({ ...request, headers: [...request.headers, one] }),
  ),
  fc.constantFrom(...contentTypes).map(
    (type): Change =>
      (request) => ({ ...request, headers: [...request.headers, ['content-type', type]] }),
  ),
  fc.constantFrom(...queries).map(
    (query): Change =>
      (request) => ({ ...request, query }),
  ),
  fc.constantFrom(...methods).map(
    (method): Change =>
      (request) => ({ ...request, method }),
  ),
  fc.oneof(junkValue, fc.constant(null)).map(
    (bearer): Change =>
      (request) => ({ ...request, bearer }),
  ),
  junkValue.map(
    (value): Change =>
      (request) => ({
        ...request,
        segments: request.segments.map((part) => (typeof part === 'string' ? part : value)),
      }),
  ),
  rawBytes.map(
    (bytes): Change =>
      (request) => ({ ...request, body: { bytes } }),
  ),
)

/** A third honest, the others with one to four things changed. */
export function requestTo(operation: Operation): fc.Arbitrary<GeneratedRequest> {
  const changes = fc.array(
    fc.oneof({ weight: 3, arbitrary: fieldChange }, { weight: 2, arbitrary: outerChange }),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  const changed = fc
    .tuple(honest(operation), changes)
    .map(([request, all]) => all.reduce((so, change) => change(so), request))
  return fc.oneof({ weight: 1, arbitrary: honest(operation) }, { weight: 2, arbitrary: changed })
}
