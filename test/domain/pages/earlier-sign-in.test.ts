/** Several people use one browser, one after another: nothing of the first is seen or done by the next. */
import { describe, expect, test } from 'bun:test'
import { createFlowSeal } from '../../../src/pages/visits/flow.ts'
import { createServerSecret } from '../../../src/platform/secret.ts'
import { asOperator } from '../../helpers/administration.ts'
import { newEmail, PASSWORD } from '../../helpers/api-client.ts'
import { appCode } from '../../helpers/authenticator.ts'
import { authorizeAddress, newVerifier } from '../../helpers/hand-over.ts'
import { openBrowser, type PageBrowser, pageSettings, passProvider } from '../../helpers/page-browser.ts'
import { newPerson } from '../../helpers/pretend-provider.ts'
import { mergeSettings } from '../../helpers/service.ts'
import { longTest } from '../../helpers/soak.ts'
import { useSocial } from '../../helpers/social.ts'

const LOOPBACK = 'http://127.0.0.1/signed-in'
const EARLIER = 'That page was from an earlier sign-in. Nothing of it was saved.'

const { provider, service } = useSocial(
  mergeSettings(pageSettings, {
    server: { language: 'en' },
    admin: { listen: '127.0.0.1:8081' },
    pages: { applications: [{ id: 'web', name: 'Example', redirect_uris: [LOOPBACK] }] },
  }),
)

async function signIn(browser: PageBrowser, identifier: string) {
  await browser.open('/sign-in')
  await browser.press('Sign in', { identifier, password: PASSWORD })
}
async function signInAfter(browser: PageBrowser, identifier: string) {
  await browser.open('/account')
  await browser.press('Sign out')
  await signIn(browser, identifier)
  expect(browser.path).toBe('/account')
}
async function twoPeople() {
  const [ada, bob] = [await service.signUp(newEmail()), await service.signUp(newEmail())]
  const browser = openBrowser(service.url)
  await signIn(browser, ada.identifier)
  return { ada: ada.identifier, bob: bob.identifier, browser }
}
const secretIn = ({ html }: PageBrowser) => /<code>([A-Z2-7 ]+)<\/code>/.exec(html)?.[1] ?? ''

describe('the secret of an app', () => {
  async function setUp() {
    const people = await twoPeople()
    const { browser } = people
    await browser.open('/account/two-factor/app')
    await browser.press('Continue', { password: PASSWORD })
    return { ...people, page: browser.address, secret: secretIn(browser) }
  }

  test('is not shown to the next person', async () => {
    const { browser, bob, page, secret } = await setUp()
    await browser.open(page)
    expect(secretIn(browser)).toBe(secret)
    await signInAfter(browser, bob)
    await browser.open(page)
    expect([browser.said, browser.html.includes(secret)]).toEqual([EARLIER, false])
  })

  test('is gone once the app is confirmed', async () => {
    const { browser, page, secret } = await setUp()
    await browser.press('Confirm', { otp: appCode(secret, service.clock.now()) })
    expect(browser.title).toBe('Recovery codes')
    await browser.open(page)
    expect(browser.html).not.toContain(secret)
    expect(browser.html).not.toContain('class="qr"')
  })

  test('Reload, Back and a second form say that it is on, and no button ends the codes that were saved', async () => {
    const { browser, page, secret } = await setUp()
    const otp = appCode(secret, service.clock.now())
    const { action } = browser.forms.find((form) =>
      form.action.startsWith('/account/two-factor/app/confirm'),
    )!
    await browser.press('Confirm', { otp })
    const again = await browser.post(action, { otp })
    for (const address of [
      again.headers.get('location') as string,
      page,
      '/account/two-factor/app/confirm',
    ]) {
      await browser.open(address)
      expect(browser.said).toBe('The authenticator app is on.')
      expect(browser.html.match(/<a class="button[^>]*>/g)).toEqual([
        '<a class="button main" href="/account/two-factor">',
      ])
      expect(browser.html).toContain('href="/account/two-factor/codes"')
    }
    await browser.open('/account/two-factor/confirm')
    expect(browser.said).toBe('Two-factor sign-in is on.')
  })

  test('what was typed for one account does not stand in the pages of the next', async () => {
    const { browser, bob } = await twoPeople()
    const contact = newEmail()
    await browser.open('/account/email')
    await browser.press('Send a code', { contact, password: PASSWORD })
    const page = browser.address
    expect(browser.html).toContain(contact)
    await signInAfter(browser, bob)
    await browser.open(page)
    // A field for a code would wait there for a message that this account was never sent.
    expect([browser.path, browser.said]).toEqual(['/account', EARLIER])
    expect(browser.html).toContain(bob)
    expect(browser.html).not.toContain(contact)
    expect(browser.html).not.toContain('name="otp"')
  })
})

