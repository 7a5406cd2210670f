/** The metrics for Prometheus: a tour over every route, and then the numbers that it must have left behind. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mountedRoutes } from '../../scripts/mounted-routes.ts'
import { counters, gauges, histograms } from '../../src/domain/foundation/metrics/definitions.ts'
import { createPrometheusMetrics } from '../../src/domain/foundation/metrics/prometheus.ts'
import { createBackupStore } from '../../src/operations/backups/store.ts'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { freePort } from '../helpers/free-port.ts'
import { openBrowser, pageSettings } from '../helpers/page-browser.ts'
import { promtool, startPrometheus } from '../helpers/prometheus.ts'
import { sendRaw, statusesOf } from '../helpers/raw-http.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { startService } from '../helpers/service.ts'
import { measured, workMs } from '../helpers/timing.ts'
import { use } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'
import { startReceiver, webhookSettings } from '../helpers/webhook-receiver.ts'

const MOST_SERIES = 600
/** Below 5 on a quiet machine; slow ones take twice as long. */
const SCRAPE_MS = 10
const docs = join(import.meta.dir, '../../docs')
/** Name, kind and labels, in the order in which they are promised. */
const promised: Record<string, [type: string, ...labels: string[]]> = {
  http_requests_total: ['counter', 'route', 'method', 'status'],
  http_request_duration_seconds: ['histogram', 'kind'],
  logins_total: ['counter', 'method', 'outcome'],
  registrations_total: ['counter', 'channel'],
  page_steps_total: ['counter', 'step', 'stage'],
  codes_total: ['counter', 'purpose', 'channel', 'stage'],
  messages_total: ['counter', 'channel', 'gateway', 'outcome'],
  message_delay_seconds: ['histogram'],
  ready: ['gauge'],
  disk_free_bytes: ['gauge', 'use'],
  log_lines_lost_total: ['counter'],
  outbox_waiting: ['gauge', 'channel'],
  outbox_oldest_seconds: ['gauge'],
  sms_funnel_total: ['counter', 'gateway', 'country', 'stage'],
  sms_budget_remaining: ['gauge'],
  sms_prefixes_closed: ['gauge', 'by'],
  hash_queue_waiting: ['gauge'],
  hash_wait_seconds: ['histogram', 'verifier'],
  hash_refused_total: ['counter'],
  refreshes_total: ['counter', 'outcome'],
  refresh_reuse_total: ['counter'],
  limit_refusals_total: ['counter', 'limit'],
  database_round_trip_seconds: ['histogram'],
  redis_round_trip_seconds: ['histogram'],
  housekeeping_last_success_timestamp_seconds: ['gauge'],
  backup_last_success_timestamp_seconds: ['gauge'],
  signing_key_age_seconds: ['gauge'],
  database_info: ['gauge', 'server'],
  build_info: ['gauge', 'version', 'commit', 'bun'],
}
const names = [...Object.keys(counters), ...Object.keys(histograms), ...Object.keys(gauges)].map(
  (name) => `poterne_${name}`,
)

const port = await freePort()
const address = `127.0.0.1:${port}`
const hook = await startReceiver(() => ({ body: '{"allow":true}' }))
afterAll(() => hook.close())
const service = use(() =>
  startService({
    settings: {
      server: pageSettings.server,
      metrics: { listen: address },
      // None falls due while the tests run.
      backup: {
        at: new Date(Date.now() + 12 * 3_600_000).toTimeString().slice(0, 5),
        directory: newDirectory('backups'),
      },
      limits: { enabled: true, hash_queue: 0, hash_concurrency: 1, owner_codes_per_hour: 3 },
      password: { memory_kib: 19_456, iterations: 2 },
      passkeys: { rp_id: 'example.com', origins: [pageSettings.server.base_url] },
      pages: pageSettings.pages,
      ...webhookSettings({ name: 'app', url: hook.url, secret: hook.secret, events: ['account.*'] }),
      admission: { url: hook.url, secret: hook.secret } as never,
    },
  }),
)

const scrape = (accept?: string) =>
  fetch(`http://${address}/metrics`, { headers: accept === undefined ? {} : { accept } })
