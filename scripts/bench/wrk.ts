/**
 * The load of clients that each send when they were answered. It comes from wrk, which takes a tenth of what autocannon
 * takes of the processors that poterne, PostgreSQL and Redis share with it.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newDirectory } from '../../test/helpers/run-directory.ts'
import type { Load, LoadResult, PlainRequest } from './load.ts'

/** The output of wrk.lua. Times in milliseconds, `lastAtMs` since the end of the warm-up. */
interface Printed {
  answered: number
  /** The answers after the warm-up, by status. */
  counted: Record<string, number>
  lastAtMs: number
  /** The list of requests was used up. */
  empty: boolean
  errors: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

export async function runWrk({
  url,
  traffic,
  connections,
  seconds,
  warmupSeconds = seconds / 5,
}: Load): Promise<LoadResult> {
  if (Bun.which('wrk') === null) throw new Error('wrk is not installed: apt-get install wrk')
  const file = join(newDirectory('load'), 'requests')
  writeFileSync(
    file,
    traffic.kind === 'refresh' ? refreshFile(traffic, url) : requestsFile(traffic.requests, url),
  )
  const cyclic = traffic.kind === 'requests' && traffic.cyclic
  const child = Bun.spawn(
    [
      'wrk',
      ...['--threads', '1', '--connections', String(connections)],
      ...['--duration', `${Math.ceil(seconds)}s`, '--timeout', '30s'],
      ...[
        '--script',
        join(import.meta.dir, 'wrk.lua'),
        url,
        '--',
        file,
        String(warmupSeconds),
        String(cyclic),
      ],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const [text] = await Promise.all([child.stderr.text(), child.exited])
  const printed = JSON.parse(text.trim().split('\n').at(-1) || 'null') as Printed | null
  if (printed === null || child.exitCode !== 0) throw new Error(`wrk failed: ${text}`)
  const measuredSeconds = printed.empty ? printed.lastAtMs / 1000 : Math.ceil(seconds) - warmupSeconds
  const { p50Ms, p99Ms, maxMs } = printed
  const successes = Object.entries(printed.counted).filter(([status]) => status.startsWith('2'))
  const { user, system } = child.resourceUsage()!.cpuTime
  return {
    rate: successes.reduce((sum, [, count]) => sum + count, 0) / Math.max(0.001, measuredSeconds),
    byStatus: Object.fromEntries(
      Object.entries(printed.counted).map(([status, count]) => [status, { count, p50Ms, p99Ms, maxMs }]),
    ),
    answered: printed.answered,
    errors: printed.errors,
    generatorShare: Number(user + system) / 1e6 / Math.ceil(seconds),
  }
}

/** The whole of a request, as wrk.lua sends it. */
function raw({ method, path, body, headers }: PlainRequest, url: string): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const all = {
    host: new URL(url).host,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(text.length) }),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

const requestsFile = (requests: PlainRequest[], url: string) =>
  requests.map((request) => withLength(raw(request, url))).join('')

function refreshFile({ path, tokens }: { path: string; tokens: string[] }, url: string): string {
  const template = raw({ method: 'POST', path, body: { refresh_token: tokens[0] } }, url)
  const lines = tokens.map((token) => `=${token}\n`)
  return withLength(template.replace(tokens[0]!, 'TOKEN')) + lines.join('')
}

const withLength = (text: string) => `${text.length}\n${text}`
