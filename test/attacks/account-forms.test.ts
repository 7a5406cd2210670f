/** The forms of `/account` sent by somebody else, from elsewhere, or in a way that no browser of ours sends them. */
import { describe, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { createAccountRoutes } from '../../src/pages/account/routes.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { newClient } from '../helpers/limited-service.ts'
import { openBrowser, pageSettings } from '../helpers/page-browser.ts'
import { useLimited } from '../helpers/use-service.ts'

const absent: unknown = new Proxy(() => {}, { get: () => absent })
const FORMS = createAccountRoutes(new Elysia() as never, absent as never)
  .routes.filter(({ method }) => method === 'POST')
  .map(({ path }) => path)

const service = useLimited({
  settings: {
    ...pageSettings,
    server: { ...pageSettings.server, language: 'en' },
    passkeys: { rp_id: 'auth.example.com' },
  },
})
/** It ends the session with which the others are sent. */
const ENDS = '/account/sessions/end-all'
const SESSION = '__Host-poterne'

async function signedIn() {
  const headers = newClient().headers as Record<string, string>
  const person = await service.signUp(newEmail())
  const browser = await openBrowser(service.url, { headers }).open('/sign-in')
  await browser.press('Sign in', { identifier: person.identifier, password: PASSWORD })
  expect(browser.path).toBe('/account')
  return { person, browser, headers }
}
type Owner = Awaited<ReturnType<typeof signedIn>>

/** The flow of the session, without which a form does nothing. */
async function flowOf({ browser }: Owner): Promise<string> {
  await browser.open('/account')
  return new URL(browser.forms[0]!.action, 'https://page').search
}

/** Everything that the forms could change, as the owner sees it. */
async function stateOf({ browser }: Owner) {
  const pages = [
    '/account',
    '/account/sessions',
    '/account/passkeys',
    '/account/two-factor',
    '/account/history',
  ]
  const shown: string[] = []
  for (const page of pages) {
    const { html } = await browser.open(page)
    shown.push(html.replaceAll(/flow=[\w-]+/g, 'flow'))
  }
  return shown
}

/** The fields that each form would need to do its work. */
const filled = (session = '') => ({
  password: PASSWORD,
  new_password: 'an entirely new phrase',
  contact: newEmail(),
  name: 'Mallory',
  language: 'fr',
  otp: '000000',
  session,
  id: session,
  device: session,
  passkey: session,
  provider: 'p1',
})

test('the walk knows the forms', () => {
  expect(FORMS.length).toBeGreaterThan(30)
  expect(FORMS).toContain('/account/delete')
})

describe('nothing changes', () => {
  const fromElsewhere: [string, Record<string, string>][] = [
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a sister site', { 'sec-fetch-site': 'same-site', origin: 'https://evil.example.com' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['a frame in a sandbox', { 'sec-fetch-site': 'cross-site', origin: 'null' }],
  ]

  test.each(fromElsewhere)('by a form that comes from %s', async (_, headers) => {
    const owner = await signedIn()
    const before = await stateOf(owner)
    for (const path of FORMS) {
      const answer = await owner.browser.post(path, filled(), headers)
      expect([path, answer.status]).toEqual([path, 422])
    }
    expect(await stateOf(owner)).toEqual(before)
  })

  test('by a form of an old browser that names another origin, or brings the flow of another browser', async () => {
    const owner = await signedIn()
    const other = await openBrowser(service.url, { headers: owner.headers }).open('/sign-in')
    const foreignFlow = new URL(other.forms[0]!.action, 'https://page').search
    const before = await stateOf(owner)
    const cookie = [...owner.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    for (const origin of ['https://evil.example', 'null', null]) {
      for (const path of FORMS) {
        const answer = await fetch(service.url + path + foreignFlow, {
          method: 'POST',
          redirect: 'manual',
          headers: { host: 'auth.example.com', cookie, ...owner.headers, ...(origin && { origin }) },
          body: new URLSearchParams(filled()),
        })
        expect([path, answer.status]).toEqual([path, 422])
      }
    }
    expect(await stateOf(owner)).toEqual(before)
  })

  test('by a form without a session, or with one that was signed out', async () => {
    const owner = await signedIn()
    const cookie = owner.browser.cookies.get(SESSION)!
    const form = owner.browser.forms.find(({ action }) => action.startsWith('/sign-out'))!
    await owner.browser.post(form.action, {})
    for (const value of [undefined, cookie, 'f'.repeat(64)]) {
      const stranger = await openBrowser(service.url, { headers: owner.headers }).open('/sign-in')
      if (value) stranger.cookies.set(SESSION, value)
      for (const path of FORMS) {
        const answer = await stranger.post(path, filled())
        const way = [path, answer.status, answer.headers.get('location')?.split('?')[0]]
        expect(way).toEqual([path, 303, '/sign-in'])
      }
    }
    await service.logIn({ identifier: owner.person.identifier, password: PASSWORD })
  })
})

describe('a form that was drawn for somebody who signed in before', () => {
  const isForm = (path: string) => (form: { action: string }) => form.action.split('?')[0] === path

  /** The address of every form, as the pages of that person have it. */
  async function drawnFor({ browser }: Owner): Promise<Map<string, string>> {
    const pages = FORMS.filter((path) => !/\/(end|end-all|forget|choose|rename|options|code)$/.test(path))
    const drawn = new Map<string, string>()
    for (const page of pages) {
      await browser.open(page)
      for (const { action, buttons } of browser.forms) {
        for (const each of [action, ...buttons.map((button) => button.action)])
          drawn.set(each.split('?')[0] as string, each)
      }
    }
    await browser.open('/account')
    const { action } = browser.forms.find(isForm('/sign-out'))!
    const flow = action.split('?')[1] as string
    for (const path of FORMS) if (!drawn.has(path)) drawn.set(path, `${path}?${flow}`)
    return drawn
  }

  async function signIn({ browser }: Owner, { person }: Owner) {
    await browser.open('/account')
    await browser.press('Sign out')
    await browser.open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: PASSWORD })
    expect(browser.path).toBe('/account')
  }

  test.each([
    'another person',
    'the same person',
    'another person, after the cookies of the browser were cleared',
  ])('does nothing to %s', async (who) => {
    const [first, other] = [await signedIn(), await signedIn()]
    const elsewhere = await service.logIn({ identifier: other.person.identifier, password: PASSWORD })
    const { body } = await service.get('sessions', { bearer: elsewhere.access_token })
    const drawn = await drawnFor(first)
    expect([...drawn.keys()]).toContain('/sign-out')
    const next = who === 'the same person' ? first : other
    if (who.endsWith('cleared')) {
      first.browser.cookies.clear()
      // It does nothing with the account.
      drawn.delete('/sign-out')
      await first.browser.open('/sign-in')
      await first.browser.press('Sign in', { identifier: next.person.identifier, password: PASSWORD })
    } else await signIn(first, next)
    const now = { ...next, browser: first.browser }
    const before = await stateOf(now)
    for (const [path, address] of drawn) {
      const answer = await first.browser.post(address, filled(body.sessions[0].id))
      expect([path, answer.status]).toEqual([path, 303])
      await first.browser.open(answer.headers.get('location') as string)
      const seen = [path, first.browser.path, first.browser.said]
      expect(seen).toEqual([
        path,
        '/account',
        'That page was from an earlier sign-in. Nothing of it was saved.',
      ])
      expect(first.browser.html).toContain(next.person.identifier)
    }
    expect(await stateOf(now)).toEqual(before)
    expect((await service.get('me', { bearer: elsewhere.access_token })).status).toBe(200)
  })
})