/** The statuses of requests as they are written here: `fetch` adds headers of its own, and tidies paths and methods. */
const rawStatuses = async (at: number, requests: string[]) => {
  const sent = requests.map((request) => sendRaw(at, [`${request}\r\nconnection: close\r\n\r\n`]))
  return (await Promise.all(sent)).map((answer) => statusesOf(answer)[0])
}
const exposed = async () => (await scrape()).text()

/** Every sample: its name, its labels as they are written, and its value. */
const samplesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      return { name, labels, value: Number(value) }
    })

/** The sum over all series of this metric whose labels hold these texts. */
const sum = (text: string, name: string, ...labels: string[]) =>
  samplesOf(text)
    .filter(
      (sample) => sample.name === `poterne_${name}` && labels.every((each) => sample.labels.includes(each)),
    )
    .reduce((total, { value }) => total + value, 0)

/** Every route with no token, a wrong one and a right one, without a body, with a broken one and with an empty one. */
async function callEveryRoute(accessToken: string): Promise<void> {
  const bearers = [undefined, 'no-token', accessToken]
  for (const { method, path } of mountedRoutes()) {
    if (method === 'DELETE' && path.endsWith('/me')) continue
    const concrete = path.replace(':provider', 'nobody').replace(':gateway', 'nobody').replace(':id', 'none')
    const bodies = method === 'GET' ? [undefined] : [undefined, '{', '{}']
    // These end the session of the token.
    const tokens = path.includes('/logout') ? bearers.slice(0, 2) : bearers
    const calls = tokens.flatMap((bearer) => bodies.map((body) => ({ bearer, body })))
    await Promise.all(
      calls.map(({ bearer, body }) =>
        fetch(service.url + concrete, {
          method,
          redirect: 'manual',
          headers: {
            'content-type': 'application/json',
            ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
          },
          ...(body !== undefined && { body }),
        }).then((answer) => answer.arrayBuffer()),
      ),
    )
    await fetch(service.url + concrete, { method: 'OPTIONS' })
    await fetch(service.url + concrete, { method: 'PUT' })
  }
  for (let i = 0; i < 50; i++) await fetch(`${service.url}/nothing/${i}/${crypto.randomUUID()}`)
}

beforeAll(async () => {
  const email = newEmail()
  const person = await service.signUp(email)
  await service.signUp(newPhone())
  const { refresh_token } = await service.logIn(person, { device_fingerprint: 'own' })
  expect((await service.post('login', { ...person, password: 'a wrong one' })).status).toBe(401)
  const first = await service.post('refresh', { refresh_token })
  expect(first.status).toBe(200)
  const second = await service.post('refresh', { refresh_token: first.body.refresh_token })
  expect(second.status).toBe(200)
  expect((await service.post('refresh', { refresh_token })).status).toBe(401)
  expect((await service.post('verify-account', { identifier: email, otp: '000000' })).status).toBe(422)
  const waiting = Array.from({ length: 4 }, () => service.post('login', person))
  expect((await Promise.all(waiting)).some(({ status }) => status === 503)).toBe(true)
  for (let i = 0; i < 5; i++) await service.post('2fa/request-otp', { identifier: email })
  // The reuse ended the first session.
  const { access_token } = await service.logIn(person, { device_fingerprint: 'own' })
  const browser = await openBrowser(service.url).open('/sign-in')
  await browser.press('Sign in', { ...person, password: 'a wrong one' })
  await browser.press('Sign in', { ...person })
  await callEveryRoute(access_token)
  await service.inside.housekeeping.run()
  await service.delivered()
}, 60_000)

test('every metric of the table is exposed, and promtool finds nothing wrong', async () => {
  const text = await exposed()
  for (const name of names) expect(text).toContain(`# TYPE ${name} `)
  for (const name of [
    'cpu_seconds_total',
    'resident_memory_bytes',
    'start_time_seconds',
    'open_fds',
    'max_fds',
  ])
    expect(text).toContain(`\nprocess_${name} `)
  expect(text).not.toContain('nodejs_')
  expect(await promtool(['check', 'metrics'], text)).toEqual({ code: 0, said: '' })
})

