/** The pages say who may open an account: closed, by invitation, with terms. Trusted devices need no second step. */
import { describe, expect, test } from 'bun:test'
import { asOperator } from '../../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD } from '../../helpers/api-client.ts'
import { protectBySentCodes } from '../../helpers/authenticator.ts'
import { nextOf, openBrowser, pageSettings, passProvider } from '../../helpers/page-browser.ts'
import { newPerson } from '../../helpers/pretend-provider.ts'
import { mergeSettings } from '../../helpers/service.ts'
import { useSocial } from '../../helpers/social.ts'
import { useService } from '../../helpers/use-service.ts'

const settings = { ...pageSettings, server: { ...pageSettings.server, language: 'en' } }

describe('by invitation, with terms', () => {
  const service = useService({
    settings: {
      ...settings,
      pages: { enabled: true, terms: 'https://www.example.com/terms' },
      accounts: { registration: 'invitation', terms: '2026-11' },
      admin: { listen: '127.0.0.1:8081' },
      roles: { 7: 'editor' },
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
    expect(browser.html).toContain('without an invitation')
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
    expect(first.title).toBe('Join Poterne')
    expect(first.html).toMatch(/and keep your account\. Groups: course\.<\/p>/)
    await first.press('Join')
    const found = await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(email)}`)
    expect(found.body.items[0].groups).toEqual(['course'])
  })

  test('whoever is not the one who is signed in joins after another sign-in, or opens an account', async () => {
    const register = async () => {
      const browser = await openBrowser(service.url).open(await invite())
      const email = newEmail()
      await browser.press('Create an account', { identifier: email, password: PASSWORD, terms: 'yes' })
      await browser.press('Confirm', { otp: await service.inbox.nextCode(email) })
      return { browser, email }
    }
    const [{ browser }, { email }] = [await register(), await register()]
    await browser.open(await invite({ groups: ['course'] }))
    const [, another = ''] = /href="([^"]+)">Not you\?</.exec(browser.html) ?? []
    await browser.open(another)
    await browser.press('Create an account')
    expect([browser.path, browser.title]).toEqual(['/sign-up', 'Create an account'])
    await browser.open(another)
    await browser.press('Sign in', { identifier: email, password: PASSWORD })
    expect([browser.path, browser.title]).toEqual(['/sign-up', 'Join Poterne'])
    expect(browser.html).toContain(email)
    await browser.press('Join')
    const found = await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(email)}`)
    expect(found.body.items[0].groups).toEqual(['course'])
  })

  test('its page says which role and groups it gives, and a role alone to new accounts', async () => {
    const lead = async (link: string) => {
      const { html } = await openBrowser(service.url).open(link)
      return /<p class="lead"[^>]*>(.*?)<\/p>/.exec(html)?.[1] ?? null
    }
    expect([
      await lead(await invite({ role_id: 'editor', groups: ['staff', 'course'] })),
      await lead(await invite({ role_id: 12 })),
      await lead('/sign-up?invitation=AAAA-AAAA-AAAA-AAAA'),
    ]).toEqual(['You are invited. Role: editor. Groups: course, staff.', 'You are invited.', null])
  })

  test('an invitation that does not hold says so', async () => {
    const browser = await openBrowser(service.url).open('/sign-up?invitation=AAAA-AAAA-AAAA')
    await browser.press('Create an account', { identifier: newEmail(), password: PASSWORD, terms: 'yes' })
    expect(browser.said).toContain('invitation is not valid')
  })
})

