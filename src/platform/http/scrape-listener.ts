/** The listener of `metrics.listen`: `GET /metrics` and nothing else, apart from the public routes. */
import { isIP } from 'node:net'
import { hostNameOf } from '../config/formats.ts'

type Expose = (accept: string | null) => Promise<{ contentType: string; text: string }>

/** Throws where nothing can listen on that address. */
export function openScrapeListener({ host: hostname, port }: { host: string; port: number }, expose: Expose) {
  const server = listen()
  return { close: () => server.stop(true) }

  function listen() {
    try {
      return Bun.serve({ hostname, port, reusePort: false, development: false, fetch: answer })
    } catch (error) {
      const { code = 'unknown cause' } = error as { code?: string }
      const address = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
      throw new Error(
        code === 'EADDRINUSE'
          ? `metrics.listen: ${address} is in use: stop what listens there, or name another port`
          : `metrics.listen: cannot listen on ${address} (${code}): name an address of this machine`,
      )
    }
  }

  async function answer({ url, method, headers }: Request): Promise<Response> {
    if (URL.parse(url)?.pathname !== '/metrics') return new Response(null, { status: 404 })
    if (method !== 'GET' && method !== 'HEAD')
      return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } })
    if (isForeignPage(headers, hostname)) return new Response(FOREIGN, { status: 403, headers: PLAIN })
    const { contentType, text } = await expose(headers.get('accept'))
    return new Response(text, { headers: { ...PLAIN, 'content-type': contentType } })
  }
}

const PLAIN = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}
const FOREIGN = 'A browser may read this only by the IP address of this machine, or as localhost.\n'

/**
 * A website can have its own name resolve to this machine and read every answer as its own. So a browser must name the
 * machine in a way that no website can. Prometheus may use any name: it sends none of the headers that a browser always
 * sends.
 */
function isForeignPage(headers: Headers, listensOn: string): boolean {
  if (!BROWSER_HEADERS.some((name) => headers.has(name))) return false
  const host = hostNameOf(headers.get('host'))
  return isIP(host) === 0 && host !== 'localhost' && host !== listensOn
}

const BROWSER_HEADERS = [
  'accept-language',
  'origin',
  'referer',
  'sec-fetch-site',
  'upgrade-insecure-requests',
]
