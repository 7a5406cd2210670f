/** The rules for a request's body: type, size, encoding, shape; and that nothing in it is ever said back. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { startEnvelopeApp } from '../helpers/http-base-app.ts'
import { bodiesOf, sendRaw, statusesOf } from '../helpers/raw-http.ts'

setDefaultTimeout(20_000)

type App = Awaited<ReturnType<typeof startEnvelopeApp>>

const PATH = '/api/v1/greetings'
const JSON_HEADERS = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
const FOLLOWING = 'GET /api/v1/clients/next HTTP/1.1\r\nHost: x\r\n\r\n'
let app: App

beforeAll(async () => {
  app = await startEnvelopeApp()
})
afterAll(() => app.stop())

async function errorOf(response: Response) {
  const body = (await response.json()) as {
    status: number
    code: string
    errors?: { field: string; code: string }[]
  }
  expect(body.status).toBe(response.status)
  return {
    status: body.status,
    code: body.code,
    errors: body.errors?.map(({ field, code }) => [field, code]),
  }
}

describe('the type of a body', () => {
  test.each([
    ['application/x-www-form-urlencoded', 'name=Ada'],
    [
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="name"\r\n\r\nAda\r\n--b--\r\n',
    ],
    ['text/plain', '{"name":"Ada"}'],
    ['application/jsonp', '{"name":"Ada"}'],
    ['application/octet-stream', '{"name":"Ada"}'],
    ['', '{"name":"Ada"}'],
  ])('%p is 415', async (type, body) => {
    const response = await app.post(PATH, body, { 'content-type': type })
    expect(await errorOf(response)).toMatchObject({ status: 415, code: 'unsupported_media_type' })
  })

  test('the answer names the type that is wanted', async () => {
    const said = async (path: string) => {
      const answer = await app.post(path, 'x', { 'content-type': 'text/plain', 'accept-language': 'en' })
      return [answer.status, ((await answer.json()) as { message: string }).message]
    }
    expect(await said(PATH)).toEqual([415, 'The request body must be sent as application/json.'])
    const form = [415, 'The request body must be sent as application/x-www-form-urlencoded.']
    expect(await said('/stop')).toEqual(form)
  })

  test.each(['PROPFIND', 'TRACE', 'QUERY', 'MKCOL', 'PURGE'])(
    '%s is 405, with what is allowed',
    async (method) => {
      const answer = await sendRaw(app.port, [
        `${method} ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n${FOLLOWING}`,
      ])
      expect(statusesOf(answer)).toEqual([405, 200])
      expect(answer.text.toLowerCase()).toContain('allow: options, post')
    },
  )

  test('a missing Content-Type is 415, and the connection lives on', async () => {
    const answer = await sendRaw(app.port, [
      `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 14\r\n\r\n{"name":"Ada"}${FOLLOWING}`,
    ])
    expect(statusesOf(answer)).toEqual([415, 200])
  })

  test('a compressed body is 415', async () => {
    const body = Bun.gzipSync('{"name":"Ada"}')
    expect((await app.post(PATH, body, { 'content-encoding': 'gzip' })).status).toBe(415)
  })

  test.each([
    'application/json',
    'APPLICATION/JSON ; charset="UTF-8"',
    'application/json; version=1',
    'application/json; charset=utf8',
    "application/json;charset='utf-8'",
    'application/json; charset=us-ascii',
    'application/json; charset=utf-16',
  ])('%p is read, since JSON has no charset', async (type) => {
    expect((await app.post(PATH, { name: 'Ada' }, { 'content-type': type })).status).toBe(201)
    const latin = Buffer.from('{"name":"Zoë"}', 'latin1')
    expect(await errorOf(await app.post(PATH, latin, { 'content-type': type }))).toMatchObject({
      status: 400,
      code: 'malformed_json',
    })
  })

  test('no body at all is an empty object', async () => {
    const required = { status: 422, code: 'validation_failed', errors: [['name', 'required']] }
    expect(await errorOf(await fetch(app.url + PATH, { method: 'POST' }))).toEqual(required)
    expect(await errorOf(await app.post(PATH, '{}'))).toEqual(required)
    const raw = await sendRaw(app.port, [`${JSON_HEADERS}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`])
    expect(statusesOf(raw)).toEqual([422])
  })
})

describe('the JSON of a body', () => {
  test.each([
    ['cut short', '{"name":"Ada"'],
    ['with something behind it', '{"name":"Ada"} x'],
    ['with a comment', '{/**/"name":"Ada"}'],
    ['of NaN', '{"name":NaN}'],
    ['of blanks', '   '],
    ['nested 33 deep', `{"name":${'['.repeat(33)}${']'.repeat(33)}}`],
    ['nested 8,000 deep', '['.repeat(8000) + ']'.repeat(8000)],
    ['opened 16,000 times', '{"a":'.repeat(3000)],
  ])('%s is 400', async (_name, body) => {
    expect(await errorOf(await app.post(PATH, body))).toMatchObject({ status: 400, code: 'malformed_json' })
  })

  test('invalid UTF-8 is 400', async () => {
    for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0xaf]]) {
      const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')])
      expect(await errorOf(await app.post(PATH, body))).toMatchObject({ status: 400, code: 'malformed_json' })
    }
  })

  test.each(['[]', '[{"name":"Ada"}]', '"Ada"', '1', 'null', 'true'])('%s is 422', async (body) => {
    const errors = [['body', 'invalid_type']]
    expect(await errorOf(await app.post(PATH, body))).toEqual({
      status: 422,
      code: 'validation_failed',
      errors,
    })
  })

  test('every wrong field is named with its code, and no value is said back', async () => {
    const response = await app.post(PATH, {
      name: 'hunter2'.repeat(9),
      device_type: 'hunter2',
      count: 'hunter2',
      nick: ['hunter2'],
    })
    const text = await response.text()
    expect(text).not.toContain('hunter2')
    const { errors } = JSON.parse(text) as { errors: { field: string; code: string }[] }
    expect(errors.map(({ field, code }) => [field, code])).toEqual([
      ['name', 'too_long'],
      ['device_type', 'invalid_value'],
      ['count', 'invalid_type'],
      ['nick', 'invalid_type'],
    ])
  })

  test('a field that may be null is checked as what it is otherwise', async () => {
    const codeOf = async (nick: unknown) =>
      (await errorOf(await app.post(PATH, { name: 'Ada', nick }))).errors
    expect((await app.post(PATH, { name: 'Ada', nick: null })).status).toBe(201)
    expect(await codeOf('hunter2')).toEqual([['nick', 'too_long']])
    expect(await codeOf(5)).toEqual([['nick', 'invalid_type']])
  })

  test.each([[null], [1], [true], [['Ada']], [{ a: 'Ada' }]])('%p is no string', async (name) => {
    const errors = [['name', 'invalid_type']]
    expect(await errorOf(await app.post(PATH, { name }))).toEqual({
      status: 422,
      code: 'validation_failed',
      errors,
    })
  })

  test.each(['{"name":"a\\u0000b"}', '{"name":"\\ud800"}', '{"name":"\\udc00\\ud800"}'])(
    '%s holds invalid characters',
    async (body) => {
      const errors = [['name', 'invalid_characters']]
      expect(await errorOf(await app.post(PATH, body))).toEqual({
        status: 422,
        code: 'validation_failed',
        errors,
      })
    },
  )

  test('NUL in a path is refused, a surrogate pair in a body is not', async () => {
    expect((await fetch(`${app.url}/api/v1/clients/a%00b`)).status).toBe(422)
    expect((await app.post(PATH, '{"name":"\\ud83d\\ude00"}')).status).toBe(201)
  })

  test('fields nobody asked for are ignored, prototypes among them', async () => {
    const body =
      '{"name":"Ada","role_id":7,"__proto__":{"polluted":1,"device_type":3},"constructor":{"prototype":{"polluted":1}}}'
    const response = await app.post(PATH, body)
    expect(response.status).toBe(201)
    expect(Object.keys((await response.json()) as object)).toEqual(['status', 'message', 'name'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    const inherited = await app.post(PATH, '{"__proto__":{"name":"Ada"}}')
    expect(await errorOf(inherited)).toMatchObject({ status: 422, errors: [['name', 'required']] })
  })

  test('an unknown key is not said back', async () => {
    const response = await app.post(PATH, '{"name":"Ada","<script>":"\\u0000"}')
    expect(response.status).toBe(201)
  })
})