describe('terms', () => {
  const terms = 'https://www.example.com/terms'
  const { provider, service } = useSocial(
    mergeSettings(settings, {
      pages: { enabled: true, terms, home: 'https://app.example.com/' },
      accounts: { terms: '2026-11' },
      admin: { listen: '127.0.0.1:8081' },
    }),
  )
  const versionOf = async (identifier: string, password = PASSWORD) => {
    const { access_token } = await service.logIn({ identifier, password })
    return (await service.get('me', { bearer: access_token })).body.terms_version
  }

  // First, since what a provider says of itself is kept.
  test('what the provider could not do comes back into the form', async () => {
    const browser = await openBrowser(service.url).open('/sign-up')
    await provider.stop()
    await browser.press('Continue with P1', { identifier: 'typed@example.com' })
    await provider.start()
    expect(browser.path).toBe('/sign-up')
    expect(browser.html).toContain('value="typed@example.com"')
    expect(browser.said).toContain('provider')
    const denied = await openBrowser(service.url).open('/sign-in/provider?error=access_denied')
    // Nobody made a mistake.
    expect([denied.path, denied.said, denied.title]).toEqual([
      '/sign-in',
      'The sign-in was cancelled.',
      'Sign in',
    ])
    expect(denied.html).toContain('<div class="notice" role="status">')
  })

  const signIn = async (email: string) => {
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Send a code', { identifier: email })
    return browser.press('Sign in', { otp: await service.inbox.nextCode(email) })
  }

  test('somebody who has not accepted the present version is asked once, on the way to where they go', async () => {
    const email = newEmail()
    // Administrators are exempt: nobody accepted anything for this account yet.
    await asOperator(service, 'POST', 'accounts', { email, verified: true })
    const later = await signIn(email)
    expect([later.path, later.title]).toEqual(['/sign-in/terms', 'Terms'])
    expect(later.html).toContain(`<a href="${terms}" target="_blank">terms of use</a>`)
    const [, notNow = ''] = /<a href="(\/leave[^"]+)">Not now/.exec(later.html) ?? []
    await later.open(notNow)
    expect(nextOf(later)).toBe('https://app.example.com/')
    // The account says so too, for as long as nobody accepts them.
    await later.open('/account')
    expect(later.html).toContain(`Our <a href="${terms}" target="_blank">terms of use</a> have changed.`)
    const elsewhere = await signIn(email)
    await elsewhere.open('/account')
    await elsewhere.press('Accept')
    expect([elsewhere.path, elsewhere.html.includes('terms of use')]).toEqual(['/account', false])
    expect((await signIn(email)).path).toBe('/leave')
  })

  test('somebody who accepts the present version on the way goes on, and is not asked again', async () => {
    const email = newEmail()
    await asOperator(service, 'POST', 'accounts', { email, verified: true })
    const browser = await signIn(email)
    await browser.press('Accept')
    expect(nextOf(browser)).toBe('https://app.example.com/')
    expect((await signIn(email)).path).toBe('/leave')
  })

  test('whoever accepted them at registration is not refused for what somebody else registered', async () => {
    const email = newEmail()
    const browser = await openBrowser(service.url).open('/sign-up')
    await browser.press('Create an account', { identifier: email, password: PASSWORD, terms: 'yes' })
    await service.inbox.nextCode(email)
    const another = 'another long phrase'
    await service.post('register', { email, password: another, password_confirmation: another })
    await browser.press('Confirm', { otp: await service.inbox.nextCode(email) })
    expect([browser.path, browser.said]).toEqual(['/leave', ''])
    expect(await versionOf(email)).toBe('2026-11')
  })

  test('somebody new who comes by a provider accepts them before there is an account', async () => {
    const email = newEmail()
    provider.present(newPerson({ email, email_verified: true }))
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Continue with P1')
    await passProvider(browser)
    expect([browser.path, browser.cookies.has('__Host-poterne')]).toEqual(['/sign-up/terms', false])
    service.clock.advance(120_000)
    await browser.press('Accept')
    await passProvider(browser)
    expect(nextOf(browser)).toBe('https://app.example.com/')
    expect(browser.cookies.has('__Host-poterne')).toBe(true)
  })

  test('a tick in the form of registration comes along to the provider', async () => {
    provider.present(newPerson({ email: newEmail(), email_verified: true }))
    const browser = await openBrowser(service.url).open('/sign-up')
    await browser.press('Continue with P1', { terms: 'yes' })
    await passProvider(browser)
    expect(browser.path).toBe('/leave')
  })
})