describe('the identity of a provider', () => {
  async function brought() {
    const people = await twoPeople()
    const { browser } = people
    const email = newEmail()
    provider.present(newPerson({ email, email_verified: true }))
    await browser.open('/account/providers')
    await browser.send('/account/providers/link')
    await passProvider(browser)
    expect(browser.path).toBe('/account/providers/confirm')
    return { ...people, email }
  }
  const linked = async (browser: PageBrowser) => (await browser.open('/account/providers')).html

  test('is named with the account before it is linked and before it is unlinked, and may wait for minutes', async () => {
    const { browser, ada, email } = await brought()
    for (const named of ['P1', email, ada]) expect(browser.html).toContain(named)
    service.clock.advance(5 * 60_000)
    const page = browser.address
    await browser.press('Link', { password: PASSWORD })
    expect([browser.path, browser.said]).toEqual(['/account/providers', 'Your P1 account is linked.'])
    await browser.send('/account/providers/choose')
    for (const named of ['P1', email, ada]) expect(browser.html).toContain(named)
    await browser.open(page)
    expect(browser.said).toBe('Your P1 account is linked.')
  })

  const secretOf = () => createServerSecret(Buffer.from(String(service.storage.server!.secret), 'hex'))

  test('is not named by half a sentence where the flow was too long to hold its provider', async () => {
    const { browser, ada } = await brought()
    await browser.press('Link', { password: PASSWORD })
    const bearer = (await service.logIn({ identifier: ada, password: PASSWORD })).access_token
    const { sessions } = (await service.get('sessions', { bearer })).body
    const { id } = sessions.find((session: { current: boolean }) => !session.current)
    const seal = createFlowSeal({ secret: secretOf(), clock: service.clock })
    const flow = (name: string) =>
      seal.seal(
        { notice: 'provider_linked', typed: { provider: 'p1', name } },
        browser.cookies.get('__Host-poterne-browser') ?? '',
        id,
      )
    const opened = async (name: string) => (await browser.open(`/account/providers?flow=${flow(name)}`)).said
    expect(await opened('short')).toBe('Your P1 account is linked.')
    expect(await opened('x'.repeat(2000))).toBe('')
    expect(browser.html).toContain('Linked</span>')
    // Nothing is chosen then: a button would be refused.
    for (const address of [
      '/account/providers/remove',
      `/account/providers/remove?flow=${flow('x'.repeat(2000))}`,
    ]) {
      await browser.open(address)
      expect([browser.path, browser.html.includes('Linked</span>')]).toEqual(['/account/providers', true])
    }
  })

  /** As a release left them that kept no name of a provider in a ticket. */
  async function forgetProviders() {
    const redis = new Bun.RedisClient(String(service.storage.redis!.url))
    const secret = secretOf()
    const keys = await redis.keys('*ticket:page:*')
    for (const key of keys) {
      const [, end, json = ''] = /^(\d+) (.*)$/.exec((await redis.get(key)) ?? '') ?? []
      const opened = secret.open('page ticket', Buffer.from(JSON.parse(json).sealed, 'base64url'))
      const { provider: _, ...ticket } = JSON.parse(opened.toString())
      const sealed = secret.seal('page ticket', JSON.stringify(ticket)).toString('base64url')
      await redis.set(key, `${end} ${JSON.stringify({ sealed })}`)
    }
    redis.close()
    expect(keys.length).toBeGreaterThan(0)
  }

  test('is linked by a ticket of before an upgrade, and what a spent one does not name is not guessed', async () => {
    const { browser, email } = await brought()
    const page = browser.address
    const { action } = browser.forms.find((form) => form.action.startsWith('/account/providers/confirm'))!
    await forgetProviders()
    await browser.press('Link', { password: PASSWORD })
    expect([browser.path, browser.said]).toEqual(['/account/providers', 'Your P1 account is linked.'])
    await forgetProviders()
    await browser.open(page)
    expect([browser.title, browser.said]).toEqual(['Linked accounts', ''])
    expect(browser.html).toContain('<a class="button main" href="/account/providers">Done</a>')
    const again = await browser.post(action, { password: PASSWORD })
    await browser.open(again.headers.get('location') as string)
    expect([browser.path, browser.said]).toEqual(['/account/providers', ''])
    expect(browser.html).toContain(email)
  })

  test('that fails is named by its provider, where the way back knows it', async () => {
    const failed = 'could not sign you in. Try again, or choose another way.'
    const { browser } = await twoPeople()
    await browser.open('/account/providers')
    await browser.send('/account/providers/link')
    await passProvider(browser, 'server_error')
    expect([browser.path, browser.said]).toEqual(['/account/providers', `P1 ${failed}`])
    const another = await openBrowser(service.url).open('/sign-in')
    await another.press('Continue with P1')
    await passProvider(another, 'server_error')
    expect([another.path, another.said]).toEqual(['/sign-in', `P1 ${failed}`])
    await another.open('/sign-in/provider?error=server_error')
    expect(another.said).toBe(`The other provider ${failed}`)
  })

  test('is not linked to the account of the next person', async () => {
    const { browser, ada, bob, email } = await brought()
    const form = browser.forms.find(({ action }) => action.startsWith('/account/providers/confirm'))!
    const page = browser.address
    await signInAfter(browser, bob)
    const answer = await browser.post(form.action, { password: PASSWORD })
    expect((await browser.open(answer.headers.get('location') as string)).said).toBe(EARLIER)
    await browser.open(page)
    expect([browser.said, browser.html.includes(email)]).toEqual([EARLIER, false])
    expect(await linked(browser)).not.toContain(email)
    await signInAfter(browser, ada)
    expect(await linked(browser)).not.toContain(email)
  })

  test('of a way that another person began is not taken when it comes back', async () => {
    const { browser, bob } = await twoPeople()
    const email = newEmail()
    provider.present(newPerson({ email, email_verified: true }))
    await browser.open('/account/providers')
    await browser.send('/account/providers/link')
    const { html } = browser
    await signInAfter(browser, bob)
    browser.html = html
    await passProvider(browser)
    expect([browser.path, browser.said]).toEqual([
      '/account/providers',
      'This took too long. Please start again.',
    ])
    expect(await linked(browser)).not.toContain(email)
  })

  test('of 32 forms at once one links it, and all lead to the list', async () => {
    const { browser, email } = await brought()
    const { action } = browser.forms.find((form) => form.action.startsWith('/account/providers/confirm'))!
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => browser.post(action, { password: PASSWORD })),
    )
    expect(answers.every(({ status }) => status === 303)).toBe(true)
    expect((await linked(browser)).split(email)).toHaveLength(2)
  })
})

