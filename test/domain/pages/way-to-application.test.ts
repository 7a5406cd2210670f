/** Somebody whom an application sent comes back to it, whatever they do on the pages of their account before. */
import { describe, expect, spyOn, test } from 'bun:test'
import { DatabaseUnavailable } from '../../../src/platform/postgres/failure.ts'
import { newEmail } from '../../helpers/api-client.ts'
import { codeFor, entry, parametersOf, signedInBrowser } from '../../helpers/hand-over.ts'
import {
  nextOf,
  openBrowser,
  PAGE_HOST,
  type PageBrowser,
  pageSettings,
  passProvider,
} from '../../helpers/page-browser.ts'
import { type CreationOptions, createPasskey } from '../../helpers/passkey-authenticator.ts'
import { newPerson } from '../../helpers/pretend-provider.ts'
import { mergeSettings } from '../../helpers/service.ts'
import { useSocial } from '../../helpers/social.ts'

const { provider, service } = useSocial(
  mergeSettings(pageSettings, {
    server: { language: 'en' },
    passkeys: { rp_id: PAGE_HOST },
    pages: { applications: [entry('ledger', { two_factor: true })] },
  }),
)

type Shown = Pick<PageBrowser, 'source'>

const linksOf = ({ source }: Shown) =>
  [...source.matchAll(/<a [^>]*href="(\/(?:account|oauth2|sign)[^"]*)"/g)].map(([, href = '']) =>
    href.replaceAll('&amp;', '&'),
  )
const linkTo = (page: Shown, path: string) =>
  linksOf(page).find((href) => href.startsWith(`${path}?flow=`)) ?? `${path}: no link of the way`

const formOf = (browser: PageBrowser, path: string) =>
  browser.forms.find(({ action }) => action.startsWith(`${path}?`))!.action

/** Two factors are wanted: the way leads by the page that turns them on. */
async function onTheWay() {
  const { browser, person } = await signedInBrowser(service)
  await codeFor(browser, 'ledger', { scope: 'openid' })
  await browser.open(linkTo(browser, '/account/two-factor'))
  return { browser, person, password: person.password, factors: browser.address }
}

async function withTwoFactors() {
  const way = await onTheWay()
  const { browser, person, password, factors } = way
  await browser.open(linkTo(browser, '/account/two-factor/on'))
  await browser.press('Send a code', { password })
  await browser.press('Confirm', { otp: await service.inbox.nextCode(person.identifier) })
  const [, recoveryCode = ''] = /<li>([\w-]+)<\/li>/.exec(browser.html) ?? []
  await browser.open(factors)
  return { ...way, proof: { password, otp: recoveryCode } }
}

async function expectLedger(browser: PageBrowser) {
  expect(browser.html).toContain('Continue to Ledger')
  await browser.open(linkTo(browser, '/oauth2/continue'))
  expect(parametersOf(browser).get('code')).toBeTruthy()
}

/** Every page that links lead to from here, and the links that drop the way. */
async function walk(browser: PageBrowser) {
  const [seen, dropping, waiting] = [new Set<string>(), [] as string[], [browser.address]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [path = ''] = next.split('?')
    if (seen.has(path)) continue
    seen.add(path)
    await browser.open(next)
    for (const href of linksOf(browser)) {
      if (!href.includes('flow=')) dropping.push(`${path} to ${href}`)
      else if (!href.startsWith('/oauth2/')) waiting.push(href)
    }
  }
  return { seen: [...seen], dropping }
}

