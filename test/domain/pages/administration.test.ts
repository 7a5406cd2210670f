/** The pages of an administrator's own passkeys: on the listener of administration, whether there are pages or not. */
import { describe, expect, test } from 'bun:test'
import { ADMIN_ORIGIN, asOperator, createPage, listening, signInAs } from '../../helpers/administration.ts'
import { appCode, PERIOD_MS } from '../../helpers/authenticator.ts'
import { newClient } from '../../helpers/limited-service.ts'
import { openBrowser } from '../../helpers/page-browser.ts'
import { type CreationOptions, createPasskey, signWithPasskey } from '../../helpers/passkey-authenticator.ts'
import { expectRefusal } from '../../helpers/refusals.ts'
import { mergeSettings } from '../../helpers/service.ts'
import { useService } from '../../helpers/use-service.ts'

const COOKIE = '__Host-poterne_admin'
const app = 'https://app.example.com'
const passkeys = { rp_id: 'example.com', origins: [app] }

describe.each([false, true])('with pages %p', (enabled) => {
  const service = useService({
    settings: mergeSettings(listening, {
      passkeys: { ...passkeys, origins: [app, 'https://auth.example.com'] },
      server: { base_url: 'https://auth.example.com', language: 'en' },
      pages: { enabled },
    }),
  })
  const host = new URL(ADMIN_ORIGIN).host

  async function open() {
    const administrator = await signInAs(service, 'viewer')
    const browser = openBrowser(service.adminUrl!, { host })
    browser.cookies.set(COOKIE, administrator.page.cookie!.split('=')[1]!)
    const code = () => {
      service.clock.advance(PERIOD_MS)
      return appCode(administrator.secret, service.clock.now())
    }
    const addressOf = (name: string) =>
      new RegExp(`${name}="([^"]+)"`).exec(browser.html)![1]!.replaceAll('&amp;', '&')
    return { ...administrator, browser, code, addressOf }
  }
  type Opened = Awaited<ReturnType<typeof open>>

  /** As the script of the page adds one. */
  async function add({ browser, addressOf }: Opened, proof: Record<string, string>, origin = ADMIN_ORIGIN) {
    await browser.open('/account/passkeys/add')
    const action = browser.forms.find(({ fields }) => 'credential' in fields)!.action
    const answer = await browser.post(addressOf('data-options'), proof)
    if (answer.headers.get('content-type')?.startsWith('application/json') !== true) return null
    const { passkey, credential } = createPasskey((await answer.json()) as CreationOptions, origin)
    const added = await browser.post(action, { credential: JSON.stringify(credential) })
    return { passkey, location: new URL(added.headers.get('location')!, ADMIN_ORIGIN).pathname }
  }

  /** Options that `asking` got, and 32 forms of `sending` with what was made of them. */
  async function sendOften(asking: Opened, sending: Opened) {
    for (const { browser } of new Set([asking, sending])) await browser.open('/account/passkeys/add')
    const options = await asking.browser.post(asking.addressOf('data-options'), {})
    const { credential } = createPasskey((await options.json()) as CreationOptions, ADMIN_ORIGIN)
    const action = sending.browser.forms.find(({ fields }) => 'credential' in fields)!.action
    const forms = Array.from({ length: 32 }, () =>
      sending.browser.post(action, { credential: JSON.stringify(credential) }),
    )
    const answers = (await Promise.all(forms)).map(({ headers }) => headers.get('location') ?? '')
    return { answers: answers.map((address) => address.split('?')[0]!) }
  }

  test('an administrator adds one by password and app, signs in with it there and elsewhere, and removes it', async () => {
    const opened = await open()
    const { browser, person, code } = opened
    service.clock.advance(6 * 60_000)
    const { headers } = await browser.open('/account/passkeys')
    expect([browser.status, browser.title, browser.html.includes('href="/admin/"')]).toEqual([
      200,
      'Passkeys',
      true,
    ])
    expect(headers.get('content-security-policy')).toStartWith("default-src 'none'")
    const before = browser.cookies.get(COOKIE)
    expect(await add(opened, { password: person.password })).toBeNull()
    expect(await add(opened, { password: 'wrong', otp: code() })).toBeNull()
    expect(await add(opened, { otp: code() })).toBeNull()
    expect(await add(opened, { password: person.password, otp: opened.recoveryCodes[0]! })).toBeNull()
    expect(browser.cookies.get(COOKIE)).toBe(before!)
    const { passkey, location } = (await add(opened, { password: person.password, otp: code() }))!
    expect(location).toBe('/account/passkeys')
    await service.delivered()
    expect(service.inbox.textsTo(person.identifier).at(-1)).toContain('A passkey was added')
    const { items } = (await asOperator(service, 'GET', `events?account=${opened.uuid}&type=passkey.added`))
      .body
    expect(items.map(({ actor }: { actor: object }) => actor)).toEqual([
      { type: 'administrator', id: opened.uuid, name: person.identifier },
    ])
    // The session has another cookie since, and a copy of the one before opens nothing.
    expect(browser.cookies.get(COOKIE)).not.toBe(before!)
    const copy = openBrowser(service.adminUrl!, { host })
    copy.cookies.set(COOKIE, before!)
    expect((await copy.post('/account/passkeys/options', {})).headers.get('location')).not.toContain('flow')

    const page = createPage(service)
    expect((await page.call('POST', 'session', person)).body.methods).toEqual(['passkey', 'totp'])
    const { options } = (await page.call('POST', 'session/passkey')).body
    const signed = signWithPasskey(passkey, options, ADMIN_ORIGIN)
    expect((await page.call('POST', 'session/verify', { credential: signed })).status).toBe(200)
    // The address of the page is one at which passkeys of this service are made and used.
    for (const origin of [app, ADMIN_ORIGIN]) {
      const forLogin = (await service.post('passkeys/login/options', {})).body.options
      const credential = signWithPasskey(passkey, forLogin, origin)
      expect((await service.post('passkeys/login', { credential }, newClient())).status).toBe(200)
    }
    await browser.open('/account/passkeys')
    await browser.send('/account/passkeys/choose')
    await browser.press('Remove this passkey', { password: person.password, otp: code() })
    expect([browser.path, browser.said]).toEqual(['/account/passkeys', 'Removed.'])
  })

  test('somebody who just signed in adds one at once, and another place’s is refused', async () => {
    const opened = await open()
    expect((await add(opened, {}, app))!.location).toBe('/account/passkeys/add')
    expect((await add(opened, {}))!.location).toBe('/account/passkeys')
    // Of any number of forms with one passkey, one adds it; that of another session adds none.
    const [mine, { answers: others }] = [
      await sendOften(opened, opened),
      await sendOften(opened, await open()),
    ]
    const taken = mine.answers.filter((path) => path === '/account/passkeys')
    expect([taken.length, others.includes('/account/passkeys')]).toEqual([1, false])
    // The proof does not last longer for it.
    service.clock.advance(5 * 60_000 + 1)
    expect(await add(opened, {})).toBeNull()
    expectRefusal(
      await opened.page.call('GET', 'session', undefined, {
        cookie: `${COOKIE}=${opened.browser.cookies.get(COOKIE)}`,
        'sec-fetch-site': 'cross-site',
      }),
      'insufficient_scope',
    )
  })

  test('nothing but the session of administration opens them, and nothing else of an account is there', async () => {
    const { browser, person, code } = await open()
    const stranger = openBrowser(service.adminUrl!, { host })
    const leads = async (path: string) => (await stranger.open(path)).path
    expect(await leads('/account/passkeys')).toBe('/admin/')
    const { body } = await service.post('2fa/verify', { ...person, otp: code() })
    for (const token of [
      body.access_token,
      body.refresh_token,
      Buffer.from(body.refresh_token, 'hex').toString('base64url'),
    ])
      for (const name of [COOKIE, '__Host-poterne', 'poterne_admin']) {
        stranger.cookies.set(name, token)
        expect(await leads('/account/passkeys')).toBe('/admin/')
      }
    for (const path of [
      '/account',
      '/account/password',
      '/account/export',
      '/sign-in',
      '/sign-up',
      '/code',
      '/recover',
      '/oauth2/authorize',
    ])
      expect([path, (await browser.open(path)).status]).toEqual([path, 404])
    expect(
      (await openBrowser(service.adminUrl!, { host: 'evil.example' }).open('/account/passkeys')).html,
    ).not.toContain(person.identifier)
  })

  test('forms of another site do nothing', async () => {
    const { browser } = await open()
    await browser.open('/account/passkeys/add')
    for (const sent of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': '', origin: 'https://evil.example' },
    ]) {
      const answer = await browser.post('/account/passkeys/options', {}, sent)
      expect([answer.status, (await answer.text()).includes('challenge')]).toEqual([422, false])
    }
  })
})
