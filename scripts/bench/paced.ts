/** Sends at a rate whatever the answers take, or a number of requests: reads a load from its input, prints what came of it. */
import type { Latencies, PacedLoad, Printed } from './load.ts'

const load: PacedLoad = await Bun.stdin.json()
const { requests, tokens, connections, seconds, amount, rate } = load
const { hostname, port } = new URL(load.url)
const latencies: Record<string, number[]> = {}
let [taken, answered, errors, lastMs] = [0, 0, 0, 0]
const startMs = performance.now()
const beginMs = startMs + (amount === undefined ? (load.warmupSeconds ?? Math.min(1, seconds / 5)) * 1000 : 0)
const endMs = amount === undefined ? startMs + seconds * 1000 : Number.POSITIVE_INFINITY

await Promise.all(Array.from({ length: connections }, (_, number) => sendInTurn(tokens?.[number])))
const measuredMs = (amount === undefined ? endMs : lastMs) - beginMs
const byStatus = Object.fromEntries(
  Object.entries(latencies).map(([status, all]) => [status, summarize(all)]),
)
console.log(JSON.stringify({ byStatus, seconds: measuredMs / 1000, answered, errors } satisfies Printed))
process.exit()

/** One connection, which takes the next turn of all when it was answered. It trades its token for the next one. */
async function sendInTurn(firstToken: string | undefined): Promise<void> {
  let [send, token] = [await connect(), firstToken]
  for (;;) {
    const turn = taken++
    const dueMs = rate === undefined ? 0 : startMs + (turn * 1000) / rate
    if (turn >= (amount ?? Number.POSITIVE_INFINITY) || dueMs >= endMs) return
    if (dueMs > performance.now()) await Bun.sleep(dueMs - performance.now())
    const text = requests[turn % requests.length]!
    const sentMs = performance.now()
    const answer = await send(token === undefined ? text : text.replace(tokens![0]!, token))
    note(answer, sentMs)
    if (answer === '') send = await connect()
    if (token !== undefined) token = /"refresh_token":"(\w+)"/.exec(answer)?.[1] ?? token
  }
}

function note(answer: string, sentMs: number): void {
  const nowMs = performance.now()
  if (answer === '') errors++
  else answered++
  if (answer === '' || nowMs < beginMs || nowMs > endMs) return
  lastMs = nowMs
  const status = answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)
  latencies[status] ??= []
  latencies[status].push(nowMs - sentMs)
}

/** A connection that carries one request at a time; what it returns answers '' when the connection breaks. */
async function connect(): Promise<(request: string) => Promise<string>> {
  let [received, isOpen, answer] = ['', true, Promise.withResolvers<string>()]
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        received += bytes.toString('latin1')
        const bodyAt = received.indexOf('\r\n\r\n') + 4
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1])
        if (bodyAt >= 4 && received.length >= bodyAt + length) answer.resolve(received)
      },
      close() {
        isOpen = false
        answer.resolve('')
      },
    },
  })
  return (request) => {
    received = ''
    answer = Promise.withResolvers()
    if (isOpen) socket.write(request)
    else answer.resolve('')
    return answer.promise
  }
}

function summarize(list: number[]): Latencies {
  const sorted = list.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }
}
