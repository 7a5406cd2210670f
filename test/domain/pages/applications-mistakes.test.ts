/** Mistakes in the hand-over and what a developer is told of them, and requests that are read as OAuth means them. */
import { describe, expect, spyOn, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { statement } from '../../../src/platform/postgres/database.ts'
import { DatabaseUnavailable } from '../../../src/platform/postgres/failure.ts'
import { newEmail } from '../../helpers/api-client.ts'
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
import { nextOf, openBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { expectRefusal } from '../../helpers/refusals.ts'
import { mergeSettings } from '../../helpers/service.ts'
import { useReplica, useService } from '../../helpers/use-service.ts'

const WITH_QUERY = 'https://app.example.com/in?flag&r=https://x/y%20z'
const OUT = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: 'https://app.example.com/' })
const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'fr' },
  pages: {
    enabled: true,
    return_to: ['https://app.example.com/back'],
    applications: [
      {
        id: 'web',
        name: 'Example',
        redirect_uris: [REDIRECT, WITH_QUERY],
        sign_out_uris: ['https://app.example.com/', 'https://app.example.com/out?a&b=%20'],
      },
      { id: 'other', name: 'Other', redirect_uris: ['https://other.example.com/in'] },
    ],
  },
}

const codesMade = statement<object, { count: number }>(
  sql`select count(*)::int as count from authorization_codes`,
)

const linkTo = (html: string, language: string) =>
  new RegExp(`href="([^"]*)" lang="${language}"`).exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''