describe('the way to an application', () => {
  test('is kept by every link of the pages of an account', async () => {
    const before = await walk((await onTheWay()).browser)
    expect(before.dropping).toEqual([])
    const { browser } = await withTwoFactors()
    const after = await walk(browser)
    expect(after.dropping).toEqual([])
    for (const path of ['email', 'passkeys/add', 'providers', 'history', 'two-factor/off', 'delete'])
      expect(after.seen).toContain(`/account/${path}`)
  })

  test('is kept by a change of a contact and of the language', async () => {
    const { browser, proof } = await withTwoFactors()
    const contact = newEmail()
    await browser.open(linkTo(browser, '/account/email'))
    await browser.press('Send a code', { contact, ...proof })
    await service.inbox.nextCode(contact)
    await browser.press('Send it again')
    await browser.press('Confirm', { otp: await service.inbox.nextCode(contact) })
    expect([browser.path, browser.said]).toEqual(['/account', 'Saved.'])
    await browser.open(linkTo(browser, '/account/language'))
    await browser.press('Save', { language: 'en' })
    await expectLedger(browser)
  })

  test('is kept by a passkey that is added', async () => {
    const { browser, proof } = await withTwoFactors()
    await browser.open(linkTo(browser, '/account/passkeys'))
    await browser.open(linkTo(browser, '/account/passkeys/add'))
    const [, options = ''] = /data-options="([^"]*)"/.exec(browser.source) ?? []
    const answer = await browser.post(options, proof)
    const made = createPasskey((await answer.json()) as CreationOptions, `https://${PAGE_HOST}`)
    await browser.press('Add a passkey', { credential: JSON.stringify(made.credential) })
    expect(browser.path).toBe('/account/passkeys')
    const list = browser.address
    // None is chosen there.
    await browser.open('/account/passkeys/edit')
    expect([browser.path, browser.title]).toEqual(['/account/passkeys', 'Passkeys'])
    await browser.open(list)
    await expectLedger(browser)
  })

  test('is kept by an account of a provider that is linked, or refused there', async () => {
    const { browser, proof } = await withTwoFactors()
    provider.present(newPerson({ email: newEmail(), email_verified: true }))
    await browser.open(linkTo(browser, '/account'))
    await browser.open(linkTo(browser, '/account/providers'))
    await browser.send('/account/providers/link')
    await passProvider(browser, 'access_denied')
    await browser.send('/account/providers/link')
    await passProvider(browser)
    await browser.press('Link', proof)
    expect([browser.path, browser.said]).toEqual(['/account/providers', 'Your P1 account is linked.'])
    await browser.open(linkTo(browser, '/account'))
    await expectLedger(browser)
  })

  test('is kept where a form could not be taken, and by a session that ended', async () => {
    const { browser, person, proof } = await withTwoFactors()
    await browser.open(linkTo(browser, '/account/two-factor/codes'))
    const action = formOf(browser, '/account/two-factor/codes')
    const refused = await browser.post(action, proof, { 'sec-fetch-site': 'cross-site' })
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain('href="/account/two-factor/codes?flow=')
    const { address } = browser
    await browser.send('/sign-out')
    await browser.open(address)
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    await browser.press('Sign in', { otp: await service.inbox.nextCode(person.identifier) })
    expect(browser.path).toBe('/leave')
    await expectLedger(browser)
    expect((await openBrowser(service.url).open(address)).path).toBe('/sign-in')
  })

  test('is kept by a form that was sent twice, which leads to its page first', async () => {
    const { browser, person, password } = await onTheWay()
    await browser.open(linkTo(browser, '/account/two-factor/on'))
    await browser.press('Send a code', { password })
    const action = formOf(browser, '/account/two-factor/confirm')
    const second = openBrowser(service.url)
    for (const [name, value] of browser.cookies) second.cookies.set(name, value)
    const otp = await service.inbox.nextCode(person.identifier)
    await browser.press('Confirm', { otp })
    expect(browser.title).toBe('Recovery codes')
    const answer = await second.post(action, { otp })
    // What the answer to the second form leads to is asked for with the cookie that the first one brought.
    await browser.open(answer.headers.get('location') ?? '')
    expect([browser.path, browser.said]).toEqual(['/account/two-factor/confirm', 'Two-factor sign-in is on.'])
    expect(linkTo(browser, '/account/two-factor/codes')).toContain('flow=')
    await browser.open(linkTo(browser, '/account/two-factor'))
    await expectLedger(browser)
  })

  test('is kept where the database was away', async () => {
    const { browser, factors } = await withTwoFactors()
    await browser.open(linkTo(browser, '/account/two-factor/codes'))
    const action = formOf(browser, '/account/two-factor/codes')
    const away = spyOn(service.inside.database, 'first').mockRejectedValue(new DatabaseUnavailable())
    let sent: Response
    try {
      sent = await browser.post(action, {})
      await browser.open(factors)
    } finally {
      away.mockRestore()
    }
    expect([browser.status, sent.status]).toEqual([503, 503])
    await browser.open(linkTo(browser, '/account/two-factor'))
    await expectLedger(browser)
    await browser.open(linkTo({ source: await sent.text() }, '/account/two-factor/codes'))
    expect([browser.path, browser.said]).toEqual(['/account/two-factor/codes', ''])
    await browser.open(linkTo(browser, '/account/two-factor'))
    await expectLedger(browser)
  })

  test.each([
    ['prompt=login', 422],
    ['prompt=login', 503],
    ['another account', 422],
    ['another account', 503],
  ])('asks for the sign-in of %s again where its form was answered %i', async (asked, status) => {
    const { browser } = await signedInBrowser(service)
    const next = await service.signUp(newEmail())
    const isPrompt = asked === 'prompt=login'
    await codeFor(browser, 'ledger', { scope: 'openid', ...(isPrompt && { prompt: 'login' }) })
    if (!isPrompt) await browser.open(linkTo(browser, '/sign-in'))
    const action = formOf(browser, '/sign-in')
    const { identifier, password } = next
    const away = spyOn(service.inside.services.login, 'logIn').mockRejectedValue(new DatabaseUnavailable())
    const site = { 'sec-fetch-site': status === 422 ? 'cross-site' : 'same-origin' }
    const answer = await browser
      .post(action, { identifier, password }, site)
      .finally(() => away.mockRestore())
    expect(answer.status).toBe(status)
    await browser.open(linkTo({ source: await answer.text() }, '/sign-in'))
    expect([browser.path, browser.title]).toEqual(['/sign-in', 'Sign in'])
    await browser.press('Sign in', { identifier, password })
    expect([browser.path, browser.html.includes(identifier)]).toEqual(['/leave', true])
    expect(browser.html).toContain('Continue to Ledger')
  })

  test('is nothing for the next person of the browser, for another browser, and after signing out', async () => {
    const { browser, factors } = await withTwoFactors()
    const onwards = linkTo(browser, '/oauth2/continue')
    const { browser: other } = await signedInBrowser(service)
    for (const address of [factors, onwards]) {
      await other.open(address)
      expect([other.left, other.html.includes('Ledger')]).toEqual([null, false])
    }
    await browser.send('/sign-out')
    browser.left = null
    expect([(await browser.open(onwards)).path, browser.left]).toEqual(['/sign-in', null])
    const next = await service.signUp(newEmail())
    await browser.open('/sign-in')
    await browser.press('Sign in', { identifier: next.identifier, password: next.password })
    await browser.open(factors)
    expect([browser.path, browser.said]).toEqual([
      '/account',
      'That page was from an earlier sign-in. Nothing of it was saved.',
    ])
    expect(browser.html).not.toContain('Ledger')
    // It names who is signed in now, and hands nobody over by itself; nor does it in another language.
    await browser.open(onwards)
    const waits = () => [browser.title, browser.left, nextOf(browser), browser.html.includes(next.identifier)]
    expect(waits()).toEqual(['Continue to Ledger', null, '', true])
    const [, inFrench = ''] = /href="([^"]*)" lang="fr"/.exec(browser.source) ?? []
    await browser.open(inFrench.replaceAll('&amp;', '&'))
    expect(waits()).toEqual(['Continuer vers Ledger', null, '', true])
  })
})