describe('the size of a body', () => {
  const padded = (bytes: number) => `{"name":"Ada","pad":"${'x'.repeat(bytes - 23)}"}`

  test('16 KiB are read, one byte more is 413', async () => {
    expect((await app.post(PATH, padded(16_384))).status).toBe(201)
    const response = await app.post(PATH, padded(16_385))
    expect(await errorOf(response)).toMatchObject({ status: 413, code: 'body_too_large' })
  })

  test('depth 200,000 is refused by its size', async () => {
    expect((await app.post(PATH, '['.repeat(200_000))).status).toBe(413)
  })

  test('100 MB are refused before they are read, in shape', async () => {
    const piece = new Uint8Array(1 << 20).fill(0x61)
    const head = `${JSON_HEADERS}Content-Length: ${100 << 20}\r\n\r\n`
    const answer = await sendRaw(app.port, [head, ...Array<Uint8Array>(100).fill(piece), FOLLOWING])
    expect(statusesOf(answer)).toEqual([413, 200])
    expect(bodiesOf(answer)[0]?.code).toBe('body_too_large')
  })

  test('chunks are cut at the limit, and the connection closed behind the answer', async () => {
    const chunk = `1000\r\n${'x'.repeat(4096)}\r\n`
    const answer = await sendRaw(app.port, [
      `${JSON_HEADERS}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array<string>(5).fill(chunk),
    ])
    expect(statusesOf(answer)).toEqual([413])
    expect(bodiesOf(answer)[0]?.code).toBe('body_too_large')
    expect(answer.closed).toBe(true)
  })

  test('chunks within the limit are read, and the connection lives on', async () => {
    const answer = await sendRaw(app.port, [
      `${JSON_HEADERS}Transfer-Encoding: chunked\r\n\r\n7\r\n{"name"\r\n`,
      `7\r\n:"Ada"}\r\n0\r\n\r\n`,
      FOLLOWING,
    ])
    expect(statusesOf(answer)).toEqual([201, 200])
  })

  test('chunks nobody asked for do not keep a connection', async () => {
    const answer = await sendRaw(app.port, [
      'POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
    ])
    expect(statusesOf(answer)).toEqual([404])
    expect(answer.closed).toBe(true)
  })
})

describe('the time of a body', () => {
  test.each([
    ['with a length', 'Content-Length: 14\r\n\r\n{"na'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\n{"na\r\n'],
  ])('a body %s that does not arrive is 400, and the connection closed', async (_name, rest) => {
    const slow = await startEnvelopeApp({ bodyDeadlineMs: 100 })
    const answer = await sendRaw(slow.port, [JSON_HEADERS + rest])
    expect(statusesOf(answer)).toEqual([400])
    expect(bodiesOf(answer)[0]?.code).toBe('malformed_json')
    expect(answer.closed).toBe(true)
    expect(slow.log()[0]?.cause).toBe('deadline')
    await slow.stop()
  })
})

describe('framing', () => {
  test.each([
    ['two Content-Lengths', 'Content-Length: 14\r\nContent-Length: 15\r\n\r\n{"name":"Ada"}'],
    ['both lengths and chunks', 'Content-Length: 14\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a negative length', 'Content-Length: -1\r\n\r\n{"name":"Ada"}'],
    ['broken chunks', 'Transfer-Encoding: chunked\r\n\r\nZZ\r\nabc\r\n'],
    ['a header of 20 KB', `X-A: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('%s: refused by the server itself, which closes', async (_name, rest) => {
    const answer = await sendRaw(app.port, [JSON_HEADERS + rest])
    expect(answer.closed).toBe(true)
    expect(statusesOf(answer).filter((status) => status < 400)).toEqual([])
  })
})