describe('a mistake', () => {
  const service = useService({ dev: true, settings })
  /** The same without --dev, on the same stores. */
  const public_ = useReplica(service, { settings })

  const causeIn = (log: string[]) =>
    log
      .map((line) => JSON.parse(line) as { route?: string; cause?: string })
      .findLast(({ route }) => route?.startsWith('/oauth2/'))?.cause

  /** The form of a code that is right, and what is wrong with it. */
  const mistakes: [cause: string, form: Record<string, string>, description: RegExp][] = [
    ['redirect_uri_differs', { redirect_uri: `${REDIRECT}/` }, /not valid: redirect_uri/],
    ['redirect_uri_differs', { redirect_uri: WITH_QUERY }, /not valid: redirect_uri/],
    ['verifier_wrong', { code_verifier: newVerifier() }, /not valid: code_verifier/],
    ['code_unknown', { code: 'x' }, /not valid: it was never made/],
    ['application_unknown', { client_id: 'nobody' }, /not known here: compare client_id/],
    ['field_missing:client_id', { client_id: '' }, /^client_id is missing$/],
    ['field_missing:code_verifier', { code_verifier: '' }, /^code_verifier is missing$/],
    ['field_missing:redirect_uri', { redirect_uri: '' }, /^redirect_uri is missing$/],
    ['field_missing:code', { code: '' }, /^code is missing$/],
    ['field_missing:grant_type', { grant_type: '' }, /^grant_type is missing$/],
    ['verifier_malformed', { code_verifier: 'short' }, /43 to 128/],
  ]

  test.each(mistakes)('%s is in the log, and in the answer with --dev', async (cause, more, description) => {
    const { browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(browser)
    const refused = await redeem(service, code, verifier, more)
    expect([refused.body.cause, causeIn(service.log)]).toEqual([cause, cause])
    expect(refused.body.error_description).toMatch(description)
    const shown = await redeem(public_, code, verifier, more)
    expect([shown.body.cause, causeIn(public_.log)]).toEqual([undefined, cause])
    expect((await redeem(service, code, verifier)).status).toBe(200)
  })

  test('a code that was used, is too old, of another application or gone says so', async () => {
    const { browser } = await signedInBrowser(service)
    const used = await newCode(browser)
    await redeem(service, used.code, used.verifier)
    const causeOf = async ({ code, verifier }: typeof used, more = {}) =>
      (await redeem(service, code, verifier, more)).body.cause
    expect(await causeOf(used)).toBe('code_used')
    const old = await newCode(browser)
    const other = { client_id: 'other', redirect_uri: 'https://other.example.com/in' }
    expect(await causeOf(old, other)).toBe('code_of_another_application')
    service.clock.advance(61_000)
    expect(await causeOf(old)).toBe('code_expired')
    const over = await newCode(browser)
    await browser.post('/sign-out', {})
    expect(await causeOf(over)).toBe('code_unknown')
  })

  test('a refresh token that gives nothing, and a grant that is not offered, say so', async () => {
    const described = async (form: Record<string, string>) =>
      (await token(service, { client_id: 'web', ...form })).body.error_description
    const { browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(browser)
    const { refresh_token } = (await redeem(service, code, verifier)).body
    const refresh = { grant_type: 'refresh_token' }
    expect(await described({ ...refresh, refresh_token: 'x' })).toMatch(/no refresh token of this service/)
    expect(await described({ ...refresh, refresh_token, client_id: 'other' })).toMatch(/another application/)
    await browser.post('/sign-out', {})
    expect(await described({ ...refresh, refresh_token })).toMatch(/its session was ended/)
    expect(await described({ grant_type: 'client_credentials' })).toMatch(/must be authorization_code or/)
  })

  test('an address to which nobody is sent after signing out is in the log, with the one that was meant', async () => {
    const asked = { client_id: 'web', post_logout_redirect_uri: 'https://app.example.com' }
    await openBrowser(service.url).open(`/oauth2/sign-out?${new URLSearchParams(asked)}`)
    const warned = service.log.find((line) => line.includes('sign_out_uri_differs'))
    expect(warned).toContain('"https://app.example.com/"')
  })

  test('Basic is answered as what it is: not taken here', async () => {
    const form = { grant_type: 'authorization_code', code: 'x', redirect_uri: REDIRECT }
    const basic = { authorization: `Basic ${btoa('web:')}` }
    const refused = await token(service, form, basic)
    expectRefusal(refused, 'invalid_client')
    expect(refused.body).toMatchObject({ error: 'invalid_client', cause: 'secret_not_taken' })
    expect(refused.headers.get('www-authenticate')).toStartWith('Basic ')
    const unknown = await token(service, { ...form, client_id: 'nobody' })
    expect(unknown.headers.get('www-authenticate')).toBeNull()
  })

  test.each([undefined, 'ar', 'fr'])('descriptions are English in ASCII for %p', async (language) => {
    const headers: Record<string, string> = language === undefined ? {} : { 'accept-language': language }
    const forms = [
      { code: 'x' },
      { grant_type: 'password' },
      { grant_type: 'refresh_token', client_id: 'web' },
    ]
    for (const form of forms) {
      const { body } = await token(service, form as unknown as Record<string, string>, headers)
      expect(body.error_description).toMatch(/^[ !#-[\]-~]+$/)
      expect(body.error_description).not.toBe(body.message)
    }
    const unread = await fetch(`${service.url}/oauth2/token`, { method: 'POST', headers, body: '{}' })
    const { error_description } = (await unread.json()) as { error_description: string }
    expect(error_description).toMatch(/^The request body must be sent as/)
  })

  test.each(['code', 'client_id', 'grant_type', 'unknown'])('%s twice is refused', async (name) => {
    const { browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(browser)
    const form: [string, string][] = [
      ['grant_type', 'authorization_code'],
      ['code', code],
      ['client_id', 'web'],
      ['redirect_uri', REDIRECT],
      ['code_verifier', verifier],
      ['unknown', 'x'],
    ]
    const twice = await token(service, [...form, [name, 'y']])
    expect([twice.status, twice.body.error, twice.body.cause]).toEqual([
      400,
      'invalid_request',
      `field_repeated:${name}`,
    ])
    // Without a value it is as good as absent.
    expect((await token(service, [[name, ''], ...form, [name, '']])).status).toBe(200)
  })

  test('any charset of the form is passed over', async () => {
    for (const charset of ['utf8', "'utf-8'", 'us-ascii', 'ISO-8859-1']) {
      const type = { 'content-type': `application/x-www-form-urlencoded; charset=${charset}` }
      const answer = await token(service, { code: 'x' }, type)
      expect([charset, answer.status, answer.body.cause]).toEqual([charset, 400, 'field_missing:grant_type'])
    }
  })

  test('an unknown application or address is shown with the lines to add, with --dev alone', async () => {
    const address = authorizeAddress(newVerifier(), { redirect_uri: 'https://app.example.com/"new"' })
    const browser = await openBrowser(service.url).open(address)
    expect([browser.status, causeIn(service.log)]).toEqual([400, 'redirect_uri_differs'])
    expect(browser.html).toContain('id = &quot;web&quot;')
    expect(browser.html).toContain('&quot;https://app.example.com/\\&quot;new\\&quot;&quot;]')
    const unknown = await openBrowser(service.url).open(
      authorizeAddress(newVerifier(), { client_id: 'mobile' }),
    )
    expect([unknown.status, causeIn(service.log)]).toEqual([400, 'application_unknown'])
    expect(unknown.html).toContain(`id = &quot;mobile&quot;`)
    expect(unknown.html).toContain(`redirect_uris = [&quot;${REDIRECT}&quot;]`)
    for (const name of ['redirect_uri', 'client_id']) {
      const without = await openBrowser(service.url).open(authorizeAddress(newVerifier(), { [name]: '' }))
      expect([without.status, causeIn(service.log)]).toEqual([400, `field_missing:${name}`])
      expect(without.html).toContain(`${name} is missing`)
    }
    const shown = await openBrowser(public_.url).open(address)
    expect([shown.status, shown.html.includes('redirect_uris')]).toEqual([400, false])
  })
})

describe('a request', () => {
  const service = useService({ settings })
  /** The address was taken out of the configuration, since its host is somebody else's now. */
  const without = useReplica(service, {
    settings: mergeSettings(settings, {
      pages: {
        return_to: [],
        applications: [{ id: 'web', name: 'Example', redirect_uris: ['https://new.example.com/in'] }],
      },
    }),
  })

  test('an address that was taken out of the configuration gets no code from a way that is under way', async () => {
    const person = await service.signUp('ada-under-way@example.com')
    const verifier = newVerifier()
    const browser = await openBrowser(service.url).open(authorizeAddress(verifier))
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    const next = nextOf(browser)
    const changed = openBrowser(without.url)
    for (const [name, value] of browser.cookies) changed.cookies.set(name, value)
    await changed.open(next)
    expect([changed.status, changed.left]).toEqual([400, null])
    await browser.open(next)
    const code = parametersOf(browser).get('code') ?? ''
    const refused = await redeem(without, code, verifier)
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_grant'])
    expect((await redeem(service, code, verifier)).status).toBe(200)
  })

  test('HEAD makes no code and signs nobody in, and neither does an image on a page of another host', async () => {
    const { browser } = await signedInBrowser(service)
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { host: 'auth.example.com', cookie }
    const count = () => service.inside.database.first(codesMade, {})
    const before = await count()
    const image = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' }
    for (const path of [authorizeAddress(newVerifier()), '/oauth2/continue', '/sign-in/provider?code=x']) {
      for (const asked of [{ method: 'HEAD', headers }, { headers: { ...headers, ...image } }]) {
        const answer = await fetch(service.url + path, { ...asked, redirect: 'manual' })
        expect([answer.status, answer.headers.get('location'), await answer.text()]).toEqual([200, null, ''])
        expect(answer.headers.get('set-cookie')).toBeNull()
      }
    }
    expect(await count()).toEqual(before)
    // A frame of a sister host is how libraries renew without a word. A page that is to be saved is asked for by nobody's page.
    const frame = { ...image, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }
    for (const asked of [frame, { ...image, 'sec-fetch-site': 'none' }]) {
      const address = service.url + authorizeAddress(newVerifier(), { prompt: 'none' })
      const renewed = await fetch(address, { headers: { ...headers, ...asked }, redirect: 'manual' })
      expect(renewed.headers.get('location')).toContain('code=')
    }
  })

  test.each([
    ['/sign-in?return_to=https%3A%2F%2Fapp.example.com%2Fback', 'https://app.example.com/back'],
    [`/oauth2/sign-out?${OUT}&state=x`, 'https://app.example.com/?state=x'],
    [`/oauth2/sign-out?${OUT}`, 'https://app.example.com/'],
  ])('a way from %s leads home if the address was taken out meanwhile', async (path, address) => {
    const person = await service.signUp(newEmail())
    for (const { url, leads } of [
      { url: service.url, leads: true },
      { url: without.url, leads: false },
    ]) {
      const browser = openBrowser(service.url)
      const credentials = { identifier: person.identifier, password: person.password }
      if (path.startsWith('/oauth2/')) {
        await browser.open('/sign-in')
        await browser.press('Sign in', credentials)
        await browser.open(path)
        await browser.press('Se déconnecter')
      } else {
        await browser.open(path)
        await browser.press('Sign in', credentials)
      }
      const changed = openBrowser(url)
      for (const [name, value] of browser.cookies) changed.cookies.set(name, value)
      await changed.open(browser.address)
      expect(changed.html.includes(`${address}"`)).toBe(leads)
    }
  })

  test('the page about it leads to the service, and names the application for its developer, but no other text', async () => {
    const shown = async (client_id: string) =>
      (await openBrowser(service.url).open(authorizeAddress(newVerifier(), { client_id }))).html
    const html = await shown('nobody')
    expect(html).toContain('href="/sign-in"')
    expect(html).toContain('client_id: <code>nobody</code>')
    expect(await shown('call us at 555')).not.toContain('client_id: <code>')
  })

  test('in another language the same is asked for', async () => {
    const address = authorizeAddress(newVerifier(), { redirect_uri: 'https://app.example.com/new' })
    const browser = await openBrowser(service.url).open(address)
    const refused = browser.html
    await browser.open(linkTo(refused, 'ar'))
    expect([browser.status, browser.html.includes('lang="ar"')]).toEqual([400, true])
    const signedIn = (await signedInBrowser(service)).browser
    await signedIn.open(`/oauth2/sign-out?${OUT}&state=x`)
    await signedIn.open(linkTo(signedIn.html, 'en'))
    await signedIn.press('Sign out')
    expect(signedIn.html).toContain('https://app.example.com/?state=x')
  })

  test('"Try again" after a sign-out that failed does not say to the application that it was made', async () => {
    const { browser } = await signedInBrowser(service)
    await browser.open(`/oauth2/sign-out?${OUT}`)
    const { action } = browser.forms.find((form) => form.action.startsWith('/sign-out'))!
    const away = spyOn(service.inside.database, 'run').mockRejectedValue(new DatabaseUnavailable())
    const answer = await browser.post(action, {}).finally(() => away.mockRestore())
    expect(answer.status).toBe(503)
    const [, again = ''] = /<a class="button quiet main" href="([^"]*)"/.exec(await answer.text()) ?? []
    await browser.open(again.replaceAll('&amp;', '&'))
    expect([browser.path, browser.left, nextOf(browser)]).toEqual(['/account', null, ''])
  })

  test('"Try again" asks for the same in another language, too', async () => {
    const { browser } = await signedInBrowser(service)
    await browser.open(`/oauth2/sign-out?${OUT}`)
    await browser.open(linkTo(browser.html, 'en'))
    const here = browser.address
    const away = spyOn(service.inside.database, 'first').mockRejectedValue(new DatabaseUnavailable())
    await browser.open(here).finally(() => away.mockRestore())
    expect(browser.status).toBe(503)
    const [, again = ''] = /<a class="button quiet main" href="([^"]*)"/.exec(browser.html) ?? []
    expect(again.replaceAll('&amp;', '&')).toEndWith(`&${OUT}`)
  })

  test('the query of a registered address stays as it is, on every way back', async () => {
    const { browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(browser, { redirect_uri: WITH_QUERY })
    expect(browser.left).toStartWith(`${WITH_QUERY}&code=${code}&state=abc&iss=`)
    expect((await redeem(service, code, verifier, { redirect_uri: WITH_QUERY })).status).toBe(200)
    await browser.open(authorizeAddress(verifier, { redirect_uri: WITH_QUERY, scope: 'openid' }))
    expect(browser.left).toStartWith(`${WITH_QUERY}&error=invalid_scope&`)
    const query = { client_id: 'web', post_logout_redirect_uri: 'https://app.example.com/out?a&b=%20' }
    const out = await openBrowser(service.url).open(
      `/oauth2/sign-out?${new URLSearchParams({ ...query, state: 'x y' })}`,
    )
    expect(String(out.left)).toBe('https://app.example.com/out?a&b=%20&state=x%20y')
  })

  test.each(['prompt', 'response_mode', 'request', 'request_uri', 'login_hint', 'ui_locales', 'scope'])(
    '%s without a value is absent',
    async (name) => {
      const { browser } = await signedInBrowser(service)
      await browser.open(authorizeAddress(newVerifier(), { [name]: '' }))
      expect(browser.left).toStartWith(`${REDIRECT}?code=`)
    },
  )

  test.each([
    'scope=profile&scope=openid',
    'response_mode=query&response_mode=fragment',
    'prompt=none&prompt=login',
    'ui_locales=fr&ui_locales=en',
  ])('%s is refused', async (twice) => {
    const browser = await openBrowser(service.url).open(`${authorizeAddress(newVerifier())}&${twice}`)
    const parameters = parametersOf(browser)
    expect([parameters.get('error'), parameters.get('state')]).toEqual(['invalid_request', 'abc'])
  })

  test('the headers of every answer on the longest way fit into 4 KiB', async () => {
    const person = await service.signUp('ada-of-long-ways@example.com')
    const address = authorizeAddress(newVerifier(), {
      state: 'x'.repeat(1300),
      redirect_uri: WITH_QUERY,
      login_hint: 'y'.repeat(400),
    })
    const first = await fetch(service.url + address, {
      headers: { host: 'auth.example.com' },
      redirect: 'manual',
    })
    const sizeOf = ({ headers }: Response) => [...headers].map((line) => line.join(': ')).join('\r\n').length
    expect(sizeOf(first)).toBeLessThan(4096)
    expect(first.headers.get('location')?.split('flow=')[1]?.length).toBeLessThanOrEqual(3000)
    const browser = await openBrowser(service.url).open(address)
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    await browser.open(nextOf(browser))
    expect(parametersOf(browser).get('state')).toHaveLength(1300)
    const refused = await fetch(
      service.url + authorizeAddress(newVerifier(), { state: 'x'.repeat(3000), redirect_uri: WITH_QUERY }),
      { headers: { host: 'auth.example.com' }, redirect: 'manual' },
    )
    expect(sizeOf(refused)).toBeLessThan(4096)
  })
})
