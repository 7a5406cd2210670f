/** The pages by which people come in, through forms and without script. */
import { describe, expect, spyOn, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { checkPagesReach } from '../../../src/operations/doctor/reach-checks.ts'
import type { Config } from '../../../src/platform/config/types.ts'
import type { Network } from '../../../src/platform/guarded-fetch.ts'
import { DatabaseUnavailable } from '../../../src/platform/postgres/failure.ts'
import { newEmail, newPhone, PASSWORD } from '../../helpers/api-client.ts'
import { protectByApp, protectBySentCodes } from '../../helpers/authenticator.ts'
import { openBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { expectRefusal } from '../../helpers/refusals.ts'
import { startRedis } from '../../helpers/servers.ts'
import { startService } from '../../helpers/service.ts'
import { longTest } from '../../helpers/soak.ts'
import { useReplica, useService } from '../../helpers/use-service.ts'
import { waitFor } from '../../helpers/wait.ts'

const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en' },
  pages: { enabled: true, home: 'https://app.example.com/', return_to: ['https://app.example.com/in/*'] },
}

const HTML = 'text/html; charset=utf-8'

const service = useService({ settings })
const browse = () => openBrowser(service.url)
const inputmodeOf = ({ html }: { html: string }) => /name="otp"[^>]*inputmode="(\w+)"/.exec(html)?.[1]

describe('the pages', () => {
  test('somebody registers, confirms in the same browser, and is signed in', async () => {
    const email = newEmail()
    const browser = await browse().open('/sign-in')
    await browser.press('Create an account')
    expect(browser.title).toBe('Create an account')
    await browser.press('Create an account', { identifier: email, password: PASSWORD })
    expect(browser.path).toBe('/confirm')
    expect(browser.html).not.toContain('name="password"')
    await browser.press('Confirm', { otp: await service.inbox.nextCode(email) })
    expect(browser.path).toBe('/leave')
    expect(browser.html).toContain('<meta http-equiv="refresh" content="0;url=https://app.example.com/">')
    expect(browser.cookies.get('__Host-poterne')).toMatch(/^[0-9a-f]{64}$/)
    // The password that was typed is the account's own.
    await service.logIn({ identifier: email, password: PASSWORD })
  })

  test('another browser confirms with the code, and names a password', async () => {
    const email = newEmail()
    await (await browse().open('/sign-up')).press('Create an account', {
      identifier: email,
      password: PASSWORD,
    })
    const elsewhere = await browse().open('/confirm')
    const otp = await service.inbox.nextCode(email)
    await elsewhere.press('Confirm', { identifier: email, otp, password: 'another long phrase' })
    expect(elsewhere.path).toBe('/leave')
    await service.logIn({ identifier: email, password: 'another long phrase' })
  })

  test('a password, then a code of the second factor', async () => {
    const { person } = await protectBySentCodes(service)
    const browser = await browse().open('/sign-in?return_to=https://app.example.com/in/x')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    expect(browser.path).toBe('/code')
    expect(browser.title).toBe('Enter your code')
    expect(browser.html).toContain('Use a recovery code</span> <span>If you do not get the code<')
    await browser.press('Sign in', { otp: '000000' })
    expect(browser.said).toBe('This code is not right. Check the newest message, or send another.')
    await browser.press('Sign in', { otp: await service.inbox.nextCode(person.identifier) })
    expect(browser.html).toContain('url=https://app.example.com/in/x"')
  })

  test('whoever lost a phone types a recovery code, with a field that takes letters', async () => {
    const { person, recoveryCodes } = await protectByApp(service)
    const browser = await browse().open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    expect([browser.title, inputmodeOf(browser)]).toEqual(['Enter the code of your app', 'numeric'])
    expect(browser.html).toContain('Use a recovery code</span> <span>If you lost your phone<')
    await browser.press('Use a recovery code')
    expect([browser.path, browser.title]).toEqual(['/code', 'Enter a recovery code'])
    expect([inputmodeOf(browser), browser.html]).toEqual(['text', expect.stringContaining('"characters"')])
    await browser.press('Sign in', { otp: 'ABCD-ABCD-ABCD-ABCD' })
    expect([browser.title, inputmodeOf(browser)]).toEqual(['Error: Enter a recovery code', 'text'])
    await browser.press('Use a code of six digits')
    expect([browser.title, inputmodeOf(browser)]).toEqual(['Enter the code of your app', 'numeric'])
    await browser.press('Use a recovery code')
    await browser.press('Sign in', { otp: recoveryCodes[0]! })
    expect(browser.path).toBe('/leave')
  })

  test('a mistyped address is corrected from the page of confirmation', async () => {
    const [wrong, email] = [newEmail(), newEmail()]
    const browser = await browse().open('/sign-up')
    await browser.press('Create an account', { identifier: wrong, password: PASSWORD })
    expect(browser.html).toContain(
      `We sent a code to <bdi>${wrong}</bdi>. <button class="link">Change</button>`,
    )
    await browser.press('Change')
    expect(browser.path).toBe('/sign-up')
    expect(browser.html).toContain(`value="${wrong}"`)
    expect(browser.html).not.toContain(PASSWORD)
    await browser.press('Create an account', { identifier: email, password: PASSWORD })
    await browser.press('Confirm', { otp: await service.inbox.nextCode(email) })
    expect(browser.path).toBe('/leave')
    await service.logIn({ identifier: email, password: PASSWORD })
  })

  test('a mistyped address is corrected from the page of a new password, which leads back to sign-in, too', async () => {
    const [wrong, { identifier }] = [newEmail(), await service.signUp(newEmail())]
    const browser = await browse().open('/recover')
    await browser.press('Send a code', { identifier: wrong })
    expect(browser.forms[0]!.action).toStartWith('/choose-password?')
    await browser.press('Change')
    expect([browser.path, browser.forms[0]!.fields.identifier]).toEqual(['/recover', wrong])
    await browser.press('Send a code', { identifier })
    expect(browser.html).toContain(`<bdi>${identifier}</bdi>`)
    await browser.press('Back to sign-in')
    expect([browser.path, browser.forms[0]!.fields.identifier]).toEqual(['/sign-in', identifier])
    // Nothing was typed yet that could be changed.
    const elsewhere = await browse().open('/choose-password')
    expect(elsewhere.html).not.toContain('>Change<')
    expect((await elsewhere.press('Back to sign-in')).path).toBe('/sign-in')
  })

  test('a mistyped address is corrected from the page of a code that signs in', async () => {
    const wrong = newEmail()
    const browser = await browse().open('/sign-in')
    await browser.send('/sign-in/code', { identifier: wrong })
    expect(browser.forms[0]!.action).toStartWith('/code?')
    await browser.press('Change')
    expect([browser.path, browser.forms[0]!.fields.identifier]).toEqual(['/sign-in', wrong])
    expect((await browse().open('/code')).html).not.toContain('>Change<')
  })

  test('a form of another site is refused on a page that says to start again', async () => {
    const browser = await browse().open('/sign-in')
    const answer = await browser.post(browser.forms[0]!.action, {}, { 'sec-fetch-site': 'cross-site' })
    expect(await answer.text()).toMatch(
      /<title>Start again · .*<a class="button quiet main"[^>]*>Start again</s,
    )
  })

  test('a new password takes six digits in the browser that asked, and an access code in any', async () => {
    const { identifier } = await service.signUp(newEmail())
    const browser = await browse().open('/choose-password')
    expect(inputmodeOf(browser)).toBe('text')
    await browser.open('/recover')
    await browser.press('Send a code', { identifier })
    expect([browser.path, inputmodeOf(browser)]).toEqual(['/choose-password', 'numeric'])
    await browser.press('I have an access code')
    expect([browser.path, inputmodeOf(browser)]).toEqual(['/choose-password', 'text'])
    await browser.press('Save password', { otp: '000000', password: PASSWORD })
    expect([browser.path, inputmodeOf(browser)]).toEqual(['/choose-password', 'text'])
  })

  test('who did not confirm yet is led to the page for it, and nobody learns so without the password', async () => {
    const email = newEmail()
    await (await browse().open('/sign-up')).press('Create an account', {
      identifier: email,
      password: PASSWORD,
    })
    const otp = await service.inbox.nextCode(email)
    const browser = await browse().open('/sign-in')
    await browser.press('Sign in', { identifier: email, password: 'not this one' })
    expect(browser.html).not.toContain('/sign-in/confirm')
    await browser.press('Sign in', { identifier: email, password: PASSWORD })
    expect(browser.said).toBe('This account is not confirmed yet.')
    await browser.press('Confirm your account')
    expect([browser.path, browser.said]).toEqual(['/confirm', ''])
    await browser.press('Confirm', { otp, password: PASSWORD })
    expect(browser.path).toBe('/leave')
  })

  test('somebody who chose to stay signed in stays so after a new password', async () => {
    const person = await service.signUp(newEmail())
    const browser = await browse().open('/sign-in')
    await browser.press('Forgot it?', { identifier: person.identifier, stay: 'yes' })
    await browser.press('Send a code')
    const otp = await service.inbox.nextCode(person.identifier)
    await browser.press('Save password', { otp, password: 'an entirely new phrase' })
    expect(browser.path).toBe('/leave')
    service.clock.advance(13 * 3_600_000)
    expect((await browser.open('/account')).path).toBe('/account')
  })

  test('while the database is away, whoever is signed in gets a page that says so', async () => {
    const person = await service.signUp(newEmail())
    const browser = await browse().open('/sign-in')
    const { action } = browser.forms[0]!
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    const away = spyOn(service.inside.database, 'first').mockRejectedValue(new DatabaseUnavailable())
    try {
      for (const path of ['/account', '/sign-in', '/leave']) {
        await browser.open(path)
        expect([path, browser.status, browser.headers.get('content-type')]).toEqual([path, 503, HTML])
        const [, style = ''] = /<style>([^<]+)<\/style>/.exec(browser.html) ?? []
        const hash = createHash('sha256').update(style).digest('base64')
        expect(browser.headers.get('content-security-policy')).toContain(`style-src 'sha256-${hash}'`)
        expect(browser.html).not.toMatch(/<(?:script|link|img)/)
      }
      for (const path of [action, '/account/profile', '/account/step-up']) {
        const answer = await browser.post(path, {})
        expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 503, HTML])
      }
    } finally {
      away.mockRestore()
    }
    expect((await browser.open('/account')).path).toBe('/account')
  })

  test.each([422, 503])('a sign-in whose form was answered %i leads on as before', async (status) => {
    const { identifier, password } = await service.signUp(newEmail())
    const browser = await browse().open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    await browser.open('/account')
    const { search } = new URL(browser.forms[0]!.action, 'https://page')
    const again = await browser.post(`/account/sign-in-again${search}`, { page: '/account/password' })
    await browser.open(again.headers.get('location') ?? '')
    const { action } = browser.forms.find((form) => form.action.startsWith('/sign-in?'))!
    const away = spyOn(service.inside.services.login, 'logIn').mockRejectedValue(new DatabaseUnavailable())
    const site = { 'sec-fetch-site': status === 422 ? 'cross-site' : 'same-origin' }
    const answer = await browser
      .post(action, { identifier, password }, site)
      .finally(() => away.mockRestore())
    expect(answer.status).toBe(status)
    const [, link = ''] = /<a class="button quiet main" href="([^"]*)"/.exec(await answer.text()) ?? []
    await browser.open(link)
    expect([browser.path, browser.title]).toEqual(['/sign-in', 'Sign in'])
    await browser.press('Sign in', { identifier, password })
    expect(browser.path).toBe('/account/password')
  })

  longTest(
    'while Redis is away, whoever is confirming gets a page that says so, and confirms afterwards',
    async () => {
      const redis = await startRedis()
      const replica = await startService({ settings: { ...settings, redis: { url: redis.url } } })
      try {
        const email = newEmail()
        const browser = await openBrowser(replica.url).open('/sign-up')
        await browser.press('Create an account', { identifier: email, password: PASSWORD })
        const otp = await replica.inbox.nextCode(email)
        const { address } = browser
        const { action } = browser.forms[0]!
        redis.pause()
        const sent = await browser.post(action, { otp })
        const shown = await browser.open(address)
        for (const { status, headers } of [shown, sent])
          expect([status, headers.get('content-type')]).toEqual([503, HTML])
        redis.resume()
        await waitFor(async () => (await fetch(`${replica.url}/readyz`)).ok, { what: 'Redis to answer' })
        await (await browser.open(address)).press('Confirm', { otp })
        expect(browser.path).toBe('/leave')
      } finally {
        await replica.close()
        await redis.stop()
      }
    },
  )

  test('a wrong password says so, keeps the identifier and never the password', async () => {
    const browser = await browse().open('/sign-in')
    await browser.press('Sign in', { identifier: 'nobody@example.com', password: 'this is wrong' })
    expect(browser.said).toBe('The e-mail address, phone number or password is not right.')
    expect(browser.html).toContain('value="nobody@example.com"')
    expect(browser.html + browser.address).not.toContain('this is wrong')
    expect(browser.address).not.toContain('nobody')
  })

  test('text that is neither an address nor a number is not called a wrong number', async () => {
    const browser = await browse().open('/sign-up')
    await browser.press('Create an account', { identifier: 'kim', password: PASSWORD })
    expect(browser.said).toBe('Enter an e-mail address, or a phone number with its country code.')
  })

  test('a code instead of a password', async () => {
    const person = await service.signUp(newPhone())
    const browser = await browse().open('/sign-in')
    await browser.press('Send a code', { identifier: person.identifier })
    expect(browser.title).toBe('Enter your code')
    await browser.press('Sign in', { otp: await service.inbox.nextCode(person.identifier) })
    expect(browser.path).toBe('/leave')
  })

  test('a code for somebody unknown looks the same', async () => {
    const browser = await browse().open('/sign-in')
    await browser.press('Send a code', { identifier: 'nobody@example.com' })
    expect(browser.title).toBe('Enter your code')
    await browser.press('Sign in', { otp: '123456' })
    expect(browser.said).toBe('This code is not right. Check the newest message, or send another.')
  })

  test('a forgotten password is chosen anew, and signs in', async () => {
    const person = await service.signUp(newEmail())
    const browser = await browse().open('/sign-in')
    await browser.press('Forgot it?', { identifier: person.identifier })
    expect(browser.html).toContain(`value="${person.identifier}"`)
    await browser.press('Send a code')
    await service.inbox.nextCode(person.identifier)
    await browser.press('Send it again')
    expect([browser.path, browser.said]).toEqual(['/choose-password', 'If so, a new one is on its way.'])
    const otp = await service.inbox.nextCode(person.identifier)
    const hint = '<p class="hint" id="otp-hint">Type the code once more.</p>'
    expect(browser.html).not.toContain(hint)
    await browser.press('Save password', { otp, password: 'short' })
    expect([browser.said, browser.html]).toEqual([
      expect.stringContaining('too short'),
      expect.stringContaining(hint),
    ])
    await browser.press('Save password', { otp, password: 'an entirely new phrase' })
    expect(browser.path).toBe('/leave')
    await service.logIn({ identifier: person.identifier, password: 'an entirely new phrase' })
  })

  test('signing out ends the session at once', async () => {
    const person = await service.signUp(newEmail())
    const browser = await browse().open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    const cookie = browser.cookies.get('__Host-poterne') as string
    expect((await browser.post('/sign-out', {})).headers.get('location')).toStartWith('/signed-out')
    expect(browser.cookies.has('__Host-poterne')).toBe(false)
    browser.cookies.set('__Host-poterne', cookie)
    await browser.open('/sign-in')
    expect(browser.title).toBe('Sign in')
  })

  test('signing in again ends the session that the browser had', async () => {
    const person = await service.signUp(newEmail())
    const browser = await browse().open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    const former = browser.cookies.get('__Host-poterne') as string
    const flow = await openBrowser(service.url).open('/sign-in')
    flow.cookies.set('__Host-poterne', former)
    await flow.press('Sign in', { identifier: person.identifier, password: person.password })
    const { access_token } = await service.logIn(person)
    const { body } = await service.get('sessions', { bearer: access_token })
    expect(body.sessions.map(({ device_name }: { device_name: string }) => device_name)).toEqual([
      null,
      'Firefox on Linux',
    ])
  })

  test('the cookie of a session is no refresh token, and no route of the interface reads it', async () => {
    const person = await service.signUp(newEmail())
    const browser = await browse().open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    const cookie = browser.cookies.get('__Host-poterne') as string
    const refreshed = await service.post('refresh', { refresh_token: cookie })
    expect(refreshed.status).toBe(401)
    const me = await fetch(`${service.url}/api/v1/auth/me`, {
      headers: { cookie: `__Host-poterne=${cookie}` },
    })
    expect(me.status).toBe(401)
    // It goes on.
    await browser.open('/sign-in')
    expect(browser.path).toBe('/leave')
  })
})

