/** `useAuth` in React 18 and 19: drawn on a server, taken over in Chromium, with StrictMode, and again at each change. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../helpers/browser.ts'

setDefaultTimeout(60_000)

const source = `
import { StrictMode, createElement } from 'react'
import { hydrateRoot } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { createClient } from './src/client/index.ts'
import { useAuth } from './src/client/react.ts'

const problems = []
const account = { email: 'ada@example.com' }
localStorage.setItem('poterne', JSON.stringify({ access_token: '', refresh_token: 'r', came: 0, account }))
const auth = createClient({ url: 'https://auth.example.com' })
let draws = 0
function Who() {
  const { status, account } = useAuth(auth)
  draws++
  return createElement('p', null, status, ' ', account?.email)
}
const app = createElement(StrictMode, null, createElement(Who))
const root = document.createElement('main')
root.innerHTML = renderToString(app)
document.body.append(root)
window.drawn = [root.textContent]
const options = { onRecoverableError: (error) => problems.push(String(error)) }
hydrateRoot(root, app, options)
const until = async (text) => { while (!root.textContent.includes(text)) await new Promise(requestAnimationFrame) }
window.run = async () => {
  await until('signed_in')
  drawn.push(root.textContent)
  const before = draws
  auth.signOut()
  await until('signed_out')
  drawn.push(root.textContent)
  return { drawn, problems, again: draws > before }
}`

let browser: Browser
let app: Bun.Server<undefined>
const scripts = new Map<string, string>()

beforeAll(async () => {
  const root = join(import.meta.dir, '../..')
  for (const version of ['18', '19']) {
    const react = version === '18' ? { react: 'react-18', 'react-dom': 'react-dom-18' } : {}
    const { outputFiles } = await build({
      stdin: { contents: source, resolveDir: root, loader: 'ts' },
      bundle: true,
      format: 'iife',
      alias: react,
      define: { 'process.env.NODE_ENV': '"development"' },
      write: false,
    })
    scripts.set(`/${version}.js`, outputFiles[0]!.text)
  }
  app = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      const { pathname } = new URL(url)
      const script = scripts.get(pathname)
      return script === undefined
        ? new Response(
            `<!doctype html><meta charset="utf-8"><title>App</title><body><script src="${pathname}.js"></script>`,
            {
              headers: { 'content-type': 'text/html' },
            },
          )
        : new Response(script, { headers: { 'content-type': 'text/javascript' } })
    },
  })
  browser = await launchBrowser({})
})
afterAll(async () => {
  await browser?.close()
  app?.stop(true)
})

test.each(['18', '19'])('React %s draws who is signed in', async (version) => {
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (line) => {
    if (line.type() === 'error' && !line.text().includes('Failed to load resource'))
      complaints.push(line.text())
  })
  await page.goto(`http://127.0.0.1:${app.port}/${version}`)
  expect(await page.evaluate('window.run()')).toEqual({
    drawn: ['loading ', 'signed_in ada@example.com', 'signed_out '],
    problems: [],
    again: true,
  })
  expect(complaints).toEqual([])
  await page.close()
})