test('a body of another type, fields twice, or many of them makes no form fail', async () => {
  const owner = await signedIn()
  const twice = new URLSearchParams(
    Object.entries(filled()).flatMap(([name, value]) => [
      [name, value],
      [name, `x${value}`],
    ]) as [string, string][],
  )
  const bodies: [string, string][] = [
    ['application/json', JSON.stringify(filled())],
    ['text/plain', String(new URLSearchParams(filled()))],
    ['application/x-www-form-urlencoded', `${twice}`],
    ['application/x-www-form-urlencoded', Array.from({ length: 3000 }, (_, at) => `${at}=1`).join('&')],
    ['application/x-www-form-urlencoded', '__proto__=1&constructor=2&%00=3&password[]=4'],
  ]
  const flow = await flowOf(owner)
  const cookie = [...owner.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  for (const [type, body] of bodies) {
    for (const path of FORMS.filter((each) => each !== ENDS)) {
      const answer = await fetch(service.url + path + flow, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          ...{ host: 'auth.example.com', cookie, 'content-type': type, 'sec-fetch-site': 'same-origin' },
          ...owner.headers,
        },
        body,
      })
      expect([path, type, answer.status < 500]).toEqual([path, type, true])
    }
  }
  expect((await owner.browser.open('/account')).path).toBe('/account')
  await service.logIn({ identifier: owner.person.identifier, password: PASSWORD })
})

test('the ids of another account end, forget, rename and remove nothing there', async () => {
  const [victim, attacker] = [await signedIn(), await signedIn()]
  const elsewhere = await service.logIn({ identifier: victim.person.identifier, password: PASSWORD })
  const { body } = await service.get('sessions', { bearer: elsewhere.access_token })
  const ids: string[] = body.sessions.map(({ id }: { id: string }) => id)
  expect(ids.length).toBeGreaterThanOrEqual(2)
  const before = await stateOf(victim)
  const flow = await flowOf(attacker)
  for (const id of ids) {
    for (const path of FORMS.filter((each) => /\/(end|forget|rename|remove)$/.test(each))) {
      expect([path, (await attacker.browser.post(path + flow, filled(id))).status]).toEqual([path, 303])
    }
  }
  expect(await stateOf(victim)).toEqual(before)
})

test('of 32 confirmations of one app a single one shows recovery codes', async () => {
  const { browser } = await signedIn()
  await browser.open('/account/two-factor/app')
  await browser.press('Continue', { password: PASSWORD })
  const [, secret = ''] = /<code>([A-Z2-7 ]+)<\/code>/.exec(browser.html) ?? []
  const { action } = browser.forms.find((form) => form.action.startsWith('/account/two-factor/app/confirm'))!
  const otp = appCode(secret, service.clock.now())
  const answers = await Promise.all(Array.from({ length: 32 }, () => browser.post(action, { otp })))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(31)
})

test('of 32 deletions one erases the account, and the others find nobody', async () => {
  const { browser, person } = await signedIn()
  await browser.open('/account/delete')
  const { action } = browser.forms.find((form) => form.action.startsWith('/account/delete'))!
  const cookies = [...browser.cookies]
  const answers = await Promise.all(
    Array.from({ length: 32 }, () => {
      const tab = openBrowser(service.url, { headers: newClient().headers as Record<string, string> })
      for (const [name, value] of cookies) tab.cookies.set(name, value)
      return tab.post(action, { password: PASSWORD })
    }),
  )
  const ways = answers.map((answer) => answer.headers.get('location')?.split('?')[0])
  expect(ways.filter((way) => way === '/signed-out').length).toBeGreaterThanOrEqual(1)
  expect(answers.every(({ status }) => status === 303 || status === 429)).toBe(true)
  expect((await service.post('login', { identifier: person.identifier, password: PASSWORD })).status).toBe(
    401,
  )
})
