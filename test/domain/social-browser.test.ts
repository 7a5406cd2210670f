/**
 * The whole flow in a real browser: an app on one site, the service behind TLS on another, a certified OpenID provider
 * on a third. Then the flow in which the provider's answer comes as a form from its own site.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { newEmail } from '../helpers/api-client.ts'
import { launchBrowser } from '../helpers/browser.ts'
import { createCertificate } from '../helpers/certificates.ts'
import { type HonestProvider, startHonestProvider } from '../helpers/honest-provider.ts'
import { createSigner } from '../helpers/pretend-provider.ts'
import { createWorld } from '../helpers/pretend-world.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { createSocialBrowser, newPkce } from '../helpers/social.ts'
import { startWebApp, type WebApp } from '../helpers/web-app.ts'

setDefaultTimeout(20_000)

const BASE_URL = 'https://auth.test'

let provider: HonestProvider
let app: WebApp
let service: TestService
let browser: Browser
let front: ReturnType<typeof startFront>
/** The nonce of the sign-in under way at the pretended Apple. */
let appleNonce = ''

/** The reverse proxy, and Apple's page to sign in, which here only posts its answer. */
function startFront() {
  const { key, cert } = createCertificate('self-signed')
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key, cert },
    async fetch(request) {
      const { host, pathname, search, searchParams } = new URL(request.url)
      if (host.startsWith('appleid.apple.com')) {
        appleNonce = searchParams.get('nonce')!
        const [action, state] = [searchParams.get('redirect_uri'), searchParams.get('state')]
        const form = `<form method="post" action="${action}">
          <input name="state" value="${state}"><input name="code" value="c"></form>
          <script>document.forms[0].submit()</script>`
        return new Response(form, { headers: { 'content-type': 'text/html' } })
      }
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.arrayBuffer()
      return fetch(service.url + pathname + search, { method, headers, body, redirect: 'manual' })
    },
  })
}

beforeAll(async () => {
  provider = await startHonestProvider({
    id: 'poterne',
    secret: 'hunter2'.repeat(5),
    redirectUri: `${BASE_URL}/api/v1/auth/social/honest/callback`,
  })
  app = await startWebApp()
  const signer = await createSigner()
  const issuer = 'https://appleid.apple.com'
  const seconds = () => Math.floor(Date.now() / 1000)
  const apple = createWorld({
    'appleid.apple.com': async ({ url }) => {
      if (url.pathname === '/keys') return { keys: [signer.publicJwk] }
      if (url.pathname === '/token') {
        const claims = { iss: issuer, aud: 'com.example.web', sub: '000.browser', nonce: appleNonce }
        const id_token = await signer.sign({ ...claims, iat: seconds(), exp: seconds() + 60 })
        return { access_token: 'a', token_type: 'Bearer', id_token }
      }
      return {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        token_endpoint_auth_methods_supported: ['client_secret_post'],
      }
    },
  })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  service = await startService({
    network: {
      resolve: apple.resolve,
      fetch: (url, init) => (url.includes('apple.com') ? apple.fetch(url, init) : fetch(url, init)),
    },
    settings: {
      server: { base_url: BASE_URL, cors_origins: [app.origin] },
      social: {
        redirect_uris: [`${app.origin}/signed-in`],
        providers: [
          {
            name: 'honest',
            issuer: provider.issuer,
            client_id: 'poterne',
            authoritative_for: ['*'],
            client_secret: 'hunter2'.repeat(5),
          },
          {
            name: 'apple',
            preset: 'apple',
            client_id: 'com.example.web',
            team_id: 'T',
            key_id: 'K',
            private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
          },
        ],
      },
    },
  })
  app.start(BASE_URL)
  front = startFront()
  const address = `127.0.0.1:${front.port}`
  browser = await launchBrowser({ 'auth.test': address, 'appleid.apple.com': address })
}, 90_000)
afterAll(async () => {
  await browser?.close()
  await front?.stop(true)
  await service?.close()
  await Promise.all([provider?.stop(), app?.stop()])
}, 30_000)

async function open(path = '/'): Promise<Page> {
  const page = await (await browser.newContext()).newPage()
  await page.goto(app.origin + path, { waitUntil: 'domcontentloaded' })
  return page
}

async function result(page: Page) {
  await page.waitForFunction("document.querySelector('#result')?.textContent")
  return JSON.parse((await page.textContent('#result'))!)
}

const press = (page: Page, what: string) => page.locator(what).click({ noWaitAfter: true })

async function signInAtProvider(page: Page, login: string): Promise<void> {
  await page.locator('input[name=login]').fill(login)
  await page.locator('input[name=password]').fill('anything')
  await press(page, 'button[type=submit]')
  await page.locator('input[value=consent]').waitFor({ state: 'attached' })
  await press(page, 'button[type=submit]')
}

test('an app signs a person in, in two calls and without a token in any address', async () => {
  const email = newEmail()
  provider.people.set('ada', { email, email_verified: true })
  const page = await open()
  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))
  await press(page, 'button')
  await signInAtProvider(page, 'ada')
  const signedIn = await result(page)
  expect(signedIn.account).toMatchObject({ email, provider: 'honest', provider_uid: 'ada' })
  expect(signedIn.cookie).toBe('')
  expect(page.url()).toBe(`${app.origin}/signed-in`)
  expect(addresses.some((url) => url.startsWith(`${BASE_URL}/api/v1/auth/social/honest/callback`))).toBe(true)
  for (const url of addresses) {
    expect(url).not.toContain(signedIn.access_token)
    expect(url).not.toContain(signedIn.refresh_token)
    expect(url).not.toContain('eyJ')
  }
  const kept = await page.context().cookies(BASE_URL)
  expect(kept).toEqual([])

  await page.goto(app.origin, { waitUntil: 'domcontentloaded' })
  await press(page, 'button')
  const again = await result(page)
  expect(again.account).toMatchObject({ id: signedIn.account.id, sign_in_count: 2 })
  await page.context().close()
}, 60_000)

longTest(
  'a person who turns back at the provider comes back with an error',
  async () => {
    const page = await open()
    await press(page, 'button')
    await press(page, 'a[href$="/abort"]')
    expect(await result(page)).toEqual({ error: 'access_denied', cookie: '' })
    await page.context().close()
  },
  60_000,
)

test('somebody else’s sign-in opens nothing in this browser', async () => {
  provider.people.set('eve', { email: newEmail(), email_verified: true })
  const planted = await createSocialBrowser(service).begin('honest', newPkce(), {
    redirect_uri: `${app.origin}/signed-in`,
  })
  expect(planted.setCookie).toMatch(
    /^__Host-poterne-social-[^;]+; Path=\/; HttpOnly; .*; Secure; Max-Age=600$/,
  )
  const victim = await open()
  await victim.goto(planted.location.href, { waitUntil: 'domcontentloaded' })
  await signInAtProvider(victim, 'eve')
  await victim.waitForURL(`${BASE_URL}/**`)
  expect(JSON.parse((await victim.textContent('body'))!).code).toBe('invalid_sign_in_state')
  await victim.context().close()
}, 60_000)

longTest(
  'an answer that another site posts as a form finds the browser that began',
  async () => {
    const page = await open('/#provider=apple')
    await press(page, 'button')
    const signedIn = await result(page)
    expect(signedIn.account).toMatchObject({ provider: 'apple', provider_uid: '000.browser' })
    await page.context().close()
  },
  60_000,
)
