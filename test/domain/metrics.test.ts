/** What Prometheus reads: a tour over every route, and then the numbers that it must have left behind. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { routes } from '../../src/app.ts'
import { counters, gauges, histograms } from '../../src/domain/metrics/definitions.ts'
import { createPrometheusMetrics } from '../../src/domain/metrics/prometheus.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { freePort } from '../helpers/free-port.ts'
import { promtool, startPrometheus } from '../helpers/prometheus.ts'
import { startService } from '../helpers/service.ts'
import { use } from '../helpers/use-service.ts'

setDefaultTimeout(60_000)

const MOST_SERIES = 600
const SCRAPE_MS = 5
const docs = join(import.meta.dir, '../../docs')
const names = [...Object.keys(counters), ...Object.keys(histograms), ...Object.keys(gauges)].map(
  (name) => `poterne_${name}`,
)

const port = await freePort()
const address = `127.0.0.1:${port}`
const service = use(() =>
  startService({
    settings: {
      metrics: { listen: address },
      limits: { enabled: true, hash_queue: 0, hash_concurrency: 1, owner_codes_per_hour: 3 },
      password: { memory_kib: 19_456, iterations: 2 },
      passkeys: { rp_id: 'example.com' },
    },
  }),
)

const scrape = (accept?: string) =>
  fetch(`http://${address}/metrics`, { headers: accept === undefined ? {} : { accept } })
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
  for (const { method, path } of routes) {
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

test('what happened was counted', async () => {
  const text = await exposed()
  const counted = (name: string, ...labels: string[]) => sum(text, name, ...labels)
  expect(counted('registrations_total', 'channel="email"')).toBe(1)
  expect(counted('registrations_total', 'channel="sms"')).toBe(1)
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
  expect(counted('build_info', `bun="${Bun.version}"`, 'commit="unknown"')).toBe(1)
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
  console.log(`${samples.length} series`)
  expect(samples.length).toBeLessThanOrEqual(MOST_SERIES)
  expect(text).not.toMatch(/@|\+33|person-|[0-9a-f]{8}-[0-9a-f]{4}/)
})

test('a scrape takes less than 5 ms', async () => {
  const times: number[] = []
  for (let i = 0; i < 20; i++) {
    const start = performance.now()
    await exposed()
    times.push(performance.now() - start)
  }
  console.log(`scrape: ${times.map((ms) => ms.toFixed(1)).join(' ')} ms`)
  // The quickest: other work of this machine only adds.
  expect(Math.min(...times)).toBeLessThan(SCRAPE_MS)
})

test('the format follows the Accept header', async () => {
  const plain = await scrape('text/plain')
  expect(plain.headers.get('content-type')).toStartWith('text/plain')
  const open = await scrape('application/openmetrics-text;version=1.0.0,text/plain;q=0.5')
  expect(open.headers.get('content-type')).toStartWith('application/openmetrics-text')
  expect(await open.text()).toEndWith('# EOF\n')
  // The two formats do not get into each other's way.
  expect(await exposed()).toContain('# TYPE poterne_logins_total counter')
})

test('the listener of the metrics knows nothing else, and the public one knows no metrics', async () => {
  expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
  for (const path of ['/', '/healthz', '/api/v1/auth/me']) {
    expect((await fetch(`http://${address}${path}`)).status).toBe(404)
  }
  const posted = await fetch(`http://${address}/metrics`, { method: 'POST' })
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET'])
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

  test('it scrapes, loads the alert rules, and answers every expression of the dashboard', async () => {
    const prometheus = await startPrometheus(address, rules)
    try {
      const [up] = await prometheus.query('up{job="poterne"}')
      expect(up?.value).toBe(1)
      const logins = await prometheus.query('sum(poterne_logins_total{outcome="success"})')
      expect(logins[0]?.value).toBe(sum(await exposed(), 'logins_total', 'outcome="success"'))
      for (const expression of expressions)
        await prometheus.query(expression.replaceAll('$__rate_interval', '1m'))
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
