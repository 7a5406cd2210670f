/** The ways in, the hand-over and administration's sign-in in WebKitGTK, behind TLS at hosts of their own. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { addAdministrator } from '../../helpers/administration.ts'
import { newEmail } from '../../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp } from '../../helpers/authenticator.ts'
import { createCertificate } from '../../helpers/certificates.ts'
import { freePort } from '../../helpers/free-port.ts'
import { startService, type TestService } from '../../helpers/service.ts'
import { waitFor } from '../../helpers/wait.ts'
import { launchWebKit, type WebKit } from '../../helpers/webkit.ts'

setDefaultTimeout(60_000)

/** A session of administration lasts for eight hours. */
const SESSION_MS = 8 * 3_600_000

let service: TestService
let front: Bun.Server<undefined>
let webkit: WebKit
let auth: string
let app: string

beforeAll(async () => {
  const { key, cert } = createCertificate('self-signed')
  front = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: { key, cert },
    async fetch(request) {
      const { hostname, pathname, search } = new URL(request.url)
      if (hostname === 'app.localhost')
        return new Response('<!doctype html><h1>Signed in</h1>', { headers: { 'content-type': 'text/html' } })
      const { method, headers } = request

      const body = method === 'GET' ? null : await request.arrayBuffer()
      return fetch(service.url + pathname + search, { method, headers, body, redirect: 'manual' })
    },
  })
  auth = `https://auth.localhost:${front.port}`
  app = `https://app.localhost:${front.port}/`
  service = await startService({
    settings: {
      server: { base_url: auth, language: 'en' },
      pages: {
        enabled: true,
        applications: [{ id: 'web', name: 'Example', redirect_uris: [app], sign_out_uris: [app] }],
      },
      passkeys: { rp_id: 'auth.localhost', origins: [auth] },
      admin: { listen: `127.0.0.1:${await freePort()}` },
    },
  })
  webkit = await launchWebKit()
}, 120_000)
afterAll(async () => {
  await webkit?.close()
  front?.stop(true)
  await service?.close()
})

/** An address that may break before its @ is two lines there. */
const textOf = () => webkit.run<string>("return document.body.innerText.replaceAll('\\n@', '@')")
const says = (words: string) => waitFor(async () => (await textOf()).includes(words), { what: words })
const isThere = (selector: string, count = 1) =>
  waitFor(
    async () =>
      (await webkit.run('return document.querySelectorAll(arguments[0]).length', selector)) === count,
    {
      what: selector,
    },
  )
const isAt = (path: string) => waitFor(async () => (await webkit.address()).pathname === path, { what: path })
const nextCode = (secret: string) => {
  service.clock.advance(PERIOD_MS)
  return appCode(secret, service.clock.now())
}
const authorize = () =>
  `${auth}/oauth2/authorize?${new URLSearchParams({
    response_type: 'code',
    client_id: 'web',
    redirect_uri: app,
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    state: 's',
  })}`
async function arrives() {
  await webkit.heading('Signed in')
  const { origin, searchParams } = await webkit.address()
  expect([`${origin}/`, searchParams.has('code'), searchParams.get('state')]).toEqual([app, true, 's'])
}

test('by password and app to the application and the account, which Back shows no more after signing out', async () => {
  const { person, secret } = await protectByApp(service)
  await webkit.open(authorize())
  await webkit.fill({ identifier: person.identifier, password: 'not the right one' })
  await webkit.press('Sign in')
  await says('not right')
  await webkit.fill({ password: person.password })
  await webkit.enter('password')
  await isAt('/code')
  // Six digits submit themselves.
  await webkit.fill({ otp: nextCode(secret) })
  await arrives()
  await webkit.open(authorize())
  await arrives()

  await webkit.open(`${auth}/account`)
  await says(person.identifier)
  await webkit.press('Sign out')
  await webkit.heading('You are signed out')
  await webkit.back()
  // WebKit keeps the address of the entry, although it leads on.
  await webkit.heading('Sign in to Poterne')
  expect(await textOf()).not.toContain(person.identifier)
})

test('a browser without passkeys is offered none to add', async () => {
  const { identifier, password } = await service.signUp(newEmail())
  await webkit.open(`${auth}/account/passkeys/add`)
  await webkit.fill({ identifier, password })
  await webkit.enter('password')
  await isAt('/account/passkeys/add')
  expect(await webkit.run('return typeof PublicKeyCredential')).toBe('undefined')
  await says('This browser has no passkeys.')
})

test("administration's first sign-in sets up an app, and Back shows nothing of it once the session is over", async () => {
  const { person } = await addAdministrator(service, 'support')
  await webkit.open(`${service.adminUrl}/admin/?lang=en`)
  await webkit.fill({ identifier: person.identifier, password: person.password })
  await webkit.enter('password')
  await isThere('main code')
  const secret = await webkit.run<string>("return document.querySelector('main code').textContent")
  await webkit.fill({ otp: appCode(secret, service.clock.now()) })
  await webkit.enter('otp')
  await isThere('ul.codes li', 10)
  await webkit.run("document.querySelector('main button.wide').click()")
  await webkit.heading('Overview')
  await webkit.open(app)
  service.clock.advance(SESSION_MS)
  await webkit.back()
  await isThere('input[name=password]')
  expect(await textOf()).not.toContain('Overview')
})
