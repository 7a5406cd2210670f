/**
 * Requests to a foreign service that itself names further addresses to call. They are bounded in time and size, follow no
 * redirect, and never lead into the private network. DNS rebinding between our check and the connection is not detected
 * here; TLS certificate validation prevents it.
 */
import { lookup } from 'node:dns/promises'
import ipaddr from 'ipaddr.js'
import { isLoopbackHost } from './config/formats.ts'
import { readBounded } from './read-bounded.ts'
import { resolvedFetch, untilResolved } from './resolved-fetch.ts'

/** The outside world; tests replace it. */
export interface Network {
  fetch(url: string, init: BunFetchRequestInit & { signal: AbortSignal }): Promise<Response>
  /** Every address of a host name. */
  resolve(host: string, signal: AbortSignal): Promise<string[]>
}

export const network: Network = {
  fetch: resolvedFetch,
  async resolve(host, signal) {
    await untilResolved(host, signal)
    return (await lookup(host, { all: true })).map(({ address }) => address)
  },
}

type OutboundReason = 'address' | 'connection' | 'timeout' | 'redirect' | 'status' | 'size'

/** The service gave no answer, or none that may be trusted. The error holds no URL and no body. */
export class OutboundFailure extends Error {
  override name = 'OutboundFailure'
  readonly reason: OutboundReason

  constructor(reason: OutboundReason) {
    super(reason)
    this.reason = reason
  }
}

interface GuardedFetchOptions {
  /**
   * URLs that the operator configured. Their hosts may be anywhere, so that a provider inside the own network works. If
   * all of them are on loopback, other loopback ports and http are allowed too.
   */
  trusted: string[]
  network: Network
  timeoutMs?: number
  maximumBytes?: number
}

/** A person waits for the answer. */
const TIMEOUT_MS = 5000
/** The key sets of the largest providers have about 20 KB. */
const MAXIMUM_BYTES = 512 * 1024

export type GuardedFetch = (url: string, init?: RequestInit) => Promise<Response>

/**
 * Returns answers with a status below 500 that is neither a redirect nor 429, with their bodies already read. Throws
 * OutboundFailure for everything else.
 */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { network, timeoutMs = TIMEOUT_MS, maximumBytes = MAXIMUM_BYTES } = options
  const trustedHosts = options.trusted.map((url) => new URL(url).hostname)
  const allLoopback = trustedHosts.every(isLoopbackHost)

  async function requireAllowed(target: string, signal: AbortSignal): Promise<void> {
    const { protocol, hostname } = new URL(target)
    const local = allLoopback && isLoopbackHost(hostname)
    if (protocol !== 'https:' && !(protocol === 'http:' && local)) throw new OutboundFailure('address')
    if (local || trustedHosts.includes(hostname)) return
    const addresses = await network.resolve(hostname.replace(/^\[(.*)\]$/, '$1'), signal)
    if (addresses.length === 0 || !addresses.every(isPublic)) throw new OutboundFailure('address')
  }

  return async (url, init = {}) => {
    const deadline = AbortSignal.timeout(timeoutMs)
    const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline
    try {
      await Promise.race([requireAllowed(url, signal), rejection(signal)])
      const response = await network.fetch(url, { ...init, redirect: 'manual', signal })
      const bytes = await Promise.race([readWhole(response, maximumBytes), rejection(signal)])
      const { status } = response
      if (status >= 300 && status < 400) throw new OutboundFailure('redirect')
      if (status >= 500 || status === 429) throw new OutboundFailure('status')
      const empty = status === 204 || status === 205
      return new Response(empty ? null : bytes, {
        status,
        headers: { 'content-type': response.headers.get('content-type') ?? '' },
      })
    } catch (error) {
      if (error instanceof OutboundFailure) throw error
      throw new OutboundFailure(signal.aborted ? 'timeout' : 'connection')
    }
  }
}

/** The bound holds for the decompressed body. */
const readWhole = ({ body }: Response, maximumBytes: number) =>
  readBounded(body ?? [], maximumBytes, () => new OutboundFailure('size'))

function isPublic(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast'
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(new OutboundFailure('timeout'))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