test('every promised metric has its kind and exactly its labels, in both formats', async () => {
  const [plain, open] = [await exposed(), await (await scrape('application/openmetrics-text')).text()]
  // Without a backup there is no time of the last one.
  const withoutSamples = ['backup_last_success_timestamp_seconds']
  for (const [name, [type, ...labels]] of Object.entries(promised)) {
    expect(plain).toContain(`# TYPE poterne_${name} ${type}\n`)
    expect(open).toContain(`# TYPE poterne_${name.replace(/_total$/, '')} ${type}\n`)
    for (const text of [plain, open]) {
      const wanted =
        type === 'histogram' ? new RegExp(`^poterne_${name}_(bucket|sum|count)$`) : `poterne_${name}`
      const own = samplesOf(text).filter((sample) => sample.name.match(wanted)?.[0] === sample.name)
      expect([name, own.length > 0]).toEqual([name, !withoutSamples.includes(name)])
      for (const sample of own) {
        const found = [...sample.labels.matchAll(/(\w+)="/g)].map(([, label]) => label)
        expect([name, ...found.filter((label) => label !== 'le')]).toEqual([name, ...labels])
        // No exemplar and no time behind the value.
        expect(sample.value).not.toBeNaN()
      }
    }
  }
})

test('what happened was counted', async () => {
  const text = await exposed()
  const counted = (name: string, ...labels: string[]) => sum(text, name, ...labels)
  expect(counted('registrations_total', 'channel="email"')).toBe(1)
  expect(counted('registrations_total', 'channel="sms"')).toBe(1)
  for (const stage of ['begun', 'finished'])
    expect(counted('page_steps_total', 'step="sign_in"', `stage="${stage}"`)).toBe(1)
  expect(counted('logins_total', 'method="password"', 'outcome="success"')).toBeGreaterThan(1)
  expect(counted('logins_total', 'method="password"', 'outcome="failure"')).toBeGreaterThan(0)
  expect(counted('logins_total', 'method="password"', 'outcome="error"')).toBe(counted('hash_refused_total'))
  expect(counted('hash_refused_total')).toBeGreaterThan(0)
  expect(counted('hash_wait_seconds_count')).toBeGreaterThan(3)
  expect(counted('refreshes_total', 'outcome="success"')).toBe(2)
  expect(counted('refreshes_total', 'outcome="failure"')).toBeGreaterThan(0)
  expect(counted('refresh_reuse_total')).toBe(1)
  expect(counted('limit_refusals_total', 'limit="code"')).toBeGreaterThan(0)
  for (const stage of ['asked', 'sent', 'verified'])
    for (const channel of ['email', 'sms'])
      expect(
        counted('codes_total', 'purpose="confirmation"', `channel="${channel}"`, `stage="${stage}"`),
      ).toBe(1)
  expect(counted('codes_total', 'purpose="confirmation"', 'stage="wrong"')).toBe(1)
  expect(counted('messages_total', 'channel="sms"', 'gateway="stub"', 'outcome="sent"')).toBe(1)
  expect(counted('messages_total', 'channel="email"', 'gateway="smtp"', 'outcome="sent"')).toBeGreaterThan(1)
  expect(counted('message_delay_seconds_count')).toBeGreaterThan(2)
  for (const stage of ['handed_over', 'accepted'])
    expect(counted('sms_funnel_total', 'gateway="stub"', 'country="FR"', `stage="${stage}"`)).toBe(1)
  expect(counted('sms_budget_remaining')).toBe(999)
  expect(counted('outbox_waiting', 'channel="email"')).toBe(0)
  expect(counted('outbox_oldest_seconds')).toBe(0)
  expect(counted('hash_queue_waiting')).toBe(0)
  expect(counted('database_round_trip_seconds_count')).toBeGreaterThan(20)
  expect(counted('redis_round_trip_seconds_count')).toBeGreaterThan(5)
  expect(counted('signing_key_age_seconds')).toBeLessThan(600)
  expect(Date.now() / 1000 - counted('housekeeping_last_success_timestamp_seconds')).toBeLessThan(60)
  expect(counted('ready')).toBe(1)
  expect(counted('disk_free_bytes', 'use="backups"')).toBeGreaterThan(1_000_000)
  expect(text).not.toContain('use="data"')
  expect(counted('database_info', 'server="127.0.0.1:')).toBe(1)
  expect(counted('build_info', `bun="${Bun.version}"`, 'commit="unknown"')).toBe(1)
})

test('a service whose database does not answer, or not in time, is not ready', async () => {
  const ping = spyOn(service.inside.database, 'ping').mockRejectedValue(new Error('away'))
  try {
    expect(await exposed()).toMatch(/^poterne_ready 0$/m)
    ping.mockReturnValue(new Promise(() => {}))
    expect(await exposed()).toMatch(/^poterne_ready 0$/m)
  } finally {
    ping.mockRestore()
  }
  expect(await exposed()).toMatch(/^poterne_ready 1$/m)
})

test('requests are counted by template, status and kind of work, and unknown paths together', async () => {
  const text = await exposed()
  const login = ['route="/api/v1/auth/login"', 'method="POST"']
  expect(sum(text, 'http_requests_total', ...login, 'status="401"')).toBe(1)
  expect(
    sum(text, 'http_requests_total', 'route="/api/v1/auth/sessions/:id"', 'status="404"'),
  ).toBeGreaterThan(0)
  const unknown = samplesOf(text).filter(({ labels }) => labels.includes('route="unknown"'))
  expect(unknown.find(({ labels }) => labels.includes('status="404"'))?.value).toBeGreaterThanOrEqual(50)
  for (const kind of ['hash', 'database', 'static'])
    expect(sum(text, 'http_request_duration_seconds_count', `kind="${kind}"`)).toBeGreaterThan(1)
  const labelled = samplesOf(text).filter(
    ({ name }) => name === 'poterne_http_request_duration_seconds_bucket',
  )
  for (const { labels } of labelled) expect(labels.replace(/(le|kind)="[^"]*",?/g, '')).toBe('')
})

test('after the whole tour there are at most 600 series, and none names a person', async () => {
  const text = await exposed()
  const samples = samplesOf(text)
  const [requests, all] = [samples.filter(({ name }) => name === 'poterne_http_requests_total'), samples]
  console.log(`${all.length} series, ${requests.length} of them of requests`)
  expect(samples.length).toBeLessThanOrEqual(MOST_SERIES)
  expect(text).not.toMatch(/@|\+33|person-|[0-9a-f]{8}-[0-9a-f]{4}/)
})

test('a scrape takes a few milliseconds', async () => {
  const SCRAPES = 50
  // Its code is compiled by then.
  await workMs(exposed, 2 * SCRAPES)
  // Asking is part of it, and so is what other work of the machine throws out of the caches.
  const isQuick = (ms: number) => ms < SCRAPE_MS
  expect(await measured(() => workMs(exposed, SCRAPES), isQuick)).toBeLessThan(SCRAPE_MS)
})

test('the format follows the Accept header', async () => {
  const plain = await scrape('text/plain')
  expect(plain.headers.get('content-type')).toStartWith('text/plain')
  const open = await scrape('application/openmetrics-text;version=1.0.0,text/plain;q=0.5')
  expect(open.headers.get('content-type')).toStartWith('application/openmetrics-text')
  expect(await open.text()).toEndWith('# EOF\n')
  const versions: [string, string][] = [
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      'open',
    ],
    ['text/plain;version=0.0.4,application/openmetrics-text;q=0.5', 'plain'],
    ['application/openmetrics-text;q=0', 'plain'],
    ['Application/OpenMetrics-Text; q=0.9, text/plain; q=0.9', 'open'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'plain'],
  ]
  for (const [accept, format] of versions)
    expect([accept, (await scrape(accept)).headers.get('content-type')]).toEqual([
      accept,
      format === 'open'
        ? 'application/openmetrics-text; version=1.0.0; charset=utf-8'
        : 'text/plain; version=0.0.4; charset=utf-8',
    ])
  // The two formats do not get into each other's way.
  expect(await exposed()).toContain('# TYPE poterne_logins_total counter')
})

test('the listener of the metrics knows nothing else, and the public one knows no metrics', async () => {
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
  for (const path of ['/', '/healthz', '/api/v1/auth/me']) {
    expect((await fetch(`http://${address}${path}`)).status).toBe(404)
  }
  const others = ['/metrics/', '/Metrics', '//metrics', '/metrics/../healthz', '/%6detrics']
  const requests = others.map((path) => `GET ${path} HTTP/1.1\r\nhost: ${address}`)
  expect(await rawStatuses(port, requests)).toEqual(others.map(() => 404))
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
    const refused = await fetch(`http://${address}/metrics`, { method })
    expect([method, refused.status, refused.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD'])
  }
  const head = await fetch(`http://${address}/metrics?ignored`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  expect(await head.text()).toBe('')
})

test('Prometheus reads the metrics by any name of the machine, a page in a browser only by its address', async () => {
  const statusesBy = (hosts: string[], header: string) =>
    rawStatuses(
      port,
      hosts.map((host) => `GET /metrics HTTP/1.1\r\nhost: ${host}\r\n${header}`),
    )
  const [prometheus, browser] = ['user-agent: Prometheus/2.42.0', 'accept-language: fr']
  const own = [address, 'localhost:9464', '[::1]:9464']
  expect(await statusesBy(own, browser)).toEqual([200, 200, 200])
  expect(await statusesBy([...own, 'poterne:9464', 'auth.example.com'], prometheus)).toEqual(
    Array(5).fill(200),
  )
  const names = ['evil.example:9464', '127.0.0.1.evil.example', 'localhost.evil.example', 'poterne:9464']
  for (const header of [browser, 'origin: http://evil.example', 'referer: http://evil.example:9464/'])
    expect([header, ...(await statusesBy(names, header))]).toEqual([header, 403, 403, 403, 403])
})

test('however many routes, errors, methods and countries are tried, there are at most 600 series', async () => {
  const metrics = createPrometheusMetrics()
  const statuses = [200, 201, 202, 204, 302, 400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 500, 503]
  for (let i = 0; i < 2; i++) {
    for (const { path, method } of mountedRoutes())
      for (const status of statuses) metrics.count('http_requests_total', { route: path, method, status })
    for (let country = 0; country < 250; country++)
      for (const stage of ['asked', 'handed_over', 'accepted', 'delivered', 'failed', 'verified'])
        metrics.count('sms_funnel_total', { gateway: 'one', country: `C${country}`, stage })
  }
  const { text } = await metrics.expose(null)
  // A hundred are left for all other counters: the tour makes about as many.
  expect(samplesOf(text).length).toBeLessThanOrEqual(MOST_SERIES - 100)
  expect(sum(text, 'http_requests_total')).toBe(2 * mountedRoutes().length * statuses.length)
  expect(sum(text, 'http_requests_total', 'route="other"', 'status="503"')).toBeGreaterThan(0)
  expect(sum(text, 'sms_funnel_total', 'stage="asked"')).toBe(500)
  expect(sum(text, 'sms_funnel_total', 'country="C0"', 'stage="asked"')).toBe(2)
})

test('strange methods, paths and names make no series of their own', async () => {
  const before = samplesOf(await exposed()).length
  const strange = async (i: number) => {
    const lines = [
      `M${i} /api/v1/auth/login`,
      `POST /api/v1/sms/receipts/gateway-${i}?country=C${i}`,
      `GET /api/v1/auth/social/provider-${i}/authorize`,
      `GET /${'x'.repeat(i)}%00"{route="mine"}${i}`,
    ]
    await rawStatuses(
      Number(new URL(service.url).port),
      lines.map((line) => `${line} HTTP/1.1\r\nhost: x${i}`),
    )
    await service.post('2fa/request-otp', {
      identifier: newEmail(),
      purpose: `purpose-${i}`,
      channel: `c${i}`,
    })
    await service.post('login', { identifier: `"x${i}\n`, password: 'x', method: `m${i}` })
  }
  for (let i = 0; i < 3; i++) await strange(i)
  const known = samplesOf(await exposed()).length
  for (let i = 3; i < 9; i++) await strange(i)
  const text = await exposed()
  expect(known - before).toBeLessThan(25)
  expect(samplesOf(text).length).toBe(known)
  expect(text).not.toMatch(/"M\d|gateway-|provider-|mine|purpose-|"C\d/)
})

test('a refusal is counted by the limit that refused', async () => {
  const person = { ...(await service.signUp(newEmail())), password: 'a wrong one' }
  const before = await exposed()
  const answers = []
  for (let i = 0; i < 11; i++) answers.push((await service.post('login', person)).status)
  expect(answers.at(-1)).toBe(429)
  const text = await exposed()
  const counted = (limit: string) => sum(text, 'limit_refusals_total', `limit="${limit}"`)
  const refused = answers.filter((status) => status === 429).length
  expect(counted('wrong_passwords')).toBe(refused)
  expect(counted('logins')).toBe(sum(before, 'limit_refusals_total', 'limit="logins"'))
  expect(service.log.at(-1)).toContain('"cause":"wrong_passwords"')
  const name = newEmail()
  const guesses = []
  const guess = { identifier: name, otp: '000000', password: PASSWORD, password_confirmation: PASSWORD }
  for (let i = 0; i < 21; i++) guesses.push((await service.post('password/reset', guess)).body.code)
  expect(guesses.at(-1)).toBe('too_many_attempts')
  const after = await exposed()
  expect(sum(after, 'limit_refusals_total', 'limit="wrong_codes"')).toBe(1)
  expect(sum(after, 'limit_refusals_total')).toBe(sum(after, 'http_requests_total', 'status="429"'))
  expect(after).not.toContain('limit="unknown"')
  expect(
    sum(text, 'logins_total', 'method="password"', 'outcome="limited"') -
      sum(before, 'logins_total', 'method="password"', 'outcome="limited"'),
  ).toBe(refused)
})

test('an SMS that its gateway may have taken is counted and listed as unknown', async () => {
  const before = await exposed()
  const phone = newPhone()
  service.gateway.behave({ hangUp: true })
  await service.post('register', registration(phone))
  await service.delivered()
  service.gateway.behave({})
  const text = await exposed()
  const grown = (name: string, ...labels: string[]) =>
    sum(text, name, ...labels) - sum(before, name, ...labels)
  expect(grown('messages_total', 'gateway="stub"', 'outcome="unknown"')).toBe(2)
  expect(grown('sms_funnel_total', 'gateway="stub"', 'stage="unknown"')).toBe(2)
  expect(grown('sms_funnel_total', 'stage="given_up"')).toBe(0)
  expect(grown('codes_total', 'channel="sms"', 'stage="sent"')).toBe(0)
  const call = operatorOf(service)
  const [message] = (await call('GET', `messages?to=${encodeURIComponent(phone)}&state=unknown`)).body.items
  expect(message).toMatchObject({ detail: 'stub:broken,stub:broken', attempts: 1, gateway: null })
  expect(message.meaning).toMatch(/^Nul ne sait s'il est parti.* : stub a rompu [^;]*\.$/)
  const retried = await call('POST', `messages/${message.id}/retry`)
  expect(retried.status).toBe(200)
  await service.gateway.waitForSms(phone)
  // Its outcome belongs to this test, not to the counts of the next.
  await service.delivered()
})

test('an SMS that its gateway refuses was handed over and not accepted, and its code was not sent', async () => {
  const before = await exposed()
  service.gateway.behave({ status: 400 })
  await service.post('register', registration(newPhone()))
  await service.delivered()
  service.gateway.behave({})
  const text = await exposed()
  const grown = (name: string, ...labels: string[]) =>
    sum(text, name, ...labels) - sum(before, name, ...labels)
  expect(grown('messages_total', 'gateway="stub"', 'outcome="refused"')).toBe(1)
  expect(grown('messages_total')).toBe(1)
  expect(grown('sms_funnel_total', 'gateway="stub"', 'stage="handed_over"')).toBe(1)
  expect(grown('sms_funnel_total', 'stage="accepted"')).toBe(0)
  expect(grown('sms_funnel_total', 'stage="asked"')).toBe(1)
  expect(grown('sms_funnel_total', 'gateway=""', 'stage="given_up"')).toBe(1)
  expect(grown('codes_total', 'channel="sms"', 'stage="asked"')).toBe(1)
  expect(grown('codes_total', 'channel="sms"', 'stage="sent"')).toBe(0)
  expect(grown('message_delay_seconds_count')).toBe(0)
  expect(grown('sms_budget_remaining')).toBe(-1)
})

test('the time of the last backup is absent before the first, and 0 where all have failed', async () => {
  const backups = createBackupStore(service.inside.database)
  expect(await exposed()).not.toMatch(/^poterne_backup/m)
  await backups.noteFailure('no space', service.clock.now())
  expect(await exposed()).toMatch(/^poterne_backup_last_success_timestamp_seconds 0$/m)
  const at = new Date(1_800_000_000_000)
  await backups.noteSuccess({ file: null, bytes: 1, rows: 1 }, at)
  expect(await exposed()).toMatch(/^poterne_backup_last_success_timestamp_seconds 1800000000$/m)
})

test('what cannot be read, or is not read within a second, is left out of a scrape', async () => {
  const metrics = createPrometheusMetrics()
  metrics.gauge('hash_queue_waiting', () => {
    throw new Error('away')
  })
  metrics.gauge('outbox_oldest_seconds', () => new Promise(() => {}))
  metrics.gauge('outbox_waiting', async () => [{ labels: { channel: 'email' }, value: 3 }])
  metrics.gauge('sms_budget_remaining', () => 7)
  const { text } = await metrics.expose(null)
  const gauges = samplesOf(text).filter(({ name }) => /outbox|budget|queue/.test(name))
  expect(gauges).toEqual([
    { name: 'poterne_outbox_waiting', labels: 'channel="email"', value: 3 },
    { name: 'poterne_sms_budget_remaining', labels: '', value: 7 },
  ])
})

describe('with Prometheus', () => {
  const rules = join(docs, 'alert-rules.yml')
  const dashboard = JSON.parse(readFileSync(join(docs, 'grafana-dashboard.json'), 'utf8')) as {
    panels: { title: string; targets?: { expr: string }[] }[]
  }
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

  test('it scrapes, loads the alert rules, and has data for every expression of the dashboard', async () => {
    const prometheus = await startPrometheus(address, rules)
    try {
      const [up] = await prometheus.query('up{job="poterne"}')
      expect(up?.value).toBe(1)
      const logins = await prometheus.query('sum(poterne_logins_total{outcome="success"})')
      expect(logins[0]?.value).toBe(sum(await exposed(), 'logins_total', 'outcome="success"'))
      // A rate needs something that happened between two scrapes.
      await createBackupStore(service.inside.database).noteSuccess(
        { file: null, bytes: 1, rows: 1 },
        new Date(),
      )
      await service.signUp(newPhone())
      const { refresh_token } = await service.signedIn()
      await service.post('refresh', { refresh_token })
      const isWithoutData = async (expression: string) => {
        const found = await prometheus.query(expression.replaceAll('$__rate_interval', '1m'))
        return !found.some(({ value }) => Number.isFinite(value))
      }
      let without = expressions
      const everyOneHasData = async () => {
        const asked = await Promise.all(without.map(isWithoutData))
        without = without.filter((_, i) => asked[i])
        return without.length === 0
      }
      await waitFor(everyOneHasData, { what: 'data for the dashboard' }).catch(() => {})
      expect(without).toEqual([])
    } finally {
      await prometheus.close()
    }
  })

  test('promtool accepts the alert rules, and each says what to do', async () => {
    const { code, said } = await promtool(['check', 'rules', rules])
    expect({ code, said }).toMatchObject({ code: 0 })
    const alerts = readFileSync(rules, 'utf8').split('- alert: ').slice(1)
    expect(alerts.length).toBeGreaterThan(10)
    for (const alert of alerts) expect(alert).toMatch(/summary: .*[\s\S]*description: /)
  })

  test('rules, dashboard and page name metrics that exist, and the page describes each of them', () => {
    const page = readFileSync(join(docs, 'monitoring.md'), 'utf8')
    const used = [readFileSync(rules, 'utf8'), ...expressions, page].join('\n')
    const known = names.flatMap((name) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`])
    for (const [name] of used.matchAll(/\bpoterne_[a-z_]+/g)) expect(known).toContain(name)
    for (const name of names) expect(page).toContain(`\`${name}\``)
  })
})

test('an address that is taken ends the start with one line that names the key', async () => {
  const settings = { metrics: { listen: address } }
  await expect(startService({ settings, shape: 'postgres' })).rejects.toThrow(
    /^metrics.listen: .* is in use: stop/,
  )
})

test('without metrics.listen nothing is measured, and nothing listens', async () => {
  const { inside, url, close, post } = await startService({ shape: 'postgres' })
  expect((await post('register', registration(newEmail(), PASSWORD))).status).toBe(201)
  expect((await fetch(`${url}/metrics`)).status).toBe(404)
  expect(inside.services.metrics.isOn).toBe(false)
  await close()
})
