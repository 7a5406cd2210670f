/** One's own account on the pages, through forms and without script. */
import { describe, expect, test } from 'bun:test'
import type { EventRecord } from '../../../src/domain/foundation/events/event-schema.ts'
import { maskDestination } from '../../../src/domain/foundation/identifiers/identifier.ts'
import { newEmail, newPhone } from '../../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp, protectBySentCodes } from '../../helpers/authenticator.ts'
import { linkIdentity, makeImported } from '../../helpers/database.ts'
import { openBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { race } from '../../helpers/race.ts'
import { expectRefusal } from '../../helpers/refusals.ts'
import { useService } from '../../helpers/use-service.ts'

const settings = {
  server: { ...pageSettings.server, language: 'en' },
  pages: { ...pageSettings.pages, terms: 'https://www.example.com/terms' },
}
const NEW_PASSWORD = 'an entirely new phrase'

const service = useService({ settings })

async function signedIn(identifier = newEmail()) {
  const person = await service.signUp(identifier)
  const browser = await openBrowser(service.url).open('/sign-in')
  await browser.press('Sign in', { identifier, password: person.password })
  expect(browser.path).toBe('/account')
  return { person, browser, password: person.password }
}

describe('the pages of an account', () => {
  test('a stranger is asked to sign in, and comes back to the page', async () => {
    const person = await service.signUp(newEmail())
    const browser = await openBrowser(service.url).open('/account/sessions')
    expect(browser.path).toBe('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    expect(browser.path).toBe('/account/sessions')
  })

  test('the password is changed, and other sessions end', async () => {
    const { person, browser, password } = await signedIn()
    const elsewhere = await service.logIn(person)
    await browser.open('/account/password')
    await browser.press('Save password', { password: 'wrong one here', new_password: NEW_PASSWORD })
    expect(browser.said).toBe('This is not your password.')
    await browser.press('Save password', { password, new_password: 'short' })
    expect(browser.said).toContain('too short')
    await browser.press('Save password', { password, new_password: NEW_PASSWORD })
    expect(browser.said).toBe('Your password is changed. Other devices were signed out.')
    expect((await service.get('me', { bearer: elsewhere.access_token })).status).toBe(401)
    expect((await browser.open('/account')).path).toBe('/account')
    await service.logIn({ ...person, password: NEW_PASSWORD })
  })

  test('an e-mail address is changed, a phone number added and removed', async () => {
    const { browser, password } = await signedIn()
    const [email, phone] = [newEmail(), newPhone()]
    await browser.open('/account/email')
    await browser.press('Send a code', { contact: email, password })
    expect(browser.path).toBe('/account/email/confirm')
    await browser.press('Confirm', { otp: await service.inbox.nextCode(email) })
    expect(browser.html).toContain(email)
    await browser.open('/account/phone')
    await browser.press('Send a code', { contact: phone, password })
    await browser.press('Confirm', { otp: await service.inbox.nextCode(phone) })
    expect(browser.html).toContain(phone)
    await browser.open('/account/phone')
    expect(browser.html).toContain(`From then on you sign in with <bdi>${email}</bdi>`)
    await browser.press('Remove the phone number', { password })
    expect(browser.said).toBe('Removed.')
    expect(browser.html).not.toContain(phone)
    // The last verified contact stays.
    await browser.open('/account/email')
    expect(browser.html).not.toContain('Remove the e-mail address')
  })

  test('an address that nobody verified can be removed where something else opens the account', async () => {
    const email = newEmail()
    const { browser, password } = await signedIn(email)
    await makeImported(service, email)
    await browser.open('/account/email')
    expect(browser.html).toContain(email)
    expect(browser.html).not.toContain('Remove the e-mail address')
    const phone = newPhone()
    await browser.open('/account/phone')
    await browser.press('Send a code', { contact: phone, password })
    await browser.press('Confirm', { otp: await service.inbox.nextCode(phone) })
    await browser.open('/account/email')
    await browser.press('Remove the e-mail address', { password })
    expect(browser.said).toBe('Removed.')
  })

  test('an address that nobody verified stays where all else that is linked is a provider of before', async () => {
    const email = newEmail()
    const { person, browser } = await signedIn(email)
    await makeImported(service, email)
    await linkIdentity(service, email, 'gone')
    await browser.open('/account/email')
    expect(browser.html).toContain(email)
    expect(browser.html).not.toContain('Remove the e-mail address')
    const bearer = (await service.logIn(person)).access_token
    const asked = { password: person.password }
    expectRefusal(await service.post('email/remove', asked, { bearer }), 'last_sign_in_method')
  })

  test('the new contact stays in the form until it is right, with a code of the second factor too', async () => {
    const { person } = await protectBySentCodes(service)
    const { identifier, password } = person
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    await browser.press('Sign in', { otp: await service.inbox.nextCode(identifier) })
    const [contact, kept] = [
      newEmail(),
      () => browser.forms.find(({ fields }) => 'contact' in fields)?.fields.contact,
    ]
    await browser.open('/account/email')
    const send = `Send a code to ${maskDestination(identifier)}`
    await browser.press(send, { contact })
    const said = `We sent a code to <bdi>${maskDestination(identifier)}</bdi>.`
    expect([browser.path, browser.said, kept()]).toEqual(['/account/email', said, contact])
    expect(browser.forms.flatMap(({ buttons }) => buttons.map(({ label }) => label))).not.toContain(send)
    expect(browser.html).toContain('>Send it again</button>')
    const otp = await service.inbox.nextCode(identifier)
    await browser.press('Send a code', { password: 'wrong one here', otp })
    expect([browser.said, kept()]).toEqual(['This is not your password.', contact])
    await browser.press('Send a code', { contact: 'no address', password, otp })
    expect(kept()).toBe('no address')
    await browser.press('Send a code', { contact, password, otp })
    expect(browser.path).toBe('/account/email/confirm')
    await browser.open('/account/phone')
    await browser.press('Send a code', { contact: '12', password })
    expect(kept()).toBe('12')
  })

  test('a mistyped address is corrected from the page of its code', async () => {
    const { browser, password } = await signedIn()
    const [wrong, right] = [newEmail(), newEmail()]
    await browser.open('/account/email')
    await browser.press('Send a code', { contact: wrong, password })
    await browser.press('Change')
    expect(browser.path).toBe('/account/email')
    expect(browser.html).toContain(`value="${wrong}"`)
    await browser.press('Send a code', { contact: right, password })
    await browser.press('Confirm', { otp: await service.inbox.nextCode(right) })
    expect(browser.html).toContain(right)
  })

  test('the code for a new address is sent again without another proof, to that address only', async () => {
    const { browser, password } = await signedIn()
    const [email, taken] = [newEmail(), newEmail()]
    await service.signUp(taken)
    await browser.open('/account/email')
    await browser.press('Send a code', { contact: email, password })
    const first = await service.inbox.nextCode(email)
    await browser.press('Send it again')
    expect(browser.path).toBe('/account/email/confirm')
    expect(browser.said).toBe('A code is on its way.')
    const second = await service.inbox.nextCode(email)
    await browser.press('Confirm', { otp: first === second ? '000000' : first })
    expect(browser.said).toContain('This code is not right.')
    await browser.press('Confirm', { otp: second })
    expect(browser.html).toContain(email)
    // Somebody else's address answers in the same way.
    await browser.open('/account/email')
    await browser.press('Send a code', { contact: taken, password })
    await browser.press('Send it again')
    expect(browser.said).toBe('A code is on its way.')
    // Without a proof a moment ago, the form asks for one.
    await browser.open('/account/email/confirm')
    await browser.press('Send it again')
    expect(browser.path).toBe('/account/email')
  })

  test('a confirmed change that is sent again leads on, and one to another contact does not', async () => {
    const { browser, password } = await signedIn()
    const [email, phone, taken] = [newEmail(), newPhone(), newEmail()]
    await service.signUp(taken)
    const formFor = async (kind: 'email' | 'phone', contact: string) => {
      await browser.open(`/account/${kind}`)
      await browser.press('Send a code', { contact, password })
      return browser.forms.find(({ action }) => action.startsWith(`/account/${kind}/confirm?`))!.action
    }
    const said = async (action: string, otp: string) => {
      const answer = await browser.post(action, { otp })
      await browser.open(answer.headers.get('location') ?? '')
      return [browser.path, browser.said]
    }
    const [done, wrong] = [
      ['/account', 'Saved.'],
      ['/account/email/confirm', expect.stringContaining('This code is not right.')],
    ]
    const action = await formFor('email', email)
    const otp = await service.inbox.nextCode(email)
    expect([await said(action, otp), await said(action, otp)]).toEqual([done, done])
    const atOnce = await formFor('phone', phone)
    const code = await service.inbox.nextCode(phone)
    const answers = await race([browser], () => browser.post(atOnce, { otp: code }))
    expect(new Set(answers.map(({ headers }) => headers.get('location')?.split('?')[0]))).toEqual(
      new Set(['/account']),
    )
    expect((await browser.open('/account')).html).toContain(phone)
    // Somebody else's contact, and one of before, are not the account's.
    expect(await said(await formFor('email', taken), otp)).toEqual(wrong)
    const next = newEmail()
    expect(await said(await formFor('email', next), await service.inbox.nextCode(next))).toEqual(done)
    expect(await said(action, otp)).toEqual(wrong)
  })

  test('two factors are turned on by a code, new codes are made, and it is turned off', async () => {
    const email = newEmail()
    const { browser, password } = await signedIn(email)
    await browser.open('/account/two-factor/on')
    await browser.press('Send a code', { password })
    const sent = `We sent a code to <bdi>${maskDestination(email)}</bdi>.`
    expect(browser.html).toContain(sent)
    expect(browser.html).toContain('<a href="/account/email">Change</a>')
    await service.inbox.nextCode(email)
    await browser.press('Send it again')
    expect(browser.html).toContain(sent)
    await browser.press('Confirm', { otp: await service.inbox.nextCode(email) })
    expect([browser.title, browser.said]).toEqual(['Recovery codes', 'Two-factor sign-in is on.'])
    const codes = [...browser.html.matchAll(/<li>([\w-]+)<\/li>/g)].map(([, code]) => code as string)
    expect(codes.length).toBeGreaterThanOrEqual(8)
    expect(browser.html).toContain(`<h1 id="title">Keep these ${codes.length} codes</h1>`)
    // They are not shown again: nothing leads away from them but the word that they are kept.
    expect(browser.html).not.toMatch(/Sign out|class="up"|class="languages"/)
    expect(browser.html).toContain('<a href="https://www.example.com/terms" target="_blank" rel="noopener">')
    await browser.open('/account/two-factor/codes')
    expect(browser.html).toContain('<details class="languages">')
    expect(browser.html).toContain('<a href="https://www.example.com/terms">')
    await browser.press('New codes', { password, otp: codes[0]! })
    expect([browser.title, browser.said]).toEqual(['Recovery codes', ''])
    // On paper and in the file they say whose they are.
    const [, caption = ''] = /<figcaption[^>]*>(.*?)<\/figcaption>/.exec(browser.html) ?? []
    const whose = caption.replaceAll(/<[^>]*>/g, '')
    expect(whose).toMatch(/^auth\.example\.com · \S+@\S+ · \d+ \w+ \d{4}|\w+ \d+, \d{4}$/)
    expect(decodeURIComponent(browser.html)).toContain(whose)
    await browser.open('/account/two-factor/off')
    await browser.press(`Send a code to ${maskDestination(email)}`)
    expect([browser.path, browser.said]).toEqual(['/account/two-factor/off', sent])
    await browser.press('Turn off', { password, otp: await service.inbox.nextCode(email) })
    expect(browser.said).toBe('Two-factor sign-in is off.')
  })

  test('an app is added by its key, and its secret is shown once', async () => {
    const { browser, password } = await signedIn()
    await browser.open('/account/two-factor/app')
    await browser.press('Continue', { password })
    expect(browser.html).toContain('<svg')
    const [, secret = ''] = /<code>([A-Z2-7 ]+)<\/code>/.exec(browser.html) ?? []
    expect(secret).toMatch(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/)
    await browser.press('Confirm', { otp: '000000' })
    expect(browser.said).toBe('This code is not right. Wait for the next one of your app.')
    await browser.press('Confirm', { otp: appCode(secret, service.clock.now()) })
    expect(browser.title).toBe('Recovery codes')
    await browser.open('/account/two-factor')
    expect(browser.html).toContain('Authenticator app')
    await browser.open('/account/password')
    expect(browser.html).toContain('<label for="otp">Code of your app</label>')
  })

  test('another device is listed and signed out', async () => {
    const { browser, person } = await signedIn()
    const elsewhere = await service.logIn(person, { device_name: 'Old phone' })
    await browser.open('/account/sessions')
    expect(browser.html).toContain('Firefox on Linux')
    expect(browser.html).toContain('Old phone')
    await browser.press('Sign out', {}, '/account/sessions/end')
    expect(browser.said).toBe('That device is signed out.')
    expect((await service.get('me', { bearer: elsewhere.access_token })).status).toBe(401)
  })

  test('other devices are counted in words, and signing out everywhere says that this one is among them', async () => {
    const { browser, person } = await signedIn()
    for (const others of ['This one only', 'This one and another', 'This one and 2 others']) {
      await browser.open('/account')
      expect(browser.html).toContain(`>${others}<`)
      await service.logIn(person)
    }
    await browser.open('/account/sessions')
    expect(browser.html).toContain('That includes this device.')
    await browser.press('Sign out everywhere')
    expect(browser.path).toBe('/signed-out')
  })

  test('the account is deleted with the password, and nothing before', async () => {
    const { browser, person, password } = await signedIn()
    await browser.open('/account/delete')
    await browser.press('Delete your account', { password: 'wrong one here' })
    expect(browser.said).toBe('This is not your password.')
    await browser.press('Delete your account', { password })
    expect([browser.path, browser.title]).toEqual(['/signed-out', 'Your account is deleted'])
    expect(browser.html).not.toContain('Sign in</a>')
    expect((await service.post('login', person)).status).toBe(401)
  })
})

describe('what the pages of an account show', () => {
  test('profile and language', async () => {
    const { browser } = await signedIn()
    await browser.open('/account/profile')
    await browser.press('Save', { name: 'Ada <b>', given_name: 'Ada' })
    expect(browser.said).toBe('Saved.')
    await browser.open('/account')
    expect(browser.html).toContain('Ada &lt;b&gt;')
    await browser.open('/account/language')
    await browser.press('Save', { language: 'fr' })
    expect(browser.title).toBe('Votre compte')
  })

  test('a language that was chosen in the menu stays until the browser signs out', async () => {
    const { browser, person, password } = await signedIn()
    await browser.open('/account/email')
    const [, link = ''] = /href="([^"]*)" lang="pt"/.exec(browser.html) ?? []
    await browser.open(link.replaceAll('&amp;', '&'))
    const isPortuguese = () => browser.html.includes('<html lang="pt"')
    expect(isPortuguese()).toBe(true)
    await browser.open('/account')
    expect(isPortuguese()).toBe(true)
    expect(
      (await service.get('me', { bearer: (await service.logIn(person)).access_token })).body.account.language,
    ).not.toBe('pt')
    await browser.send('/sign-out')
    await browser.open('/sign-in')
    expect(isPortuguese()).toBe(false)
    await browser.press('Sign in', { identifier: person.identifier, password })
    expect(isPortuguese()).toBe(false)
  })

  test('the history says what happened, in sentences', async () => {
    const { browser } = await signedIn()
    await browser.open('/account/history')
    expect(browser.html).toContain('You signed in')
    expect(browser.html).toContain('Firefox on Linux')
    // In the direction of the page: by itself it would begin with the system in Arabic.
    expect(browser.html).not.toContain('<bdi>Firefox on Linux')
    // By the clock, below the day.
    expect(browser.html).toMatch(/<h2 class="group">\w+ \d+, \d{4}<\/h2>.*>\d+:\d\d\s[AP]M<\/time>/s)
    expect(browser.html).toContain('Times are in UTC.')
  })

  test('the history asks "Was this not you?" at what failed and at a device that is new, else once below', async () => {
    const { browser, person } = await signedIn()
    const asked = async () => {
      await browser.open('/account/history')
      return [...browser.html.matchAll(/<li>.*?<\/li>/gs)].flatMap(([row]) =>
        row.includes('Was this not you?') ? [row.replaceAll(/<[^>]*>/g, '').trim()] : [],
      )
    }
    const last = (text: string) =>
      expect.stringMatching(new RegExp(`^${text}.*Was this not you\\? See your devices$`, 's'))
    expect([await asked(), browser.html.split('Was this not you?').length]).toEqual([[], 2])
    await service.post('login', { identifier: person.identifier, password: 'wrong one here' })
    await service.inside.services.events.flush()
    for (let times = 0; times < 2; times++)
      await service.post('login', { ...person, device_name: 'Old telephone' })
    expect([await asked(), browser.html.split('Was this not you?').length]).toEqual([
      [last('You signed in Old telephone'), last('A sign-in failed')],
      3,
    ])
  })

  test('the export is a file, and an old sign-in has to be repeated', async () => {
    const { browser, person } = await signedIn()
    await browser.open('/account/export')
    const form = browser.forms.find(({ action }) => action.startsWith('/account/export'))!
    const file = await browser.post(form.action, {})
    expect(file.headers.get('content-disposition')).toContain('account.json')
    expect(((await file.json()) as { account: { email: string } }).account.email).toBe(person.identifier)
    service.clock.advance(10 * 60_000)
    await browser.open('/account/export')
    await browser.press('Download')
    expect(browser.said).toContain('your last sign-in is too long ago')
    // It would be refused again.
    expect(browser.html).not.toContain('Download')
    await browser.press('Sign in')
    expect(browser.path).toBe('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    expect(browser.path).toBe('/account/export')
  })

  const requestRemoval = async (bearer: string) => {
    const { directory, twoFactorRemovals } = service.inside.services
    const { uuid } = (await service.get('me', { bearer })).body.account
    await twoFactorRemovals.remove(await directory.find(uuid), { delaySeconds: 86_400 })
  }
  const twoFactorOf = async (bearer: string) => (await service.get('me/security', { bearer })).body.two_factor

  test('a removal of two factors that waits is stopped with the password and the app, and with nothing less', async () => {
    const { person, secret, recoveryCodes, bearer } = await protectByApp(service)
    const browser = await openBrowser(service.url).open('/sign-in')
    const { password } = person
    await browser.press('Sign in', { identifier: person.identifier, password })
    await browser.press('Sign in', { otp: appCode(secret, service.clock.now(), 1) })
    await requestRemoval(bearer)
    for (const path of ['/account', '/account/two-factor']) {
      await browser.open(path)
      expect(browser.said).toMatch(
        /^Support was asked to turn off your two-factor sign-in\. It happens on <time[^<]*<\/time>\.$/,
      )
      expect(browser.said).not.toContain('passkey')
      expect(browser.html).toContain('href="/account/two-factor/keep"')
    }
    expect(browser.html).not.toContain('Turn off')
    service.clock.advance(PERIOD_MS)
    const otp = appCode(secret, service.clock.now(), 1)
    await browser.open('/account/two-factor/keep')
    expect(browser.html).not.toContain('recovery code')
    await browser.press('Keep it on', { password: 'wrong one here', otp })
    expect(browser.said).toBe('This is not your password.')
    await browser.press('Keep it on', { password })
    await browser.press('Keep it on', { password, otp: recoveryCodes[0]! })
    expect(browser.path).toBe('/account/two-factor/keep')
    expect(await twoFactorOf(bearer)).toMatchObject({
      removal_at: expect.any(String),
      recovery_codes_left: 10,
    })
    await browser.press('Keep it on', { password, otp })
    expect([browser.path, browser.said]).toEqual(['/account/two-factor', 'Two-factor sign-in is on.'])
    expect(await twoFactorOf(bearer)).not.toHaveProperty('removal_at')
    expect(browser.html).toContain('Turn off')
    await browser.open('/account/two-factor/keep')
    expect(browser.html).not.toContain('Keep it on')
  })

  test('of 32 forms with one code of the app one stops the removal', async () => {
    const { person, secret, bearer } = await protectByApp(service)
    const { identifier, password } = person
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    await browser.press('Sign in', { otp: appCode(secret, service.clock.now(), 1) })
    await requestRemoval(bearer)
    service.clock.advance(PERIOD_MS)
    const otp = appCode(secret, service.clock.now(), 1)
    await browser.open('/account/two-factor/keep')
    const { action } = browser.forms.find((form) => form.action.startsWith('/account/two-factor/keep'))!
    const answers = await race([service], () => browser.post(action, { password, otp }))
    const pathOf = (answer: Response) => answer.headers.get('location')?.split('?')[0]
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]))
    expect(answers.filter((answer) => pathOf(answer) === '/account/two-factor')).toHaveLength(1)
    expect(await twoFactorOf(bearer)).not.toHaveProperty('removal_at')
    const { items } = (await service.get('events', { bearer })).body
    const stopped = items.filter(({ data }: EventRecord) => data.stopped === 'two_factor_removal')
    expect(stopped).toHaveLength(1)
  })

  test('a code of a message stops no removal of two factors on a page, and is not used up there', async () => {
    const { person, bearer } = await protectBySentCodes(service)
    const { identifier, password } = person
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    await browser.press('Sign in', { otp: await service.inbox.nextCode(identifier) })
    await requestRemoval(bearer)
    await browser.open('/account/two-factor')
    expect(browser.html).not.toContain('/account/two-factor/keep')
    await browser.open('/account/two-factor/codes')
    await browser.press(`Send a code to ${maskDestination(identifier)}`)
    const otp = await service.inbox.nextCode(identifier)
    const { action } = browser.forms.find((form) => form.action.startsWith('/account/two-factor/codes'))!
    await browser.post(action.replace('codes', 'keep'), { password, otp })
    expect(await twoFactorOf(bearer)).toMatchObject({ removal_at: expect.any(String) })
    await browser.press('New codes', { password, otp })
    expect(browser.title).toBe('Recovery codes')
  })

  test('with two factors, a form without the code says which one is missing', async () => {
    const { person } = await protectBySentCodes(service)
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    await browser.press('Sign in', { otp: await service.inbox.nextCode(person.identifier) })
    await browser.open('/account/password')
    await browser.press('Save password', { password: person.password, new_password: NEW_PASSWORD })
    expect(browser.said).not.toBe('')
    expect(browser.path).toBe('/account/password')
  })

  test('a code of the second factor is sent from above its field, and Enter still does what the form is for', async () => {
    const { person } = await protectBySentCodes(service)
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    await browser.press('Sign in', { otp: await service.inbox.nextCode(person.identifier) })
    for (const page of ['password', 'email', 'delete', 'two-factor/off', 'two-factor/codes']) {
      await browser.open(`/account/${page}`)
      const buttons = [...browser.html.matchAll(/<button class="(hidden|button quiet(?=")|button main)/g)]
      expect([page, buttons.slice(0, 3).map(([, kind]) => kind)]).toEqual([
        page,
        ['hidden', 'button quiet', 'button main'],
      ])
      // Nothing was sent yet.
      expect(browser.html).toContain('<label for="otp">Code</label>')
    }
    await browser.press(`Send a code to ${maskDestination(person.identifier)}`)
    expect(browser.html).toContain('<label for="otp">Code from the message</label>')
  })

  test('a recovery code is typed into a field that takes letters, and what was typed before stays', async () => {
    const { person, recoveryCodes } = await protectBySentCodes(service)
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    await browser.press('Sign in', { otp: await service.inbox.nextCode(person.identifier) })
    await browser.open('/account/email')
    const contact = newEmail()
    await browser.press('Use a recovery code', { contact })
    expect(browser.path).toBe('/account/email')
    expect(browser.html).toContain(`value="${contact}"`)
    expect(browser.html).toContain('inputmode="text" class="letters" autocapitalize="characters"')
    await browser.press('Send a code', { password: person.password, otp: recoveryCodes[0]! })
    expect(browser.path).toBe('/account/email/confirm')
  })
})
