/** What an application for OpenID may ask of the pages: claims, prompts, ages, hints, two factors, and signing out. */
import { describe, expect, test } from 'bun:test'
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose'
import { asOperator } from '../../helpers/administration.ts'
import { protectBySentCodes } from '../../helpers/authenticator.ts'
import {
  codeFor,
  entry,
  newVerifier,
  openIdAddress,
  parametersOf,
  REDIRECT,
  redeemBySecret,
  refreshBySecret,
  signedInBrowser,
  userinfo,
} from '../../helpers/hand-over.ts'
import { nextOf, openBrowser, type PageBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { useService } from '../../helpers/use-service.ts'

const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en' },
  two_factor: { trust_device: '30d' },
  pages: {
    enabled: true,
    applications: [
      { id: 'web', name: 'Web', redirect_uris: [REDIRECT] },
      entry('grafana', {
        claims: { tenant: { value: 'acme' }, groups: { from: 'metadata.team', default: 'none' } },
      }),
      entry('wiki', { claims: { plan: { from: 'metadata.plan', required: true } } }),
      entry('ledger', { two_factor: true }),
      entry('team', { own: true, groups: [] }),
      entry('lan', { redirect_uris: ['http://lan.local/in'] }),
    ],
  },
  admin: { listen: '127.0.0.1:8081' },
}

const service = useService({ settings })

const uuidOf = async (identifier: string) =>
  (await asOperator(service, 'GET', `accounts?query=${identifier}`)).body.items[0].uuid as string

async function enter(browser: PageBrowser, id: string, more: Record<string, string> = {}) {
  return (await redeemBySecret(service, id, await codeFor(browser, id, more))).body
}

/** What `prompt=none` is answered. */
async function silently(browser: PageBrowser, id: string, more: Record<string, string> = {}) {
  await codeFor(browser, id, { prompt: 'none', ...more })
  return parametersOf(browser).get('error') ?? 'code'
}

describe('an ID token', () => {
  test('says who signed in, how and for whom, and so does userinfo', async () => {
    const { browser, person } = await signedInBrowser(service)
    const body = await enter(browser, 'grafana', { scope: 'openid email groups', nonce: 'n-1' })
    const keys = createRemoteJWKSet(new URL(`${service.url}/oauth2/jwks`))
    const { payload, protectedHeader } = await jwtVerify(body.id_token, keys, {
      issuer: 'https://auth.example.com/oauth2',
      audience: 'grafana',
    })
    expect([protectedHeader.alg, protectedHeader.typ]).toEqual(['RS256', 'JWT'])
    const digest = Buffer.from(new Bun.CryptoHasher('sha256').update(body.access_token).digest())
    const claims = {
      sub: await uuidOf(person.identifier),
      ...{ email: person.identifier, email_verified: true, tenant: 'acme', groups: 'none' },
    }
    expect(payload).toMatchObject({
      ...claims,
      ...{ nonce: 'n-1', amr: ['pwd'], at_hash: digest.subarray(0, 16).toString('base64url') },
    })
    expect((await userinfo(service, body.access_token)).body).toEqual(claims)
    // It opens nothing.
    expect((await service.get('me', { bearer: body.id_token })).status).toBe(401)
    expect((await userinfo(service, body.id_token)).status).toBe(401)
    const own = await enter(browser, 'team', { scope: 'openid profile' })
    expect(decodeJwt(own.id_token)).toMatchObject({ aud: 'team', preferred_username: claims.sub })
  })

  test('comes with a refresh, without the nonce', async () => {
    const { browser } = await signedInBrowser(service)
    const body = await enter(browser, 'grafana', { scope: 'openid offline_access', nonce: 'n' })
    const { id_token } = (await refreshBySecret(service, 'grafana', body.refresh_token)).body
    const [first, next] = [decodeJwt(body.id_token), decodeJwt(id_token)]
    expect([next.nonce, next.sid, next.auth_time]).toEqual([undefined, first.sid, first.auth_time])
  })

  test('with a required claim is for those who have it', async () => {
    const { browser, person } = await signedInBrowser(service)
    const uuid = await uuidOf(person.identifier)
    const setPlan = (metadata: object) => asOperator(service, 'PATCH', `accounts/${uuid}`, { metadata })
    expect(await silently(browser, 'wiki')).toBe('access_denied')
    await codeFor(browser, 'wiki')
    expect(browser.status).toBe(403)
    await setPlan({ plan: 'pro' })
    const opened = await enter(browser, 'wiki', { scope: 'openid offline_access' })
    expect(decodeJwt(opened.id_token).plan).toBe('pro')
    const code = await codeFor(browser, 'wiki')
    await setPlan({})
    expect((await redeemBySecret(service, 'wiki', code)).body.error).toBe('invalid_grant')
    expect((await refreshBySecret(service, 'wiki', opened.refresh_token)).body.error).toBe('invalid_grant')
    await setPlan({ plan: 'pro' })
    expect((await userinfo(service, opened.access_token)).status).toBe(401)
  })
})

