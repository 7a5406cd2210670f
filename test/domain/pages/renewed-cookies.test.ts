/** The cookie of a browser's session changes with its rights, so that a copy opens nothing after the owner's remedies. */
import { describe, expect, test } from 'bun:test'
import { maskDestination } from '../../../src/domain/foundation/identifiers/identifier.ts'
import { newEmail } from '../../helpers/api-client.ts'
import { appCode } from '../../helpers/authenticator.ts'
import { newCode, REDIRECT, redeem, signedInBrowser, token } from '../../helpers/hand-over.ts'
import { openBrowser, type PageBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { longTest } from '../../helpers/soak.ts'
import { useService } from '../../helpers/use-service.ts'

const SESSION = '__Host-poterne'
const NEW_PASSWORD = 'an entirely new phrase'
const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en' },
  pages: { enabled: true, applications: [{ id: 'web', name: 'Example', redirect_uris: [REDIRECT] }] },
}
const service = useService({ settings })

/** Somebody with all cookies of that browser, as they are now. */
function copyOf(browser: PageBrowser): PageBrowser {
  const copy = openBrowser(service.url)
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value)
  return copy
}
const secretIn = ({ html }: PageBrowser) => /<code>([A-Z2-7 ]+)<\/code>/.exec(html)?.[1] ?? ''
const isSignedIn = async (browser: PageBrowser) => (await browser.open('/account')).path === '/account'

describe('a copied cookie', () => {
  /** The work is done in the browser of the owner; the copy is of the moment before the last form. */
  async function expectDead(browser: PageBrowser, press: () => Promise<unknown>) {
    const copy = copyOf(browser)
    const former = browser.cookies.get(SESSION)
    await press()
    expect(browser.cookies.get(SESSION)).not.toBe(former)
    expect([await isSignedIn(browser), await isSignedIn(copy)]).toEqual([true, false])
  }

  test('opens nothing after a new password', async () => {
    const { person, browser } = await signedInBrowser(service)
    await browser.open('/account/password')
    await expectDead(browser, () =>
      browser.press('Save password', { password: person.password, new_password: NEW_PASSWORD }),
    )
  })

  test('opens no application after a new password, by a code that it got before', async () => {
    const { person, browser } = await signedInBrowser(service)
    const { code, verifier } = await newCode(copyOf(browser))
    service.clock.advance(1000)
    await browser.open('/account/password')
    await browser.press('Save password', { password: person.password, new_password: NEW_PASSWORD })
    expect((await redeem(service, code, verifier)).body.error).toBe('invalid_grant')
    const later = await newCode(browser)
    expect((await redeem(service, later.code, later.verifier)).status).toBe(200)
  })

  longTest(
    'opens nothing after two factors were turned on, other codes made, and it was turned off',
    async () => {
      const { person, browser } = await signedInBrowser(service)
      const { identifier, password } = person
      await browser.open('/account/two-factor/on')
      await expectDead(browser, () => browser.press('Send a code', { password }))
      await browser.open('/account/two-factor/confirm')
      const otp = await service.inbox.nextCode(identifier)
      await expectDead(browser, async () => {
        await browser.open('/account/two-factor/confirm')
        await browser.press('Confirm', { otp })
        expect(browser.title).toBe('Recovery codes')
      })
      await browser.open('/account/two-factor/codes')
      await browser.press(`Send a code to ${maskDestination(identifier)}`)
      const other = await service.inbox.nextCode(identifier)
      await expectDead(browser, () => browser.press('New codes', { password, otp: other }))
      await browser.open('/account/two-factor/off')
      service.clock.advance(61_000)
      await browser.press(`Send a code to ${maskDestination(identifier)}`)
      const last = await service.inbox.nextCode(identifier)
      await expectDead(browser, () => browser.press('Turn off', { password, otp: last }))
    },
  )

  test('opens nothing after an app was confirmed', async () => {
    const { person, browser } = await signedInBrowser(service)
    await browser.open('/account/two-factor/app')
    await browser.press('Continue', { password: person.password })
    const otp = appCode(secretIn(browser), service.clock.now())
    await expectDead(browser, () => browser.press('Confirm', { otp }))
  })

  test('opens nothing after the owner proved who they are, even if the change was refused', async () => {
    const { person, browser } = await signedInBrowser(service)
    await browser.open('/account/email')
    await expectDead(browser, () =>
      browser.press('Send a code', { contact: newEmail(), password: person.password }),
    )
    await browser.open('/account/password')
    await expectDead(browser, () =>
      browser.press('Save password', { password: person.password, new_password: person.password }),
    )
  })

  test('opens nothing after a sign-in of the same person', async () => {
    const { person, browser } = await signedInBrowser(service)
    await browser.open('/account/export')
    service.clock.advance(10 * 60_000)
    await browser.press('Download')
    await browser.press('Sign in')
    await expectDead(browser, () => browser.press('Sign in', { ...person }))
  })
})

test('a wrong password changes no cookie', async () => {
  const { browser } = await signedInBrowser(service)
  const former = browser.cookies.get(SESSION)
  await browser.open('/account/password')
  await browser.press('Save password', { password: 'wrong one here', new_password: NEW_PASSWORD })
  expect(browser.cookies.get(SESSION)).toBe(former)
})

test('a browser that stays signed in keeps its new cookie as long', async () => {
  const person = await service.signUp(newEmail())
  for (const stay of [{}, { stay: 'yes' }]) {
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password, ...stay })
    await browser.open('/account/email')
    const { action } = browser.forms.find((form) => form.action.startsWith('/account/email'))!
    const answer = await browser.post(action, { contact: newEmail(), password: person.password })
    const [cookie = ''] = answer.headers.getSetCookie().filter((line) => line.startsWith(`${SESSION}=`))
    expect(/max-age=\d{7}/i.test(cookie)).toBe('stay' in stay)
  }
})

test('the session of an application below goes on', async () => {
  const { person, browser } = await signedInBrowser(service)
  const { verifier, code } = await newCode(browser)
  const issued = await redeem(service, code, verifier)
  await browser.open('/account/password')
  await browser.press('Save password', { password: person.password, new_password: NEW_PASSWORD })
  const { status } = await token(service, {
    grant_type: 'refresh_token',
    client_id: 'web',
    refresh_token: issued.body.refresh_token,
  })
  expect(status).toBe(200)
  const next = await newCode(browser)
  expect((await redeem(service, next.code, next.verifier)).status).toBe(200)
})

test('of 32 forms at once with one cookie one is taken, and the browser stays signed in', async () => {
  const { person, browser } = await signedInBrowser(service)
  await browser.open('/account/password')
  const { action } = browser.forms.find((form) => form.action.startsWith('/account/password'))!
  const fields = { password: person.password, new_password: NEW_PASSWORD }
  const answers = await Promise.all(Array.from({ length: 32 }, () => browser.post(action, fields)))
  const given = answers.flatMap(({ headers }) =>
    headers.getSetCookie().filter((line) => line.startsWith(`${SESSION}=`)),
  )
  expect(given).toHaveLength(1)
  expect(answers.every(({ status }) => status === 303)).toBe(true)
  expect(await isSignedIn(browser)).toBe(true)
  // The others are led to the sign-in page, which leads a browser with the new cookie back.
  const others = answers.map(({ headers }) => headers.get('location') as string)
  const led = others.find((location) => location.startsWith('/sign-in')) as string
  expect((await browser.open(led)).path).toBe('/account/password')
  await service.logIn({ identifier: person.identifier, password: NEW_PASSWORD })
})
