/** The notice of a removal of two factors that waits, sent once more from the pages of the account. */
import { expect, test } from 'bun:test'
import { newEmail, newPhone } from '../../helpers/api-client.ts'
import { protectBySentCodes } from '../../helpers/authenticator.ts'
import { newClient } from '../../helpers/limited-service.ts'
import { openBrowser, type PageBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { race } from '../../helpers/race.ts'
import { useLimited } from '../../helpers/use-service.ts'

const SEND = 'Send that message again'
const FORM = '/account/two-factor/removal/again'
const HOUR_MS = 3_600_000
const DAY_SECONDS = 86_400

const service = useLimited({
  settings: {
    ...pageSettings,
    server: { ...pageSettings.server, language: 'en' },
    sms: { daily_budget: 40 },
  },
})

const removals = () => service.inside.services.twoFactorRemovals
const accountOf = async (bearer: string) => {
  const { uuid } = (await service.get('me', { bearer })).body.account
  return service.inside.services.directory.find(uuid)
}
const requestRemoval = async (bearer: string) =>
  removals().remove(await accountOf(bearer), { delaySeconds: DAY_SECONDS })
const twoFactorOf = async (bearer: string) => (await service.get('me/security', { bearer })).body.two_factor

async function signIn(identifier: string, password: string): Promise<PageBrowser> {
  const headers = newClient().headers as Record<string, string>
  const browser = await openBrowser(service.url, { headers }).open('/sign-in')
  await browser.press('Sign in', { identifier, password })
  if (browser.path === '/code') {
    await browser.press('Sign in', { otp: await service.inbox.nextCode(identifier) })
  }
  expect(browser.path).toBe('/account')
  return browser
}

/** Somebody whose second factor is a code of a message, so that only the link stops the removal. */
async function endangered() {
  const email = newEmail()
  const { person, bearer } = await protectBySentCodes(service, email)
  const browser = await signIn(email, person.password)
  await requestRemoval(bearer)
  return { email, bearer, browser: await browser.open('/account') }
}

/** The notices that came, whole. */
async function noticesTo(identifier: string): Promise<string[]> {
  await service.delivered()
  return service.inbox.textsTo(identifier).filter((text) => text.includes('/stop?t='))
}
const tokenIn = (text = '') => /\/stop\?t=([\w-]{43})/.exec(text)?.[1] ?? ''
const actionIn = ({ forms }: PageBrowser) => forms.find(({ action }) => action.startsWith(FORM))!.action

test('the notice comes again, the same, and its link stops the removal', async () => {
  const { email, bearer, browser } = await endangered()
  const { removal_at: dueAt } = await twoFactorOf(bearer)
  await browser.press(SEND)
  expect(browser.path).toBe('/account/two-factor')
  expect(browser.said).toContain(`We sent it again to <bdi>${email}</bdi>.`)
  expect(browser.html).toMatch(new RegExp(`<button class="button quiet little" data-wait="\\d+">${SEND}<`))
  const [first, second, ...others] = await noticesTo(email)
  expect([second, others]).toEqual([first, []])
  expect(second).toContain('within 24 hours')
  expect(await twoFactorOf(bearer)).toMatchObject({ removal_at: dueAt })
  const body = new URLSearchParams({ t: tokenIn(second) })
  const stopped = await fetch(`${service.url}/stop`, {
    ...{ method: 'POST', body },
    headers: { 'accept-language': 'en' },
  })
  expect(await stopped.text()).toContain('Two-factor sign-in stays on.')
  expect(await twoFactorOf(bearer)).toMatchObject({ enabled: true })
  expect(await twoFactorOf(bearer)).not.toHaveProperty('removal_at')
  await browser.open('/account/two-factor')
  expect(browser.html).not.toContain(SEND)
})

/** The same with an e-mail address and a phone number. */
async function endangeredWithPhone() {
  const [email, phone] = [newEmail(), newPhone()]
  const { password } = await service.signUp(email)
  const owner = await signIn(email, password)
  await owner.open('/account/phone')
  await owner.press('Send a code', { contact: phone, password })
  await owner.press('Confirm', { otp: await service.inbox.nextCode(phone) })
  await owner.open('/account/two-factor/on')
  await owner.press('Send a code', { password })
  await owner.press('Confirm', { otp: await service.inbox.nextCode(email) })
  const { directory } = service.inside.services
  const [uuid = ''] = await directory.uuidsOf(email)
  await removals().remove(await directory.find(uuid), { delaySeconds: DAY_SECONDS })
  return { email, phone, owner: await owner.open('/account/two-factor') }
}

test('it goes to every contact that is verified', async () => {
  const { email, phone, owner } = await endangeredWithPhone()
  await owner.press(SEND)
  expect(owner.said).toContain(`We sent it again to <bdi>${email}, ${phone}</bdi>.`)
  expect([await noticesTo(email), await noticesTo(phone)].map(({ length }) => length)).toEqual([2, 2])
})

test('where the SMS of the day are used up, it goes by e-mail alone', async () => {
  const { email, phone, owner } = await endangeredWithPhone()
  const { limits } = service.inside.services
  const { smsOfDay } = limits.counters
  for (let left = await limits.smsLeft(); left > 0; left--) await limits.charge([smsOfDay])
  await owner.press(SEND)
  expect(owner.said).toContain(`We sent it again to <bdi>${email}</bdi>.`)
  for (let count = 0; count < 3; count++) await owner.press(SEND)
  expect(owner.said).toContain('Too many tries.')
  expect([await noticesTo(email), await noticesTo(phone)].map(({ length }) => length)).toEqual([4, 1])
  await limits.clear([smsOfDay])
})

test('three come at once, and one more after two hours; the next removal is told of all the same', async () => {
  const { email, bearer, browser } = await endangered()
  const account = await accountOf(bearer)
  await browser.press(SEND)
  await browser.press(SEND)
  expect(browser.html).not.toContain('data-wait="7200"')
  await browser.press(SEND)
  expect(browser.html).toContain(`<button class="button quiet little" data-wait="7200">${SEND}<`)
  await browser.press(SEND)
  expect(browser.said).toContain('Too many tries. You can try again in\u00a0<span')
  expect(browser.said).toContain('data-left="7200">2 hours')
  expect(browser.html).toContain(`<button class="button quiet little" data-wait="7200">${SEND}<`)
  expect(await noticesTo(email)).toHaveLength(4)
  service.clock.advance(2 * HOUR_MS)
  await browser.press(SEND)
  await browser.press(SEND)
  expect(await noticesTo(email)).toHaveLength(5)
  await removals().cancel(account)
  await removals().remove(account, { delaySeconds: DAY_SECONDS })
  const notices = await noticesTo(email)
  expect(new Set(notices.map(tokenIn)).size).toBe(2)
  expect(notices).toHaveLength(6)
})

test('of 32 forms at once as many send it as the limit allows, all with one link', async () => {
  const { email, browser } = await endangered()
  const action = actionIn(browser)
  const answers = await race([service], () => browser.post(action, {}))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]))
  const notices = await noticesTo(email)
  expect([notices.length, new Set(notices.map(tokenIn)).size]).toEqual([4, 1])
})

