/**
 * The load generator: autocannon, in a process of its own. Reads one load (JSON, a line) from standard input, runs
 * it, prints one result. Latencies are kept one by one, since autocannon's own histogram counts whole milliseconds.
 */
import autocannon, { type Client, type RequestRule } from 'autocannon'
import { answerQuestions } from './child-side.ts'
import type { Latencies, Load, LoadResult, PlainRequest, Traffic } from './load.ts'

/** A rate is spread over so many generators that begin in turn: each of them sends its share once a second. */
const PHASES = 20

await answerQuestions(run)

async function run(load: Load): Promise<LoadResult> {
  const { seconds, amount } = load
  const warmupSeconds = amount === undefined ? (load.warmupSeconds ?? Math.min(1, seconds / 5)) : 0
  const latencies = new Map<number, number[]>()
  const beginMs = performance.now() + warmupSeconds * 1000
  const endMs = amount === undefined ? performance.now() + seconds * 1000 : Number.POSITIVE_INFINITY
  let lastMs = beginMs
  let errors = 0
  let total = 0
  const note = (status: number, latencyMs: number) => {
    total++
    const nowMs = performance.now()
    if (nowMs < beginMs || nowMs > endMs) return
    lastMs = nowMs
    const list = latencies.get(status)
    if (list) list.push(latencyMs)
    else latencies.set(status, [latencyMs])
  }
  const deal = createDealer(load.traffic)
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  await Promise.all(
    sharesOf(load).map(async ({ connections, rate, delayMs }) => {
      await Bun.sleep(delayMs)
      errors += await shoot(load.url, {
        connections,
        rate,
        amount,
        seconds: seconds - delayMs / 1000,
        deal,
        note,
      })
    }),
  )
  const { user, system } = process.cpuUsage(cpu)
  const answered = [...latencies].filter(([status]) => status >= 200 && status < 300)
  const count = answered.reduce((sum, [, list]) => sum + list.length, 0)
  const measuredMs = deal.isEmpty() || amount !== undefined ? lastMs - beginMs : endMs - beginMs
  return {
    rate: count / Math.max(0.001, measuredMs / 1000),
    byStatus: Object.fromEntries([...latencies].map(([status, list]) => [status, summarize(list)])),
    answered: total,
    errors,
    generatorShare: (user + system) / 1000 / (performance.now() - startMs),
  }
}

function sharesOf({ connections, rate }: Load) {
  if (rate === undefined) return [{ connections, rate: undefined, delayMs: 0 }]
  const phases = Math.min(PHASES, connections, Math.ceil(rate))
  return Array.from({ length: phases }, (_, phase) => ({
    connections: Math.ceil(connections / phases),
    rate: Math.ceil(rate / phases),
    delayMs: (phase * 1000) / phases,
  }))
}

interface Shot {
  connections: number
  rate: number | undefined
  amount: number | undefined
  seconds: number
  deal: Dealer
  note: (status: number, latencyMs: number) => void
}

/** Resolves to the number of errors. */
function shoot(url: string, { connections, rate, amount, seconds, deal, note }: Shot): Promise<number> {
  return new Promise((resolve, reject) => {
    let errors = 0
    const run = autocannon(
      {
        url,
        connections,
        duration: seconds,
        timeout: 30,
        sampleInt: 100,
        setupClient: deal.setUp,
        ...(rate !== undefined && { overallRate: rate }),
        ...(amount !== undefined && { amount }),
      },
      (error) => (error ? reject(error) : resolve(errors)),
    )
    run.on('response', (_client, status: number, _bytes: number, ms: number) => note(status, ms))
    run.on('reqError', () => {
      errors++
    })
    deal.onEmpty(() => run.stop())
  })
}

interface Dealer {
  setUp(client: Client): void
  onEmpty(stop: () => void): void
  isEmpty(): boolean
}

function createDealer(traffic: Traffic): Dealer {
  const stops: (() => void)[] = []
  let empty = false
  const end = () => {
    empty = true
    for (const stop of stops) stop()
  }
  const setUp = traffic.kind === 'refresh' ? dealTokens(traffic) : dealRequests(traffic, end)
  return { setUp, isEmpty: () => empty, onEmpty: (stop) => stops.push(stop) }
}

function dealTokens({ path, tokens }: Extract<Traffic, { kind: 'refresh' }>) {
  let taken = 0
  return (client: Client) => {
    let token = tokens[taken++]
    if (token === undefined) throw new Error('more connections than refresh tokens')
    const rule: RequestRule = {
      setupRequest: (request) =>
        Object.assign(request, asRequest({ method: 'POST', path, body: { refresh_token: token } })),
      onResponse: (status, body) => {
        if (status === 200) token = JSON.parse(body).refresh_token
      },
    }
    client.setRequests([rule])
  }
}

function dealRequests(traffic: Extract<Traffic, { kind: 'requests' }>, end: () => void) {
  const built = traffic.requests.map(asRequest)
  let next = 0
  const draw = () => {
    if (next >= built.length && !traffic.cyclic) end()
    return built[next++ % built.length]!
  }
  return (client: Client) =>
    client.setRequests([{ setupRequest: (request) => Object.assign(request, draw()) }])
}

function asRequest({ method, path, body, headers }: PlainRequest) {
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  return {
    method,
    path,
    headers: { ...type, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
}

function summarize(list: number[]): Latencies {
  const sorted = Float64Array.from(list).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: sorted.at(-1)! }
}