describe('a request', () => {
  test.each([
    [{ prompt: 'none login' }, 'invalid_request'],
    [{ prompt: 'x' }, 'invalid_request'],
    [{ prompt: 'none none' }, 'code'],
    [{ nonce: 'n'.repeat(201) }, 'invalid_request'],
    [{ nonce: 'é'.repeat(100) }, 'code'],
    [{ nonce: 'a\u0000' }, 'invalid_request'],
    [{ max_age: '1s' }, 'invalid_request'],
    [{ max_age: '-1' }, 'invalid_request'],
    [{ max_age: '9'.repeat(40) }, 'code'],
    [{ max_age: '' }, 'code'],
    [{ registration: '{}' }, 'registration_not_supported'],
    [{ request: 'x' }, 'request_not_supported'],
    [{ request_uri: 'x' }, 'request_uri_not_supported'],
    [{ response_mode: 'form_post' }, 'invalid_request'],
    [{ response_type: 'code id_token' }, 'unsupported_response_type'],
    [{ code_challenge: 'x' }, 'invalid_request'],
    [{ code_challenge_method: 'S256' }, 'invalid_request'],
    [{ code_challenge: 'a'.repeat(43), code_challenge_method: 'plain' }, 'invalid_request'],
    [{ claims: '{', acr_values: 'x', resource: 'x', display: 'touch', id_token_hint: 'x' }, 'code'],
  ])('with %o is answered by %s', async (more, expected) => {
    const { browser } = await signedInBrowser(service)
    expect(await silently(browser, 'grafana', more as Record<string, string>)).toBe(expected)
    browser.left = null
    await browser.open(`${openIdAddress('grafana', { nonce: 'a' })}&nonce=a`)
    expect(parametersOf(browser).get('error')).toBe('invalid_request')
    // An entry without `own` is as it was.
    await browser.open(
      openIdAddress('web', { redirect_uri: REDIRECT, nonce: 'a', max_age: 'x' }, newVerifier()),
    )
    expect(parametersOf(browser).get('code')).toBeTruthy()
  })

  test('asks for what it has to, and "Continue to" where nobody had to sign in', async () => {
    const stranger = openBrowser(service.url)
    expect(await silently(stranger, 'grafana')).toBe('login_required')
    const { browser } = await signedInBrowser(service)
    for (const prompt of ['consent', 'select_account', 'consent select_account']) {
      expect(await codeFor(browser, 'grafana', { prompt })).toBe('')
      expect(browser.title).toBe('Continue to Grafana')
      expect(browser.html).toContain('Use another account')
    }
    const [, next = ''] = /class="button main" href="([^"]*)"/.exec(browser.html) ?? []
    await browser.open(next)
    expect(parametersOf(browser).get('code')).toBeTruthy()
    const near = { redirect_uri: 'http://lan.local/in' }
    expect(await silently(browser, 'lan', near)).toBe('interaction_required')
    await browser.open(openIdAddress('lan', near))
    expect(browser.title).toBe('Continue to Lan')
    await codeFor(browser, 'grafana', { prompt: 'login consent' })
    expect(browser.path).toBe('/sign-in')
    await codeFor(browser, 'grafana', { prompt: 'create' })
    expect(browser.path).toBe('/sign-up')
  })

  test('with max_age needs a sign-in that is young enough', async () => {
    const { browser, person } = await signedInBrowser(service)
    service.clock.advance(61_000)
    expect(await silently(browser, 'grafana', { max_age: '120' })).toBe('code')
    expect(await silently(browser, 'grafana', { max_age: '60' })).toBe('login_required')
    await codeFor(browser, 'grafana', { max_age: '60', scope: 'openid' })
    expect(browser.path).toBe('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    await browser.open(nextOf(browser))
    const code = parametersOf(browser).get('code') ?? ''
    const { id_token } = (await redeemBySecret(service, 'grafana', code)).body
    expect(Number(decodeJwt(id_token).auth_time) * 1000).toBeGreaterThan(
      service.clock.now().getTime() - 30_000,
    )
  })

  test('with a hint for somebody else asks who is meant, and hands over whoever signs in', async () => {
    const first = await signedInBrowser(service)
    const second = await signedInBrowser(service)
    const { id_token } = await enter(first.browser, 'grafana', { scope: 'openid' })
    const foreign = await enter(first.browser, 'team', { scope: 'openid' })
    expect(await silently(first.browser, 'grafana', { id_token_hint: id_token })).toBe('code')
    expect(await silently(second.browser, 'grafana', { id_token_hint: foreign.id_token })).toBe('code')
    expect(await silently(second.browser, 'grafana', { id_token_hint: `${id_token}x` })).toBe('code')
    const own = { id_token_hint: foreign.access_token }
    expect(await silently(second.browser, 'grafana', own)).toBe('code')
    const other = { id_token_hint: id_token }
    expect(await silently(second.browser, 'grafana', other)).toBe('login_required')
    await codeFor(second.browser, 'grafana', other)
    expect(second.browser.path).toBe('/sign-in')
    const { identifier, password } = second.person
    await second.browser.press('Sign in', { identifier, password })
    await second.browser.open(nextOf(second.browser))
    expect(parametersOf(second.browser).get('code')).toBeTruthy()
    service.clock.advance(86_400_000)
    const aged = await signedInBrowser(service)
    expect(await silently(aged.browser, 'grafana', other)).toBe('login_required')
  })

  test('by POST from any site comes again by GET, without the hint if it is too long', async () => {
    const post = (path: string, body: string) =>
      fetch(service.url + path, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...{ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', accept: 'text/html' },
        },
        body,
      })
    for (const path of ['/oauth2/authorize', '/oauth2/sign-out']) {
      const short = await post(path, 'state=a+b%26&state=c&x=%C3%A9')
      expect([short.status, short.headers.get('location')]).toEqual([
        303,
        `${path}?state=a+b%26&state=c&x=%C3%A9`,
      ])
      const long = await post(path, `id_token_hint=${'x'.repeat(3000)}&state=a`)
      expect([long.status, long.headers.get('location')]).toEqual([303, `${path}?state=a`])
      const longer = await post(path, `id_token_hint=x&state=${'x'.repeat(3000)}`)
      expect([longer.status, longer.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    }
  })
})

