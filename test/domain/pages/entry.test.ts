/** Who may open an account, as the pages say it: closed, by invitation, with terms; and devices that need no second step. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { asOperator } from '../../helpers/administration.ts'
import { newEmail, PASSWORD } from '../../helpers/api-client.ts'
import { protectBySentCodes } from '../../helpers/authenticator.ts'
import { openBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { useService } from '../../helpers/use-service.ts'

setDefaultTimeout(30_000)

const settings = { ...pageSettings, server: { ...pageSettings.server, language: 'en' } }

describe('by invitation, with terms', () => {
  const service = useService({
    settings: {
      ...settings,
      pages: { enabled: true, terms: 'https://www.example.com/terms' },
      accounts: { registration: 'invitation', terms: '2026-11' },
      admin: { listen: '127.0.0.1:8081' },
    },
  })
  const invite = async (body: object = {}): Promise<string> => {
    const { body: made } = await asOperator(service, 'POST', 'invitations', { uses: 3, ...body })
    const { pathname, search } = new URL(made.link)
    return pathname + search
  }

  test('nobody is offered an account without an invitation', async () => {
    const browser = await openBrowser(service.url).open('/sign-in')
    expect(browser.html).not.toContain('Create an account')
    await browser.open('/sign-up')
    expect(browser.forms).toEqual([])
    expect(browser.said).toContain('without an invitation')
  })

  test('its link leads to an address that does not show it, spends nothing, and opens an account', async () => {
    const link = await invite()
    const code = link.split('=')[1] as string
    await openBrowser(service.url).open(link)
    const browser = await openBrowser(service.url).open(link)
    expect(browser.path).toBe('/sign-up')
    expect(browser.address + browser.html).not.toContain(code)
    const email = newEmail()
    const form = { identifier: email, password: PASSWORD }
    await browser.press('Create an account', form)
    expect(browser.said).toContain('terms')
    await browser.press('Create an account', { ...form, terms: 'yes' })
    expect(browser.path).toBe('/confirm')
    await browser.press('Confirm', { otp: await service.inbox.nextCode(email) })
    await service.logIn({ identifier: email, password: PASSWORD })
  })

  test('somebody who is signed in joins', async () => {
    const first = await openBrowser(service.url).open(await invite())
    const email = newEmail()
    await first.press('Create an account', { identifier: email, password: PASSWORD, terms: 'yes' })
    await first.press('Confirm', { otp: await service.inbox.nextCode(email) })
    await first.open(await invite({ groups: ['course'] }))
    expect(first.title).toBe('You are invited')
    await first.press('Join')
    const found = await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(email)}`)
    expect(found.body.items[0].groups).toEqual(['course'])
  })

  test('an invitation that does not hold says so', async () => {
    const browser = await openBrowser(service.url).open('/sign-up?invitation=AAAA-AAAA-AAAA')
    await browser.press('Create an account', { identifier: newEmail(), password: PASSWORD, terms: 'yes' })
    expect(browser.said).toContain('invitation is not valid')
  })
})

describe('a device that is trusted', () => {
  const service = useService({ settings: { ...settings, two_factor: { trust_device: '30d' } } })

  test('needs no second step until its cookie is gone', async () => {
    const { person } = await protectBySentCodes(service, newEmail())
    const { identifier, password } = person
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    await browser.press('Sign in', { otp: await service.inbox.nextCode(identifier), trust: 'yes' })
    const cookie = browser.headers.getSetCookie()
    expect([cookie.length, browser.cookies.get('__Host-poterne-trusted')?.length]).toEqual([0, 43])
    await browser.post('/sign-out', {})
    await browser.open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    expect(browser.cookies.has('__Host-poterne')).toBe(true)
    await browser.post('/sign-out', {})
    browser.cookies.delete('__Host-poterne-trusted')
    await browser.open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    expect(browser.path).toBe('/code')
  })
})
