/** The documentation page and the OpenAPI document of a listening app. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import Ajv from 'ajv'
import { lintOpenapi } from '../../scripts/lint-openapi.ts'
import { mountedRoutes } from '../../scripts/mounted-routes.ts'
import { openapiPage } from '../../scripts/openapi-page.ts'
import { errorStatus } from '../../src/texts/errors.ts'
import { startEnvelopeApp } from '../helpers/http-base-app.ts'
import { resolveReference } from '../helpers/openapi.ts'
import { startService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'

setDefaultTimeout(60_000)

type App = Awaited<ReturnType<typeof startEnvelopeApp>>
// biome-ignore lint/suspicious/noExplicitAny: a document is read by paths, its type would be the whole of OpenAPI
type Document = any
let app: App
let document: Document

beforeAll(async () => {
  app = await startEnvelopeApp({ docs: true })
  document = await (await fetch(`${app.url}/swagger/json`)).json()
})
afterAll(() => app.stop())

const isDescribed = (schema: Document): boolean =>
  '$ref' in schema || 'description' in schema || (schema.anyOf ?? []).some(isDescribed)

/** The fields of a body, at any depth, that have neither a description nor the name of a common schema. */
function* silentFields(path: string, schema: Document): Generator<string> {
  for (const [name, field] of Object.entries<Document>(schema.properties ?? {})) {
    if (!isDescribed(field)) yield `${path}: ${name}`
    yield* silentFields(`${path}: ${name}`, field)
  }
}

test.each(['/swagger', '/swagger/'])(
  '%s loads its script from here, its policy forbids all else',
  async (path) => {
    const response = await fetch(app.url + path)
    const page = await response.text()
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page).not.toMatch(/https?:\/\//)
    expect(page).toContain('<script src="/swagger/reference.js"></script>')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain(`default-src 'none'`)
    expect(policy).toContain(`script-src 'self';`)
    expect(policy).toContain(`connect-src 'self' http://127.0.0.1:8080;`)
    expect(page).toContain('"withDefaultFonts":false')
    expect(page).toContain('"telemetry":false')
  },
)

