/** The parts that every answer has, on a listening app: headers, errors, languages, methods, the log. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { startEnvelopeApp } from '../helpers/http-base-app.ts'
import { bodiesOf, sendRaw, statusesOf } from '../helpers/raw-http.ts'

setDefaultTimeout(20_000)

type App = Awaited<ReturnType<typeof startEnvelopeApp>>
type Body = Record<string, unknown>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
let app: App

beforeAll(async () => {
  app = await startEnvelopeApp()
})
afterAll(() => app.stop())
beforeEach(() => {
  app.lines.length = 0
})

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(app.url + path, { headers, redirect: 'manual' })
  const text = await response.text()
  return { response, text, body: text.startsWith('{') ? (JSON.parse(text) as Body) : {} }
}

describe('headers', () => {
  test.each(['/api/v1/clients/ada', '/nowhere', '/fail/secret', '/fail/redirect', '/fail/returned'])(
    'every answer carries them: %s',
    async (path) => {
      const { response } = await get(path)
      expect(response.headers.get('x-request-id')).toMatch(UUID)
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('x-content-type-options')).toBe('nosniff')
      expect(response.headers.get('content-language')).toBe('fr')
      expect(response.headers.get('access-control-allow-origin')).toBeNull()
    },
  )

  test('an incoming request id is not taken over', async () => {
    const { response } = await get('/nowhere', { 'x-request-id': 'mine' })
    expect(response.headers.get('x-request-id')).toMatch(UUID)
  })

  test('the request id in the header, in the error body and in the log is the same', async () => {
    const { response, body } = await get('/nowhere')
    expect(body.request_id).toBe(response.headers.get('x-request-id'))
    expect(app.log()[0]?.request_id).toBe(body.request_id)
  })
})

describe('languages', () => {
  test.each([
    [undefined, 'fr', 'Cette adresse n’existe pas.'],
    ['en-GB,en;q=0.9,fr;q=0.1', 'en', 'There is nothing at this address.'],
    ['ar-MA', 'ar', 'لا يوجد شيء في هذا العنوان.'],
    ['de', 'fr', 'Cette adresse n’existe pas.'],
  ])('Accept-Language %p is answered in %s', async (header, language, message) => {
    const { response, body } = await get('/nowhere', header ? { 'accept-language': header } : {})
    expect(response.headers.get('content-language')).toBe(language)
    expect(body.message).toBe(message)
  })

  test('a success speaks it too', async () => {
    const response = await app.post('/api/v1/greetings', { name: 'Ada' }, { 'accept-language': 'en' })
    expect(response.status).toBe(201)
    expect(await response.json()).toEqual({
      status: 201,
      message: 'Your account has been confirmed.',
      name: 'Ada',
    })
  })
})

describe('errors', () => {
  test('the keys of an error body stand in their order, the optional ones only where they apply', async () => {
    const { response, body } = await get('/fail/fields')
    expect(Object.keys(body)).toEqual(['status', 'code', 'message', 'errors', 'retry_after', 'request_id'])
    expect(response.status).toBe(422)
    expect(body.errors).toEqual([
      {
        field: 'password',
        code: 'weak_password',
        message: 'Ce mot de passe est trop court : il faut au moins 8 caractères.',
      },
      { field: 'email', code: 'invalid_email', message: 'Cette adresse e-mail n’est pas valide.' },
    ])
    expect(Object.keys((await get('/nowhere')).body)).toEqual(['status', 'code', 'message', 'request_id'])
  })

  test('the time to wait is in the body and in Retry-After, whatever status was set before', async () => {
    const { response, body } = await get('/fail/limit')
    expect(response.status).toBe(429)
    expect(response.headers.get('retry-after')).toBe('37')
    expect(body).toMatchObject({ status: 429, code: 'too_many_requests', retry_after: 37 })
  })

  test('a refused token asks for a bearer token', async () => {
    const { response } = await get('/fail/token')
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  })

  test.each([
    '/fail/secret',
    '/fail/coded',
    '/fail/nothing',
    '/fail/text',
    '/fail/returned',
    '/fail/own-response',
    '/fail/to-response',
    '/fail/shape',
    '/fail/later',
  ])('what nobody foresaw is an internal_error that tells nothing: %s', async (path) => {
    const { response, text, body } = await get(path)
    expect(response.status).toBe(500)
    expect(body).toMatchObject({ status: 500, code: 'internal_error' })
    expect(text + app.lines.join('')).not.toMatch(/secret |hunter2|SELECT|"secret"|tea/)
    expect(app.log()[0]).toMatchObject({ level: 'error', status: 500, code: 'internal_error', route: path })
  })

  test('the log of an internal_error names what was thrown', async () => {
    await get('/fail/coded')
    expect(app.log()[0]).toMatchObject({ error: 'TypeError' })
    await get('/fail/shape')
    expect(app.log()[1]).toMatchObject({ error: 'ResponseValidation', cause: '/name' })
  })

  test.each([
    ['/fail/database', 'DatabaseUnavailable', undefined],
    ['/fail/driver', 'Error', 'ECONNREFUSED'],
    ['/fail/redis', 'RedisUnavailable', 'TIMEOUT'],
  ])('a store that is away is 503: %s', async (path, error, cause) => {
    const { response, body } = await get(path)
    expect(response.status).toBe(503)
    expect(body.code).toBe('unavailable')
    expect(app.log()[0]).toMatchObject({ level: 'warn', error })
    expect(app.log()[0]?.cause).toBe(cause as never)
  })
})

describe('routes and methods', () => {
  test('an unknown route is 404', async () => {
    const { response, body } = await get('/api/v1/greetings/1')
    expect(response.status).toBe(404)
    expect(body.code).toBe('route_not_found')
  })

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])(
    '%s on a POST route is 405',
    async (method) => {
      const answer = await sendRaw(app.port, [`${method} /api/v1/greetings?a=b HTTP/1.1\r\nHost: x\r\n\r\n`])
      expect(statusesOf(answer)).toEqual([405])
      expect(bodiesOf(answer)[0]?.code).toBe('method_not_allowed')
      expect(answer.text).toMatch(/^allow: OPTIONS, POST\r$/im)
      const { method: logged } = app.log()[0] ?? {}
      expect(logged).toBe(['TRACE', 'PROPFIND'].includes(method) ? 'other' : method)
    },
  )

  test('a method HTTP does not know ends the connection and nothing else', async () => {
    const answer = await sendRaw(app.port, ['FOO / HTTP/1.1\r\nHost: x\r\n\r\n'])
    expect(answer.closed).toBe(true)
    expect((await get('/api/v1/clients/ada')).response.status).toBe(200)
  })

  test('HEAD answers as GET does, without the body', async () => {
    const response = await fetch(`${app.url}/api/v1/clients/ada`, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-request-id')).toMatch(UUID)
    expect(await response.text()).toBe('')
    expect((await fetch(`${app.url}/api/v1/greetings`, { method: 'HEAD' })).status).toBe(405)
    const raw = await sendRaw(app.port, ['HEAD /nowhere HTTP/1.1\r\nHost: x\r\n\r\n'])
    expect(statusesOf(raw)).toEqual([404])
    expect(raw.text).toEndWith('\r\n\r\n')
  })

  test('OPTIONS says what a route takes', async () => {
    const response = await fetch(`${app.url}/api/v1/clients/ada`, { method: 'OPTIONS' })
    expect(response.status).toBe(204)
    expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
    expect((await fetch(`${app.url}/nowhere`, { method: 'OPTIONS' })).status).toBe(404)
  })

  test('X-HTTP-Method-Override changes nothing', async () => {
    const { response } = await get('/api/v1/greetings', { 'x-http-method-override': 'POST' })
    expect(response.status).toBe(405)
    const overridden = await app.post(
      '/api/v1/greetings',
      { name: 'Ada' },
      { 'x-http-method-override': 'DELETE' },
    )
    expect(overridden.status).toBe(201)
  })

  test.each(['a', 'x.y', 'a b', '', 'evil.example:1/?'])(
    'the Host header %p changes nothing',
    async (host) => {
      const path = '/api/v1/clients/ada'
      const answer = await sendRaw(app.port, [`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`])
      expect(statusesOf(answer)).toEqual([200])
      expect(bodiesOf(answer)[0]?.name).toBe('ada')
      expect(statusesOf(await sendRaw(app.port, [`GET /n HTTP/1.1\r\nHost: ${host}\r\n\r\n`]))).toEqual([404])
      const put = await sendRaw(app.port, [`PUT ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`])
      expect(statusesOf(put)).toEqual([405])
    },
  )
})

describe('the log', () => {
  test('has one JSON line a request, with the pattern of the route and without the query', async () => {
    await get('/api/v1/clients/ada%40example.com?token=abc')
    expect(app.lines).toHaveLength(1)
    expect(app.lines[0]).toEndWith('}\n')
    const line = app.log()[0] ?? {}
    expect(line).toMatchObject({
      level: 'info',
      time: '2030-01-02T03:04:05.678Z',
      method: 'GET',
      route: '/api/v1/clients/:name',
      status: 200,
      address: '127.0.0.1',
    })
    expect(typeof line.duration_ms).toBe('number')
    // The request id is random and may hold any of these by chance.
    const { request_id, ...rest } = line
    expect(JSON.stringify(rest)).not.toMatch(/ada|example|token|abc/)
    expect(request_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('names the error code, and no route where none matched', async () => {
    await get('/nobody@example.com')
    expect(app.log()[0]).toMatchObject({ route: null, status: 404, code: 'route_not_found' })
    expect(app.lines[0]).not.toContain('nobody')
    await get(`/a/b%40c.org/%2B33612345678/${'x'.repeat(43)}/end?q=secret`)
    expect(app.log()[1]).toMatchObject({ path: '/a/…/%2B…/…/end' })
    await get(`/${'y/'.repeat(500)}`)
    expect(app.log()[2]?.path).toHaveLength(120)
  })

  test('cannot be written by a client', async () => {
    const ansi = '\u001b[31mzzz\u009b31m'
    await get(`/api/v1/clients/${encodeURIComponent(`a\r\n{"level":"error"}${ansi}`)}`)
    await get(`/${encodeURIComponent(ansi)}%0d%0aX`, {
      'x-forwarded-for': '1.2.3.4%0d%0azzz',
      'user-agent': 'zzz',
    })
    await app.post('/api/v1/greetings', { name: `\r\n${ansi}` })
    expect(app.log().map(({ status }) => status)).toEqual([200, undefined, 404, 201])
    for (const line of app.lines) {
      expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
      expect(line).not.toContain('zzz')
    }
  })
})