test('of a removal that is due or ended meanwhile nothing is sent, and the page shows what is now', async () => {
  const { email, bearer, browser } = await endangered()
  await removals().cancel(await accountOf(bearer))
  await browser.press(SEND)
  expect([browser.path, browser.said]).toEqual(['/account/two-factor', ''])
  expect(browser.html).toContain('It is on: signing in takes')
  await removals().remove(await accountOf(bearer), { delaySeconds: 60 })
  await browser.open('/account')
  service.clock.advance(61_000)
  await browser.press(SEND)
  expect([browser.path, browser.said]).toEqual([
    '/account/two-factor',
    expect.not.stringContaining('We sent it again'),
  ])
  expect(await noticesTo(email)).toHaveLength(2)
  await removals().cancel(await accountOf(bearer))
  await requestRemoval(bearer)
  await browser.open('/account')
  await removals().remove(await accountOf(bearer), { delaySeconds: 0 })
  await browser.press(SEND)
  expect([browser.path, browser.said]).toEqual(['/account/two-factor', ''])
  expect(browser.html).not.toContain('It is on: signing in takes')
  expect(await noticesTo(email)).toHaveLength(3)
})

test('nobody else sends it, whatever form they have of it', async () => {
  const { email, bearer, browser } = await endangered()
  const attacker = await endangered()
  const { uuid } = (await service.get('me', { bearer })).body.account
  const own = await attacker.browser.post(actionIn(attacker.browser), { account: uuid, contact: email })
  expect(own.status).toBe(303)
  for (const sender of [attacker.browser, openBrowser(service.url)])
    await sender.post(actionIn(browser), { account: uuid })
  const elsewhere = await browser.post(actionIn(browser), {}, { 'sec-fetch-site': 'cross-site' })
  expect(elsewhere.status).toBe(422)
  expect(await noticesTo(email)).toHaveLength(1)
  expect(await noticesTo(attacker.email)).toHaveLength(2)
})
