/**
 * Load from another process: what to send (`Load`), what came of it (`LoadResult`), and the call that starts it. It is
 * wrk, or load-process.ts with autocannon where a rate or a number of requests is asked for, which wrk cannot do.
 */
import { join } from 'node:path'
import { startChild } from './children.ts'
import { runWrk } from './wrk.ts'

/** The requests of a load; the lists are dealt out in turn over all connections, and where one ends so does the load. */
export type Traffic =
  | { kind: 'requests'; requests: PlainRequest[]; cyclic: boolean }
  /** Each connection trades its own refresh token for the next one. */
  | { kind: 'refresh'; path: string; tokens: string[] }

export interface PlainRequest {
  method: 'GET' | 'POST'
  path: string
  body?: unknown
  headers?: Record<string, string>
}

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
  /**
   * It is sent when the load has ended, until it is not refused as too busy. Everything that stood in the queue before
   * it is done then, and nothing of this load is left to disturb the next one.
   */
  lastly?: PlainRequest
}

export interface Latencies {
  count: number
  /** It counts all answers of wrk together. */
  p50Ms: number
  p99Ms: number
  maxMs: number
}

export interface LoadResult {
  /** Answers with 2xx a second, after the warm-up. */
  rate: number
  byStatus: Record<string, Latencies>
  /** All answers, those of the warm-up included. */
  answered: number
  /** Connections that broke and requests without answer. */
  errors: number
  /** The share of one processor that the load generator takes; near 1 it is the bottleneck itself. */
  generatorShare: number
}

/** Runs one load to its end. Throws when not a single answer came. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const isPaced = load.rate !== undefined || load.amount !== undefined
  const result = await (isPaced ? runAutocannon(load) : runWrk(load))
  if (Object.keys(result.byStatus).length === 0) throw new Error(`no answer from ${load.url}`)
  if (load.lastly) await drain(load.url, load.lastly)
  return result
}

async function runAutocannon(load: Load): Promise<LoadResult> {
  const child = await startChild([process.execPath, join(import.meta.dir, 'load-process.ts')])
  try {
    return await child.ask<LoadResult>(load)
  } finally {
    await child.end()
  }
}

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

/** Throws unless all but a thousandth of the answers had one of these statuses. */
export function requireStatuses(result: LoadResult, statuses: number[], what: string): LoadResult {
  const counts = Object.entries(result.byStatus)
  const total = counts.reduce((sum, [, { count }]) => sum + count, 0)
  const other = counts.filter(([status]) => !statuses.includes(Number(status)))
  const wrong = other.reduce((sum, [, { count }]) => sum + count, 0) + result.errors
  if (wrong > Math.max(1, total / 1000))
    throw new Error(
      `${what}: ${wrong} of ${total} answers were not ${statuses.join(' or ')}: ${JSON.stringify(result)}`,
    )
  return result
}
