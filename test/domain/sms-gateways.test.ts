/** SMS against real HTTP gateways: encoding, failover, and what a gateway cannot do to the service. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer } from 'node:http'
import { createServer as createSocketServer, type Server } from 'node:net'
import { createBreaker } from '../../src/domain/messages/senders/breaker.ts'
import type { RenderedMessage } from '../../src/domain/messages/senders/sender.ts'
import { createSmsSender } from '../../src/domain/messages/sms-gateways/gateways.ts'
import type { GatewayConfig } from '../../src/platform/config/types.ts'
import { newPhone, registration } from '../helpers/api-client.ts'
import { type GatewayBehaviour, startGateway, type TestGateway } from '../helpers/gateway.ts'
import { createFrozenClock } from '../helpers/limited-service.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { measured } from '../helpers/timing.ts'

setDefaultTimeout(20_000)

const open: TestGateway[] = []
const services: TestService[] = []
const sockets: Server[] = []
afterEach(async () => {
  for (const server of sockets.splice(0)) server.close()
  for (const service of services.splice(0)) await service.close()
  for (const gateway of open.splice(0)) await gateway.stop()
})

const hostile = 'a "quoted" \\ & b=c;d+e%20{code}\r\nX-Evil: 1 <é> 😀 {to}'

function message(values: Partial<RenderedMessage> = {}): RenderedMessage {
  return {
    id: 1,
    channel: 'sms',
    to: '+33612345678',
    purpose: 'confirmation',
    language: 'fr',
    subject: '',
    text: 'Votre code : 012345\n\n@auth.example.com #012345',
    html: null,
    code: '012345',
    minutes: 10,
    ...values,
  }
}

async function serve(behaviour: GatewayBehaviour = {}): Promise<TestGateway> {
  const gateway = await startGateway({ behaviour })
  open.push(gateway)
  return gateway
}

function gatewayAt({ url }: { url: string }, values: Partial<GatewayConfig> = {}): GatewayConfig {
  return {
    name: 'acme',
    channel: 'sms',
    url,
    method: 'POST',
    headers: { authorization: 'Bearer secret' },
    format: 'json',
    body: { to: '{to}', text: '{text}' },
    basicAuth: null,
    oauth: null,
    success: null,
    retry: null,
    messageId: null,
    receipts: null,
    prefixes: [],
    timeoutMs: 2000,
    ...values,
  }
}

const send = (gateways: GatewayConfig[], values: Partial<RenderedMessage> = {}) =>
  createSmsSender(gateways).send(message(values))

describe('each format', () => {
  test.each([
    ['json', 'POST', 'application/json'],
    ['form', 'POST', 'application/x-www-form-urlencoded'],
    ['form', 'PUT', 'application/x-www-form-urlencoded'],
    ['query', 'GET', undefined],
    ['query', 'POST', undefined],
  ] as const)('%s by %s carries any text unharmed', async (format, method, contentType) => {
    const gateway = await serve()
    const config = gatewayAt(gateway, {
      format,
      method,
      body: { to: '{to}', text: '<{text}|{code}>', lang: 'x&y' },
    })
    expect(await send([config], { text: hostile })).toMatchObject({ outcome: 'sent', detail: 'acme' })
    const [request] = gateway.requests
    expect(request?.method).toBe(method)
    expect(request?.headers.authorization).toBe('Bearer secret')
    expect(request?.headers['content-type']).toBe(contentType as string)
    expect(request?.headers).not.toHaveProperty('x-evil')
    expect(request?.fields).toEqual({ to: '+33612345678', text: `<${hostile}|012345>`, lang: 'x&y' })
  })

  test('keeps what the URL asks already', async () => {
    const gateway = await serve()
    await send([gatewayAt({ url: `${gateway.url}?account=7` }, { format: 'query', method: 'GET' })])
    expect(gateway.requests[0]?.fields).toMatchObject({ account: '7', to: '+33612345678' })
  })

  test('fills each placeholder once, also in headers and percent-encoded in the URL, and none in names', async () => {
    const gateway = await serve()
    const config = gatewayAt(
      { url: `${gateway.url}/{to}/x?lang={language}` },
      {
        body: {
          '{to}': '{{to}}',
          digits: '{to_digits}',
          national: '{to_national}',
          min: '{minutes}',
          id: '{id}',
        },
        headers: { 'x-code': '{code}', 'x-text': '{text}' },
      },
    )
    expect(await send([config], { text: '{code} é\n' })).toMatchObject({ outcome: 'sent' })
    const [request] = gateway.requests
    expect(request?.fields).toEqual({
      '{to}': '{to}}',
      digits: '33612345678',
      national: '612345678',
      min: '10',
      id: 'poterne-1',
    })
    expect(request?.path).toBe('/send/%2B33612345678/x')
    expect(request?.headers).toMatchObject({ 'x-code': '012345', 'x-text': '%7Bcode%7D%20%C3%A9%0A' })
  })

  test('says its own content type where the configuration names one', async () => {
    const gateway = await serve()
    await send([gatewayAt(gateway, { headers: { 'Content-Type': 'application/json; charset=utf-8' } })])
    expect(gateway.requests[0]?.headers['content-type']).toBe('application/json; charset=utf-8')
  })
})

describe('the next gateway', () => {
  test('gets the same message when one fails, refuses, breaks or is away', async () => {
    const gone = await serve()
    await gone.stop()
    const broken = [{ status: 503 }, { status: 400 }, { hangUp: true }, { delayMs: 1500 }] as const
    for (const behaviour of [...broken, null]) {
      const first = behaviour === null ? gone : await serve(behaviour)
      const second = await serve()
      const gateways = [gatewayAt(first, { timeoutMs: 400 }), gatewayAt(second, { name: 'beta' })]
      expect(await send(gateways)).toMatchObject({ outcome: 'sent', detail: 'beta' })
      expect(second.messages).toMatchObject([{ to: '+33612345678', code: '012345' }])
    }
  })

  test('is not asked when the first took the message', async () => {
    const [first, second] = [await serve({ status: 202 }), await serve()]
    await send([gatewayAt(first), gatewayAt(second, { name: 'beta' })])
    expect(second.requests).toHaveLength(0)
  })

  test('is chosen by the number', async () => {
    const [french, ivorian] = [await serve(), await serve()]
    const gateways = [
      gatewayAt(french, { prefixes: ['+33', '+32'] }),
      gatewayAt(ivorian, { name: 'abidjan', prefixes: ['+225'] }),
    ]
    expect(await send(gateways, { to: '+2250700000000' })).toMatchObject({
      outcome: 'sent',
      detail: 'abidjan',
    })
    expect(await send(gateways, { to: '+32470123456' })).toMatchObject({ outcome: 'sent', detail: 'acme' })
    expect(await send(gateways, { to: '+14155550000' })).toMatchObject({
      outcome: 'refused',
      detail: 'no_gateway',
    })
    expect([french.requests.length, ivorian.requests.length]).toEqual([1, 1])
  })
})

describe('the outcome', () => {
  test.each([
    [400, 'refused'],
    [401, 'failed'],
    [403, 'failed'],
    [404, 'refused'],
    [422, 'refused'],
    [408, 'failed'],
    [429, 'failed'],
    [500, 'failed'],
    [503, 'failed'],
    [200, 'sent'],
    [204, 'sent'],
  ] as const)('of a %d is %s', async (status, outcome) => {
    const gateway = await serve({ status, replyBytes: status === 204 ? 0 : 2 })
    expect(await send([gatewayAt(gateway)])).toMatchObject({
      outcome,
      detail: outcome === 'sent' ? 'acme' : `acme:${status}`,
    })
  })

  test('is final only when every gateway refused', async () => {
    const [refusing, failing] = [await serve({ status: 400 }), await serve({ status: 500 })]
    const both = [gatewayAt(refusing), gatewayAt(failing, { name: 'beta' })]
    expect(await send(both)).toMatchObject({ outcome: 'failed', detail: 'acme:400,beta:500' })
    const again = [gatewayAt(refusing), gatewayAt(refusing, { name: 'beta' })]
    expect(await send(again)).toMatchObject({ outcome: 'refused', detail: 'acme:400,beta:400' })
  })

  test.each(['0612345678', '+33 612345678', '+33612345678\r\nX: 1', '+33612345678,+33699999999', '+', ''])(
    'for %j, which is not one number, is a refusal without a request',
    async (to) => {
      const gateway = await serve()
      expect(await send([gatewayAt(gateway)], { to })).toMatchObject({
        outcome: 'refused',
        detail: 'sms_number',
      })
      expect(gateway.requests).toHaveLength(0)
    },
  )
})

describe('a gateway cannot', () => {
  test('lead the service elsewhere: a redirect is a failure and nobody follows it', async () => {
    const inside = await serve()
    const gateway = await serve({ redirect: inside.url })
    expect(await send([gatewayAt(gateway)])).toMatchObject({ outcome: 'failed', detail: 'acme:302' })
    expect(inside.requests).toHaveLength(0)
  })

  test('fill the memory: of a reply of ten megabytes, or without an end, only the beginning is read', async () => {
    const large = await serve({ replyBytes: 10_000_000 })
    let closed = Promise.withResolvers<void>()
    const endless = createServer((_, response) => {
      response.writeHead(200)
      const write = () => {
        while (response.write('x'.repeat(65_536)));
      }
      const { resolve } = closed
      response.on('drain', write).on('close', resolve).on('error', resolve)
      write()
    })
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve))
    const { port } = endless.address() as { port: number }
    const untilRead = async () => {
      closed = Promise.withResolvers<void>()
      const start = performance.now()
      for (const { url } of [large, { url: `http://127.0.0.1:${port}` }]) {
        expect(await send([gatewayAt({ url })])).toMatchObject({ outcome: 'sent', detail: 'acme' })
      }
      await closed.promise
      return performance.now() - start
    }
    expect(await measured(untilRead, (ms) => ms < 1000)).toBeLessThan(1000)
    endless.close()
  })

  test('hold a message beyond its timeout, before the answer or in the middle of it', async () => {
    const silent = await serve({ delayMs: 1500 })
    const dripping = await serve({ drip: true, status: 500 })
    const untilGivenUp = async () => {
      const start = performance.now()
      expect(await send([gatewayAt(silent, { timeoutMs: 300 })])).toMatchObject({
        outcome: 'unknown',
        detail: 'acme:timeout,acme:timeout',
      })
      expect(await send([gatewayAt(dripping, { timeoutMs: 300 })])).toMatchObject({
        outcome: 'failed',
        detail: 'acme:500',
      })
      return performance.now() - start
    }
    expect(await measured(untilGivenUp, (ms) => ms < 1400)).toBeLessThan(1400)
  })

  test('have a message sent twice by dripping its reply: its status counts', async () => {
    const [dripping, second] = [await serve({ drip: true }), await serve()]
    const gateways = [gatewayAt(dripping, { timeoutMs: 300 }), gatewayAt(second, { name: 'beta' })]
    expect(await send(gateways)).toMatchObject({ outcome: 'sent', detail: 'acme' })
    expect(second.requests).toHaveLength(0)
  })
})

describe('a verdict from the body', () => {
  const vonage: Partial<GatewayConfig> = {
    success: { path: 'messages.0.status', equals: '0', in: [], exists: null },
    retry: { path: 'messages.0.status', equals: null, in: ['1', '5'], exists: null },
    messageId: 'messages.0.message-id',
  }
  const json = (status: unknown) => JSON.stringify({ messages: [{ status, 'message-id': 'id-1' }] })

  test.each([
    [json('0'), 'sent'],
    [json(0), 'sent'],
    [json('4'), 'refused'],
    [json('1'), 'failed'],
    [json(5), 'failed'],
    [json(null), 'failed'],
    ['{"messages": []}', 'failed'],
    ['{"messages": [{"status": {"0": 0}}]}', 'failed'],
    ['not JSON', 'failed'],
    ['', 'failed'],
    [`{"padding": "${'x'.repeat(70_000)}", ${json('0').slice(1)}`, 'failed'],
  ] as const)('of a 200 with %s is %s', async (body, outcome) => {
    const gateway = await serve({ body })
    const result = await send([gatewayAt(gateway, vonage)])
    expect(result.outcome).toBe(outcome)
    expect(result.providerId).toBe(outcome === 'sent' ? 'id-1' : undefined)
  })

  test('makes the next gateway take the message, and names the first with its words', async () => {
    const [first, second] = [await serve({ body: json('4') }), await serve()]
    const gateways = [gatewayAt(first, vonage), gatewayAt(second, { name: 'beta' })]
    const { outcome, detail, refusals } = await send(gateways)
    expect({ outcome, detail }).toEqual({ outcome: 'sent', detail: 'beta' })
    expect(refusals).toEqual([{ gateway: 'acme', outcome: 'refused', detail: 'reply', reason: json('4') }])
  })

  test('never counts a reply that does not end as sent', async () => {
    const gateway = await serve({ drip: true })
    const result = await send([gatewayAt(gateway, { ...vonage, timeoutMs: 300 })])
    expect(result.outcome).toBe('unknown')
  })

  test('reads forms and plain text', async () => {
    const form = await serve({ body: 'status=OK&id=7', contentType: 'application/x-www-form-urlencoded' })
    const text = await serve({ body: 'OK 42\n' })
    const at = (path: string, equals: string) => ({ path, equals, in: [], exists: null })
    expect(await send([gatewayAt(form, { success: at('status', 'OK'), messageId: 'id' })])).toMatchObject({
      outcome: 'sent',
      providerId: '7',
    })
    expect(
      await send([gatewayAt(text, { success: at('words.0', 'OK'), messageId: 'words.1' })]),
    ).toMatchObject({ outcome: 'sent', providerId: '42' })
    expect(await send([gatewayAt(text, { success: at('text', 'OK') })])).toMatchObject({ outcome: 'refused' })
  })

  test('reads whether a value is there', async () => {
    const gateway = await serve({ body: '{"ids": [1], "error": null}' })
    const exists = (path: string, is: boolean) => ({ path, equals: null, in: [], exists: is })
    for (const [path, is, outcome] of [
      ['ids.0', true, 'sent'],
      ['ids.1', true, 'refused'],
      ['error', false, 'sent'],
      ['ids', false, 'refused'],
    ] as const) {
      expect((await send([gatewayAt(gateway, { success: exists(path, is) })])).outcome).toBe(outcome)
    }
  })
})

describe('an outcome that is unknown', () => {
  const success = { path: 'status', equals: '0', in: [], exists: null }

  /** Takes whatever is sent to it, and answers with these bytes, which may be none or only a part. */
  async function rawGateway(reply: string | null) {
    const taken: string[] = []
    const server = createSocketServer((socket) => {
      socket.on('error', () => {})
      let request = ''
      socket.on('data', (data) => {
        request += data.toString()
        if (!request.includes('poterne-1')) return
        taken.push(request)
        if (reply !== null) socket.write(reply)
        if (reply?.endsWith('!')) socket.destroy()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    sockets.push(server)
    return { url: `http://127.0.0.1:${port}/send`, port, taken }
  }

  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 40\r\n\r\n'
  test.each([
    ['no reply', null],
    ['a reply that stalls in its head', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['a reply that stalls in its body', `${head}{"status"`],
    ['a reply that breaks off', `${head}{"status": "0"}!`],
    ['a reply that is none', 'oops\r\n\r\n!'],
  ])('after %s: one more attempt, by the next gateway, with the same id', async (_, reply) => {
    for (const format of ['json', 'query'] as const) {
      const first = await rawGateway(reply)
      const [second, third] = [await serve({ status: 503 }), await serve()]
      const more = {
        success,
        timeoutMs: 400,
        body: { id: '{id}' },
        format,
        method: format === 'json' ? ('POST' as const) : ('GET' as const),
      }
      const gateways = [
        gatewayAt(first, more),
        gatewayAt(second, { ...more, name: 'beta' }),
        gatewayAt(third, { ...more, name: 'gamma' }),
      ]
      const { outcome, refusals } = await send(gateways)
      expect([outcome, refusals?.map(({ outcome }) => outcome)]).toEqual(['unknown', ['unknown', 'failed']])
      expect([first.taken.length, second.requests.length, third.requests.length]).toEqual([1, 1, 0])
      expect(second.requests[0]?.fields).toEqual({ id: 'poterne-1' })
    }
  })

  test('with one gateway: it is asked once more, and its answer then counts', async () => {
    const gateway = await serve({ hangUp: true })
    const sending = send([gatewayAt(gateway)])
    expect(await sending).toMatchObject({ outcome: 'unknown', detail: 'acme:broken,acme:broken' })
    expect(gateway.requests).toHaveLength(2)
    const slow = await serve({ delayMs: 1500 })
    const first = send([gatewayAt(slow, { timeoutMs: 500 })])
    while (slow.requests.length === 0) await Bun.sleep(10)
    slow.behave({})
    expect(await first).toMatchObject({ outcome: 'sent', detail: 'acme' })
  })

  test('is none while the connection was never made: such a message is tried on', async () => {
    const silent = await rawGateway(null)
    const https = gatewayAt({ url: `https://127.0.0.1:${silent.port}/send` }, { timeoutMs: 300 })
    expect(await send([https, { ...https, name: 'beta' }])).toMatchObject({
      outcome: 'failed',
      detail: 'acme:timeout,beta:timeout',
    })
    const gone = await serve()
    await gone.stop()
    for (const method of ['POST', 'GET'] as const) {
      const gateway = gatewayAt(gone, { format: 'query', method })
      expect(await send([gateway])).toMatchObject({ outcome: 'failed', detail: 'acme:connection' })
    }
  })

  test('is none because of a byte order mark', async () => {
    const mark = '\ufeff'
    const tokens = await serve({ body: `${mark}{"access_token": "t1"}` })
    const gateway = await serve({
      body: `${mark}{"status": "0", "id": "m1"}`,
      contentType: 'application/json',
    })
    const oauth = { token_url: tokens.url, client_id: 'a', client_secret: 'b', scope: null, auth: null }
    expect(await send([gatewayAt(gateway, { headers: {}, oauth, success, messageId: 'id' })])).toMatchObject({
      outcome: 'sent',
      providerId: 'm1',
    })
    const text = await serve({ body: `${mark}OK 42` })
    const taken = { ...success, path: 'words.0', equals: 'OK' }
    expect(await send([gatewayAt(text, { success: taken })])).toMatchObject({ outcome: 'sent' })
  })
})

describe('credentials', () => {
  test('are sent by HTTP Basic', async () => {
    const gateway = await serve()
    await send([gatewayAt(gateway, { headers: {}, basicAuth: { username: 'ada', password: 'sécret' } })])
    expect(gateway.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('ada:sécret').toString('base64')}`,
    )
  })

  test('are exchanged for a token, which serves for all messages and is fetched anew when it is refused', async () => {
    const tokens = await serve({ body: '{"access_token": "t1", "expires_in": 3600}' })
    const gateway = await serve()
    const oauth = {
      token_url: tokens.url,
      client_id: 'acme',
      client_secret: 'secret',
      scope: 'sms',
      auth: null,
    }
    const sender = createSmsSender([gatewayAt(gateway, { headers: {}, oauth })])
    await Promise.all([sender.send(message()), sender.send(message()), sender.send(message())])
    expect(tokens.requests).toHaveLength(1)
    expect(tokens.requests[0]?.fields).toEqual({ grant_type: 'client_credentials', scope: 'sms' })
    expect(tokens.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('acme:secret').toString('base64')}`,
    )
    expect(gateway.requests.map(({ headers }) => headers.authorization)).toEqual(Array(3).fill('Bearer t1'))
    tokens.behave({ body: '{"access_token": "t2", "expires_in": 3600}' })
    gateway.behave({ status: 401 })
    expect(await sender.send(message())).toMatchObject({ outcome: 'failed', detail: 'acme:401' })
    expect(gateway.requests.slice(3).map(({ headers }) => headers.authorization)).toEqual([
      'Bearer t1',
      'Bearer t2',
    ])
  })

  test('of the token are form-encoded, or as they are, or in the body', async () => {
    const tokens = await serve({ body: '{"access_token": "t1"}' })
    const [client_id, client_secret] = ['a b', 'k+9/Z%41:x=&é']
    const gateway = await serve()
    for (const auth of [null, 'basic', 'basic-plain', 'body'] as const) {
      const oauth = { token_url: tokens.url, client_id, client_secret, scope: null, auth }
      await send([gatewayAt(gateway, { headers: {}, oauth })])
    }
    const pairs = tokens.requests.map(({ headers }) =>
      Buffer.from(headers.authorization?.slice(6) ?? '', 'base64').toString(),
    )
    const encoded = 'a+b:k%2B9%2FZ%2541%3Ax%3D%26%C3%A9'
    expect(pairs).toEqual([encoded, encoded, `${client_id}:${client_secret}`, ''])
    expect(tokens.requests[3]?.fields).toMatchObject({ client_id, client_secret })
  })

  test('give a token that is kept until a minute before its end', async () => {
    const tokens = await serve({ body: '{"access_token": "t1", "expires_in": 600}' })
    const oauth = { token_url: tokens.url, client_id: 'a', client_secret: 'b', scope: null, auth: null }
    const clock = createFrozenClock()
    const sender = createSmsSender([gatewayAt(await serve(), { headers: {}, oauth })], { clock })
    const asked: number[] = []
    for (const passedMs of [0, 539_999, 1]) {
      clock.advance(passedMs)
      await sender.send(message())
      asked.push(tokens.requests.length)
    }
    expect(asked).toEqual([1, 1, 2])
  })

  test('that are refused cost a try, not the message', async () => {
    const tokens = await serve({ status: 401, body: '{"error": "invalid_client"}' })
    const oauth = { token_url: tokens.url, client_id: 'a', client_secret: 'b', scope: null, auth: null }
    expect(await send([gatewayAt(await serve(), { headers: {}, oauth })])).toMatchObject({
      outcome: 'failed',
      detail: 'acme:oauth',
    })
  })
})

test('a token is read from the first 64 KiB of its reply, however long that is', async () => {
  const padding = 'x'.repeat(65_536)
  const tokens = await serve({ body: `{"padding": "${padding}", "access_token": "t1"}` })
  const oauth = { token_url: tokens.url, client_id: 'a', client_secret: 'b', scope: null, auth: null }
  expect(await send([gatewayAt(await serve(), { headers: {}, oauth })])).toMatchObject({ outcome: 'failed' })
})

describe('a gateway in trouble', () => {
  test('is asked last after five failures in a row, for a minute, and then probed by one message', async () => {
    const [first, second] = [await serve({ status: 500 }), await serve()]
    const clock = createFrozenClock()
    const gateways = [gatewayAt(first), gatewayAt(second, { name: 'beta' })]
    const sender = createSmsSender(gateways, { clock, breaker: createBreaker(clock) })
    for (let i = 0; i < 8; i++) await sender.send(message())
    expect([first.requests.length, second.requests.length]).toEqual([5, 8])
    clock.advance(60_000)
    first.behave({ status: 500, delayMs: 100 })
    await Promise.all(Array.from({ length: 4 }, () => sender.send(message())))
    expect(first.requests).toHaveLength(6)
    clock.advance(60_000)
    first.behave({})
    await sender.send(message())
    await sender.send(message())
    expect([first.requests.length, second.requests.length]).toEqual([8, 12])
  })

  test('is still asked where there is no other', async () => {
    const gateway = await serve({ status: 500 })
    const clock = createFrozenClock()
    const sender = createSmsSender([gatewayAt(gateway)], { clock })
    for (let i = 0; i < 7; i++) await sender.send(message())
    gateway.behave({})
    expect(await sender.send(message())).toMatchObject({ outcome: 'sent' })
  })

  test('holds up a message for less than six seconds', async () => {
    const [silent, second] = [await serve({ delayMs: 8000 }), await serve()]
    const gateways = [gatewayAt(silent, { timeoutMs: 5000 }), gatewayAt(second, { name: 'beta' })]
    const startedAt = performance.now()
    expect(await send(gateways)).toMatchObject({ outcome: 'sent', detail: 'beta' })
    expect(performance.now() - startedAt).toBeLessThan(6000)
  })
})

test('a number that takes no SMS goes to voice gateways alone', async () => {
  const [texts, calls] = [await serve(), await serve()]
  const gateways = [gatewayAt(texts), gatewayAt(calls, { name: 'calls', channel: 'voice' })]
  expect(await send(gateways, { to: '+33145678901' })).toMatchObject({ outcome: 'sent', detail: 'calls' })
  expect(await send(gateways)).toMatchObject({ outcome: 'sent', detail: 'acme' })
  expect(texts.requests).toHaveLength(1)
})

describe('through HTTP', () => {
  /** Asks these gateways, in this order. */
  async function serviceWith(...gateways: { name: string; url: string; prefixes?: string[] }[]) {
    const all = gateways.map((gateway) => ({ ...gateway, body: { to: '{to}', text: '{text}' } }))
    const service = await startService({ settings: { sms: { gateways: all } } })
    services.push(service)
    return service
  }

  test('whatever the first gateway does instead, the second brings the same code, which is right', async () => {
    const [first, second, inside] = [await serve(), await serve(), await serve()]
    const service = await serviceWith({ name: 'acme', url: first.url }, { name: 'beta', url: second.url })
    const troubles: Record<string, GatewayBehaviour> = {
      'leads elsewhere': { redirect: inside.url },
      'fails, at length': { status: 500, replyBytes: 10_000_000 },
      fails: { status: 503 },
      refuses: { status: 400 },
    }
    for (const [trouble, behaviour] of Object.entries(troubles)) {
      first.behave(behaviour)
      const phone = newPhone()
      expect((await service.post('register', registration(phone))).status).toBe(201)
      const { code: otp } = await second.waitForSms(phone)
      expect([trouble, first.requests.at(-1)?.fields]).toEqual([trouble, second.requests.at(-1)?.fields])
      expect((await service.post('verify-account', { identifier: phone, otp })).status).toBe(201)
    }
    expect([first.requests.length, second.requests.length, inside.requests.length]).toEqual([4, 4, 0])
    // With ten megabytes behind its 200 it took the message all the same: nobody gets it twice.
    first.behave({ replyBytes: 10_000_000 })
    const phone = newPhone()
    await service.post('register', registration(phone))
    const { code: otp } = await first.waitForSms(phone)
    expect((await service.post('verify-account', { identifier: phone, otp })).status).toBe(201)
    await service.delivered()
    expect([first.requests.length, second.requests.length]).toEqual([5, 4])
  })

  test('the number chooses the gateway, in any spelling', async () => {
    const [ivorian, french] = [await serve(), await serve()]
    const service = await serviceWith(
      { name: 'abidjan', url: ivorian.url, prefixes: ['+225'] },
      { name: 'paris', url: french.url, prefixes: ['+33'] },
    )
    const phone = newPhone()
    for (const typed of ['00225 07 07 00 00 01', phone.replace('+33', '0')]) {
      expect((await service.post('register', { ...registration(phone), phone: typed })).status).toBe(201)
    }
    await service.delivered()
    expect(ivorian.requests.map(({ fields }) => fields.to)).toEqual(['+2250707000001'])
    expect(french.requests.map(({ fields }) => fields.to)).toEqual([phone])
  })
})

test('refusals that name the account put a gateway behind the others, and those that name the number do not', async () => {
  const replies = [
    ['{"status": "4", "error-text": "Bad Credentials"}', 200, 5],
    ['{"error": "invalid api key"}', 400, 5],
    ['{"status": "3", "error-text": "Invalid destination number"}', 200, 9],
    ['{"error": "the recipient has forbidden messages"}', 400, 9],
  ] as const
  for (const [body, status, asked] of replies) {
    const [first, second] = [await serve({ status, body }), await serve({ body: '{}' })]
    const success = { path: 'status', equals: '0', in: [], exists: null }
    const gateways = [gatewayAt(first, { name: 'first', success }), gatewayAt(second, { name: 'second' })]
    const sender = createSmsSender(gateways, { breaker: createBreaker({ now: () => new Date(0) }) })
    for (let i = 0; i < 9; i++) expect((await sender.send(message({}))).outcome).toBe('sent')
    expect([body, first.requests.length]).toEqual([body, asked])
  }
})
