/**
 * The pages in Chromium, behind TLS at their own host. It tries the ways without script through the hand-over to an
 * application on another origin, what the script adds, the keyboard, and the libraries that applications use. A
 * violation of the content security policy fails the run.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import * as openid from 'openid-client'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { newEmail, PASSWORD } from '../../helpers/api-client.ts'
import { protectBySentCodes } from '../../helpers/authenticator.ts'
import { addPlatformAuthenticator, asOldSafari, launchBrowser } from '../../helpers/browser.ts'
import { createCertificate } from '../../helpers/certificates.ts'
import { startService, type TestService } from '../../helpers/service.ts'
import { longTest, reduced } from '../../helpers/soak.ts'
import { waitFor } from '../../helpers/wait.ts'

setDefaultTimeout(30_000)

const AUTH = 'https://auth.example.com'
const APP = 'https://app.example.com'
const root = join(import.meta.dir, '../../..')

let service: TestService
let browser: Browser
let front: Bun.Server<undefined>

/** The application, once without a library and once with each of two. */
async function applicationFiles(): Promise<Record<string, string>> {
  const bundled = async (name: string) => {
    const built = await Bun.build({
      entrypoints: [join(root, 'test/helpers/page-applications', name)],
      target: 'browser',
    })
    return `<!doctype html><meta charset="utf-8"><p></p><button>Sign in</button><script type="module">${await built.outputs[0]!.text()}</script>`
  }
  return {
    '/': readFileSync(join(root, 'docs/quickstart/hand-over.html'), 'utf8').replace(
      'http://localhost:8080',
      AUTH,
    ),
    '/oauth4webapi': await bundled('with-oauth4webapi.js'),
    '/oidc-client-ts': await bundled('with-oidc-client-ts.js'),
    '/openid': await bundled('with-openid.js'),
    '/signed-out': '<!doctype html><title>Bye</title><p>Signed out.</p>',
  }
}

async function startFront() {
  const files = await applicationFiles()
  const { key, cert } = createCertificate('self-signed')
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key, cert },
    async fetch(request) {
      const { hostname, pathname, search } = new URL(request.url)
      if (hostname === 'app.example.com') {
        return new Response(files[pathname] ?? 'not here', { headers: { 'content-type': 'text/html' } })
      }
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.arrayBuffer()
      return fetch(service.url + pathname + search, { method, headers, body, redirect: 'manual' })
    },
  })
}

beforeAll(async () => {
  front = await startFront()
  service = await startService({
    settings: {
      server: { base_url: AUTH, language: 'en', cors_origins: [APP] },
      passkeys: { rp_id: 'auth.example.com' },
      two_factor: { trust_device: '30d' },
      pages: {
        enabled: true,
        home: `${APP}/`,
        applications: [
          {
            id: 'web',
            name: 'Example',
            redirect_uris: ['/', '/oauth4webapi', '/oidc-client-ts'].map((path) => APP + path),
            sign_out_uris: [`${APP}/signed-out`],
          },
          {
            ...{ id: 'page', name: 'Page', own: false, groups: ['*'] },
            redirect_uris: [`${APP}/openid`],
          },
          { id: 'desk', name: 'Desk', redirect_uris: ['http://127.0.0.1/cb'], sign_out_uris: [] },
        ],
      },
    },
  })
  const address = `127.0.0.1:${front.port}`
  browser = await launchBrowser({ 'auth.example.com': address, 'app.example.com': address })
}, 60_000)

afterAll(async () => {
  await browser?.close()
  front?.stop(true)
  await service?.close()
})

interface Tab {
  page: Page
  /** Fails where a page broke its policy or a script threw. */
  close(): Promise<void>
}

async function openTab(options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ locale: 'en-GB', ...options })
  await context.addInitScript(asOldSafari)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused/.test(message.text())) problems.push(message.text())
  })
  return {
    page,
    async close() {
      await context.close()
      expect(problems).toEqual([])
    },
  }
}

const withoutScript = () => openTab({ javaScriptEnabled: false })
const press = (page: Page, label: string) => page.click(`main button:text-is("${label}")`)
const heading = (page: Page, text: string) => page.waitForSelector(`h1:text-is("${text}")`)
const isAt = (page: Page, path: string) => page.waitForURL((url) => url.pathname === path)

async function fill(page: Page, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await page.fill(`main input[name=${name}]`, value)
}

const challenge = 'a'.repeat(43)
const authorize = `${AUTH}/oauth2/authorize?${new URLSearchParams({
  response_type: 'code',
  client_id: 'web',
  redirect_uri: `${APP}/`,
  code_challenge: challenge,
  code_challenge_method: 'S256',
  state: 's',
})}`

