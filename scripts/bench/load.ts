/**
 * Load from another process. It is wrk, which takes a tenth of what other generators take of the processors that poterne,
 * PostgreSQL and Redis share with it; or paced.ts where a rate or a number of requests is asked for, which wrk cannot do.
 */
import { join } from 'node:path'
import type { PlainRequest, Traffic } from './traffic.ts'

export interface Load {
  url: string
  traffic: Traffic
  connections: number
  /** Or `amount` requests, however long they take: the rate is then that of all, from the first to the last answer. */
  seconds: number
  amount?: number
  /** The time at the beginning that is not counted. */
  warmupSeconds?: number
  /** Requests a second whatever the answers take; absent: each connection sends when it was answered. */
  rate?: number
}

/** The input of paced.ts. */
export interface PacedLoad extends Omit<Load, 'traffic'> {
  requests: string[]
  tokens: string[] | undefined
}

export interface Latencies {
  count: number
  /** Of wrk they are those of all answers together. */
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** What a generator prints in its last line: the answers after the warm-up, and all. */
export interface Printed {
  byStatus: Record<string, Latencies>
  /** The time in which they came. */
  seconds: number
  answered: number
  /** Connections that broke and requests without answer. */
  errors: number
}

/** Runs one load to its end. Throws unless all but a thousandth of the answers had the status of the traffic. */
export async function runLoad(load: Load) {
  const { url, traffic, connections } = load
  const isPaced = load.rate !== undefined || load.amount !== undefined
  const [command, input] = isPaced ? paced(load) : wrk(load)
  const child = Bun.spawn(command, { stdin: new Blob([input]), stdout: 'pipe', stderr: 'inherit' })
  const [text] = await Promise.all([child.stdout.text(), child.exited])
  const printed: Printed | null = child.exitCode === 0 && JSON.parse(text.trim().split('\n').at(-1) || 'null')
  if (!printed || Object.keys(printed.byStatus).length === 0)
    throw new Error(`no answer from ${url}: ${text}`)
  requireStatus(printed, traffic)
  if (traffic.lastly) await drain(url, traffic.lastly)
  return {
    /** Answers with 2xx a second, after the warm-up. */
    rate: countOf(printed, (status) => status.startsWith('2')) / Math.max(0.001, printed.seconds),
    byStatus: printed.byStatus,
    /** The requests that were under way at the end are done too, answered to nobody. */
    sent: printed.answered + connections,
    /** The share of one processor that the load generator takes; near 1 it is the bottleneck itself. */
    generatorShare:
      Number(child.resourceUsage()!.cpuTime.total) / 1e6 / Math.max(load.seconds, printed.seconds),
  }
}

function paced({ traffic, ...load }: Load): [command: string[], input: string] {
  const requests = traffic.requests.map((each) => rawOf(each, load.url))
  const input: PacedLoad = { ...load, requests, tokens: traffic.tokens }
  return [[process.execPath, join(import.meta.dir, 'paced.ts')], JSON.stringify(input)]
}

function wrk({ url, traffic, connections, seconds, warmupSeconds = seconds / 5 }: Load): [string[], string] {
  if (Bun.which('wrk') === null) throw new Error('wrk is not installed: apt-get install wrk')
  const { requests, tokens, once } = traffic
  const duration = Math.ceil(seconds)
  const options = ['--threads', '1', '--connections', String(connections), '--duration', `${duration}s`]
  const script = ['--timeout', '30s', '--script', join(import.meta.dir, 'wrk.lua'), url]
  const kind = tokens ? 'tokens' : once ? 'once' : 'cyclic'
  const lines = [...requests.map((each) => rawOf(each, url)), ...(tokens ?? [])]
  return [
    ['wrk', ...options, ...script, '--', kind, String(warmupSeconds), String(duration)],
    lines.join('\x1e'),
  ]
}

/** The whole of a request, as it is sent. */
function rawOf({ method, path, body, headers }: PlainRequest, url: string): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const type = text !== '' && { 'content-type': 'application/json', 'content-length': text.length }
  const lines = Object.entries({ host: new URL(url).host, ...type, ...headers }).map((line) =>
    line.join(': '),
  )
  return [`${method} ${path} HTTP/1.1`, ...lines, '', text].join('\r\n')
}

const countOf = ({ byStatus }: Printed, isMeant: (status: string) => boolean) =>
  Object.entries(byStatus).reduce((sum, [status, { count }]) => sum + (isMeant(status) ? count : 0), 0)

function requireStatus(printed: Printed, { status = 200, requests }: Traffic): void {
  if (status === null) return
  const wrong = printed.errors + countOf(printed, (each) => each !== String(status))
  if (wrong > Math.max(1, countOf(printed, () => true) / 1000))
    throw new Error(`${requests[0]?.path}: ${wrong} answers were not ${status}: ${JSON.stringify(printed)}`)
}

/** Until it is not refused as too busy: everything that stood in the queue before it is done then. */
async function drain(url: string, { method, path, body }: PlainRequest): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  // Of two replicas behind a proxy each gets one.
  for (let done = 0; done < 2; ) {
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
    await answer.bytes()
    if (answer.status === 503) await Bun.sleep(100)
    else done++
  }
}
