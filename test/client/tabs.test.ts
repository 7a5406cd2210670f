/** Two tabs of Chromium share the tokens: none signs the other out, and nothing of one person lands in another's session. */
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { newEmail } from '../helpers/api-client.ts'
import { launchBrowser } from '../helpers/browser.ts'
import { browserClient } from '../helpers/client-package.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { longTest, reduced } from '../helpers/soak.ts'

setDefaultTimeout(60_000)

let service: TestService
let browser: Browser
let context: BrowserContext
let app: Bun.Server<undefined>
let origin = ''

beforeAll(async () => {
  const client = await browserClient()
  app = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) =>
      url.endsWith('/client.js')
        ? new Response(client, { headers: { 'content-type': 'text/javascript' } })
        : new Response(page(service.url), { headers: { 'content-type': 'text/html' } }),
  })
  origin = `http://localhost:${app.port}`
  service = await startService({ settings: { server: { cors_origins: [origin] } } })
  browser = await launchBrowser({})
})
afterAll(async () => {
  await browser?.close()
  app?.stop(true)
  await service?.close()
})
beforeEach(async () => {
  await context?.close()
  context = await browser.newContext()
})

const page = (url: string) => `<!doctype html><meta charset="utf-8"><title>App</title>
<script type="module">
import { createClient } from '/client.js'
window.auth = createClient({ url: ${JSON.stringify(url)} })
</script>`

async function openTab(): Promise<Page> {
  const tab = await context.newPage()
  await tab.goto(origin)
  await tab.waitForFunction('window.auth !== undefined')
  return tab
}

const ask = <T>(tab: Page, script: string): Promise<T> => tab.evaluate(script)
const reload = `auth.reload().then(({ email }) => email, ({ code }) => code)`
const accessTokenExpires = () => service.clock.advance(16 * 60_000)

async function signIn(tab: Page): Promise<string> {
  const { identifier, password } = await service.signUp(newEmail())
  await ask(tab, `auth.signIn(${JSON.stringify({ identifier, password })})`)
  return identifier
}

describe('two tabs', () => {
  test('refresh at the same moment, again and again, and stay signed in', async () => {
    const [one, other] = [await openTab(), await openTab()]
    const email = await signIn(one)
    expect(await ask<string>(other, 'auth.state.account?.email')).toBe(email)
    for (let round = 0; round < reduced(10, 200); round++) {
      accessTokenExpires()
      expect(await Promise.all([ask(one, reload), ask(other, reload)])).toEqual([email, email])
    }
  })

  test('a connection that is cut in the middle of a refresh signs nobody out', async () => {
    const [one, other] = [await openTab(), await openTab()]
    const email = await signIn(one)
    accessTokenExpires()
    let cut = 0
    await one.route('**/refresh', async (route) => {
      if (cut++ > 0) return route.continue()
      await route.fetch()
      return route.abort()
    })
    expect(await ask<string>(one, reload)).toBe(email)
    expect(await ask<string>(other, reload)).toBe(email)
    expect(cut).toBe(2)
  })

  longTest(
    'a sign-out, or a sign-in as somebody else, while the other refreshes is what both show',
    async () => {
      const [one, other] = [await openTab(), await openTab()]
      const slowly = (tab: Page, meanwhile: () => Promise<unknown>) =>
        tab.route('**/refresh', async (route) => {
          const response = await route.fetch()
          await meanwhile()
          await route.fulfill({ response })
        })
      await signIn(one)
      accessTokenExpires()
      await slowly(one, () => ask(other, 'auth.signOut()'))
      expect(await ask<string>(one, reload)).toBe('signed_out')
      expect(await ask<string>(one, 'auth.state.status')).toBe('signed_out')
      await one.unroute('**/refresh')
      await signIn(one)
      accessTokenExpires()
      let next = ''
      await slowly(one, async () => {
        next = await signIn(other)
      })
      expect(await ask<string>(one, reload)).toBe('signed_out')
      for (const tab of [one, other]) expect(await ask<string>(tab, 'auth.state.account.email')).toBe(next)
      expect(await ask<string>(other, reload)).toBe(next)
    },
  )
})