/** The application was reached, with a code. */
async function arrives(page: Page): Promise<void> {
  await page.waitForURL((url) => url.origin === APP && url.searchParams.has('code'))
}

longTest(
  'a page that opened /account loses hold of it, and an application that opens the sign-in does not',
  async () => {
    const { page, close } = await openTab()
    await page.goto(`${APP}/signed-out`)
    const ways = { '/account': true, [`/oauth2/authorize${new URL(authorize).search}`]: false }
    for (const [path, isLost] of Object.entries(ways)) {
      const opened = page.waitForEvent('popup')
      await page.evaluate(`globalThis.handle = open(${JSON.stringify(AUTH + path)}), null`)
      await (await opened).waitForSelector('h1:has-text("Sign in to")')
      expect([path, await page.evaluate('handle.closed')]).toEqual([path, isLost])
    }
    await close()
  },
)

describe('without script', () => {
  test('from the application to registration, confirmation and back with a code, and signing out', async () => {
    const { page, close } = await withoutScript()
    const email = newEmail()
    await page.goto(authorize)
    await press(page, 'Create an account')
    await fill(page, { identifier: email, password: 'short' })
    await press(page, 'Create an account')
    await page.waitForSelector('.wrong:has-text("too short")')
    expect(await page.title()).toStartWith('Error: ')
    await fill(page, { password: PASSWORD })
    await press(page, 'Create an account')
    await heading(page, 'Confirm your account')
    await fill(page, { otp: await service.inbox.nextCode(email) })
    await press(page, 'Confirm')
    await arrives(page)
    // The browser is signed in: no page is needed any more.
    await page.goto(authorize)
    await arrives(page)
    const out = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: `${APP}/signed-out` })
    await page.goto(`${AUTH}/oauth2/sign-out?${out}`)
    await press(page, 'Sign out')
    await page.waitForURL(`${APP}/signed-out`)
    await close()
  })

  longTest('a wrong password, then a code by message, Back and reload', async () => {
    const { identifier } = await service.signUp(newEmail())
    const { page, close } = await withoutScript()
    await page.goto(authorize)
    await fill(page, { identifier, password: 'not the right one' })
    await press(page, 'Sign in')
    await page.waitForSelector('[role=alert]:has-text("not right")')
    await page.reload()
    expect(await page.inputValue('input[name=identifier]')).toBe(identifier)
    expect(await page.inputValue('input[name=password]')).toBe('')
    await press(page, 'Send a code')
    await heading(page, 'Enter your code')
    await page.goBack()
    await page.goForward()
    await fill(page, { otp: await service.inbox.nextCode(identifier) })
    await press(page, 'Sign in')
    await arrives(page)
    await close()
  })

  longTest('a second factor, and another language on the way', async () => {
    const { person } = await protectBySentCodes(service)
    const { page, close } = await withoutScript()
    await page.goto(authorize)
    await page.click('summary')
    await page.click('.languages a[lang=fr]')
    await fill(page, { identifier: person.identifier, password: person.password })
    await press(page, 'Se connecter')
    await isAt(page, '/code')
    expect(await page.getAttribute('html', 'lang')).toBe('fr')
    await fill(page, { otp: await service.inbox.nextCode(person.identifier) })
    await press(page, 'Se connecter')
    await arrives(page)
    await close()
  })
})

