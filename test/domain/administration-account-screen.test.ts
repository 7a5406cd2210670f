/** The page of one account in Chromium, with limits on: what support sees there, and what it does in place. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { addAdministrator, asOperator } from '../helpers/administration.ts'
import { newEmail, type Person, registration } from '../helpers/api-client.ts'
import { appCode, protectBySentCodes } from '../helpers/authenticator.ts'
import { launchBrowser } from '../helpers/browser.ts'
import { freePort } from '../helpers/free-port.ts'
import { from } from '../helpers/limited-service.ts'
import { longTest } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const port = await freePort()
const service = useService({
  settings: {
    limits: { enabled: true },
    accounts: { invitation_url: 'https://app.example.com/join' },
    server: { trusted_proxies: ['127.0.0.1'] },
    admin: { listen: `127.0.0.1:${port}` },
  },
})

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser({})
}, 60_000)
afterAll(() => browser?.close())

const call = (method: string, path: string, body?: unknown) => asOperator(service, method, path, body)
const uuidOf = async (identifier: string) =>
  (await call('GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items[0].uuid as string
const press = (page: Page, text: string) => page.click(`button:text-is("${text}")`)

async function signIn(person: Person): Promise<Page> {
  const page = await (await browser.newContext({ locale: 'en-GB' })).newPage()
  await page.goto(`${service.adminUrl}/admin/?lang=en`)
  await page.fill('input[name=identifier]', person.identifier)
  await page.fill('input[name=password]', person.password)
  await page.press('input[name=password]', 'Enter')
  const secret = (await page.textContent('main code')) as string
  await page.fill('input[name=otp]', appCode(secret, service.clock.now()))
  await page.press('input[name=otp]', 'Enter')
  await page.click('main button.wide')
  await page.waitForSelector('header nav')
  return page
}

async function show(page: Page, uuid: string, title: string): Promise<void> {
  await page.goto(`${service.adminUrl}/admin/?lang=en#/accounts/${uuid}`)
  await page.waitForSelector(`h1:has-text("${title}")`)
}

test('support sees that somebody is refused and why, lifts it in place, and secures the account in one dialog', async () => {
  const { person } = await addAdministrator(service, 'support')
  const bob = await service.signUp(newEmail())
  await service.logIn(bob)
  for (let i = 0; i < 10; i++)
    await service.post('login', { ...bob, password: 'not the right one' }, from('203.0.113.7'))
  await service.inside.services.events.flush()
  await service.delivered()
  const uuid = await uuidOf(bob.identifier)
  const page = await signIn(person)
  await show(page, uuid, bob.identifier)
  await page.waitForSelector('.notice:has-text("Too many wrong passwords from 203.0.113.7.")')
  expect(await page.textContent('.notice')).toMatch(/Sign-in is refused until \d\d:\d\d\./)
  expect(await page.title()).toStartWith(`${bob.identifier} · `)
  // The heading of before is never taken away: an action leaves what is seen until the new is there.
  await page.evaluate(
    'window.seen = 0; new MutationObserver(() => { if (!document.querySelector("h1")) window.seen++ }).observe(document.getElementById("content"), { childList: true })',
  )
  await press(page, 'Lift the limit')
  await page.waitForSelector('.notice', { state: 'detached' })
  expect(await page.evaluate<number>('window.seen')).toBe(0)
  expect((await call('GET', `accounts/${uuid}`)).body.account.limits).toEqual([])

  // Stream: the failures of somebody else and what the person did, and the code that was used.
  const happened = (await page.locator('.events').allInnerTexts()).join('\n')
  expect(happened).toContain('by somebody · 203.0.113.7 · 10 times')
  expect(happened).toMatch(/Signed in with password/)
  // Newest first: a registration is an event once it is confirmed, and its code was sent after it all the same.
  const beginning = ['Confirmed the account', 'Sent a code', 'Registered'].map((words) =>
    happened.indexOf(words),
  )
  expect([beginning[0]! > 0, beginning]).toEqual([true, beginning.toSorted((one, other) => one - other)])
  await waitFor(
    async () => (await call('GET', `accounts/${uuid}/messages`)).body.items.at(-1).code === 'used',
    {
      what: 'the use of a code',
    },
  )
  await press(page, 'Messages')
  expect(await page.locator('.events li').count()).toBe(1)
  await press(page, 'Everything')

  await press(page, 'Taken over…')
  await page.fill('dialog input[name=locked_reason]', 'ticket 12')
  await page.click('dialog button[type=submit]')
  await page.waitForSelector('.notice:has-text("This account is locked. Reason: ticket 12")')
  const state = (await call('GET', `accounts/${uuid}`)).body.account
  expect([state.locked_at !== null, state.sessions]).toEqual([true, 0])
  const types = (await call('GET', `accounts/${uuid}/events`)).body.items.map(
    ({ type }: { type: string }) => type,
  )
  expect(types.indexOf('recovery.created')).toBeLessThan(types.indexOf('account.locked'))
  await page.context().close()
}, 60_000)

longTest(
  'support corrects a mistyped address and sends the code again; what cannot succeed says why',
  async () => {
    const { person } = await addAdministrator(service, 'support')
    const [mistyped, right] = [newEmail(), newEmail()]
    await service.post('register', registration(mistyped), from('203.0.113.9'))
    const uuid = await uuidOf(mistyped)
    const page = await signIn(person)
    await show(page, uuid, mistyped)
    expect(await page.isDisabled('button:text-is("Forgot the password…")')).toBe(true)
    expect(await page.textContent('.reason')).toContain('nobody has confirmed the account yet')
    expect(await page.locator('button:text-is("Taken over…")').count()).toBe(0)
    await press(page, 'Send the confirmation again')
    await page.waitForSelector(`#status:has-text("The code is on its way to ${mistyped}.")`)
    await page.getByRole('button', { name: 'Change E-mail', exact: true }).click()
    expect(await page.locator('dialog input[name=verified]').count()).toBe(0)
    await page.fill('dialog input[name=value]', right)
    await page.click('dialog button[type=submit]')
    await page.waitForSelector(`h1:has-text("${right}")`)
    const otp = await service.newestCode(right)
    expect(
      (await service.post('verify-account', { identifier: right, otp }, from('203.0.113.9'))).status,
    ).toBe(201)
    await page.context().close()
  },
  60_000,
)

longTest(
  'an owner gives groups by ticking, a role by its name or number, and a question that is cancelled says nothing',
  async () => {
    const { person } = await addAdministrator(service, 'owner')
    const bob = await service.signUp(newEmail())
    const uuid = await uuidOf(bob.identifier)
    await call('PATCH', `accounts/${uuid}`, { groups: ['staff'] })
    const page = await signIn(person)
    await show(page, uuid, bob.identifier)
    const change = (what: string) => page.getByRole('button', { name: `Change ${what}`, exact: true })
    await change('Groups').click()
    await page.uncheck('dialog input[value=staff]')
    await page.fill('dialog input[name=more]', 'beta, guests')
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('dd:has-text("beta, guests")')
    // The focus is back on the button that opened the dialog.
    await waitFor(() => page.evaluate<boolean>('document.activeElement.textContent === "Change Groups"'), {
      what: 'the focus on the button',
    })
    await change('Role').click()
    await page.fill('dialog input[name=role_id]', '7')
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('dialog', { state: 'detached' })
    expect((await call('GET', `accounts/${uuid}`)).body.account).toMatchObject({
      role_id: 7,
      groups: ['beta', 'guests'],
    })

    service.clock.advance(6 * 60_000)
    await press(page, 'Export everything')
    expect(await page.textContent('dialog')).toContain('For this, please confirm that it is you.')
    await press(page, 'Cancel')
    await page.waitForSelector('dialog', { state: 'detached' })
    expect([await page.textContent('#status'), await page.locator('[role=alert]').count()]).toEqual(['', 0])
    await page.context().close()
  },
  60_000,
)

longTest(
  'an answer of the list that comes late leads nobody back from the account that was opened',
  async () => {
    const { person } = await addAdministrator(service, 'support')
    const bob = await service.signUp(newEmail())
    const uuid = await uuidOf(bob.identifier)
    const page = await signIn(person)
    await page.goto(`${service.adminUrl}/admin/?lang=en#/accounts`)
    await page.waitForSelector(`tr:has-text("${bob.identifier}")`)
    // The answer is there when the row is pressed, and is read before the page hears that its address has changed.
    await page.evaluate(`{
    const ask = window.fetch
    const pressed = new Promise((resolve) => { window.pressRow = () => {
      location.hash = '#/accounts/${uuid}'
      resolve()
    } })
    window.fetch = async (path, ...rest) => {
      const answer = await ask(path, ...rest)
      if (!path.includes('confirmed=')) return answer
      const content = await answer.json()
      window.isAnswered = true
      await pressed
      return { ok: answer.ok, json: async () => content }
    }
  }`)
    await page.click('.tabs label:has-text("Not confirmed")')
    await waitFor(() => page.evaluate<boolean>('window.isAnswered === true'), {
      what: 'the answer of the list',
    })
    await page.evaluate('window.pressRow()')
    await page.waitForSelector(`h1:has-text("${bob.identifier}")`)
    expect(page.url()).toEndWith(`#/accounts/${uuid}`)
    await page.context().close()
  },
)

longTest('what support is asked for most takes few clicks, and none of it is impossible', async () => {
  const { person } = await addAdministrator(service, 'owner')
  const lost = (await protectBySentCodes(service)).person.identifier
  const signUp = async () => (await service.signUp(newEmail())).identifier
  const [lockedOut, takenOver, exported] = [await signUp(), await signUp(), await signUp()]
  const [erased, changed] = [await signUp(), await signUp()]
  const [waiting, mistyped, right] = [newEmail(), newEmail(), newEmail()]
  for (const email of [waiting, mistyped])
    await service.post('register', registration(email), from('203.0.113.20'))
  for (let i = 0; i < 10; i++)
    await service.post('login', { identifier: lockedOut, password: 'not this one' }, from('203.0.113.21'))
  await service.inside.services.events.flush()
  await call('POST', 'tokens', { name: 'nightly', scopes: ['accounts:read'], expires_in: '90d' })

  const page = await signIn(person)
  await page.evaluate("window.clicks = 0; addEventListener('pointerdown', () => window.clicks++, true)")
  const clicks: Record<string, number> = {}
  async function task(name: string, run: () => Promise<unknown>): Promise<void> {
    await page.goto(`${service.adminUrl}/admin/?lang=en#/`)
    await page.waitForSelector('.tiles')
    await page.evaluate('window.clicks = 0')
    await run()
    clicks[name] = await page.evaluate<number>('window.clicks')
  }
  /** By the keyboard alone: a screen, or a person by half an address. */
  async function find(words: string, title = words): Promise<void> {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(words)
    await page.waitForSelector(`.palette li[aria-selected=true]:has-text("${title}")`)
    await page.keyboard.press('Enter')
    await page.waitForSelector(`h1:has-text("${title}")`)
  }
  const half = (email: string) => email.slice(0, -8)
  const send = () => page.click('dialog button[type=submit]')
  const told = (text: string) => page.waitForSelector(`#status:has-text("${text}")`)
  const change = (what: string) => page.getByRole('button', { name: `Change ${what}`, exact: true }).click()

  await task('find a person', () => find(half(lost), lost))
  await task('lost phone', async () => {
    await find(half(lost), lost)
    await press(page, 'Lost phone…')
    await send()
    await told('The second factor is removed.')
  })
  await task('locked out', async () => {
    await find(half(lockedOut), lockedOut)
    await press(page, 'Lift the limit')
    await told(`Nothing refuses ${lockedOut} any more.`)
  })
  await task('no code came', async () => {
    await find(half(waiting), waiting)
    await page.waitForSelector('.events li:has-text("not used yet")')
    await press(page, 'Send the confirmation again')
    await told(`The code is on its way to ${waiting}.`)
  })
  await task('somebody is in the account', async () => {
    await find(half(takenOver), takenOver)
    await press(page, 'Taken over…')
    await send()
    await told(`${takenOver} is out of reach for others.`)
  })
  await task('mistyped address', async () => {
    await find(half(mistyped), mistyped)
    await change('E-mail')
    await page.fill('dialog input[name=value]', right)
    await send()
    await page.waitForSelector(`h1:has-text("${right}")`)
  })
  await task('close a prefix', async () => {
    await find('Closed prefixes')
    await press(page, 'Close a prefix')
    await page.fill('dialog input[name=prefix]', '+99899')
    await page.fill('dialog input[name=reason]', 'pumping')
    await send()
    await told('+99899 is closed.')
  })
  await task('what the team did yesterday', async () => {
    await find('Events')
    await press(page, 'Yesterday')
    await page.waitForSelector('.empty p:has-text("No event matches.")')
  })
  await task('export', async () => {
    await find(half(exported), exported)
    const download = page.waitForEvent('download')
    await press(page, 'Export everything')
    await download
  })
  await task('erase', async () => {
    await find(half(erased), erased)
    await press(page, 'Erase the account')
    await page.fill('dialog input[name=typed]', erased)
    await send()
    await told('The account was erased.')
  })
  await task('invite twenty', async () => {
    await find('Invitations')
    await press(page, 'Invite by mail')
    await page.fill('dialog textarea', Array.from({ length: 20 }, newEmail).join('\n'))
    await send()
    await told('Invitations on their way: 20')
  })
  await task('invite by a link', async () => {
    await find('Invitations')
    await press(page, 'New invitation')
    await send()
    await page.waitForSelector('dialog .once')
    await page.keyboard.press('Escape')
  })
  await task('group', async () => {
    await find(half(changed), changed)
    await change('Groups')
    await page.fill('dialog input[name=more]', 'staff')
    await send()
    await page.waitForSelector('dd:has-text("staff")')
  })
  await task('revoke a token', async () => {
    await find('Tokens')
    await press(page, 'Revoke')
    await send()
    await told('nightly is revoked.')
  })
  await task('health of deliveries', () => page.waitForSelector('h2:text-is("Gateways and mail servers")'))
  expect(clicks).toEqual({
    'find a person': 0,
    'lost phone': 2,
    'locked out': 1,
    'no code came': 1,
    'somebody is in the account': 2,
    'mistyped address': 2,
    'close a prefix': 2,
    'what the team did yesterday': 1,
    export: 1,
    erase: 2,
    'invite twenty': 2,
    'invite by a link': 2,
    group: 2,
    'revoke a token': 2,
    'health of deliveries': 0,
  })
  await page.context().close()
})
