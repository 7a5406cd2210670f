/**
 * The client package with passkeys in Chromium: an app on one site, the service on another, both below the relying
 * party. A shop is on a related origin, and one site has nothing to do with them. The authenticator is Chromium's own
 * virtual one.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { newEmail } from '../helpers/api-client.ts'
import { addPlatformAuthenticator, launchBrowser } from '../helpers/browser.ts'
import { createCertificate } from '../helpers/certificates.ts'
import { browserClient } from '../helpers/client-package.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'

setDefaultTimeout(20_000)

const APP = 'https://app.example.com'
const SHOP = 'https://shop.example.org'
const STRANGER = 'https://example.net'

let service: TestService
let browser: Browser
let front: Bun.Server<undefined>

const page = `<!doctype html><meta charset="utf-8"><title>App</title>
<input name="identifier" autocomplete="username webauthn">
<script type="module">
import { createClient } from '/client.js'
window.client = createClient({ url: 'https://auth.example.com' })
</script>`

/** Each site by its name; the relying party's host passes its well-known files on to the service. */
async function startFront(client: string) {
  const { key, cert } = createCertificate('self-signed')
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key, cert },
    async fetch(request) {
      const { hostname, pathname, search } = new URL(request.url)
      const isPassedOn =
        hostname === 'auth.example.com' ||
        (hostname === 'example.com' && pathname.startsWith('/.well-known/'))
      if (isPassedOn) {
        const { method, headers } = request
        const body = method === 'GET' ? null : await request.arrayBuffer()
        return fetch(service.url + pathname + search, { method, headers, body, redirect: 'manual' })
      }
      const [type, text] = pathname === '/client.js' ? ['text/javascript', client] : ['text/html', page]
      return new Response(text, { headers: { 'content-type': type } })
    },
  })
}

beforeAll(async () => {
  front = await startFront(await browserClient())
  service = await startService({
    settings: {
      server: { cors_origins: [APP, SHOP, STRANGER] },
      passkeys: { rp_id: 'example.com', origins: [APP, SHOP] },
    },
  })
  const names = ['example.com', 'app.example.com', 'auth.example.com', 'shop.example.org', 'example.net']
  browser = await launchBrowser(Object.fromEntries(names.map((name) => [name, `127.0.0.1:${front.port}`])))
}, 60_000)

afterAll(async () => {
  await browser?.close()
  front?.stop(true)
  await service?.close()
})

/** A tab with a platform authenticator that verifies its person and answers at once. */
async function openTab() {
  const context = await browser.newContext()
  const tab = await context.newPage()
  await open(tab, APP)
  const devtools = await context.newCDPSession(tab)
  const authenticatorId = await addPlatformAuthenticator(devtools)
  const credentials = async () =>
    (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  return {
    tab,
    context,
    credentials,
    async replace(change: { signCount: number }) {
      const [kept] = await credentials()
      await devtools.send('WebAuthn.clearCredentials', { authenticatorId })
      await devtools.send('WebAuthn.addCredential', { authenticatorId, credential: { ...kept!, ...change } })
    },
    setVerified: (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}

async function open(tab: Page, site: string): Promise<void> {
  await tab.goto(site)
  await tab.waitForFunction('window.client !== undefined')
}

/** Calls the client in the page: its result, or the code (else the name) of its error. */
const ask = (tab: Page, call: string): Promise<{ done?: Record<string, unknown>; error?: string }> =>
  tab.evaluate(
    `client.${call}.then((done) => ({ done: done ?? {} }), (error) => ({ error: error.code && error.fields ? error.code : error.name }))`,
  )

async function withPasskey() {
  const opened = await openTab()
  const person = await service.signUp(newEmail())
  await ask(opened.tab, `signIn({ identifier: '${person.identifier}', password: '${person.password}' })`)
  // The offer after a login by password: the session has just proved it, so nothing is asked again.
  const { done } = await ask(opened.tab, 'addPasskey()')
  expect(done).toMatchObject({ last_used_at: null })
  return { ...opened, person, id: done!.id as string }
}

test('is added after a login by password, signs in by button and from the identifier field, and is removed', async () => {
  const { tab, context, person, credentials, id } = await withPasskey()
  expect(await credentials()).toMatchObject([{ rpId: 'example.com', isResidentCredential: true }])
  await open(tab, APP)
  expect(await ask(tab, 'signInWithPasskey()')).toMatchObject({
    done: { account: { email: person.identifier } },
  })
  await open(tab, APP)
  const offered = await ask(tab, 'signInWithPasskey({ conditional: true })')
  expect(offered).toMatchObject({ done: { account: { email: person.identifier } } })
  // The passkey is young, and was added without the password: a session that it opened needs that to remove it.
  expect((await ask(tab, `removePasskey('${id}')`)).error).toBe('validation_failed')
  const removed = await ask(tab, `removePasskey('${id}', { password: '${person.password}' })`)
  expect(removed).toMatchObject({ done: {} })
  await open(tab, APP)
  expect((await ask(tab, 'signInWithPasskey()')).error).toMatch(/^(unknown_passkey|NotAllowedError)$/)
  await context.close()
})

test('whose counter was set back is refused, and the owner is told', async () => {
  const { tab, context, person, replace } = await withPasskey()
  for (let count = 0; count < 3; count++)
    expect(await ask(tab, 'signInWithPasskey()')).toMatchObject({
      done: { account: { email: person.identifier } },
    })
  await replace({ signCount: 1 })
  expect(await ask(tab, 'signInWithPasskey()')).toEqual({ error: 'invalid_passkey' })
  await service.delivered()
  expect(service.inbox.textsTo(person.identifier).join()).toMatch(/copi/i)
  await context.close()
})

longTest('signs in on a related origin, which the relying party names, and nowhere else', async () => {
  const { tab, context, person } = await withPasskey()
  await open(tab, SHOP)
  expect(await ask(tab, 'signInWithPasskey()')).toMatchObject({
    done: { account: { email: person.identifier } },
  })
  await open(tab, STRANGER)
  expect(await ask(tab, 'signInWithPasskey()')).toEqual({ error: 'SecurityError' })
  await context.close()
})