describe('with script', () => {
  test('six digits submit themselves, and the form is sent once', async () => {
    const { identifier } = await service.signUp(newEmail())
    const { page, close } = await openTab()
    await page.goto(authorize)
    await fill(page, { identifier })
    await press(page, 'Send a code')
    await heading(page, 'Enter your code')
    let posts = 0
    page.on('request', (request) => {
      if (request.method() === 'POST') posts++
    })
    await page.locator('input.code').pressSequentially(await service.inbox.nextCode(identifier))
    await arrives(page)
    expect(posts).toBe(1)
    await close()
  })

  longTest('six digits wait where the device may still be trusted', async () => {
    const { person } = await protectBySentCodes(service)
    const { page, close } = await openTab()
    await page.goto(authorize)
    await fill(page, { identifier: person.identifier, password: person.password })
    await press(page, 'Sign in')
    await isAt(page, '/code')
    await page.locator('input.code').pressSequentially(await service.inbox.nextCode(person.identifier))
    expect(await page.locator('form[data-sent]').count()).toBe(0)
    await page.check('input[name=trust]')
    await page.press('input.code', 'Enter')
    await arrives(page)
    const names = (await page.context().cookies(AUTH)).map(({ name }) => name)
    expect(names).toContain('__Host-poterne-trusted')
    await close()
  })

  longTest(
    'in the account Enter is the purpose of a form, and its other ways work beside a passkey',
    async () => {
      const { person } = await protectBySentCodes(service)
      const { identifier, password } = person
      const { page, close } = await openTab()
      const sendCode = () => page.click('main button:has-text("Send a code to ")')
      const onItsWay = () => page.waitForSelector('.notice:has-text("We sent a code to ")')
      await page.goto(`${AUTH}/account/password`)
      await fill(page, { identifier, password })
      await press(page, 'Sign in')
      await fill(page, { otp: await service.inbox.nextCode(identifier) })
      await press(page, 'Sign in')
      await isAt(page, '/account/password')
      await sendCode()
      await onItsWay()
      const otp = await service.inbox.nextCode(identifier)
      await fill(page, { password, new_password: 'an entirely new phrase' })
      await page.locator('input.code').pressSequentially(otp)
      expect(await page.locator('form[data-sent]').count()).toBe(0)
      await page.press('main input[name=password]', 'Enter')
      await page.waitForSelector('.notice:has-text("Your password is changed.")')
      await page.goto(`${AUTH}/account/passkeys/add`)
      await sendCode()
      await onItsWay()
      await page.addInitScript('delete globalThis.PublicKeyCredential')
      await page.reload()
      await page.waitForSelector('.notice:has-text("This browser has no passkeys.")')
      expect(await page.isVisible('main button:text-is("Add a passkey")')).toBe(false)
      await page.goto(`${AUTH}/account/passkeys`)
      await page.waitForSelector('.notice:has-text("This browser has no passkeys.")')
      expect(await page.isVisible('main a:text-is("Add a passkey")')).toBe(false)
      await close()
    },
  )

  longTest('another language keeps what was typed, except secrets', async () => {
    const { identifier, password } = await service.signUp(newEmail())
    const { page, close } = await openTab()
    await page.goto(`${AUTH}/sign-in`)
    await fill(page, { identifier, password: 'a secret' })
    await page.check('input[name=stay]')
    await page.click('summary')
    await page.click('.languages a[lang=es]')
    await page.waitForSelector('html[lang=es]')
    expect(await page.inputValue('input[name=identifier]')).toBe(identifier)
    expect(await page.isChecked('input[name=stay]')).toBe(true)
    expect(await page.inputValue('input[name=password]')).toBe('')
    await fill(page, { password })
    await page.press('#password', 'Enter')
    await page.waitForURL((url) => url.hostname === 'app.example.com')
    await close()
  })

  longTest('Back shows no page of an account that the browser kept', async () => {
    const { identifier, password } = await service.signUp(newEmail())
    const { page, close } = await openTab()
    await page.goto(`${AUTH}/account`)
    await fill(page, { identifier, password })
    await press(page, 'Sign in')
    await isAt(page, '/account')
    await page.context().clearCookies()
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })), null")
    await page.waitForSelector('h1:has-text("Sign in to")')
    await close()
  })

  test('a passkey that was added in the account signs in by its button and from the field', async () => {
    const { identifier, password } = await service.signUp(newEmail())
    const { page, close } = await openTab()
    const devtools = await page.context().newCDPSession(page)
    const authenticatorId = await addPlatformAuthenticator(devtools)
    const present = (enabled: boolean) =>
      devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled })
    await page.goto(authorize)
    await present(false)
    await fill(page, { identifier, password })
    await press(page, 'Sign in')
    await arrives(page)
    await page.goto(`${AUTH}/account/passkeys/add`)
    await present(true)
    await fill(page, { password })
    await press(page, 'Add a passkey')
    await isAt(page, '/account/passkeys')
    const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId })
    expect(credentials).toMatchObject([{ rpId: 'auth.example.com', isResidentCredential: true }])
    for (const way of ['button', 'field']) {
      await page.context().clearCookies()
      await present(way === 'field')
      await page.goto(authorize)
      if (way === 'button') {
        await page.waitForSelector('h1:has-text("Sign in to")')
        await present(true)
        await press(page, 'Passkey')
      }
      await arrives(page)
    }
    await close()
  })

  longTest('while the browser is offline nothing is sent, and nothing is lost', async () => {
    const { page, close } = await openTab()
    await page.goto(authorize)
    await fill(page, { identifier: 'ada@example.com', password: 'something long' })
    await page.context().setOffline(true)
    await press(page, 'Sign in')
    await page.waitForSelector('#offline:visible')
    await page.context().setOffline(false)
    await page.waitForSelector('#offline', { state: 'hidden' })
    expect(await page.inputValue('input[name=password]')).toBe('something long')
    await close()
  })

  test('by keyboard alone: every control is reached in the order of the page, and Enter is its purpose', async () => {
    const { identifier, password } = await service.signUp(newEmail())
    const { page, close } = await openTab()
    await page.goto(authorize)
    const reached: string[] = []
    for (let presses = 0; presses < 9; presses++) {
      reached.push(
        await page.evaluate(
          "document.activeElement.name || document.activeElement.ariaLabel || document.activeElement.textContent.trim().split(':').pop().trim()",
        ),
      )
      await page.keyboard.press('Tab')
    }
    expect(reached.slice(0, 8)).toEqual([
      'identifier',
      'password',
      'Show password',
      'Forgot it?',
      'stay',
      'Sign in',
      'Passkey',
      'Send a code',
    ])
    await page.focus('input[name=identifier]')
    await page.keyboard.type(identifier)
    await page.keyboard.press('Tab')
    await page.keyboard.type(password)
    await page.click('[data-show]')
    expect(await page.getAttribute('#password', 'type')).toBe('text')
    await page.click('[data-show]')
    expect(await page.getAttribute('#password', 'type')).toBe('password')
    await page.focus('#password')
    await page.keyboard.press('Enter')
    await arrives(page)
    await close()
  })
})