describe('an application that asks for two factors', () => {
  test('gets nobody who has one, and shows the way to a second', async () => {
    const { browser, person } = await signedInBrowser(service)
    expect(await silently(browser, 'ledger')).toBe('interaction_required')
    await codeFor(browser, 'ledger')
    expect([browser.status, browser.title]).toEqual([200, 'Ledger asks for two factors'])
    expect(browser.html).toContain(`<div class="small"><bdi>${person.identifier}</bdi>`)
    const buttons = [...browser.html.matchAll(/<a class="button[^"]*" href="([^"?]*)[^>]*>(.*?)</g)]
    expect(buttons.map(([, path, label]) => [path, label])).toEqual([
      ['/account/two-factor', 'Turn on a second factor'],
    ])
    // Without passkeys a sign-in helps whoever has another account.
    const [, another = ''] = /class="row" href="([^"]*)"/.exec(browser.html) ?? []
    expect(browser.html).toContain('<span>Use another account</span>')
    expect((await browser.open(another)).path).toBe('/sign-in')
  })

  test('gets whoever turns one on from there', async () => {
    const { person, browser } = await signedInBrowser(service)
    await codeFor(browser, 'ledger', { scope: 'openid' })
    const linkTo = (path: string) =>
      new RegExp(`href="(${path}[?][^"]+)"`).exec(browser.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    await browser.open(linkTo('/account/two-factor'))
    const factors = browser.address
    await browser.open(linkTo('/account/two-factor/on'))
    await browser.press('Send a code', { password: 'a wrong password' })
    await browser.press('Send a code', { password: person.password })
    const otp = await service.inbox.nextCode(person.identifier)
    await browser.press('Confirm', { otp: '000000' })
    await browser.press('Confirm', { otp })
    expect(browser.html).toContain('Continue to Ledger')
    // The rows of the page keep the way to it.
    await browser.open(factors)
    for (const path of ['/account/email', '/account/two-factor/codes']) expect(linkTo(path)).not.toBe('')
    await browser.open(linkTo('/oauth2/continue'))
    const { body } = await redeemBySecret(service, 'ledger', parametersOf(browser).get('code') ?? '')
    expect(decodeJwt(body.id_token).amr).toContain('mfa')
    // Somebody else's browser has no use for that link.
    const { browser: other } = await signedInBrowser(service)
    await other.open(linkTo('/oauth2/continue'))
    expect(other.left).toBeNull()
  })

  /** Somebody whose device spares them the second factor. */
  async function onTrustedDevice() {
    const { person } = await protectBySentCodes(service)
    const browser = await openBrowser(service.url).open('/sign-in')
    const { identifier, password } = person
    await browser.press('Sign in', { identifier, password })
    const otp = () => service.inbox.nextCode(identifier)
    await browser.press('Sign in', { otp: await otp(), trust: 'yes' })
    await browser.post('/sign-out', {})
    await browser.open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    expect(browser.path).toBe('/account')
    return { browser, proof: { identifier, password }, otp }
  }

  async function expectBothFactors(browser: PageBrowser, otp: () => Promise<string>) {
    expect(browser.path).toBe('/code')
    await browser.press('Sign in', { otp: await otp() })
    await browser.open(nextOf(browser))
    const { body } = await redeemBySecret(service, 'ledger', parametersOf(browser).get('code') ?? '')
    expect(decodeJwt(body.id_token).amr).toContain('mfa')
  }

  test('asks for the second factor again, on a device that is trusted as well', async () => {
    const { browser, proof, otp } = await onTrustedDevice()
    expect(await silently(browser, 'ledger')).toBe('interaction_required')
    await codeFor(browser, 'ledger', { scope: 'openid' })
    expect(browser.path).toBe('/sign-in')
    await browser.press('Sign in', proof)
    await expectBothFactors(browser, otp)
  })

  test('asks for it on such a device also where the form before could not be taken', async () => {
    const { browser, proof, otp } = await onTrustedDevice()
    await codeFor(browser, 'ledger', { scope: 'openid' })
    const { action } = browser.forms.find(({ fields }) => 'password' in fields)!
    const refused = await browser.post(action, proof, { 'sec-fetch-site': 'cross-site' })
    expect(refused.status).toBe(422)
    const [, again = ''] = /<a class="button quiet main" href="([^"]*)"/.exec(await refused.text()) ?? []
    expect((await browser.open(again)).path).toBe('/sign-in')
    await browser.press('Sign in', proof)
    await expectBothFactors(browser, otp)
  })
})

