/** SMS against real HTTP gateways: encoding, failover, and what a gateway cannot do to the service. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer } from 'node:http'
import type { RenderedMessage } from '../../src/domain/delivery/message.ts'
import { createSmsSender } from '../../src/domain/delivery/sms.ts'
import type { GatewayConfig } from '../../src/platform/config/types.ts'
import { newPhone, registration } from '../helpers/api-client.ts'
import { type GatewayBehaviour, startGateway, type TestGateway } from '../helpers/gateway.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { measured } from '../helpers/timing.ts'

setDefaultTimeout(20_000)

const open: TestGateway[] = []
const services: TestService[] = []
afterEach(async () => {
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
    url,
    method: 'POST',
    headers: { authorization: 'Bearer secret' },
    format: 'json',
    body: { to: '{to}', text: '{text}' },
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

  test('fills a placeholder once, and none in headers or in names', async () => {
    const gateway = await serve()
    const config = gatewayAt(gateway, {
      body: { '{to}': '{{to}}{unknown}' },
      headers: { 'x-code': '{code}' },
    })
    await send([config])
    expect(gateway.requests[0]?.fields).toEqual({ '{to}': '{+33612345678}{unknown}' })
    expect(gateway.requests[0]?.headers['x-code']).toBe('{code}')
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
    expect(await send(gateways, { to: '+3225550000' })).toMatchObject({ outcome: 'sent', detail: 'acme' })
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
        outcome: 'failed',
        detail: 'acme:timeout',
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
