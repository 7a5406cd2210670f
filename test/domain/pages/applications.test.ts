/** The hand-over to applications, as a client of OAuth sees it, on every storage shape. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { asOperator } from '../../helpers/administration.ts'
import { newEmail } from '../../helpers/api-client.ts'
import { protectBySentCodes } from '../../helpers/authenticator.ts'
import {
  authorizeAddress,
  newCode,
  newVerifier,
  parametersOf,
  REDIRECT,
  redeem,
  signedInBrowser,
  token,
} from '../../helpers/hand-over.ts'
import {
  nextOf,
  openBrowser,
  type PageBrowser,
  pageSettings,
  passProvider,
} from '../../helpers/page-browser.ts'
import { newPerson } from '../../helpers/pretend-provider.ts'
import { race } from '../../helpers/race.ts'
import { expectRefusal } from '../../helpers/refusals.ts'
import { mergeSettings, shapes, startService, type TestService, testsOn } from '../../helpers/service.ts'
import { useSocial } from '../../helpers/social.ts'
import { useReplica, useService } from '../../helpers/use-service.ts'

setDefaultTimeout(30_000)

const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en' },
  pages: {
    enabled: true,
    applications: [
      { id: 'web', name: 'Example', redirect_uris: [REDIRECT], sign_out_uris: ['https://app.example.com/'] },
      { id: 'other', name: 'Other', redirect_uris: ['https://other.example.com/in'] },
      {
        id: 'desk',
        // Where one text takes the place of another, two dollars would be one.
        name: 'Desk $$',
        redirect_uris: ['http://127.0.0.1/cb', 'com.example.app:/cb'],
        sign_out_uris: ['http://127.0.0.1/cb', 'http://[::1]/out?x=1'],
      },
    ],
  },
}

describe.each(shapes)('the hand-over on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape, settings })
  const replica = useReplica(service, { shape, settings })

  test('somebody signs in on the pages, and the application gets tokens', async () => {
    const person = await service.signUp(newEmail())
    const verifier = newVerifier()
    const browser = await openBrowser(service.url).open(authorizeAddress(verifier))
    expect(browser.path).toBe('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    expect(browser.path).toBe('/leave')
    const [, next = ''] = /content="0;url=([^"]+)"/.exec(browser.html) ?? []
    await browser.open(next)
    const parameters = parametersOf(browser)
    expect(browser.left).toStartWith(`${REDIRECT}?`)
    expect([parameters.get('state'), parameters.get('iss')]).toEqual(['abc', 'https://auth.example.com'])
    const { status, body, headers } = await redeem(service, parameters.get('code') ?? '', verifier)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(Object.keys(body)).toEqual([
      'status',
      'access_token',
      'refresh_token',
      'token_type',
      'expires_in',
      'account',
    ])
    expect(body.account.email).toBe(person.identifier)
    const claims = decodeJwt(body.access_token)
    expect([claims.client_id, claims.amr]).toEqual(['web', ['pwd']])
    expect((await service.get('me', { bearer: body.access_token })).status).toBe(200)
    // Each of the two ways to refresh works for it.
    const refreshed = await token(service, {
      grant_type: 'refresh_token',
      client_id: 'web',
      refresh_token: body.refresh_token,
    })
    expect(decodeJwt(refreshed.body.access_token).client_id).toBe('web')
    const again = await service.post('refresh', { refresh_token: refreshed.body.refresh_token })
    expect(decodeJwt(again.body.access_token).client_id).toBe('web')
  })

  raced('32 callers redeem one code over two processes: one session, which lives', async () => {
    const { browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(browser)
    const answers = await race([service, replica], (one) => redeem(one, code, verifier))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(31)
    expect((await service.get('me', { bearer: won[0]!.body.access_token })).status).toBe(200)
  })

  test('a late second use ends what the first one opened, an early one does not', async () => {
    const { browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(browser)
    const { body } = await redeem(service, code, verifier)
    expect((await redeem(service, code, verifier)).status).toBe(400)
    expect((await service.get('me', { bearer: body.access_token })).status).toBe(200)
    service.clock.advance(11_000)
    expect((await redeem(service, code, newVerifier())).status).toBe(400)
    expect((await service.get('me', { bearer: body.access_token })).status).toBe(200)
    expect((await redeem(service, code, verifier)).status).toBe(400)
    expect((await service.get('me', { bearer: body.access_token })).status).toBe(401)
  })

  rule.each([
    ['another verifier', { code_verifier: newVerifier() }, 'invalid_grant'],
    ['another application', { client_id: 'other' }, 'invalid_grant'],
    ['another address', { redirect_uri: 'https://other.example.com/in' }, 'invalid_grant'],
    ['an unknown application', { client_id: 'nobody' }, 'invalid_client'],
    ['no verifier', { code_verifier: '' }, 'invalid_request'],
    ['another grant', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('%s is refused and leaves the code usable', async (_, more, error) => {
    const { browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(browser)
    const refused = await redeem(service, code, verifier, more)
    expect([refused.status, refused.body.error]).toEqual([error === 'invalid_client' ? 401 : 400, error])
    expect(refused.body).toMatchObject({ code: error, error_description: expect.any(String) })
    expect((await redeem(service, code, verifier)).status).toBe(200)
  })

  test('a code is good for a minute, and a sixth one ends the first', async () => {
    const { browser } = await signedInBrowser(service)
    const codes: Awaited<ReturnType<typeof newCode>>[] = []
    for (let tabs = 0; tabs < 6; tabs++) {
      codes.push(await newCode(browser))
      service.clock.advance(10)
    }
    const [first, second, , , , last] = codes
    expect((await redeem(service, first!.code, first!.verifier)).body.error).toBe('invalid_grant')
    expect((await redeem(service, second!.code, second!.verifier)).status).toBe(200)
    service.clock.advance(61_000)
    expect((await redeem(service, last!.code, last!.verifier)).body.error).toBe('invalid_grant')
  })

  raced('of codes that 32 tabs of a browser ask for at once, five live', async () => {
    const { browser } = await signedInBrowser(service)
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const codes = await race([service, replica], async ({ url }) => {
      const verifier = newVerifier()
      const headers = { host: 'auth.example.com', cookie }
      const answer = await fetch(url + authorizeAddress(verifier), { headers, redirect: 'manual' })
      const { searchParams } = new URL(answer.headers.get('location') ?? '')
      return { verifier, code: searchParams.get('code') ?? '' }
    })
    const answers = await Promise.all(codes.map(({ code, verifier }) => redeem(service, code, verifier)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(answers.filter(({ body }) => body.error === 'invalid_grant')).toHaveLength(27)
  })

  test.each([
    ['signing out', async (browser: PageBrowser) => void (await browser.post('/sign-out', {}))],
    [
      'logout-all',
      async (_: PageBrowser, person: Parameters<TestService['logIn']>[0]) => {
        const { access_token } = await service.logIn(person)
        await service.post('logout-all', {}, { bearer: access_token })
      },
    ],
    [
      'a reset',
      async (_: PageBrowser, person: Parameters<TestService['logIn']>[0]) => {
        await service.resetPassword(person.identifier, 'an entirely new phrase')
      },
    ],
  ])('%s in the browser ends its application and the code that waits', async (_, end) => {
    const { browser, person } = await signedInBrowser(service)
    const opened = await newCode(browser)
    const { body } = await redeem(service, opened.code, opened.verifier)
    const waiting = await newCode(browser)
    await end(browser, person)
    expect((await service.get('me', { bearer: body.access_token })).status).toBe(401)
    expect((await service.post('refresh', { refresh_token: body.refresh_token })).status).toBe(401)
    expect((await redeem(service, waiting.code, waiting.verifier)).body.error).toBe('invalid_grant')
  })

  rule('a password changed from the application keeps its browser and the other application', async () => {
    const { browser, person } = await signedInBrowser(service)
    const one = await newCode(browser)
    const web = (await redeem(service, one.code, one.verifier)).body
    const two = await newCode(browser, { client_id: 'other', redirect_uri: 'https://other.example.com/in' })
    const elsewhere = await service.logIn(person)
    const other = (
      await redeem(service, two.code, two.verifier, {
        client_id: 'other',
        redirect_uri: 'https://other.example.com/in',
      })
    ).body
    const password = 'an entirely new phrase'
    const changed = await service.post(
      'password/change',
      { current_password: person.password, password, password_confirmation: password },
      { bearer: web.access_token },
    )
    expect(changed.status).toBe(200)
    for (const { access_token } of [web, other]) {
      expect((await service.get('me', { bearer: access_token })).status).toBe(200)
    }
    expect((await service.get('me', { bearer: elsewhere.access_token })).status).toBe(401)
    expect((await newCode(browser)).code).not.toBe('')
  })

  raced('an application has at most five sessions below one browser', async () => {
    const { browser } = await signedInBrowser(service)
    const opened: string[] = []
    for (let i = 0; i < 6; i++) {
      const { code, verifier } = await newCode(browser)
      opened.push((await redeem(service, code, verifier)).body.access_token)
      service.clock.advance(10)
    }
    const statuses = await Promise.all(
      opened.map(async (bearer) => (await service.get('me', { bearer })).status),
    )
    expect(statuses).toEqual([401, 200, 200, 200, 200, 200])
  })

  rule('without "stay signed in" the application ends with the browser in time', async () => {
    const { browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(browser)
    const { body } = await redeem(service, code, verifier)
    service.clock.advance(13 * 3600_000)
    expect((await service.post('refresh', { refresh_token: body.refresh_token })).status).toBe(401)
  })
})

test('an account that lost a required claim between hand-over and redemption gets no session, and later one', async () => {
  const claims = { login: { from: 'username', required: true } }
  await using service = await startService({ settings: mergeSettings(settings, { tokens: { claims } }) })
  const person = await service.signUp(newEmail())
  const found = await asOperator(service, 'GET', `accounts?query=${person.identifier}`)
  const { uuid } = found.body.items[0]
  const name = `u${uuid.slice(0, 8)}`
  const setName = (username: string | null) => asOperator(service, 'PATCH', `accounts/${uuid}`, { username })
  const applicationsOf = async () =>
    (await asOperator(service, 'GET', `accounts/${uuid}/sessions`)).body.items.filter(
      ({ device_name }: { device_name: string | null }) => device_name === 'Example',
    )
  await setName(name)
  const browser = await openBrowser(service.url).open('/sign-in')
  await browser.press('Sign in', { identifier: person.identifier, password: person.password })
  const { code, verifier } = await newCode(browser)
  await setName(null)
  // A client would try again what is temporary.
  const refused = await redeem(service, code, verifier)
  expectRefusal(refused, 'invalid_grant')
  expect(refused.body.error).toBe('invalid_grant')
  expect(await applicationsOf()).toEqual([])
  await setName(name)
  expect((await redeem(service, code, verifier)).body.error).toBe('invalid_grant')
  const again = await newCode(browser)
  const { body } = await redeem(service, again.code, again.verifier)
  expect(decodeJwt(body.access_token)).toMatchObject({ sub: uuid, login: name })
  expect(await applicationsOf()).toHaveLength(1)
})

describe('what may be asked for', () => {
  const service = useService({ settings })

  /** A parser takes each of these for `http://127.0.0.1:5/cb`. */
  const spellings = [
    'http://127.0.0.1:5/\ncb',
    'http://127.0.0.1:5/c\tb',
    '\r\nhttp://127.0.0.1:5/cb',
    'http://127。0。0。1/cb',
    'http://１２７.0.0.1/cb',
    'http:127.0.0.1/cb',
    'http:/127.0.0.1/cb',
    'http:\\\\127.0.0.1/cb',
    'HTTP://127.0.0.1/cb',
    'http://127.1/cb',
    'http://2130706433/cb',
    'http://0x7f.1/cb',
    'http://127.0.0.1/./cb',
    'http://127.0.0.1/x/../cb',
    'http://127.0.0.1:/cb',
    'http://@127.0.0.1/cb',
    'http://127.0.0.1:5/cb#',
    'http://127.0.0.1:5/cb ',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:5/cb\ud800',
    '\u00a0http://127.0.0.1:5/cb',
  ]

  test.each(spellings)('%j is no address of the application, at either end', async (asked) => {
    const browser = openBrowser(service.url)
    const query = new URLSearchParams({ client_id: 'desk', post_logout_redirect_uri: asked })
    await browser.open(`/oauth2/sign-out?${query}`)
    expect([browser.status, browser.path, browser.left]).toEqual([200, '/signed-out', null])
    const more = { client_id: 'desk', redirect_uri: asked }
    await browser.open(authorizeAddress(newVerifier(), more))
    expect([browser.left, browser.title]).toEqual([null, 'This link does not work'])
  })

  test('the port of a loopback address is free, and nothing else of it', async () => {
    for (const asked of ['http://127.0.0.1/cb', 'http://127.0.0.1:80/cb', 'http://[::1]:49152/out?x=1']) {
      const browser = openBrowser(service.url)
      const query = new URLSearchParams({ client_id: 'desk', post_logout_redirect_uri: asked })
      await browser.open(`/oauth2/sign-out?${query}`)
      expect(browser.left).toBe(asked)
    }
  })

  test.each([
    [{ client_id: 'nobody' }],
    [{ redirect_uri: 'https://app.example.com/signed-in/' }],
    [{ redirect_uri: 'https://app.example.com/signed-in?x' }],
    [{ redirect_uri: 'https://evil.example/signed-in' }],
    [{ redirect_uri: 'javascript:alert(1)' }],
    [{ client_id: 'desk', redirect_uri: 'http://localhost/cb' }],
    [{ client_id: 'desk', redirect_uri: 'http://127.0.0.1:1@evil.example/cb' }],
  ])('%o is a page, never a redirect', async (more) => {
    const browser = await openBrowser(service.url).open(authorizeAddress(newVerifier(), more))
    expect([browser.status, browser.left, browser.title]).toEqual([400, null, 'This link does not work'])
    expect(browser.html).not.toContain('[[pages.applications]]')
  })

  test.each([
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ code_challenge: '' }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ scope: 'openid profile' }, 'invalid_scope'],
    [{ response_mode: 'form_post' }, 'invalid_request'],
    [{ request: 'x' }, 'request_not_supported'],
    [{ request_uri: 'https://x' }, 'request_uri_not_supported'],
    [{ prompt: 'consent' }, 'invalid_request'],
    [{ state: 'a\u0000b' }, 'invalid_request'],
    [{ prompt: 'none' }, 'login_required'],
  ])('%o goes back with %s', async (more, error) => {
    const browser = await openBrowser(service.url).open(authorizeAddress(newVerifier(), more))
    const parameters = parametersOf(browser)
    expect([parameters.get('error'), parameters.get('iss')]).toEqual([error, 'https://auth.example.com'])
    expect(parameters.get('code')).toBeNull()
  })

  test('a parameter that is there twice goes back', async () => {
    const address = `${authorizeAddress(newVerifier())}&code_challenge_method=plain`
    const browser = await openBrowser(service.url).open(address)
    expect(parametersOf(browser).get('error')).toBe('invalid_request')
  })

  test('unknown parameters are ignored', async () => {
    const browser = await openBrowser(service.url).open(authorizeAddress(newVerifier(), { utm_source: 'x' }))
    expect(browser.path).toBe('/sign-in')
  })

  test('an application on the device is handed over only after "Continue"', async () => {
    const { browser } = await signedInBrowser(service)
    const verifier = newVerifier()
    const more = { client_id: 'desk', redirect_uri: 'http://127.0.0.1:49152/cb' }
    await browser.open(authorizeAddress(verifier, more))
    expect(browser.title).toBe('Continue to Desk $$')
    expect(browser.html).not.toContain('http-equiv="refresh"')
    const [, next = ''] = /<a class="button main" href="([^"]+)"/.exec(browser.html) ?? []
    const [, another = ''] = /href="([^"]+)">Not you\?</.exec(browser.html) ?? []
    expect((await browser.open(another)).path).toBe('/sign-in')
    await browser.open(next)
    const code = parametersOf(browser).get('code') ?? ''
    expect((await redeem(service, code, verifier, more)).status).toBe(200)
    browser.left = null
    await browser.open(authorizeAddress(verifier, { ...more, prompt: 'none' }))
    expect(parametersOf(browser).get('error')).toBe('interaction_required')
  })

  test('a browser that follows no redirect to a program gets a link to it', async () => {
    const { browser } = await signedInBrowser(service)
    const verifier = newVerifier()
    const more = { client_id: 'desk', redirect_uri: 'com.example.app:/cb' }
    const onward = async (agent: string) => {
      await browser.open(authorizeAddress(verifier, more))
      const [, next = ''] = /<a class="button main" href="([^"]+)"/.exec(browser.html) ?? []
      browser.left = null
      await browser.open(next, { 'user-agent': agent })
      return browser.left ?? /<a class="button main" href="([^"]+)"/.exec(browser.html)?.[1]
    }
    const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15'
    expect(await onward(`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit}`)).toStartWith(
      'com.example.app:/cb?code=',
    )
    expect(browser.html).toBe('')
    const link = (await onward(`Mozilla/5.0 (X11; Linux x86_64) ${webkit}`)) ?? ''
    expect([browser.left, browser.title]).toEqual([null, 'Continue to Desk $$'])
    expect(link).toStartWith('com.example.app:/cb?code=')
    const code = new URL(link.replaceAll('&amp;', '&')).searchParams.get('code') ?? ''
    expect((await redeem(service, code, verifier, more)).status).toBe(200)
  })

  test('prompt=login asks again, and a session of before is not enough', async () => {
    const { browser, person } = await signedInBrowser(service)
    service.clock.advance(60_000)
    await browser.open(authorizeAddress(newVerifier(), { prompt: 'login' }))
    expect(browser.path).toBe('/sign-in')
    const flow = browser.address.split('flow=')[1]
    await browser.open(`/oauth2/continue?flow=${flow}`)
    expect([browser.left?.startsWith(REDIRECT) ?? false, browser.path]).toEqual([false, '/sign-in'])
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    const [, next = ''] = /content="0;url=([^"]+)"/.exec(browser.html) ?? []
    await browser.open(next)
    expect(parametersOf(browser).get('code')).not.toBeNull()
  })

  test('login_hint of somebody else shows the sign-in page', async () => {
    const { browser } = await signedInBrowser(service)
    await browser.open(authorizeAddress(newVerifier(), { login_hint: 'somebody@example.com' }))
    expect(browser.path).toBe('/sign-in')
    expect(browser.html).toContain('value="somebody@example.com"')
  })

  test.each(['client_id', 'redirect_uri'])(
    '%s twice goes back, two different ones are a page',
    async (name) => {
      const address = authorizeAddress(newVerifier())
      const value = new URLSearchParams(address.split('?')[1]).get(name) ?? ''
      const same = await openBrowser(service.url).open(`${address}&${new URLSearchParams({ [name]: value })}`)
      expect(parametersOf(same).get('error')).toBe('invalid_request')
      const other = await openBrowser(service.url).open(`${address}&${new URLSearchParams({ [name]: 'x' })}`)
      expect([other.left, other.title]).toEqual([null, 'This link does not work'])
    },
  )

  test('a token request that cannot be read is refused in the form of OAuth', async () => {
    const json = await fetch(`${service.url}/oauth2/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    expect([json.status, ((await json.json()) as { error: string }).error]).toEqual([415, 'invalid_request'])
    const { status, body } = await redeem(service, 'a', newVerifier(), { redirect_uri: 'x\0' })
    expect([status, body.error]).toEqual([400, 'invalid_request'])
  })

  test.each(['ada', '0192f2c3-1111-7222-8333-444455556666'])(
    'a login_hint that is neither address nor number only fills the field: %p',
    async (login_hint) => {
      const { browser } = await signedInBrowser(service)
      await browser.open(authorizeAddress(newVerifier(), { login_hint }))
      expect(browser.left).toStartWith(`${REDIRECT}?code=`)
    },
  )

  test('a login_hint of the same person in another spelling is that person', async () => {
    const { browser, person } = await signedInBrowser(service)
    await browser.open(authorizeAddress(newVerifier(), { login_hint: ` ${person.identifier.toUpperCase()}` }))
    expect(browser.left).toStartWith(`${REDIRECT}?code=`)
  })

  test('ui_locales chooses the language of the pages', async () => {
    const browser = openBrowser(service.url)
    await browser.open(authorizeAddress(newVerifier(), { ui_locales: 'de-AT fr-CA en' }))
    expect(browser.html).toContain('<html lang="fr"')
  })

  test('the longest state comes back after every step, and a longer one is refused', async () => {
    const { person } = await protectBySentCodes(service)
    const browser = openBrowser(service.url)
    const state = '"'.repeat(433)
    await browser.open(authorizeAddress(newVerifier(), { state, login_hint: 'x'.repeat(300) }))
    const { identifier, password } = person
    await browser.press('Sign in', { identifier, password: 'not that one' })
    await browser.press('Sign in', { identifier, password })
    await browser.press('Sign in', { otp: await service.inbox.nextCode(identifier) })
    await browser.open(nextOf(browser))
    expect(parametersOf(browser).get('state')).toBe(state)
    const refused = openBrowser(service.url)
    for (const [longer, returned] of [
      ['x'.repeat(1301), true],
      ['é'.repeat(500), true],
      ['é'.repeat(501), false],
      ['x'.repeat(1300), true],
    ] as const) {
      await refused.open(authorizeAddress(newVerifier(), { state: longer, response_type: 'token' }))
      expect(parametersOf(refused).get('error')).not.toBeNull()
      expect(parametersOf(refused).get('state')).toBe(returned ? longer : null)
    }
  })

  test('without "stay signed in" an application on the web ends with the browser in time', async () => {
    const person = await service.signUp(newEmail())
    const open = async (stay: boolean, more = {}) => {
      const browser = await openBrowser(service.url).open('/sign-in')
      await browser.press('Sign in', { ...person, ...(stay && { stay: 'yes' }) })
      const { code, verifier } = await newCode(browser, more)
      const { body } = await redeem(service, code, verifier, more)
      return { browser, refresh_token: body.refresh_token }
    }
    const [usual, stays] = [await open(false), await open(true)]
    service.clock.advance(12 * 3600_000 + 1000)
    const refreshed = async ({ refresh_token }: { refresh_token: string }) =>
      (await service.post('refresh', { refresh_token })).status
    expect([await refreshed(usual), await refreshed(stays)]).toEqual([401, 200])
    expect((await usual.browser.open('/account')).path).toBe('/sign-in')
    expect((await stays.browser.open('/account')).path).toBe('/account')
  })

  test('the sign-out endpoint asks, ends everything below the browser, and leads back', async () => {
    const { browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(browser)
    const { body } = await redeem(service, code, verifier)
    const query = new URLSearchParams({
      client_id: 'web',
      post_logout_redirect_uri: 'https://app.example.com/',
      state: 'x',
    })
    await browser.open(`/oauth2/sign-out?${query}`)
    expect(browser.title).toBe('Sign out')
    await browser.press('Sign out')
    expect(browser.html).toContain('url=https://app.example.com/?state=x"')
    expect((await service.get('me', { bearer: body.access_token })).status).toBe(401)
    browser.left = null
    await browser.open(`/oauth2/sign-out?${query}`)
    expect(String(browser.left)).toBe('https://app.example.com/?state=x')
  })

  test('the longest state comes back after signing out, and a parameter twice leads nowhere', async () => {
    const { browser } = await signedInBrowser(service)
    const state = '"'.repeat(433)
    const query = { client_id: 'web', post_logout_redirect_uri: 'https://app.example.com/', state }
    const address = `/oauth2/sign-out?${new URLSearchParams(query)}`
    await browser.open(address)
    await browser.press('Sign out')
    await browser.open(address)
    expect(parametersOf(browser).get('state')).toBe(state)
    browser.left = null
    await browser.open(`${address}&client_id=web`)
    expect([browser.left, browser.path]).toEqual([null, '/signed-out'])
  })

  test('the document of the issuer describes it, and that of OpenID Connect stays as it is', async () => {
    const read = async (name: string) => (await fetch(`${service.url}/.well-known/${name}`)).json()
    expect(await read('oauth-authorization-server')).toMatchObject({
      authorization_endpoint: 'https://auth.example.com/oauth2/authorize',
      code_challenge_methods_supported: ['S256'],
    })
    expect(await read('openid-configuration')).not.toHaveProperty('authorization_endpoint')
  })

  test('the token endpoint answers the origins of the applications, and nobody else', async () => {
    const ask = (origin: string, path = '/oauth2/token') =>
      fetch(service.url + path, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      }).then(({ headers }) => headers.get('access-control-allow-origin'))
    expect(await ask('https://app.example.com')).toBe('https://app.example.com')
    expect(await ask('https://evil.example')).toBeNull()
    expect(await ask('https://app.example.com', '/api/v1/auth/login')).toBeNull()
  })
})

describe('with another provider', () => {
  const { provider, service } = useSocial(settings)

  test('a hand-over that is under way leads to the provider first, and then to the application', async () => {
    const email = newEmail()
    provider.present(newPerson({ email, email_verified: true }))
    const verifier = newVerifier()
    const browser = await openBrowser(service.url).open(authorizeAddress(verifier))
    await browser.press('Continue with P1')
    expect(nextOf(browser)).toStartWith(provider.issuer)
    await passProvider(browser)
    expect(browser.path).toBe('/leave')
    await browser.open(nextOf(browser))
    const { status, body } = await redeem(service, parametersOf(browser).get('code') ?? '', verifier)
    expect([status, body.account.email]).toEqual([200, email])
  })
})
