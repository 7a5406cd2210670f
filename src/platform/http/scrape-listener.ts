/** The listener of `metrics.listen`: `GET /metrics` and nothing else, apart from the public routes. */
export interface ScrapeListener {
  close(): Promise<void>
}

type Expose = (accept: string | null) => Promise<{ contentType: string; text: string }>

/** Throws where nothing can listen on that address. */
export function openScrapeListener(
  { host: hostname, port }: { host: string; port: number },
  expose: Expose,
): ScrapeListener {
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
    if (new URL(url).pathname !== '/metrics') return new Response(null, { status: 404 })
    if (method !== 'GET') return new Response(null, { status: 405, headers: { allow: 'GET' } })
    const { contentType, text } = await expose(headers.get('accept'))
    return new Response(text, { headers: { 'content-type': contentType, 'cache-control': 'no-store' } })
  }
}