describe('by invitation, through a provider', () => {
  const { provider, service } = useSocial(
    mergeSettings(settings, {
      accounts: { registration: 'invitation' },
      admin: { listen: '127.0.0.1:8081' },
    }),
  )
  const invite = async (groups: string[]): Promise<string> => {
    const { body } = await asOperator(service, 'POST', 'invitations', { uses: 1, groups })
    const { pathname, search } = new URL(body.link)
    return pathname + search
  }
  const groupsOf = async (email: string) => {
    const found = await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(email)}`)
    return found.body.items[0].groups
  }

  test('nobody new without one, and the form says why', async () => {
    provider.present(newPerson({ email: newEmail(), email_verified: true }))
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Continue with P1')
    await passProvider(browser)
    expect([browser.path, browser.said]).toEqual([
      '/sign-in',
      expect.stringContaining('without an invitation'),
    ])
  })

  test('its code comes along to the provider and back, and opens the account', async () => {
    const email = newEmail()
    provider.present(newPerson({ email, email_verified: true }))
    const browser = await openBrowser(service.url).open(await invite(['course']))
    await browser.press('Continue with P1')
    await passProvider(browser)
    expect(browser.path).toBe('/account')
    expect(await groupsOf(email)).toEqual(['course'])
  })

  test('somebody with an account who follows one signs in, and is asked to join', async () => {
    const email = newEmail()
    provider.present(newPerson({ email, email_verified: true }))
    const first = await openBrowser(service.url).open(await invite([]))
    await first.press('Create an account', { identifier: email, password: PASSWORD })
    await first.press('Confirm', { otp: await service.inbox.nextCode(email) })
    const browser = await openBrowser(service.url).open(await invite(['course']))
    await browser.press('Sign in')
    await browser.press('Sign in', { identifier: email, password: PASSWORD })
    expect(browser.title).toBe('Join Poterne')
    expect(await groupsOf(email)).toEqual([])
    await browser.press('Join')
    expect(browser.path).toBe('/account')
    expect(await groupsOf(email)).toEqual(['course'])
  })
})

describe('without a password', () => {
  const service = useService({ settings: { ...settings, accounts: { password: 'optional' } } })
  const browse = () => openBrowser(service.url)

  test('one registers without one, sets one later, and signs in with it', async () => {
    const email = newEmail()
    const browser = await browse().open('/sign-up')
    await browser.press('Create an account', { identifier: email })
    expect(browser.path).toBe('/confirm')
    await browser.press('Confirm', { otp: await service.inbox.nextCode(email) })
    expect(browser.path).toBe('/account')
    await browser.open('/account/password')
    expect(browser.html).not.toContain('current-password')
    await browser.press('Save password', { new_password: 'an entirely new phrase' })
    expect(browser.said).toContain('password is changed')
    await service.logIn({ identifier: email, password: 'an entirely new phrase' })
  })

  test('another browser confirms such a registration by the code alone', async () => {
    const email = newEmail()
    await (await browse().open('/sign-up')).press('Create an account', { identifier: email })
    const elsewhere = await browse().open('/confirm')
    await elsewhere.press('Confirm', { identifier: email, otp: await service.inbox.nextCode(email) })
    expect(elsewhere.path).toBe('/account')
  })

  test('a code signs in, or opens an account, and the pages are the same', async () => {
    const email = newEmail()
    const come = async () => {
      const browser = await browse().open('/sign-in')
      await browser.press('Send a code', { identifier: email })
      const seen = browser.html.replaceAll(/flow=[\w-]+/g, '')
      await browser.press('Sign in', { otp: await service.inbox.nextCode(email) })
      expect([browser.path, browser.cookies.has('__Host-poterne')]).toEqual(['/account', true])
      return seen
    }
    expect(await come()).toBe(await come())
  })

  test('"Send it again" still opens an account', async () => {
    const phone = newPhone()
    const browser = await browse().open('/sign-in')
    await browser.press('Send a code', { identifier: phone })
    await service.inbox.nextCode(phone)
    service.clock.advance(61_000)
    await browser.press('Send it again')
    await browser.press('Sign in', { otp: await service.inbox.nextCode(phone) })
    expect(browser.path).toBe('/account')
  })

  test('a wrong code says so', async () => {
    const browser = await browse().open('/sign-in')
    await browser.press('Send a code', { identifier: newEmail() })
    await browser.press('Sign in', { otp: '000000' })
    expect([browser.path, browser.said]).toEqual([
      '/code',
      'This code is not right. Check the newest message, or send another.',
    ])
  })
})

describe('without a password, with terms', () => {
  const service = useService({
    settings: { ...settings, accounts: { password: 'optional', terms: '2026-11' } },
  })

  test('a code needs the tick, which is asked for at the code and not again', async () => {
    const email = newEmail()
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Send a code', { identifier: email })
    const otp = await service.inbox.nextCode(email)
    await browser.press('Sign in', { otp })
    expect([browser.path, browser.said]).toEqual(['/code', expect.stringContaining('terms')])
    await browser.press('Sign in', { otp, terms: 'yes' })
    expect(browser.path).toBe('/account')
  })
})

describe('a device that is trusted', () => {
  const service = useService({ settings: { ...settings, two_factor: { trust_device: '30d' } } })

  test('needs no second step until its cookie is gone', async () => {
    const { person } = await protectBySentCodes(service)
    const { identifier, password } = person
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    await browser.press('Sign in', { otp: '000000', trust: 'yes' })
    // The tick stays after a wrong code.
    await browser.press('Sign in', { otp: await service.inbox.nextCode(identifier) })
    const cookie = browser.headers.getSetCookie()
    expect([cookie.length, browser.cookies.get('__Host-poterne-trusted')?.length]).toEqual([0, 43])
    await browser.post('/sign-out', {})
    await browser.open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    expect(browser.cookies.has('__Host-poterne')).toBe(true)
    await browser.post('/sign-out', {})
    await browser.open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    await browser.open('/account/sessions')
    expect(browser.html).toContain('needs no second step')
    await browser.press('Stop trusting')
    expect(browser.html).not.toContain('needs no second step')
    await browser.post('/sign-out', {})
    await browser.open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    expect(browser.path).toBe('/code')
  })
})