test('the script is the pinned one, compressed where the browser takes it, and may be kept', async () => {
  const compressed = await fetch(`${app.url}/swagger/reference.js`, {
    headers: { 'accept-encoding': 'br, gzip' },
    decompress: false,
  })
  expect(compressed.headers.get('content-encoding')).toBe('gzip')
  expect(compressed.headers.get('cache-control')).toBe('public, max-age=86400')
  const plain = await fetch(`${app.url}/swagger/reference.js`, { headers: { 'accept-encoding': 'identity' } })
  expect(plain.headers.get('content-encoding')).toBeNull()
  const script = Buffer.from(await plain.arrayBuffer())
  expect(script.byteLength).toBeGreaterThan(1_000_000)
  // It asks nowhere whether text may run as code, which each time would break the policy of its page.
  expect(script.toString().match(/\b(?:Function|eval)\(/g)).toBeNull()
  expect(script.equals(Bun.gunzipSync(await compressed.arrayBuffer()))).toBe(true)
})

test('the document is OpenAPI 3.1 and holds the routes, without the hidden ones', () => {
  expect(document.openapi).toBe('3.1.0')
  expect(document.info).toMatchObject({ title: 'Poterne', version: '1.2.3' })
  expect(document.servers).toEqual([{ url: '/' }])
  expect(Object.keys(document.paths)).toEqual(['/api/v1/greetings', '/api/v1/clients/{name}'])
})

test('an operation takes and gives JSON alone, with its examples', () => {
  const { requestBody, responses } = document.paths['/api/v1/greetings'].post
  expect(Object.keys(requestBody.content)).toEqual(['application/json'])
  const { properties } = requestBody.content['application/json'].schema
  expect(properties.device_type).toEqual({ type: 'string', enum: ['Mobile', 'Tablette'] })
  expect(properties.count).toEqual({ type: 'integer' })
  expect(properties.nick).toEqual({ type: ['string', 'null'], maxLength: 5 })
  expect(Object.keys(responses[201].content)).toEqual(['application/json'])
  expect(responses[201].content['application/json'].example).toMatchObject({ name: 'Ada' })
})

test('an operation lists every code it can answer, each with an example', () => {
  const { responses } = document.paths['/api/v1/greetings'].post
  expect(Object.keys(responses)).toEqual(['201', '400', '413', '415', '422', '429', '500', '503'])
  const answerOf = (status: number) => resolveReference(document, responses[status])
  const json = answerOf(422).content['application/json']
  expect(json.schema.allOf[1].properties.code.enum).toEqual(['validation_failed', 'invalid_code'])
  expect(Object.keys(json.examples)).toEqual(['validation_failed', 'invalid_code'])
  expect(answerOf(429).headers['Retry-After']).toBeDefined()
  const { too_many_requests } = answerOf(429).content['application/json'].examples
  expect(resolveReference(document, too_many_requests).value).toMatchObject({
    status: 429,
    retry_after: 37,
  })
  expect(document.components.schemas.PoterneError.properties.code.enum).toEqual(Object.keys(errorStatus))
})

describe('the document of the service', () => {
  let published: Document
  const operations = () =>
    Object.values(published.paths as Record<string, Record<string, Document>>).flatMap((each) =>
      Object.values(each),
    )
  const successesOf = ({ responses }: Document): [string, Document][] =>
    Object.entries<Document>(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, response]) => [status, resolveReference(published, response)])
  beforeAll(async () => {
    published = JSON.parse(await openapiPage())
  })

  test('holds the hand-over: its addresses, its forms as forms, and its errors with OAuth’s names', () => {
    const { get } = published.paths['/oauth2/authorize']
    expect(Object.keys(get.responses)).toEqual(['303', '400', '429', 'default'])
    const required = get.parameters.filter(({ required }: Document) => required)
    expect(required.map(({ name }: Document) => name)).toEqual(['response_type', 'client_id', 'redirect_uri'])
    const { requestBody, responses } = published.paths['/oauth2/token'].post
    expect(Object.keys(requestBody.content)).toEqual(['application/x-www-form-urlencoded'])
    expect(Object.keys(responses)).toEqual(['200', '400', '401', '413', '415', '429', '500', '503'])
    expect(published.components.schemas.PoterneError.properties).toHaveProperty('error_description')
    for (const path of ['/oauth2/sign-out', '/oauth2/userinfo', '/oauth2/revoke'])
      expect(Object.keys(published.paths)).toContain(path)
  })

  test('is what a service publishes after every operation was called, which closes its body', async () => {
    const server = { docs: true, base_url: 'https://auth.example.com' }
    const passkeys = { rp_id: 'auth.example.com' }
    const applications = [
      {
        ...{ id: 'grafana', name: 'Grafana', redirect_uris: ['https://grafana.example.com/login'] },
        ...{ own: false, groups: ['*'] },
      },
    ]
    const pages = { enabled: true, applications }
    const service = await startService({ settings: { server, passkeys, pages } })
    for (const { method, path } of mountedRoutes()) {
      const body = method === 'GET' ? {} : { headers: { 'content-type': 'application/json' }, body: '{}' }
      await fetch(service.url + path.replace(/:\w+/g, 'x'), { method, redirect: 'manual', ...body })
    }
    const running: Document = await (await fetch(`${service.url}/swagger/json`)).json()
    await service.close()
    expect(running).toEqual(published)
  }, 60_000)

  longTest(
    'lints clean, by rules that find an example, a tag and a component that are wrong',
    async () => {
      const elsewhere = { ...published, servers: [{ url: 'https://auth.poterne.test' }] }
      expect(await lintOpenapi(elsewhere)).toEqual({ clean: true, report: '' })
      const broken = structuredClone(elsewhere)
      broken.components.schemas.Account.properties.id.examples = ['a word']
      broken.components.schemas.Unused = { type: 'string', enum: ['twice', 'twice'] }
      broken.paths['/healthz'].get.tags = ['Nowhere']
      const { clean, report } = await lintOpenapi(broken)
      expect(clean).toBe(false)
      for (const rule of ['schema-examples', 'unused-components', 'enum-values', 'tag-defined'])
        expect(report).toContain(rule)
    },
    120_000,
  )

  test('names what answers have in common, and refers to it', () => {
    const { schemas } = published.components
    const names = [
      'Account',
      'Tokens',
      'TwoFactorDue',
      'Session',
      'Identity',
      'RecoveryCodes',
      'PoterneError',
    ]
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining([...names, 'SignedIn', 'TwoFactorMethod']))
    expect(Object.keys(schemas.Account.properties)).toHaveLength(24)
    expect(schemas.SignedIn.properties.account).toEqual({ $ref: '#/components/schemas/Account' })
    const inlined = operations().flatMap((operation) =>
      successesOf(operation).filter(
        ([, { content }]) => content['application/json'].schema.$ref === undefined,
      ),
    )
    expect(inlined).toEqual([])
  })

  test('describes every success and shows an example that its schema allows', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false })
    ajv.addSchema(published, 'api')
    for (const operation of operations()) {
      expect([operation.operationId, operation.description]).toEqual([
        operation.operationId,
        expect.stringMatching(/\S/),
      ])
      for (const [, { description, content }] of successesOf(operation)) {
        const { schema, example } = content['application/json']
        expect(description).not.toBe('Done.')
        const validate = ajv.compile({ $ref: `api${schema.$ref}` })
        expect([operation.operationId, example, validate(example), validate.errors]).toEqual([
          operation.operationId,
          example,
          true,
          null,
        ])
      }
    }
  })

  test('says a sentence about every field and parameter that a client sends', () => {
    const silent = operations().flatMap(({ operationId, parameters = [], requestBody }) => [
      ...parameters
        .filter((parameter: Document) => !isDescribed(parameter))
        .map(({ name }: Document) => `${operationId}: ${name}`),
      ...Object.values<Document>(requestBody?.content ?? {}).flatMap(({ schema }) => [
        ...silentFields(operationId, schema),
      ]),
    ])
    expect(operations().length).toBeGreaterThan(50)
    expect(silent).toEqual([])
  })

  test('follows the journey of a person, each group described', () => {
    const names = published.tags.map(({ name }: { name: string }) => name)
    expect([names[0], names.at(-1)]).toEqual(['Registration', 'Operation'])
    expect(published.tags.every(({ description }: { description: string }) => description.length > 10)).toBe(
      true,
    )
    const tagged = operations().map(({ tags }) => names.indexOf(tags[0]))
    expect(tagged).toEqual(tagged.toSorted((a, b) => a - b))
  })

  test('has the keys and the discovery documents, and enumerations instead of unions of constants', () => {
    for (const name of ['jwks.json', 'oauth-authorization-server', 'openid-configuration'])
      expect(published.paths[`/.well-known/${name}`].get).toBeDefined()
    const text = JSON.stringify(published)
    expect(text).not.toContain('x-component')
    expect(text).not.toMatch(/"anyOf":\[\{"const"/)
    const body = published.paths['/api/v1/auth/login'].post.requestBody
    expect(body.description).toBe('Unknown fields are ignored.')
    expect(published.components.schemas.Event.properties.outcome.enum).toEqual(['success', 'failure'])
  })

  test('lists no refusal that an operation cannot give', async () => {
    const service = await startService()
    for (const path of ['/healthz', '/readyz', '/.well-known/jwks.json', '/api/v1/auth/social']) {
      expect(Object.keys(published.paths[path].get.responses)).toEqual(['200', '431', '500', '503'])
      expect((await service.call('GET', `${path}?a=%00`)).status).toBe(200)
      const long = { headers: { 'x-long': 'x'.repeat(32_000) } }
      expect((await fetch(service.url + path, long)).status).toBe(431)
    }
    await service.close()
  }, 60_000)
})

longTest('the linter would have told', async () => {
  const broken = structuredClone(document)
  delete broken.paths['/api/v1/greetings'].post.operationId
  broken.components.examples.invalid_code.value = {}
  delete broken.tags
  const { clean, report } = await lintOpenapi(broken)
  expect(clean).toBe(false)
  expect(report).toContain('operation-tag-defined')
  expect(report).toContain('operation-operationId')
})

test('without docs nothing of it exists', async () => {
  const bare = await startEnvelopeApp()
  for (const path of ['/swagger', '/swagger/json', '/swagger/reference.js']) {
    expect((await fetch(bare.url + path)).status).toBe(404)
  }
  await bare.stop()
})