describe('an application gets its tokens', () => {
  const inEachRun = [
    ['without a library', '/'],
    ['by oidc-client-ts and an ID token', '/openid'],
  ]
  const inSoak = [
    ['by oauth4webapi', '/oauth4webapi'],
    ['by oidc-client-ts', '/oidc-client-ts'],
  ]
  test.each([...inEachRun, ...reduced([], inSoak)])('%s', async (_, path) => {
    const { identifier, password } = await service.signUp(newEmail())
    const { page, close } = await openTab()
    // The button works once the library has asked for the addresses of the service.
    await page.goto(APP + path, { waitUntil: 'networkidle' })
    await page.click('button')
    await isAt(page, '/sign-in')
    await fill(page, { identifier, password })
    await press(page, 'Sign in')
    await page.waitForSelector(`p:text-is("Signed in as ${identifier}.")`)
    // A reload offers the used code to nobody.
    expect(new URL(page.url()).search).toBe('')
    await close()
  })

  longTest('a program on the machine, by openid-client and an address on loopback', async () => {
    const { identifier, password } = await service.signUp(newEmail())
    const asServed: openid.CustomFetch = (url, { signal: _, ...init }) =>
      fetch(url.replace(AUTH, service.url), init as RequestInit)
    const config = await openid.discovery(new URL(AUTH), 'desk', undefined, openid.None(), {
      algorithm: 'oauth2',
      [openid.customFetch]: asServed,
    })
    config[openid.customFetch] = asServed
    const called = Promise.withResolvers<URL>()
    const loopback = createServer((request, response) => {
      if (request.url?.startsWith('/cb')) called.resolve(new URL(request.url, redirectUri))
      response.end('You can close this window.')
    })
    await new Promise<void>((resolve) => loopback.listen(0, '127.0.0.1', resolve))
    const redirectUri = `http://127.0.0.1:${(loopback.address() as { port: number }).port}/cb`
    const verifier = openid.randomPKCECodeVerifier()
    const state = openid.randomState()
    const parameters = {
      redirect_uri: redirectUri,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
    }
    const { page, close } = await withoutScript()
    await page.goto(openid.buildAuthorizationUrl(config, parameters).href)
    await fill(page, { identifier, password })
    await press(page, 'Sign in')
    await heading(page, 'Continue to Desk')
    await page.click('main a:text-is("Continue")')
    const tokens = await openid.authorizationCodeGrant(config, await called.promise, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    })
    expect((await service.get('me', { bearer: tokens.access_token })).body.account.email).toBe(identifier)
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token as string)
    expect(refreshed.access_token).not.toBe(tokens.access_token)
    loopback.close()
    await close()
  })
})

test('a page that sits in a frame of another site is not shown, and its forms take nothing', async () => {
  const { page } = await openTab()
  await page.goto(`${APP}/signed-out`)
  await page.evaluate(
    `document.body.innerHTML = '<iframe src="${AUTH}/sign-in"></iframe><form method="post" action="${AUTH}/sign-in"><input name="identifier" value="a@b.co"><input name="password" value="something long"><button>go</button></form>'`,
  )
  await waitFor(() => page.frames().length === 2)
  const frame = page.frames()[1]!
  await frame.waitForLoadState().catch(() => {})
  expect(await frame.locator('input').count()).toBe(0)
  const answer = page.waitForResponse((response) => response.request().method() === 'POST')
  await page.click('button:text-is("go")')
  expect((await answer).status()).toBe(422)
  await page.context().close()
})
