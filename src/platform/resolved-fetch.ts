/**
 * Requests by name that keep nothing else waiting. `fetch` and `connect` ask name servers by a call that holds one of a few
 * threads, as many as there are processors, for ten seconds where none answers; making digests needs these threads too.
 */
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'

/** By way of a proxy, names are its business, and a name server here may know none of them. */
const hasProxy = () =>
  ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].some((name) => process.env[name])

/** `fetch`, once a name server answered. Throws what `signal` says, or an error with code ETIMEDOUT. */
export async function resolvedFetch(
  url: string | URL,
  init: BunFetchRequestInit & { signal: AbortSignal },
): Promise<Response> {
  if (!hasProxy()) await untilResolved(new URL(url).hostname, init.signal)
  return fetch(url, init)
}

/**
 * Waits until a name server answered, whatever it said, by calls that hold no thread: one knows /etc/hosts, the other reads
 * /etc/resolv.conf anew. Throws what `signal` says, or an error with code ETIMEDOUT where no name server answers.
 */
export async function untilResolved(host: string, signal: AbortSignal): Promise<void> {
  if (isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0) return
  signal.throwIfAborted()
  const resolver = new Resolver()
  const answers = [Bun.dns.lookup(host, { backend: 'c-ares' }), resolver.resolve4(host)].map((answer) =>
    answer.catch(({ code }) => {
      if (/TIMEOUT/.test(code)) throw Object.assign(new Error(code), { code: 'ETIMEDOUT' })
    }),
  )
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  try {
    await Promise.race([Promise.any(answers), aborted])
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error
  } finally {
    resolver.cancel()
  }
}
