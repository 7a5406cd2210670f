/**
 * The smallest web app that signs people in through a provider: one page around the client package. On an origin
 * of its own, so cookies and CORS are as in life.
 */
import { createServer } from 'node:http'
import { browserClient } from './client-package.ts'

export interface WebApp {
  origin: string
  start(serviceUrl: string): void
  stop(): Promise<void>
}

const page = (url: string) => `<!doctype html>
<meta charset="utf-8"><title>App</title>
<button disabled>Sign in</button> <pre id="result"></pre>
<script type="module">
import { createClient } from '/client.js'
const url = ${JSON.stringify(url)}
const auth = createClient({ url })
const show = (value) => {
  document.querySelector('#result').textContent = JSON.stringify({ ...value, cookie: document.cookie })
}
const name = new URLSearchParams(location.hash.slice(1)).get('provider') ?? 'honest'
const button = document.querySelector('button')
button.onclick = async () => {
  location.href = await auth.startRedirect({ provider: name }, { redirectUri: location.origin + '/signed-in' })
}
button.disabled = false
try {
  const step = await auth.completeRedirect()
  if (step) show({ ...step, ...JSON.parse(localStorage.poterne) })
} catch (error) { show({ error: error.details.error }) }
</script>`

export async function startWebApp(): Promise<WebApp> {
  let serviceUrl = ''
  const client = await browserClient()
  const server = createServer(({ url }, response) => {
    const [type, text] = url === '/client.js' ? ['text/javascript', client] : ['text/html', page(serviceUrl)]
    response.writeHead(200, { 'content-type': type }).end(text)
  })
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  )
  return {
    origin: `http://localhost:${port}`,
    start: (url) => {
      serviceUrl = url
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
