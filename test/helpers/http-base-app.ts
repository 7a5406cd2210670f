/** A small app around the httpBase, listening on a free port, whose log lines are kept. */
import { Elysia, t } from 'elysia'
import {
  createDocumentation,
  errorResponses,
  publicDocumentation,
} from '../../src/platform/http/documentation.ts'
import { appSettings, createHttpBase, type HttpBase } from '../../src/platform/http/http-base.ts'
import { hidden } from '../../src/platform/http/route-traits.ts'
import { createLogger } from '../../src/platform/log/logging.ts'
import { DatabaseUnavailable } from '../../src/platform/postgres/failure.ts'
import { RedisUnavailable } from '../../src/platform/redis/failure.ts'
import { createCatalog } from '../../src/texts/catalog.ts'
import { AppError } from '../../src/texts/errors.ts'

const greeting = t.Object(
  { status: t.Literal(201), message: t.String(), name: t.String() },
  { description: 'Greeted', examples: [{ status: 201, message: 'Bonjour', name: 'Ada' }] },
)

function greetingRoutes(httpBase: HttpBase) {
  return new Elysia({ prefix: '/api/v1' })
    .use(httpBase)
    .post(
      '/greetings',
      ({ body, client, set }) => {
        set.status = 201
        const message = client.texts.sentences.account_confirmed
        return { status: 201 as const, message, name: body.name }
      },
      {
        body: t.Object({
          name: t.String({ maxLength: 40 }),
          device_type: t.Optional(t.Union([t.Literal('Mobile'), t.Literal('Tablette')])),
          count: t.Optional(t.Integer()),
          nick: t.Optional(t.Nullable(t.String({ maxLength: 5 }))),
        }),
        response: { 201: greeting, ...errorResponses('invalid_code', 'too_many_requests') },
        detail: { summary: 'Greet somebody', operationId: 'greet', tags: ['Greetings'] },
      },
    )
    .get('/clients/:name', ({ params, client: { texts, ...client } }) => ({ name: params.name, ...client }), {
      params: t.Object({ name: t.String() }),
      response: {
        200: t.Object({
          name: t.String(),
          address: t.String(),
          addressBucket: t.String(),
          language: t.String(),
          requestId: t.String(),
        }),
        ...errorResponses('invalid_token'),
      },
      detail: {
        summary: 'Who asks',
        operationId: 'whoAsks',
        tags: ['Greetings'],
        security: [{ accessToken: [] }],
      },
    })
}

/** One route for each way to go wrong. */
function failingRoutes(httpBase: HttpBase) {
  return new Elysia({ prefix: '/fail', detail: { hide: true } })
    .use(httpBase)
    .get('/secret', () => {
      throw new Error('secret hunter2 SELECT * FROM accounts')
    })
    .get('/coded', () => {
      throw Object.assign(new TypeError('secret'), { code: '23505', status: 418 })
    })
    .get('/nothing', () => {
      throw null
    })
    .get('/text', () => {
      throw 'secret'
    })
    .get('/returned', ({ status }) => status(418, 'secret'))
    .get('/own-response', () => new Response('secret', { status: 404 }))
    .get('/to-response', () => {
      throw Object.assign(new Error('secret'), { toResponse: () => new Response('secret', { status: 400 }) })
    })
    .get('/shape', () => ({ secret: 'hunter2' }) as never, {
      response: { 200: t.Object({ name: t.String() }) },
    })
    .get('/limit', ({ set }) => {
      set.status = 201
      throw new AppError('too_many_requests', { retryAfterSeconds: 37 })
    })
    .get('/fields', () => {
      throw new AppError('validation_failed', {
        fields: [
          { field: 'password', code: 'weak_password', reason: 'too_short', minimum: 8 },
          { field: 'email', code: 'invalid_email' },
        ],
        retryAfterSeconds: 2,
      })
    })
    .get('/token', () => {
      throw new AppError('token_expired', { cause: 'exp' })
    })
    .get('/database', () => {
      throw new DatabaseUnavailable('secret')
    })
    .get('/driver', () => {
      throw new Error('secret', { cause: Object.assign(new Error('secret'), { code: 'ECONNREFUSED' }) })
    })
    .get('/redis', () => {
      throw new RedisUnavailable('TIMEOUT')
    })
    .get('/later', async () => {
      await Bun.sleep(1)
      throw new Error('secret')
    })
    .get('/redirect', ({ redirect }) => redirect('https://elsewhere.example/'))
}

export interface EnvelopeAppOptions {
  trustedProxies?: string[]
  corsOrigins?: string[]
  docs?: boolean
  bodyDeadlineMs?: number
}

export async function startEnvelopeApp({
  trustedProxies = [],
  corsOrigins = [],
  docs = false,
  bodyDeadlineMs = 15_000,
}: EnvelopeAppOptions = {}) {
  const lines: string[] = []
  const clock = { now: () => new Date('2030-01-02T03:04:05.678Z') }
  const logger = createLogger({ clock, write: (line) => lines.push(line) })
  const httpBase = createHttpBase({
    catalog: createCatalog({ language: 'fr' }),
    trustedProxies,
    corsOrigins,
    logger,
    bodyDeadlineMs,
  })
  const app = new Elysia(appSettings).use(httpBase).use(greetingRoutes(httpBase)).use(failingRoutes(httpBase))
  // One of the routes that take a form.
  app.post('/stop', () => 'stopped', hidden({ takes: 'form' }))
  if (docs)
    app.use(
      createDocumentation({ ...publicDocumentation, baseUrl: 'http://127.0.0.1:8080', version: '1.2.3' }),
    )
  app.listen({ port: 0, hostname: '127.0.0.1' })
  const port = app.server?.port ?? 0
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    port,
    lines,
    /** The log lines so far, parsed. */
    log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      }),
    stop: () => app.stop(true),
  }
}