describe('what a page is', () => {
  test('no GET of a stranger writes, and the first one names the browser', async () => {
    const browser = await openBrowser(service.url).open('/sign-in')
    expect(browser.headers.getSetCookie()).toHaveLength(1)
    expect(browser.headers.getSetCookie()[0]).toMatch(
      /^__Host-poterne-browser=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=31536000$/,
    )
    await browser.open('/sign-up')
    expect(browser.headers.getSetCookie()).toHaveLength(0)
  })

  test('its headers', async () => {
    const { headers } = await openBrowser(service.url).open('/sign-in')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    )
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('the page, its style and its script are at most 30,000 bytes, and the script at most 6,144', async () => {
    const { html } = await openBrowser(service.url).open('/sign-in')
    const files = [...html.matchAll(/(?:href|src)="(\/pages\/[^"]+)"/g)].map(([, path]) => path)
    const sizes = await Promise.all(
      files.map(async (path) => {
        const file = await fetch(service.url + path)
        expect(file.headers.get('cache-control')).toContain('immutable')
        return (await file.bytes()).length
      }),
    )
    expect(files.map((path) => path!.split('.')[1])).toEqual(['svg', 'css', 'js'])
    expect(sizes[2]).toBeLessThanOrEqual(6144)
    expect(html.length + sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(30_000)
  })

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }, 422],
    [{ 'sec-fetch-site': 'same-site', origin: 'https://auth.example.com' }, 422],
    [{ 'sec-fetch-site': 'none' }, 422],
    [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
  ])('a form with %o', async (headers, status) => {
    const browser = await openBrowser(service.url).open('/sign-in')
    const { action } = browser.forms[0]!
    const body = { identifier: 'a@example.com', password: 'something long' }
    expect((await browser.post(action, body, headers)).status).toBe(status)
  })

  test.each([
    ['https://auth.example.com', true, 303],
    ['https://evil.example', true, 422],
    ['null', true, 422],
    [null, true, 303],
    [null, false, 422],
  ])('without Sec-Fetch-Site: Origin %p, own flow %p', async (origin, hasFlow, status) => {
    const browser = await openBrowser(service.url).open('/sign-in')
    const cookie = `__Host-poterne-browser=${browser.cookies.get('__Host-poterne-browser')}`
    const answer = await fetch(service.url + (hasFlow ? browser.forms[0]!.action : '/sign-in'), {
      method: 'POST',
      redirect: 'manual',
      headers: { host: 'auth.example.com', cookie, ...(origin !== null && { origin }) },
      body: new URLSearchParams({ identifier: 'a@example.com', password: 'something long' }),
    })
    expect(answer.status).toBe(status)
  })

  test('the flow of another browser says nothing, and the form still works', async () => {
    const one = await openBrowser(service.url).open('/sign-in')
    await one.press('Sign in', { identifier: 'typed@example.com', password: 'something long' })
    const other = await openBrowser(service.url).open(one.address)
    expect(other.html).not.toContain('typed@example.com')
    expect(other.said).toBe('')
  })

  test('an expired first page is shown again with what was typed', async () => {
    const person = await service.signUp(newEmail())
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: 'something wrong' })
    service.clock.advance(25 * 3600_000)
    await browser.press('Sign in', { password: person.password })
    expect(browser.path).toBe('/leave')
  })

  test.each([
    'https://evil.example/',
    'https://app.example.com.evil.example/in/',
    'https://app.example.com/in/../out',
    'https://user@app.example.com/in/x',
    'https://app.example.com/in/%2f',
    'https://app.example.com/in/x#y',
    'javascript:alert(1)',
    '//app.example.com/in/x',
    'https://app.example.com\\in/x',
    'https://app.example.com/out?code=a-secret',
  ])('return_to %s leads home, and the log has nothing of its query', async (asked) => {
    const person = await service.signUp(newEmail())
    const browser = await openBrowser(service.url).open(`/sign-in?return_to=${encodeURIComponent(asked)}`)
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    expect(browser.html).toContain('content="0;url=https://app.example.com/">')
    const lines = service.log.filter((line) => line.includes(JSON.stringify(asked.replace(/[?#].*/, ''))))
    expect([lines.length > 0, lines.join().includes('a-secret')]).toEqual([true, false])
  })

  test('another host gets a page with the right address, and no form', async () => {
    const browser = await openBrowser(service.url, { host: 'app.example.com' }).open('/sign-in')
    expect([browser.status, browser.forms.length]).toEqual([200, 0])
    expect(browser.html).toContain('href="https://auth.example.com/sign-in"')
    expect(browser.headers.getSetCookie()).toEqual([])
  })

  test('a character that cannot be stored is said in the form', async () => {
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier: 'a\0@example.com', password: 'something long' })
    expect([browser.status, browser.path]).toEqual([200, '/sign-in'])
    expect(browser.said).not.toBe('')
  })

  test('while the mail server is away, the page says that the message will follow', async () => {
    const email = newEmail()
    const browser = await openBrowser(service.url).open('/sign-up')
    await service.smtp.stop()
    await browser.press('Create an account', { identifier: email, password: PASSWORD })
    const here = browser.address
    await waitFor(async () => (await browser.open(here)).said.includes('Yours will follow'), {
      what: 'the notice',
    })
    const stranger = await openBrowser(service.url).open('/sign-in')
    await stranger.press('Send a code', { identifier: 'nobody@example.com' })
    expect(stranger.said).toContain('Yours will follow')
    await service.smtp.start()
    service.clock.advance(61_000)
    expect((await browser.open(here)).said).not.toContain('Yours will follow')
    await browser.press('Confirm', { otp: await service.inbox.nextCode(email) })
    expect(browser.path).toBe('/leave')
  })

  test.each([
    [
      'passes Host on',
      { host: 'auth.example.com' },
      'ok',
      'people sign in at https://auth.example.com/sign-in',
    ],
    ['sets no Host', {}, 'failure', 'let the proxy pass Host on'],
  ])('doctor sees whether the proxy %s', async (_, headers: Record<string, string>, level, message) => {
    const config = { server: { baseUrl: 'https://auth.example.com' }, pages: { enabled: true } } as Config
    const through = (url: string) => fetch(service.url + new URL(url).pathname, { headers })
    const found = await checkPagesReach({ config, network: { fetch: through } as unknown as Network })
    expect([found.level, found.message]).toEqual([level, expect.stringContaining(message)] as never)
  })

  test('password managers are sent to the page of the password', async () => {
    const sent = await fetch(`${service.url}/.well-known/change-password`, { redirect: 'manual' })
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '/account/password'])
  })

  test.each([
    ['/sign-inn', 'GET', 404, 'There is no such page'],
    ['/sign-in', 'DELETE', 405, 'There is no such page'],
  ])('a browser that opens %s by %s gets a page', async (path, method, status, title) => {
    const ask = (accept: string) =>
      fetch(service.url + path, { method, headers: { accept, 'accept-language': 'en' } })
    const shown = await ask('text/html,application/xhtml+xml')
    expect([shown.status, shown.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
    expect(shown.headers.get('content-security-policy')).toContain(`default-src 'none'`)
    expect(await shown.text()).toContain(`<h1 id="title">${title}</h1>`)
    const told = await ask('*/*')
    expect([told.status, told.headers.get('content-type')]).toEqual([
      status,
      'application/json;charset=utf-8',
    ])
  })

  test('whoever asks the interface for an address that is none gets its error body', async () => {
    const answer = await fetch(`${service.url}/api/v1/none`, { headers: { accept: 'text/html' } })
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      404,
      'route_not_found',
    ])
  })

  test('without pages.enabled there is nothing', async () => {
    const missing = await fetch(`${plain.url}/sign-in`, { headers: { accept: 'text/html' } })
    expect([missing.status, missing.headers.get('content-type')]).toEqual([
      404,
      'application/json;charset=utf-8',
    ])
    expect((await fetch(`${plain.url}/.well-known/change-password`)).status).toBe(404)
  })
  const plain = useService()
})

// Only here is a second process, which may be the one that sends a message.
describe('a base_url that moved', () => {
  const moved = useReplica(service, {
    settings: { ...settings, server: { ...settings.server, base_url: 'https://accounts.example.com' } },
  })

  test('ends no session, and access tokens of before are refreshed', async () => {
    const { bearer, refresh_token } = await service.signedIn()
    expectRefusal(await moved.get('me', { bearer }), 'invalid_token')
    const { body } = await moved.post('refresh', { refresh_token })
    expect((await moved.get('me', { bearer: body.access_token })).status).toBe(200)
  })
})
