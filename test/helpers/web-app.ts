/**
 * The smallest web app that signs people in through a provider: one page around docs/social-example.js. On an origin
 * of its own, so cookies and CORS are as in life.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

export interface WebApp {
  origin: string
  start(apiUrl: string): void
  stop(): Promise<void>
}

const example = readFileSync(join(import.meta.dir, '../../docs/social-example.js'), 'utf8')

const page = (apiUrl: string) => `<!doctype html>
<meta charset="utf-8"><title>App</title>
<button disabled>Sign in</button> <pre id="result"></pre>
<script type="module">
import { beginSignIn, finishSignIn, listProviders } from '/social-example.js'
const api = ${JSON.stringify(`${apiUrl}/api/v1/auth`)}
const show = (value) => {
  document.querySelector('#result').textContent = JSON.stringify({ ...value, cookie: document.cookie })
}
const name = new URLSearchParams(location.hash.slice(1)).get('provider')
const providers = await listProviders(api)
const chosen = providers.find((provider) => provider.name === name) ?? providers[0]
const button = document.querySelector('button')
button.onclick = () => beginSignIn(chosen, location.origin + '/signed-in')
button.disabled = false
if (location.pathname === '/signed-in') {
  try { show(await finishSignIn(api)) } catch (error) { show({ error: error.message }) }
}
</script>`

export async function startWebApp(): Promise<WebApp> {
  let apiUrl = ''
  const server = createServer(({ url }, response) => {
    const [type, text] =
      url === '/social-example.js' ? ['text/javascript', example] : ['text/html', page(apiUrl)]
    response.writeHead(200, { 'content-type': type }).end(text)
  })
  const port = await new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  )
  return {
    origin: `http://localhost:${port}`,
    start: (url) => {
      apiUrl = url
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
