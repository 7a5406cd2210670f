/**
 * The attacks of a hostile client, site or browser on the pages, with limits on; and ways that end elsewhere than
 * planned.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { newEmail, PASSWORD } from '../../helpers/api-client.ts'
import { protectBySentCodes } from '../../helpers/authenticator.ts'
import { authorizeAddress, newVerifier, parametersOf, REDIRECT, redeem } from '../../helpers/hand-over.ts'
import { newClient } from '../../helpers/limited-service.ts'
import { nextOf, openBrowser, type PageBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { pageForms } from '../../helpers/page-forms.ts'
import { useLimited } from '../../helpers/use-service.ts'

const service = useLimited({
  settings: {
    ...pageSettings,
    server: { ...pageSettings.server, language: 'en' },
    limits: { codes_per_day: 10_000 },
    pages: {
      enabled: true,
      home: 'https://app.example.com/',
      applications: [
        {
          id: 'web',
          name: 'Example',
          redirect_uris: [REDIRECT],
          sign_out_uris: ['https://app.example.com/'],
        },
        { id: 'other', name: 'Other', redirect_uris: ['https://other.example.com/in'] },
      ],
    },
  },
})

const addressed = () => newClient().headers as Record<string, string>
const browse = () => openBrowser(service.url, { headers: addressed() })
const SESSION = '__Host-poterne'
const BROWSER = '__Host-poterne-browser'
const REGISTRATION = '__Host-poterne-registration'

async function signIn(browser: PageBrowser, identifier: string): Promise<PageBrowser> {
  return (await browser.open('/sign-in')).press('Sign in', { identifier, password: PASSWORD })
}
const contactOf = async (browser: PageBrowser) => (await browser.open('/account')).html

describe('ways that end elsewhere', () => {
  test('a browser that blocks cookies is told so, and nothing is sent or counted', async () => {
    const { identifier } = await service.signUp(newEmail())
    const headers = addressed()
    for (let tries = 0; tries < 15; tries++) {
      const blocked = await openBrowser(service.url, { headers }).open('/sign-in')
      blocked.cookies.clear()
      await blocked.press('Sign in', { identifier, password: PASSWORD })
      expect([blocked.status, blocked.path]).toEqual([422, '/sign-in'])
      expect(blocked.html).toContain('Your browser blocks cookies')
    }
    expect((await signIn(openBrowser(service.url, { headers }), identifier)).path).toBe('/leave')
  })

  test('a second step that waited too long leads to the first page, with what was typed', async () => {
    const { person } = await protectBySentCodes(service)
    for (const press of [false, true]) {
      const browser = await signIn(browse(), person.identifier)
      expect(browser.path).toBe('/code')
      service.clock.advance(3_600_000)
      if (press) await browser.press('Sign in', { otp: '123456' })
      else await browser.open(browser.address)
      expect([browser.path, browser.said]).toEqual(['/sign-in', 'This took too long. Please start again.'])
      expect([browser.title, browser.html]).toEqual([
        'Sign in',
        expect.stringContaining('<div class="notice" role="status">'),
      ])
      expect(browser.html).toContain(`value="${person.identifier}"`)
      await browser.press('Sign in', { password: PASSWORD })
      expect(browser.path).toBe('/code')
    }
  })

  test('a form that was sent too often counts down to the next try', async () => {
    const browser = await browse().open('/sign-in')
    const wrong = { identifier: newEmail(), password: 'not this one' }
    for (let tries = 0; tries < 11; tries++) await browser.press('Sign in', wrong)
    expect(browser.html).toMatch(
      /Too many tries\. You can try again in\u00a0<span [^>]*data-left="\d+">\d+ (seconds?|minutes?)<\/span>\./,
    )
    // The button waits as long.
    expect(browser.html).toMatch(/<button class="button main" data-wait="\d+">Sign in</)
    expect([browser.status, browser.path]).toEqual([200, '/sign-in'])
  })

  test('an application that asks without end gets a page with 429 and Retry-After', async () => {
    const { identifier } = await service.signUp(newEmail())
    const browser = await signIn(browse(), identifier)
    for (let asked = 0; asked < 60; asked++) await browser.open(authorizeAddress(newVerifier()))
    expect(parametersOf(browser).get('code')).not.toBeNull()
    browser.left = null
    await browser.open(authorizeAddress(newVerifier()))
    expect([browser.status, browser.left, browser.title]).toEqual([429, null, 'Too many requests'])
    const seconds = Number(browser.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(browser.html).not.toContain('Too many tries')
    const link = new RegExp(`<a class="button quiet main" href="([^"]*)" data-wait="${seconds}">Try again<`)
    const [, again = ''] = link.exec(browser.html) ?? []
    service.clock.advance(seconds * 1000)
    await browser.open(again.replaceAll('&amp;', '&'))
    expect(parametersOf(browser).get('code')).not.toBeNull()
  })

  test('two tabs do not disturb each other, and Back to a form that was sent is harmless', async () => {
    const [one, other] = [await service.signUp(newEmail()), await service.signUp(newEmail())]
    const tab = await browse().open('/sign-in')
    const first = tab.address
    await signIn(tab, one.identifier)
    const former = tab.cookies.get(SESSION) as string
    // The second tab still shows the form of before.
    const { action } = (await browse().open(first)).forms[0]!
    const answer = await tab.post(action, { identifier: other.identifier, password: PASSWORD })
    expect(answer.headers.get('location')).toStartWith('/leave')
    expect(await contactOf(tab)).toContain(other.identifier)
    tab.cookies.set(SESSION, former)
    expect((await tab.open('/account')).path).toBe('/sign-in')
  })
})

describe('another browser and another site', () => {
  test('who follows the link of a flow signs in for themselves, and gives the other browser nothing', async () => {
    const { identifier } = await service.signUp(newEmail())
    const attacker = await browse().open(
      authorizeAddress(newVerifier(), { client_id: 'other', redirect_uri: 'https://other.example.com/in' }),
    )
    const victim = await browse().open(attacker.address)
    expect(victim.cookies.get(BROWSER)).not.toBe(attacker.cookies.get(BROWSER))
    await victim.press('Sign in', { identifier, password: PASSWORD })
    expect(nextOf(victim)).toBe('https://app.example.com/')
    expect((await attacker.open('/account')).path).toBe('/sign-in')
  })

  test('cookies that somebody planted open nothing: signing in gives new ones and ends the planted session', async () => {
    const [attacker, victim] = [await service.signUp(newEmail()), await service.signUp(newEmail())]
    const theirs = await signIn(browse(), attacker.identifier)
    const planted = browse()
    for (const [name, value] of theirs.cookies) planted.cookies.set(name, value)
    const form = await browse().open('/sign-in')
    const { action } = form.forms[0]!
    await planted.post(action, { identifier: victim.identifier, password: PASSWORD })
    expect(planted.cookies.get(SESSION)).not.toBe(theirs.cookies.get(SESSION))
    expect((await theirs.open('/account')).path).toBe('/sign-in')
    // The same cookie twice, or one that is no cookie of ours.
    for (const value of [
      '',
      'x'.repeat(4000),
      "' or 1=1",
      `${'a'.repeat(32)}; ${BROWSER}=${'b'.repeat(32)}`,
    ]) {
      const tossed = browse()
      tossed.cookies.set(BROWSER, value)
      tossed.cookies.set(SESSION, value)
      expect((await tossed.open('/sign-in')).status).toBe(200)
    }
  })

  test('a planted browser cookie is not enough to have somebody else confirm a password', async () => {
    const email = newEmail()
    const attacker = await browse().open('/sign-up')
    await attacker.press('Create an account', { identifier: email, password: 'the phrase of an intruder' })
    expect(attacker.path).toBe('/confirm')
    const victim = browse()
    victim.cookies.set(BROWSER, attacker.cookies.get(BROWSER)!)
    for (const value of [undefined, '', 'f'.repeat(32)]) {
      if (value !== undefined) victim.cookies.set(REGISTRATION, value)
      await victim.open(attacker.address)
      expect([victim.path, victim.html.includes('name="password"')]).toEqual(['/confirm', true])
    }
    const otp = await service.inbox.nextCode(email)
    await victim.press('Confirm', { otp, password: PASSWORD })
    expect(victim.path).toBe('/leave')
    const login = (password: string) => service.post('login', { identifier: email, password }, newClient())
    expect((await login('the phrase of an intruder')).status).toBe(401)
    expect((await login(PASSWORD)).status).toBe(200)
  })

  test('two tabs in which somebody registers do not disturb each other', async () => {
    const browser = browse()
    const [one, other] = [newEmail(), newEmail()]
    const pages: string[] = []
    for (const identifier of [one, other]) {
      await (await browser.open('/sign-up')).press('Create an account', { identifier, password: PASSWORD })
      pages.push(browser.address)
    }
    await browser.open(pages[0]!)
    expect(browser.html).not.toContain('name="password"')
    await browser.press('Confirm', { otp: await service.inbox.nextCode(one) })
    expect(browser.path).toBe('/leave')
  })

  test('at /account alone a window that opened ours loses hold of it, whoever is signed in', async () => {
    const { identifier } = await service.signUp(newEmail())
    const { cookies } = await signIn(browse(), identifier)
    const ask = async (path: string, cookie: string) => {
      const { headers } = await fetch(service.url + path, {
        redirect: 'manual',
        headers: { host: 'auth.example.com', accept: 'text/html', cookie },
      })
      return [path, headers.get('cross-origin-opener-policy')]
    }
    for (const cookie of ['', [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')]) {
      for (const path of ['/account', '/account/', '/account/password', '/account/nowhere'])
        expect(await ask(path, cookie)).toEqual([path, 'same-origin'])
      // An application may have opened these.
      for (const path of [
        authorizeAddress(newVerifier()),
        '/sign-in',
        '/sign-up',
        '/leave',
        '/oauth2/sign-out',
      ])
        expect(await ask(path, cookie)).toEqual([path, null])
    }
  })

  test('a session that begins on another site is refused: nobody is signed in as somebody else', async () => {
    const attacker = await service.signUp(newEmail())
    const mine = await browse().open('/sign-in')
    const victim = await browse().open('/sign-in')
    const form = { identifier: attacker.identifier, password: PASSWORD }
    for (const headers of [
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'same-site', origin: 'https://evil.example.com' },
      { 'sec-fetch-site': 'none' },
    ]) {
      for (const { action } of [mine.forms[0]!, victim.forms[0]!]) {
        expect((await victim.post(action, form, headers)).status).toBe(422)
      }
    }
    expect(victim.cookies.has(SESSION)).toBe(false)
  })

  test('a flow that was changed by one letter is none', async () => {
    const browser = await browse().open(authorizeAddress(newVerifier()))
    const flow = browser.address.split('flow=')[1] as string
    for (const at of [0, 20, flow.length >> 1, flow.length - 2]) {
      const changed = flow.slice(0, at) + (flow[at] === 'A' ? 'B' : 'A') + flow.slice(at + 1)
      const seen = await browser.open(`/oauth2/continue?flow=${changed}`)
      expect([seen.path, seen.left]).toEqual(['/sign-in', null])
    }
  })

  test('what a code of one application proves is worth nothing for another', async () => {
    const { identifier } = await service.signUp(newEmail())
    const browser = await signIn(browse(), identifier)
    const verifier = newVerifier()
    await browser.open(authorizeAddress(verifier))
    const code = parametersOf(browser).get('code') as string
    expect(parametersOf(browser).get('iss')).toBe('https://auth.example.com')
    const other = { client_id: 'other', redirect_uri: 'https://other.example.com/in' }
    for (const more of [other, { client_id: 'other' }, { redirect_uri: other.redirect_uri }]) {
      expect((await redeem(service, code, verifier, more)).body.error).toBe('invalid_grant')
    }
  })

  test('no answer that leads on names the page it comes from, may be kept or framed', async () => {
    const { identifier } = await service.signUp(newEmail())
    const browser = await signIn(browse(), identifier)
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const ask = (path: string) =>
      fetch(service.url + path, { redirect: 'manual', headers: { host: 'auth.example.com', cookie } })
    const handed = await ask(authorizeAddress(newVerifier()))
    expect([handed.status, handed.headers.get('referrer-policy')]).toEqual([303, 'no-referrer'])
    for (const path of ['/sign-in', '/account', '/oauth2/sign-out', '/oauth2/authorize', '/leave']) {
      const { headers } = await ask(path)
      expect([path, headers.get('cache-control')]).toEqual([path, 'no-store'])
      if (headers.has('location')) continue
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('x-content-type-options')).toBe('nosniff')
    }
    expect(handed.headers.get('cache-control')).toBe('no-store')
  })
})

describe('what is typed', () => {
  const nasty: Record<string, string> = {
    'a script': '"><script>alert(1)</script>',
    'a picture': '\'"><img src=x onerror=alert(1)>',
    'a header': 'a\r\nSet-Cookie: planted=1\r\n\r\n<script>',
    'an address': 'https://evil.example/',
    'a template': '$' + '{7*7}{{7*7}}<%= 7 %>',
    'a long text': 'x'.repeat(1200),
    'a text that turns round': '\u202e\u2066gnp.exe',
  }
  let signedIn: PageBrowser
  beforeAll(async () => {
    signedIn = await signIn(browse(), (await service.signUp(newEmail())).identifier)
  })
  const hasScript = (html: string) =>
    /<script(?! src="\/pages\/)|<img(?! src="\/pages\/)|onerror=alert\(1\)>/.test(html)

  test.each(Object.entries(nasty))(
    '%s in every field of every form is text, and makes no header',
    async (_, value) => {
      for (const { page, path, fields } of pageForms) {
        const browser = await browse().open(page)
        const flow = new URL(browser.forms[0]!.action, 'https://page').search
        const body = Object.fromEntries(Object.keys(fields('')).map((name) => [name, value]))
        const answer = await browser.post(path + flow, {
          ...body,
          stay: value,
          provider: value,
          terms: value,
        })
        const location = answer.headers.get('location') ?? ''
        expect([path, answer.status, location.startsWith('/')]).toEqual([path, 303, true])
        expect([answer.headers.has('planted'), browser.cookies.has('planted')]).toEqual([false, false])
        await browser.open(location)
        expect([path, browser.status, hasScript(browser.html)]).toEqual([path, 200, false])
      }
    },
  )

  const queries = Object.entries({
    '/sign-in': ['flow', 'return_to'],
    '/sign-up': ['flow', 'invitation'],
    '/leave': ['flow', 'to'],
    '/account/history': ['cursor'],
    '/sign-in/provider': ['flow', 'error', 'code'],
    '/oauth2/authorize': [
      'client_id',
      'redirect_uri',
      'state',
      'prompt',
      'login_hint',
      'ui_locales',
      'scope',
    ],
    '/oauth2/sign-out': ['client_id', 'post_logout_redirect_uri', 'state'],
    '/oauth2/continue': ['flow'],
  }).flatMap(([path, names]) => names.map((name) => ({ path, name })))

  async function expectHarmless(browser: PageBrowser, path: string, name: string, value: string) {
    const right = new URL(authorizeAddress(newVerifier()), 'https://page').searchParams
    const query = path === '/oauth2/authorize' ? right : new URLSearchParams()
    query.set(name, value.toWellFormed())
    browser.left = null
    await browser.open(`${path}?${query}`)
    expect([browser.status < 500, hasScript(browser.html)]).toEqual([true, false])
    expect(browser.left ?? REDIRECT).toStartWith(REDIRECT)
    expect(nextOf(browser)).not.toContain('evil')
  }

  test.each(queries)('the same in the query $name of $path', async ({ path, name }) => {
    for (const browser of [browse(), signedIn]) {
      for (const value of Object.values(nasty)) await expectHarmless(browser, path, name, value)
    }
  })

  test.each([
    ['characters that nothing stores', 'a\u0000b', 303],
    ['more than a form may hold', 'x'.repeat(20_000), 413],
  ])('%s are refused', async (_, value, status) => {
    for (const { page, path } of pageForms) {
      const browser = await browse().open(page)
      const answer = await browser.post(path, { identifier: value })
      expect([path, answer.status, (await answer.text()).includes(value)]).toEqual([path, status, false])
    }
  })

  test('a form that cannot be read is answered with a page, and a program is answered in JSON', async () => {
    const bodies: [status: number, type: string | undefined, body: string | Uint8Array<ArrayBuffer>][] = [
      [415, 'text/plain', 'identifier=a'],
      [415, 'application/json', '{}'],
      [415, 'multipart/form-data; boundary=x', '--x--'],
      [400, 'application/x-www-form-urlencoded', new Uint8Array([0x61, 0x3d, 0xff])],
      [413, 'application/x-www-form-urlencoded', 'x'.repeat(20_000)],
    ]
    const paths = ['/sign-in', '/sign-up', '/confirm', '/sign-out', '/account/password', '/account/profile']
    const ask = (
      path: string,
      accept: string,
      type: string | undefined,
      body: string | Uint8Array<ArrayBuffer>,
    ) =>
      fetch(service.url + path, {
        method: 'POST',
        headers: { host: 'auth.example.com', accept, ...addressed(), ...(type && { 'content-type': type }) },
        body,
      })
    for (const path of paths) {
      for (const [status, type, body] of bodies) {
        const shown = await ask(path, 'text/html,application/xhtml+xml', type, body)
        const kind = shown.headers.get('content-type')
        expect([path, type, shown.status, kind]).toEqual([path, type, status, 'text/html; charset=utf-8'])
        expect(await shown.text()).toContain('<h1')
      }
      const answered = await ask(path, 'application/json', 'text/plain', 'a=b')
      expect([answered.status, ((await answered.json()) as { code: string }).code]).toEqual([
        415,
        'unsupported_media_type',
      ])
    }
    const undone = await ask('/undo', 'text/html', 'text/plain', 'a=b')
    expect([undone.status, undone.headers.get('content-type')]).toEqual([415, 'text/html; charset=utf-8'])
    // The endpoint of applications answers as OAuth has it.
    const token = await ask('/oauth2/token', 'text/html', 'text/plain', 'a=b')
    expect([token.status, ((await token.json()) as { error: string }).error]).toEqual([
      415,
      'invalid_request',
    ])
  })

  test('a form leads back to a page of ours, whatever page it names', async () => {
    const { identifier } = await service.signUp(newEmail())
    const browser = await signIn(browse(), identifier)
    for (const page of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '__proto__',
      '/account/../x',
    ]) {
      await browser.open('/account')
      const flow = new URL(browser.forms[0]!.action, 'https://page').search
      const answer = await browser.post(`/account/sign-in-again${flow}`, { page })
      expect(answer.headers.get('location')).toStartWith('/sign-in?flow=')
      await browser.open(answer.headers.get('location') as string)
      await browser.press('Sign in', { identifier, password: PASSWORD })
      expect([browser.path, browser.left]).toEqual(['/account', null])
    }
  })

  test('a step that was taken is not taken again: its flow, its code and its token are used up', async () => {
    const { person } = await protectBySentCodes(service)
    const browser = await signIn(browse(), person.identifier)
    const { action } = browser.forms[0]!
    const otp = await service.inbox.nextCode(person.identifier)
    await browser.post(action, { otp })
    const cookie = browser.cookies.get(SESSION)
    expect(cookie).toBeDefined()
    const again = await browser.post(action, { otp })
    expect([again.status, browser.cookies.get(SESSION)]).toEqual([303, cookie])
    // Nor from elsewhere, with everything that the address bar and the message showed.
    const elsewhere = await browse().open('/sign-in')
    await elsewhere.post(action, { otp, identifier: person.identifier })
    expect(elsewhere.cookies.has(SESSION)).toBe(false)
  })
})
