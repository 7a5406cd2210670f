/** The client's address behind proxies, and cross-origin requests, on a listening app. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type EnvelopeAppOptions, startEnvelopeApp } from '../helpers/http-base-app.ts'

setDefaultTimeout(20_000)

type App = Awaited<ReturnType<typeof startEnvelopeApp>>
let app: App

async function start(options: EnvelopeAppOptions) {
  app = await startEnvelopeApp(options)
}
afterEach(() => app.stop())

async function clientOf(forwardedFor: string) {
  const response = await fetch(`${app.url}/api/v1/clients/x`, {
    headers: { 'x-forwarded-for': forwardedFor },
  })
  return (await response.json()) as { address: string; addressBucket: string }
}

describe('proxies', () => {
  test('a handler gets the address a trusted proxy names, and its bucket; the log the address', async () => {
    await start({ trustedProxies: ['127.0.0.0/8'] })
    expect(await clientOf('6.6.6.6, 2001:db8:1:2:3::4')).toMatchObject({
      address: '2001:db8:1:2:3::4',
      addressBucket: '2001:db8:1:2::/64',
    })
    expect(app.log()[0]?.address).toBe('2001:db8:1:2:3::4')
  })

  test('without trusted proxies the peer is the client, and one line names the key to set', async () => {
    await start({})
    expect(await clientOf('6.6.6.6')).toMatchObject({ address: '127.0.0.1', addressBucket: '127.0.0.1' })
    await clientOf('6.6.6.7')
    const warnings = app.log().filter(({ level }) => level === 'warn')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toMatchObject({ key: 'server.trusted_proxies', peer: '127.0.0.1' })
  })
})

describe('origins', () => {
  const origin = 'https://app.example.com'

  function preflight(from: string, path = '/api/v1/greetings') {
    const headers = { origin: from, 'access-control-request-method': 'POST' }
    return fetch(app.url + path, { method: 'OPTIONS', headers })
  }

  test('a listed origin may read answers, errors too', async () => {
    await start({ corsOrigins: [origin] })
    for (const path of ['/api/v1/clients/x', '/nowhere']) {
      const { headers } = await fetch(app.url + path, { headers: { origin } })
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-expose-headers')).toContain('X-Request-Id')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      expect(headers.get('vary')).toBe('Origin')
    }
  })

  test('a preflight of a listed origin is told what it may send', async () => {
    await start({ corsOrigins: [origin] })
    const { status, headers } = await preflight(origin)
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-methods')).toBe('OPTIONS, POST')
    expect(headers.get('access-control-allow-headers')).toContain('Authorization')
    expect((await preflight(origin, '/nowhere')).status).toBe(404)
  })

  test('tools that trace calls may add their headers to every call', async () => {
    await start({ corsOrigins: [origin] })
    const tracing =
      'authorization,baggage,sentry-trace,traceparent,tracestate,x-datadog-trace-id,x-b3-traceid'
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': `${tracing},bad name,x:y`,
    }
    const allowed = (await fetch(`${app.url}/api/v1/greetings`, { method: 'OPTIONS', headers })).headers
      .get('access-control-allow-headers')!
      .toLowerCase()
      .split(', ')
    expect(allowed).toEqual([...new Set(allowed)])
    for (const name of tracing.split(',')) expect(allowed).toContain(name)
    expect(allowed.filter((name) => !/^[\w-]+$/.test(name))).toEqual([])
  })

  test.each(['capacitor://localhost', 'tauri://localhost', 'chrome-extension://abcdefghijklmnop'])(
    '%s of a web view or an extension is an origin like others',
    async (view) => {
      await start({ corsOrigins: [view] })
      for (const [from, answered] of [
        [view, view],
        [`${view}x`, null],
      ] as const)
        expect((await preflight(from)).headers.get('access-control-allow-origin')).toBe(answered)
    },
  )

  test.each([
    'https://app.example.com.evil.example',
    'http://app.example.com',
    'https://APP.example.com',
    'https://app.example.com:8443',
    'null',
  ])('%s is another origin', async (other) => {
    await start({ corsOrigins: [origin] })
    const preflighted = await preflight(other)
    const answered = await fetch(`${app.url}/api/v1/clients/x`, { headers: { origin: other } })
    for (const { headers } of [preflighted, answered]) {
      expect(headers.get('access-control-allow-origin')).toBeNull()
      expect(headers.get('access-control-allow-methods')).toBeNull()
    }
  })

  test.each([[[] as string[]], [[origin]]])(
    'the log names the page whose calls are not let in, with the list %j',
    async (corsOrigins) => {
      await start({ corsOrigins })
      const ask = (from: string, site: string, mode = 'cors') =>
        fetch(`${app.url}/api/v1/greetings`, {
          method: 'OPTIONS',
          headers: { origin: from, 'sec-fetch-mode': mode, 'sec-fetch-site': site },
        })
      await ask('http://localhost:5199', 'same-site')
      await ask(`https://${'x'.repeat(500)}.example`, 'cross-site')
      await ask(app.url, 'same-origin')
      await ask('https://other.example', 'cross-site', 'navigate')
      const named = app.log().map(({ unlisted_origin }) => unlisted_origin)
      expect(named).toEqual(['http://localhost:5199', `https://${'x'.repeat(112)}`, undefined, undefined])
      await ask(origin, 'cross-site')
      expect(app.log().at(-1)?.unlisted_origin).toBe(corsOrigins.length === 0 ? origin : undefined)
    },
  )

  test('without a list no answer mentions origins', async () => {
    await start({})
    for (const { headers } of [await preflight(origin), await fetch(app.url, { headers: { origin } })]) {
      expect(
        [...headers.keys()].filter((name) => name.startsWith('access-control') || name === 'vary'),
      ).toEqual([])
    }
  })
})