test('the page that deletes an account names it', async () => {
  const { browser, ada } = await twoPeople()
  await browser.open('/account/delete')
  expect(browser.html).toMatch(new RegExp(`Your account</span>.*${ada}`, 's'))
})

longTest('"Join" of an earlier person asks the next one first', async () => {
  const { browser, bob } = await twoPeople()
  const groups = ['course']
  const { body } = await asOperator(service, 'POST', 'invitations', { uses: 2, groups })
  const { pathname, search } = new URL(body.link)
  await browser.open(pathname + search)
  const { action } = browser.forms.find((form) => form.action.startsWith('/sign-up/join'))!
  const groupsOfBob = async () => {
    const found = await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(bob)}`)
    return found.body.items[0].groups
  }
  await signInAfter(browser, bob)
  const answer = await browser.post(action, {})
  await browser.open(answer.headers.get('location') as string)
  expect([browser.path, browser.said, await groupsOfBob()]).toEqual(['/sign-up', EARLIER, []])
  expect(browser.html).toContain(bob)
  await browser.press('Join')
  expect(await groupsOfBob()).toEqual(groups)
})

test('"Continue to …" of an earlier person asks the next one first', async () => {
  const { browser, ada, bob } = await twoPeople()
  const address = authorizeAddress(newVerifier(), { redirect_uri: LOOPBACK })
  const nextOf = () => /class="button main" href="([^"]+)"/.exec(browser.html)?.[1] ?? ''
  await browser.open(address)
  expect(browser.html).toContain(ada)
  const link = nextOf()
  await signInAfter(browser, bob)
  await browser.open(link)
  expect([browser.left, browser.html.includes(bob)]).toEqual([null, true])
  await browser.open(nextOf())
  expect(browser.left).toStartWith(LOOPBACK)
})
