/** The ways in, the second step, the account and the hand-over in Firefox, behind TLS at hosts of their own. */
import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, PASSWORD } from '../../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp } from '../../helpers/authenticator.ts'
import { createCertificate } from '../../helpers/certificates.ts'
import { type Firefox, launchFirefox } from '../../helpers/firefox.ts'
import { startService, type TestService } from '../../helpers/service.ts'
import { longTest } from '../../helpers/soak.ts'
import { waitFor } from '../../helpers/wait.ts'

setDefaultTimeout(120_000)

const [AUTH_HOST, APP_HOST] = ['auth.example.com', 'app.example.com']

let service: TestService
let front: Bun.Server<undefined>
let firefox: Firefox
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
      if (hostname === APP_HOST)
        return new Response('<!doctype html><h1>Signed in</h1>', { headers: { 'content-type': 'text/html' } })
      const { method, headers } = request
      const body = method === 'GET' ? null : await request.arrayBuffer()
      return fetch(service.url + pathname + search, { method, headers, body, redirect: 'manual' })
    },
  })
  auth = `https://${AUTH_HOST}:${front.port}`
  app = `https://${APP_HOST}:${front.port}/`
  service = await startService({
    settings: {
      server: { base_url: auth, language: 'en' },
      pages: {
        enabled: true,
        applications: [{ id: 'web', name: 'Example', redirect_uris: [app], sign_out_uris: [app] }],
      },
      passkeys: { rp_id: AUTH_HOST, origins: [auth] },
      two_factor: { trust_device: '30d' },
    },
  })
  firefox = await launchFirefox([AUTH_HOST, APP_HOST])
}, 150_000)
afterAll(async () => {
  await firefox?.close()
  front?.stop(true)
  await service?.close()
})
/** Nothing breaks the policy of a page, and no script throws. */
afterEach(() => expect(firefox.problems.splice(0)).toEqual([]))

/** An address that may break before its @ is two lines there. */
const textOf = () => firefox.run<string>("return document.body.innerText.replaceAll('\\n@', '@')")
const says = (words: string) =>
  waitFor(async () => (await textOf().catch(() => '')).includes(words), { what: words, timeoutMs: 30_000 })
const isAt = (path: string) =>
  waitFor(async () => (await firefox.address().catch(() => null))?.pathname === path, {
    what: path,
    timeoutMs: 30_000,
  })
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
  await firefox.heading('Signed in')
  const { origin, searchParams } = await firefox.address()
  expect([`${origin}/`, searchParams.has('code'), searchParams.get('state')]).toEqual([app, true, 's'])
}

async function signOut() {
  await firefox.open(`${auth}/account`)
  await firefox.press('Sign out')
  await firefox.heading('You are signed out')
}

test('by password and app to the application and the account, which Back shows no more after signing out', async () => {
  const { person, secret } = await protectByApp(service)
  await firefox.open(authorize())
  await firefox.fill({ identifier: person.identifier, password: 'not the right one' })
  await firefox.press('Sign in')
  await says('not right')
  await firefox.fill({ password: person.password })
  await firefox.enter('password')
  await firefox.heading('Enter the code of your app')
  // A choice that is not made yet keeps six digits from sending themselves.
  await firefox.fill({ otp: nextCode(secret) })
  await firefox.enter('otp')
  await arrives()
  await firefox.open(`${auth}/account`)
  await says(person.identifier)
  await firefox.press('Sign out')
  await firefox.heading('You are signed out')
  await firefox.back()
  await isAt('/sign-in')
  expect(await textOf()).not.toContain(person.identifier)
})

longTest(
  'from the application to registration and confirmation, where six digits send themselves',
  async () => {
    const identifier = newEmail()
    await firefox.open(authorize())
    await firefox.press('Create an account')
    await firefox.fill({ identifier, password: PASSWORD })
    await firefox.enter('password')
    await firefox.heading('Confirm your account')
    await firefox.fill({ otp: await service.inbox.nextCode(identifier) })
    await arrives()
    await signOut()
  },
)

longTest('a code that signs in, and a new password, with Enter alone', async () => {
  const { identifier } = await service.signUp(newEmail())
  await firefox.open(`${auth}/sign-in`)
  await firefox.fill({ identifier })
  await firefox.press('Send a code')
  await firefox.heading('Enter your code')
  await firefox.fill({ otp: await service.inbox.nextCode(identifier) })
  await isAt('/account')
  await signOut()
  await firefox.open(`${auth}/recover`)
  await firefox.fill({ identifier })
  await firefox.enter('identifier')
  await firefox.heading('Choose a new password')
  await firefox.fill({ otp: await service.inbox.nextCode(identifier), password: 'an entirely new phrase' })
  await firefox.enter('password')
  await isAt('/account')
  await signOut()
})

longTest('the account: an app, its recovery codes, another language and another address', async () => {
  const { identifier, password } = await service.signUp(newEmail())
  await firefox.open(`${auth}/account/two-factor/app`)
  await firefox.fill({ identifier, password })
  await firefox.enter('password')
  await firefox.heading('Authenticator app')
  await firefox.fill({ password })
  await firefox.enter('password')
  await isAt('/account/two-factor/app/confirm')
  const secret = await firefox.run<string>("return document.querySelector('main code').textContent")
  await firefox.fill({ otp: appCode(secret, service.clock.now()) })
  await firefox.heading('Keep these 10 codes')
  const overlaps =
    "return [...document.querySelectorAll('.codes li')].some((code) => code.scrollWidth > code.clientWidth)"
  expect(await firefox.run<boolean>(overlaps)).toBe(false)
  const contact = newEmail()
  await firefox.open(`${auth}/account/email`)
  await firefox.fill({ contact, password, otp: nextCode(secret) })
  await firefox.enter('otp')
  await isAt('/account/email/confirm')
  await firefox.fill({ otp: await service.inbox.nextCode(contact) })
  await isAt('/account')
  await says(contact)
  await firefox.run("document.querySelector('.languages a[lang=pt]').click()")
  await waitFor(() => firefox.run("return document.documentElement.lang === 'pt'").catch(() => false), {
    what: 'Portuguese',
  })
  await firefox.open(`${auth}/account/sessions`)
  expect(await firefox.run<string>('return document.documentElement.lang')).toBe('pt')
})

longTest('the pages behind the links of messages break no policy', async () => {
  for (const path of ['/undo?t=x', '/stop?t=x']) await firefox.open(auth + path)
})
