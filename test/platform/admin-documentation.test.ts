/** The description of the interface of administration: complete, clean, and only on its listener. */
import { beforeAll, describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import { lintOpenapi } from '../../scripts/lint-openapi.ts'
import { adminOpenapiPage } from '../../scripts/openapi-page.ts'
import { adminRoutes } from '../../src/compose/admin-app.ts'
import { listening, onListener } from '../helpers/administration.ts'
import { resolveReference } from '../helpers/openapi.ts'
import { longTest } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is read by paths, its type would be the whole of OpenAPI
type Document = any

describe('the document of administration', () => {
  const service = useService({ settings: listening })
  let published: Document
  const operations = (): [string, Document][] =>
    Object.entries<Record<string, Document>>(published.paths).flatMap(([path, methods]) =>
      Object.entries<Document>(methods).map(([method, operation]): [string, Document] => [
        `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
        operation,
      ]),
    )
  beforeAll(async () => {
    published = JSON.parse(await adminOpenapiPage())
  })

  test('is what a running service publishes, to everybody on its listener and to nobody else', async () => {
    // A first call closes the body of its operation.
    for (const { method, path } of adminRoutes)
      await onListener(service, method, path.replace(/:\w+/g, 'x'), method === 'GET' ? undefined : {})
    const running = await onListener(service, 'GET', '/admin/v1/openapi.json')
    expect(running.body).toEqual(published)
    const host = { host: 'admin.example.com' }
    const page = await fetch(`${service.adminUrl}/admin/docs`, { headers: host })
    expect(page.headers.get('content-security-policy')).toContain(`default-src 'none'`)
    expect(await page.text()).toContain('<script src="/admin/docs/reference.js"></script>')
    const script = await fetch(`${service.adminUrl}/admin/docs/reference.js`, { headers: host })
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    for (const path of ['openapi.json', 'accounts', 'tokens', 'session', 'administrators'])
      expect((await service.call('GET', `/admin/v1/${path}`)).body.code).toBe('route_not_found')
    for (const path of ['/admin', '/admin/', '/admin/docs'])
      expect((await service.call('GET', path)).body.code).toBe('route_not_found')
    const elsewhere = await onListener(service, 'GET', '/admin/v1/openapi.json', undefined, {
      headers: { host: 'evil.example' },
    })
    expect(elsewhere.body.code).toBe('route_not_found')
  })

  longTest(
    'lints clean',
    async () => {
      const elsewhere = { ...published, servers: [{ url: 'https://admin.poterne.test' }] }
      expect(await lintOpenapi(elsewhere)).toEqual({ clean: true, report: '' })
    },
    120_000,
  )

  test('has every route of the table, with what it asks for', () => {
    const described = new Map(operations())
    for (const { method, path, operation, access } of adminRoutes) {
      const found = described.get(`${method} ${path}`)
      if (access === 'operator') {
        expect([path, found]).toEqual([path, undefined])
        continue
      }
      expect([path, found.operationId]).toEqual([path, operation])
      const schemes = found.security.flatMap((way: object) => Object.keys(way))
      const expected = access === 'open' ? [] : access.includes(':') ? ['token', 'page'] : ['page']
      expect([path, schemes]).toEqual([path, expected])
      if (access.includes(':')) expect(found.description).toContain(`Scope \`${access}\`.`)
      const repeatable = found.parameters?.some(({ name }: { name: string }) => name === 'Idempotency-Key')
      expect([path, repeatable ?? false]).toEqual([
        path,
        method === 'POST' && access !== 'open' && access !== 'page',
      ])
    }
  })

  test('describes every success and shows an example that its schema allows', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false })
    ajv.addSchema(published, 'api')
    for (const [name, { responses }] of operations()) {
      for (const [status, response] of Object.entries<Document>(responses)) {
        const { description, content } = resolveReference(published, response)
        if (!status.startsWith('2')) continue
        const { schema, example } = content['application/json']
        expect([name, schema.$ref === undefined, description === 'Done.']).toEqual([name, false, false])
        const validate = ajv.compile({ $ref: `api${schema.$ref}` })
        expect([name, example, validate(example), validate.errors]).toEqual([name, example, true, null])
      }
    }
  })
})