describe('signing out', () => {
  test('names who is signed in, and leads home who stays', async () => {
    const { browser, person } = await signedInBrowser(service)
    await browser.open('/oauth2/sign-out')
    expect(browser.html).toContain(`<div class="small"><bdi>${person.identifier}</bdi>`)
    const [, stay = ''] = /href="([^"]*)">Stay signed in</.exec(browser.html) ?? []
    await browser.open(stay)
    expect(browser.path).toBe('/account')
  })

  const signOut = async (browser: PageBrowser, query: Record<string, string>) => {
    browser.left = null
    await browser.open(`/oauth2/sign-out?${new URLSearchParams(query)}`)
    return browser.left ?? browser.path
  }
  const out = { post_logout_redirect_uri: 'https://grafana.example.com/', state: 's' }

  test('with an ID token of a session below this browser asks nothing', async () => {
    const { browser } = await signedInBrowser(service)
    const { id_token, access_token } = await enter(browser, 'grafana', { scope: 'openid' })
    service.clock.advance(3600_000)
    expect(await signOut(browser, { id_token_hint: id_token, ...out })).toBe(
      'https://grafana.example.com/?state=s',
    )
    expect((await userinfo(service, access_token)).status).toBe(401)
    expect((await browser.open('/account')).path).toBe('/sign-in')
  })

  test('with one of another browser, application or key asks', async () => {
    const { browser, person } = await signedInBrowser(service)
    const elsewhere = await openBrowser(service.url).open('/sign-in')
    await elsewhere.press('Sign in', { identifier: person.identifier, password: person.password })
    const { id_token } = await enter(elsewhere, 'grafana', { scope: 'openid' })
    expect(await signOut(browser, { id_token_hint: id_token, ...out })).toBe('/oauth2/sign-out')
    const mine = await enter(browser, 'grafana', { scope: 'openid' })
    const other = { id_token_hint: mine.id_token, client_id: 'team', ...out }
    expect(await signOut(browser, other)).toBe('/oauth2/sign-out')
    expect(await signOut(browser, { id_token_hint: `${mine.id_token}0` })).toBe('/oauth2/sign-out')
    expect((await browser.open('/account')).path).toBe('/account')
  })
})
