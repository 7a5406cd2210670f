/**
 * The page of administration in Chromium: what its users do on it, in both languages, on narrow and wide screens, light
 * and dark, by keyboard, with a check of accessibility. TEST_PICTURES=DIRECTORY keeps a picture of every screen.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { Browser, Page } from 'playwright-core'
import { wordsEn } from '../../src/console/words-en.ts'
import { wordsFr } from '../../src/console/words-fr.ts'
import { eventTypes } from '../../src/domain/foundation/events/event.ts'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { addAdministrator, asOperator } from '../helpers/administration.ts'
import { newEmail, newPhone, type Person, registration } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp } from '../helpers/authenticator.ts'
import { examine, examineLargeText, lineOf, loadAxe, rulesOfViews, wcag } from '../helpers/axe.ts'
import { addPlatformAuthenticator, asOldSafari, launchBrowser } from '../helpers/browser.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { longTest, soaking } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const MINUTE_MS = 60_000
const port = await freePort()
const logo = join(newDirectory('logo'), 'logo.svg')
writeFileSync(
  logo,
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 96"><path d="M0 0h40v96z"/></svg>',
)
const service = useService({
  settings: {
    admin: { listen: `127.0.0.1:${port}` },
    pages: { logo },
    roles: { 7: 'editor' },
    passkeys: { rp_id: 'localhost', origins: ['http://localhost:3000'] },
  },
})

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser({})
}, 60_000)
afterAll(() => browser?.close())

interface Screen {
  page: Page
  /** Bytes of the page's own files. */
  size(): number
  /** Fails where a script or the browser complained. */
  close(): Promise<void>
}

async function open(lang = 'en'): Promise<Screen> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1440, height: 900 } })
  await context.addInitScript(asOldSafari)
  const page = await context.newPage()
  const problems: string[] = []
  let bytes = 0
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('console', (message) => {
    if (/Content Security Policy|Refused/.test(message.text())) problems.push(message.text())
  })
  page.on('response', (answer) => {
    if (!answer.url().includes('/admin/v1/')) bytes += Number(answer.headers()['content-length'])
  })
  await page.goto(`${service.adminUrl}/admin/?lang=${lang}`)
  return {
    page,
    size: () => bytes,
    async close() {
      await context.close()
      expect(problems).toEqual([])
    },
  }
}

const heading = (page: Page, text: string) => page.waitForSelector(`h1:has-text("${text}")`)
const press = (page: Page, text: string) => page.click(`button:text-is("${text}")`)
const announced = (page: Page, text: string) => page.waitForSelector(`#status:has-text("${text}")`)

/** Who is signed in, languages and the way out are behind the circle with the initial. */
const openMenu = (page: Page) => page.click('header summary')
async function signOut(page: Page) {
  await openMenu(page)
  await press(page, 'Sign out')
}

/** Every label of the other language's page has the same place, so French and English share one script. */
async function signIn(page: Page, person: Person, secret?: string): Promise<string> {
  await page.fill('input[name=identifier]', person.identifier)
  await page.fill('input[name=password]', person.password)
  await page.press('input[name=password]', 'Enter')
  await page.waitForSelector('input[name=otp]')
  const key = secret ?? ((await page.textContent('main code')) as string)
  await page.fill('input[name=otp]', appCode(key, service.clock.now()))
  await page.press('input[name=otp]', 'Enter')
  if (secret === undefined) {
    await page.waitForSelector('ul.codes')
    expect(await page.locator('ul.codes li').count()).toBe(10)
    await page.click('main button.wide')
  }
  await page.waitForSelector('header nav')
  return key
}

async function takePictures(page: Page, name: string): Promise<void> {
  const directory = process.env.TEST_PICTURES
  if (!directory) return
  for (const width of [1440, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(directory, `${name}-${width}-${colorScheme}.png`), fullPage: true })
    }
}

const views = [
  [1440, 'light'],
  [320, 'dark'],
  [1440, 'dark'],
  [320, 'light'],
] as const
/** The same parts and colours make up all screens. */
const EVERY = 3
let looks = 0
/** The rules are checked on the first, and on some screens on the second, which differs in everything. A soak checks all four. */
function viewsOfNext() {
  return soaking ? views : views.slice(0, looks++ % EVERY === 0 ? 2 : 1)
}

/** Of an owner, by their addresses. The last one is none. */
const SCREENS =
  'accounts messages events applications invitations tokens administrators prefixes me nowhere'.split(' ')
const CELLS = 'td .text > *, td:not(:has(.text))'

/** So many pixels has a row with two lines and a badge on a phone. */
const LOW = 82
const tallest = (page: Page, elements: string) =>
  page.$$eval(elements, (all) => Math.max(...all.map((one) => one.getBoundingClientRect().height)))

/** The words of these elements that are not seen whole. */
const cutOff = (page: Page, elements: string) =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('${elements}')]
      .filter((one) => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().right > innerWidth)
      .map(({ textContent }) => textContent)`,
  )

async function look(page: Page, name: string): Promise<void> {
  await takePictures(page, name)
  await loadAxe(page)
  for (const [index, [width, colorScheme]] of viewsOfNext().entries()) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    const found = await examine(page, index === 0 ? wcag : rulesOfViews)
    found.push(...(await examineLargeText(page)))
    expect({ name, width, colorScheme, found }).toEqual({ name, width, colorScheme, found: [] })
  }
  for (const width of [320, 768]) {
    await page.setViewportSize({ width, height: 900 })
    const [isTooWide, head] = await page.evaluate<[boolean, number]>(
      '[document.documentElement.scrollWidth > innerWidth, document.querySelector("header").offsetHeight]',
    )
    expect([name, width, isTooWide, head < 100]).toEqual([name, width, false, true])
  }
  expect([name, ...(await examineLargeText(page))]).toEqual([name])
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.emulateMedia({ colorScheme: 'light' })
}

describe('the page of administration', () => {
  test('an owner signs in, looks at every screen, and does what an owner does', async () => {
    const { person: ada, uuid: adas } = await addAdministrator(service, 'owner')
    const bob = await service.signUp(newEmail())
    await service.logIn(bob)
    await service.post('login', { identifier: bob.identifier, password: 'not the right one' })
    await service.inside.services.events.flush()
    await service.signUp(newPhone())
    await service.post('register', registration(newPhone()))
    await service.delivered()
    service.gateway.behave({ status: 400 })
    await service.post('register', registration(newPhone()))
    await service.delivered()
    service.gateway.behave({})
    const { funnel } = service.inside.services
    const isVerified = async () => {
      await funnel.flush()
      return (await funnel.report(1)).some(({ stage }) => stage === 'verified')
    }
    await waitFor(isVerified, { what: 'the verified code' })
    const screen = await open()
    const { page } = screen
    await look(page, 'sign-in')
    expect(await page.textContent('main')).toContain('Administration of ')
    expect((await fetch(`${service.adminUrl}/admin/favicon.svg`)).headers.get('content-type')).toContain(
      'image/svg+xml',
    )
    const secret = await signIn(page, ada)
    await heading(page, 'Overview')
    const isDrawn = await page.evaluate("document.querySelector('header .brand img').naturalWidth > 0")
    expect([isDrawn, await page.textContent('header .brand')]).toEqual([true, 'Poterne'])
    const lines = await page.evaluate("document.querySelector('header .brand span').offsetHeight / 20")
    expect(lines).toBe(1)
    await page.waitForSelector('svg.plot rect')
    expect(await page.textContent('main')).toContain('Expired: 0')
    const rows = await page
      .locator('section:has(h2:text-is("SMS of the last 7 days")) tbody tr')
      .allInnerTexts()
    expect(rows.map((row) => row.split(/\s+/).filter(Boolean))).toEqual([
      ['France', 'All', '3', '1', '2', '1', '(50%)'],
      ['stub', '3', '1', '2', '1', '(50%)'],
    ])
    const gateways = page.locator('section:has(h2:text-is("Gateways and mail servers")) tbody tr')
    const counted = (await gateways.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' ').trim())
    expect(counted.find((row) => row.startsWith('SMS that no gateway took'))).toStartWith(
      'SMS that no gateway took 0 0 — 0 1 0',
    )
    expect(counted.find((row) => row.startsWith('Mail server'))).toEndWith(' 0 0 0')
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      const isDrawnAnew = async () => Math.abs((await plotScale(page)) - 1) < 0.1
      await waitFor(isDrawnAnew, { what: 'a plot that is drawn as wide as it is shown' })
    }
    await look(page, 'overview')

    const carol = { email: newEmail(), profile: { name: 'Carol Example' }, groups: ['crew'] }
    await asOperator(service, 'POST', 'accounts', carol)
    await page.click('nav a:text-is("Accounts")')
    await heading(page, 'Accounts')
    await look(page, 'accounts')
    await page.setViewportSize({ width: 390, height: 900 })
    expect(await cutOff(page, '.tabs span')).toEqual([])
    expect(await tallest(page, 'tbody tr')).toBeLessThanOrEqual(LOW)
    await page.setViewportSize({ width: 1440, height: 900 })
    const all = await page.locator('tbody tr').count()
    expect(await page.innerText('h1')).toBe(`Accounts ${all}`)
    await page.click('.tabs span:text-is("Team")')
    await heading(page, 'Accounts 1')
    expect(await page.innerText('tbody tr')).toMatch(new RegExp(`${ada.identifier}\\s+App\\s`))
    await page.click('.tabs span:text-is("All")')
    await page.fill('input[name=query]', bob.identifier.slice(0, 2))
    await page.waitForSelector('main:has-text("Type three characters or more.") input[name=query]')
    await page.fill('input[name=query]', 'nobody has this')
    await page.waitForSelector('.empty p:has-text("No account matches.")')
    // Half of the address, without a press of Enter.
    await page.fill('input[name=query]', bob.identifier.slice(3, -6))
    await page.locator('tbody tr').nth(1).waitFor({ state: 'detached' })
    await page.click(`tbody a:has-text("${bob.identifier}")`)
    await heading(page, bob.identifier)
    await look(page, 'account')
    // The words of a button stay in one line, and what does not fit stands below.
    await page.setViewportSize({ width: 390, height: 900 })
    expect(await tallest(page, '.above .acts .button')).toBeLessThan(40)
    await page.setViewportSize({ width: 1440, height: 900 })

    await press(page, 'Lock…')
    await page.fill('dialog input[name=locked_reason]', 'chargeback <b>of May</b>')
    await look(page, 'dialog')
    await page.click('dialog button[type=submit]')
    const lockNotice = '.notice:has-text("This account is locked. Reason: chargeback <b>of May</b>")'
    expect(await (await page.waitForSelector(lockNotice)).innerText()).toContain(` · ${ada.identifier}`)
    // What was seen stays until the new is there, and the focus goes back to what took the place of the button.
    expect(await page.title()).toStartWith(`${bob.identifier} · `)
    expect((await service.post('login', bob)).body.code).toBe('account_locked')
    await press(page, 'Forgot the password…')
    await page.waitForSelector('dialog .notice:has-text("sign-in stays refused")')
    await press(page, 'Cancel')
    await press(page, 'Unlock')
    await page.waitForSelector('.badge:text-is("Locked")', { state: 'detached' })
    const failed = page.locator('.events li:has-text("A sign-in failed")')
    expect(await failed.first().innerText()).toContain('somebody')
    expect((await service.post('login', bob)).status).toBe(200)

    await press(page, 'Forgot the password…')
    await page.selectOption('dialog select[name=send]', { label: 'Show it here' })
    await page.click('dialog button[type=submit]')
    const code = await page.waitForSelector('dialog code')
    expect(await code.textContent()).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/)
    await press(page, 'Close')

    for (const [name, inside] of [
      ['Messages', 'state'],
      ['Events', 'type'],
      ['Tokens', null],
      ['Team', null],
    ] as const) {
      await page.click(`nav a:text-is("${name}")`)
      await heading(page, name)
      if (inside) await page.waitForSelector(`form [name=${inside}]`)
      if (inside) await page.waitForSelector('tbody tr')
      await readRows(page, name)
      await look(page, name.toLowerCase())
      if (inside) await narrowRows(page, name)
    }
    // Without her nobody could give the rights back.
    const own = page.locator(`tr:has(a[href="#/accounts/${adas}"])`)
    expect(await own.innerText()).toMatch(/You\s+Owner[\s\S]*The only owner/)
    expect(await own.locator('button').count()).toBe(0)
    await page.setViewportSize({ width: 390, height: 900 })
    const isInSight = () =>
      page.evaluate<boolean>(
        "document.querySelector('nav [aria-current]').getBoundingClientRect().right < innerWidth",
      )
    await waitFor(isInSight, { what: 'the name of the present screen in the bar' })
    await page.goto(`${service.adminUrl}/admin/?lang=en#/events`)
    await page.waitForSelector('tbody tr')
    expect(await page.evaluate<number>("document.querySelector('form.filters').offsetHeight")).toBeLessThan(
      130,
    )
    expect(await page.isVisible('button:text-is("Clear")')).toBe(false)
    await press(page, 'Today')
    expect(await page.inputValue('select[name=actor_type]')).toBe('administrator')
    expect(await page.isVisible('select[name=actor_type]')).toBe(true)
    await press(page, 'Clear')
    await page.waitForSelector('select[name=actor_type]', { state: 'hidden' })
    expect(await page.isVisible('button:text-is("Clear")')).toBe(false)
    await page.setViewportSize({ width: 1440, height: 900 })

    await page.click('nav a:text-is("Tokens")')
    await press(page, 'New token')
    await page.fill('dialog input[name=name]', 'nightly export')
    await page.check('dialog input[name="scope accounts:read"]')
    await page.click('dialog button[type=submit]')
    const token = await (await page.waitForSelector('dialog code:has-text("pot_adm_")')).textContent()
    expect(token).toMatch(/^pot_adm_[0-9A-Za-z]{28}$/)
    // The word of a button stays in one line, however long what it copies is.
    await page.setViewportSize({ width: 390, height: 900 })
    expect(await page.evaluate<number>('document.querySelector(".once .button").offsetHeight')).toBeLessThan(
      40,
    )
    await page.setViewportSize({ width: 1440, height: 900 })
    await press(page, 'Close')
    await page.waitForSelector('td:has-text("nightly export")')
    await asOperator(service, 'POST', 'invitations', { uses: 3, groups: ['staff'] })
    for (const [name, what] of [
      ['Tokens', 'token nightly export'],
      ['Invitations', 'invitation staff'],
    ] as const) {
      await page.click(`nav a:text-is("${name}")`)
      await heading(page, name)
      await page.setViewportSize({ width: 390, height: 900 })
      expect([name, (await tallest(page, 'tbody tr')) <= LOW]).toEqual([name, true])
      await page.setViewportSize({ width: 1440, height: 900 })
      await press(page, 'Revoke')
      // The list tells two of the same name apart by when they were made, and so does the question.
      const made = await page.innerText('td[data-label=Made]')
      expect(await page.innerText('dialog h2')).toBe(`Revoke the ${what} (made ${made})`)
      await press(page, 'Cancel')
    }

    // An act that cannot be undone asks for both factors again once they are older than five minutes.
    service.clock.advance(6 * MINUTE_MS)
    await page.goto(
      `${service.adminUrl}/admin/?lang=en#/accounts/${(await asOperator(service, 'GET', `accounts?query=${bob.identifier}`)).body.items[0].uuid}`,
    )
    await heading(page, bob.identifier)
    await press(page, 'Erase the account')
    await page.setViewportSize({ width: 390, height: 900 })
    expect(await fitsLongAddress(page)).toBe(true)
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.fill('dialog input[name=typed]', bob.identifier)
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('dialog input[name=otp]')
    await page.fill('dialog input[name=password]', ada.password)
    await page.fill('dialog input[name=otp]', appCode(secret, service.clock.now()))
    await page.click('dialog:has(input[name=otp]) button[type=submit]')
    await announced(page, 'The account was erased.')
    expect((await service.post('login', bob)).body.code).toBe('invalid_credentials')

    const made = `somebody.with.a.rather.long.name.${newEmail().replaceAll('-', '.')}`
    await page.goto(`${service.adminUrl}/admin/?lang=en#/accounts`)
    await heading(page, 'Accounts')
    await press(page, 'New account')
    await page.waitForSelector('dialog input[name=role_id]')
    const offered = await page.$$eval('dialog datalist option', (all) =>
      all.map((option) => (option as unknown as { value: string }).value),
    )
    expect(offered).toEqual(['editor', 'crew'])
    await page.fill('dialog input[name=email]', made)
    await page.fill('dialog input[name=username]', 'dora')
    await page.fill('dialog input[name=groups]', 'staff, beta')
    await page.click('dialog button[type=submit]')
    await page.waitForSelector(`h1:has-text("${made}")`)
    await page.setViewportSize({ width: 390, height: 900 })
    expect(await wordsOverLines(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
    const carried = (await asOperator(service, 'GET', `accounts?query=${made}`)).body.items[0]
    expect(carried).toMatchObject({ username: 'dora', groups: ['beta', 'staff'] })

    const size = screen.size()
    // All screens of an owner stand in one row, in the longer language too.
    await openMenu(page)
    await page.click('a:text-is("Français")')
    await page.waitForSelector('header nav a:text-is("Équipe")')
    // The heading takes the focus once the screen is there, which closes the menu.
    await heading(page, made)
    expect(await page.evaluate<number>('document.querySelector("header").offsetHeight')).toBeLessThan(70)
    await openMenu(page)
    await page.click('a:text-is("English")')
    await page.waitForSelector('header nav a:text-is("Team")')
    await heading(page, made)

    await signOut(page)
    await heading(page, 'Sign in')
    expect((await fetch(`${service.adminUrl}/admin`)).status).toBe(200)
    const { headers } = await fetch(`${service.adminUrl}/admin/`)
    expect(headers.get('content-security-policy')).toStartWith("default-src 'self'")
    expect((await fetch(`${service.url}/admin/`)).status).toBe(404)
    expect(size).toBeGreaterThan(10_000)
    expect(size).toBeLessThan(200_000)
    await screen.close()
  })

  longTest('by keyboard alone, and in French', async () => {
    const { person } = await addAdministrator(service, 'support')
    await service.signUp(newEmail())
    const { page, close } = await open('fr')
    expect(await page.getAttribute('html', 'lang')).toBe('fr')
    await heading(page, 'Connexion')
    // The first field has the focus; everything else is reached from there.
    await page.keyboard.type(person.identifier)
    await page.keyboard.press('Tab')
    await page.keyboard.type(person.password)
    await page.keyboard.press('Enter')
    await page.waitForSelector('input[name=otp]:focus')
    await look(page, 'set-up-app-fr')
    await page.focus('input[name=otp]')
    await page.keyboard.type(appCode((await page.textContent('main code')) as string, service.clock.now()))
    await page.keyboard.press('Enter')
    await page.waitForSelector('ul.codes')
    await look(page, 'recovery-codes-fr')
    await page.emulateMedia({ media: 'print' })
    const printed = (await page.innerText('main')).split('\n').filter(Boolean)
    expect(printed).toHaveLength(13)
    expect(printed[2]).toStartWith(`Poterne · ${person.identifier} · `)
    await page.emulateMedia({ media: 'screen' })
    await tabTo(page, 'Continuer')
    await page.keyboard.press('Enter')
    await heading(page, 'Vue d’ensemble')
    await tabTo(page, 'Comptes')
    await page.keyboard.press('Enter')
    await heading(page, 'Comptes')
    await look(page, 'accounts-fr')
    await page.waitForSelector('tbody tr td a')
    const name = (await page.textContent('tbody tr td a .text span')) as string
    await tabTo(page, (await page.textContent('tbody tr td a')) as string)
    await page.keyboard.press('Enter')
    await heading(page, name)
    // Support staff neither erase nor export, and make no accounts.
    expect(await page.locator('button:text-is("Effacer le compte")').count()).toBe(0)
    expect(await page.locator('button:text-is("Tout exporter")').count()).toBe(0)
    expect(await page.locator('nav a:text-is("Jetons")').count()).toBe(0)
    await tabTo(page, 'Verrouiller…')
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open]')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { state: 'detached' })
    await close()
  })

  longTest(
    'it asks before it ends sessions or removes a contact, and does nothing where that is declined',
    async () => {
      const { person } = await addAdministrator(service, 'owner')
      const bob = await service.signUp(newEmail())
      await service.logIn(bob)
      await service.logIn(bob)
      const path = `accounts/${(await asOperator(service, 'GET', `accounts?query=${bob.identifier}`)).body.items[0].uuid}`
      const sessionsOfBob = async () =>
        (await asOperator(service, 'GET', `${path}/sessions`)).body.items.length
      const { page, close } = await open()
      await signIn(page, person)
      await page.goto(`${service.adminUrl}/admin/?lang=en#/${path}`)
      await heading(page, bob.identifier)
      // The only contact stays, verified or, as after an import, not: nobody offers to remove it.
      const offers = page.locator('main button:text-matches("^Remove( |$)")')
      expect(await offers.count()).toBe(0)
      await service.inside.database.all(
        statement<{ email: string }>(
          sql`update accounts set email_confirmed_at = null where email = ${param('email', 'text')}`,
        ),
        { email: bob.identifier },
      )
      await page.reload()
      await heading(page, bob.identifier)
      await page.waitForSelector('main .badge:has-text("Not verified")')
      expect(await offers.count()).toBe(0)
      const phone = { value: newPhone(), verified: true }
      expect((await asOperator(service, 'PUT', `${path}/phone`, phone)).status).toBe(200)
      await page.reload()
      await heading(page, bob.identifier)
      // What happened twice in a row is one line.
      const signIns = await page.locator('.events li:has-text("Signed in")').allInnerTexts()
      expect([signIns.length, signIns[0]?.includes('2 times')]).toEqual([1, true])
      const removals: string[] = []
      page.on('request', (request) => request.method() === 'DELETE' && removals.push(request.url()))
      await page.click('.known summary')
      for (const label of ['End all', 'End', 'Remove']) {
        await page.locator(`main button:text-matches("^${label}( |$)")`).first().click()
        await page.waitForSelector('dialog[open]')
        await page.keyboard.press('Escape')
        await page.waitForSelector('dialog', { state: 'detached' })
      }
      expect([removals, await sessionsOfBob()]).toEqual([[], 2])
      await press(page, 'End all')
      await page.click('dialog button[type=submit]')
      await page.waitForSelector('dialog', { state: 'detached' })
      expect([removals.length, await sessionsOfBob()]).toEqual([1, 0])
      await close()
    },
  )

  longTest(
    'support sees a removal of two factors that waits, keeps them on, and is told when it would happen',
    async () => {
      const { person } = await addAdministrator(service, 'support')
      const bob = await protectByApp(service)
      const { uuid } = (await asOperator(service, 'GET', `accounts?query=${bob.person.identifier}`)).body
        .items[0]
      const { page, close } = await open()
      await signIn(page, person)
      await page.goto(`${service.adminUrl}/admin/?lang=en#/accounts/${uuid}`)
      await heading(page, bob.person.identifier)
      const stale = await page.context().newPage()
      await stale.goto(page.url())
      await heading(stale, bob.person.identifier)
      await press(page, 'Lost phone…')
      expect((await page.textContent('dialog')) ?? '').toContain('It happens in 24 hours')
      // It can be stopped, so that it is no button of danger.
      expect(await page.getAttribute('dialog button[type=submit]', 'class')).toBe('button')
      await page.click('dialog button[type=submit]')
      await page.waitForSelector('.notice:has-text("Two-factor sign-in is turned off on")')
      await look(page, 'account-removal-waits')
      expect(await page.locator('button:text-is("Lost phone…")').count()).toBe(0)
      // A page that was open before says that it waits.
      await page.bringToFront()
      await press(stale, 'Lost phone…')
      await announced(stale, 'A removal waits already: two-factor sign-in is turned off on')
      await stale.waitForSelector('.notice button:text-is("Keep it on")')
      await press(page, 'Keep it on')
      await page.waitForSelector('.notice', { state: 'detached' })
      expect((await asOperator(service, 'GET', `accounts/${uuid}`)).body.account.removal_at).toBeUndefined()
      await page.goto(`${service.adminUrl}/admin/?lang=en#/nowhere`)
      await heading(page, 'There is no such page')
      await close()
    },
  )

  longTest('an administrator adds a passkey, and signs in with it the next time', async () => {
    const { person } = await addAdministrator(service, 'viewer')
    const { page, close } = await open()
    await addPlatformAuthenticator(await page.context().newCDPSession(page))
    const address = `http://localhost:${port}/admin/?lang=en`
    await page.goto(address)
    const secret = await signIn(page, person)
    await openMenu(page)
    await page.click('header a.name')
    await heading(page, 'Your sign-in')
    await look(page, 'me')
    await page.click('main a:text-is("Add, rename and remove passkeys")')
    await addPasskey(page, person, secret)
    await page.click('p.up a')
    await heading(page, 'Overview')
    await signOut(page)
    await heading(page, 'Sign in')
    await page.fill('input[name=identifier]', person.identifier)
    await page.fill('input[name=password]', person.password)
    await page.press('input[name=password]', 'Enter')
    await press(page, 'Use a passkey')
    await heading(page, 'Overview')
    await close()
  })

  longTest('at an address of numbers the page says where a passkey can be made and used', async () => {
    const { person } = await addAdministrator(service, 'viewer')
    const { page, close } = await open()
    await addPlatformAuthenticator(await page.context().newCDPSession(page))
    const bare = `http://127.0.0.1:${port}/admin/?lang=en`
    await page.goto(bare)
    const secret = await signIn(page, person)
    await openMenu(page)
    await page.click('header a.name')
    await heading(page, 'Your sign-in')
    await page.waitForSelector('main:has-text("Browsers make passkeys for a name")')
    await look(page, 'me-elsewhere')
    await page.click(`main a[href="http://localhost:${port}/account/passkeys"]`)
    await heading(page, 'Sign in')
    service.clock.advance(PERIOD_MS)
    await signIn(page, person, secret)
    await page.goto(`http://localhost:${port}/account/passkeys`)
    await addPasskey(page, person, secret)

    await page.goto(bare)
    await signOut(page)
    await page.fill('input[name=identifier]', person.identifier)
    await page.fill('input[name=password]', person.password)
    await page.press('input[name=password]', 'Enter')
    await press(page, 'Use a passkey')
    await page.waitForSelector(`[role=alert]:has-text("Open the page at http://localhost:${port}/admin/")`)
    await close()
  })

  longTest('a changed contact is shown masked, from what to what, and support puts it back', async () => {
    const { person } = await addAdministrator(service, 'support')
    const [before, after] = [newEmail(), newEmail()]
    const { person: bob, bearer } = await service.signedIn(before)
    const elsewhere = { bearer, headers: { 'x-forwarded-for': '203.0.113.9' } }
    await service.post('email/change', { email: after, password: bob.password }, elsewhere)
    await service.post('email/confirm', { otp: await service.inbox.nextCode(after) }, elsewhere)
    const { uuid } = (await asOperator(service, 'GET', `accounts?query=${after}`)).body.items[0]
    const { page, close } = await open()
    await signIn(page, person)
    await page.goto(`${service.adminUrl}/admin/?lang=en#/accounts/${uuid}`)
    await heading(page, after)
    const masked = `${before.slice(0, 1)}•••@example.com`
    await page.waitForSelector(`.notice:has-text("The e-mail address ${masked} was replaced or removed")`)
    await page.waitForSelector(`.events li:has-text("A contact was changed: ${masked} → ${after}")`)
    await look(page, 'account-contact-changed')
    await press(page, 'Put it back')
    expect(await page.textContent('dialog h2')).toBe(`Put ${masked} back into the account of ${after}`)
    await look(page, 'put-back')
    await page.click('dialog button[type=submit]')
    await heading(page, before)
    await page.waitForSelector('.notice', { state: 'detached' })
    await page.waitForSelector('.events li:has-text("A change was undone or stopped: ")')
    expect((await service.get('me', { bearer })).status).toBe(401)
    await close()
  })

  test('in the colours of the reader lines tell a wrong field, what is dangerous, badges and the focus', async () => {
    const { person } = await addAdministrator(service, 'owner')
    const { page, close } = await open()
    await page.emulateMedia({ forcedColors: 'active' })
    await signIn(page, person)
    await page.click('nav a:text-is("Accounts")')
    await page.waitForSelector('tbody .avatar')
    expect(await lineOf(page, 'tbody .badge', 'border')).toBe('solid 1px')
    expect(await lineOf(page, 'tbody .avatar', 'border')).toBe('solid 1px')
    await tabTo(page, 'Messages')
    await press(page, 'New account')
    await page.fill('dialog input[name=email]', 'no address')
    await page.click('dialog button[type=submit]')
    await page.waitForSelector('dialog input[aria-invalid]:focus')
    expect(await lineOf(page, 'dialog input[aria-invalid]', 'border')).toBe('solid 3px')
    expect(await lineOf(page, 'dialog input[aria-invalid]', 'outline')).toBe('solid 3px')
    expect(await lineOf(page, 'dialog input[name=phone]', 'border')).toBe('solid 1px')
    await page.keyboard.press('Escape')
    await page.click(`tbody a:has-text("${person.identifier}")`)
    await heading(page, person.identifier)
    expect(await lineOf(page, 'main button.danger', 'border')).toBe('solid 3px')
    await close()
  })

  longTest.each(['en', 'fr'])('each screen and each dialog is in order in the language %s', async (lang) => {
    const { person } = await addAdministrator(service, 'owner')
    const bob = await protectByApp(service)
    const { uuid } = (await asOperator(service, 'GET', `accounts?query=${bob.person.identifier}`)).body
      .items[0]
    await asOperator(service, 'PATCH', `accounts/${uuid}`, { locked: true, locked_reason: 'chargeback' })
    await asOperator(service, 'POST', 'invitations', { uses: 3, groups: ['staff'] })
    await asOperator(service, 'POST', 'tokens', {
      name: 'nightly',
      scopes: ['accounts:read'],
      expires_in: '90d',
    })
    await asOperator(service, 'POST', 'sms/prefixes', {
      prefix: '+3361',
      reason: 'spam',
      expires_in: '1d',
    })
    const { page, close } = await open(lang)
    await signIn(page, person)
    let dialogs = 0
    for (const screen of [...SCREENS, '', `accounts/${uuid}`]) {
      // The heading gets it back once the screen is there.
      await page.evaluate("document.querySelector('main h1').removeAttribute('tabindex')")
      await page.goto(`${service.adminUrl}/admin/?lang=${lang}#/${screen}`)
      await page.waitForSelector('main h1[tabindex]')
      const name = screen.replace(/s\/.*/, '') || 'overview'
      await look(page, `every-${name}-${lang}`)
      const opening = page.locator(
        'main button:text-matches("…$"), main .title .button:not(.quiet), main .button.danger, main tr:first-child .danger',
      )
      for (let i = 0; i < (await opening.count()); i++) {
        await opening.nth(i).click()
        dialogs += 1
        await page.waitForSelector('dialog[open]')
        await look(page, `every-${name}-dialog-${i}-${lang}`)
        await page.keyboard.press('Escape')
        await page.waitForSelector('dialog', { state: 'detached' })
      }
    }
    expect(dialogs).toBeGreaterThanOrEqual(11)
    await close()
  })

  test('one field finds screens and accounts, by keyboard alone', async () => {
    const { person } = await addAdministrator(service, 'support')
    const bob = await service.signUp(newEmail())
    const { page, close } = await open()
    await signIn(page, person)
    await heading(page, 'Overview')
    await page.keyboard.press('Control+k')
    await page.waitForSelector('dialog.palette li')
    expect(await page.locator('dialog.palette li').allInnerTexts()).not.toContain('Team')
    await page.keyboard.type('mess')
    await page.waitForSelector('dialog.palette li:only-child')
    await page.keyboard.press('Enter')
    await heading(page, 'Messages')
    await page.keyboard.press('Control+k')
    await page.keyboard.type(bob.identifier.slice(2, -4))
    await page.waitForSelector(`dialog.palette li:has-text("${bob.identifier}")`)
    await look(page, 'palette')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await heading(page, bob.identifier)
    await page.click('header button.find')
    await page.keyboard.type('no such thing')
    await page.waitForSelector('dialog.palette p:has-text("Nothing was found.")')
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog', { state: 'detached' })
    await close()
  })

  longTest(
    'the events answer what the team did today, and what one colleague did, with the names of people',
    async () => {
      const ada = await addAdministrator(service, 'support')
      const grace = await addAdministrator(service, 'support')
      const bob = await service.signUp(newEmail())
      const { page, close } = await open()
      await signIn(page, grace.person)
      await page.click('nav a:text-is("Accounts")')
      await page.fill('input[name=query]', bob.identifier)
      await page.click(`tbody a:has-text("${bob.identifier}")`)
      await heading(page, bob.identifier)
      await press(page, 'Lock…')
      await page.click('dialog button[type=submit]')
      await page.waitForSelector('.badge:text-is("Locked")')
      await signOut(page)
      await heading(page, 'Sign in')
      await signIn(page, ada.person)
      await page.click('nav a:text-is("Events")')
      await page.waitForSelector('tr:has-text("Registered")')
      const requests: string[] = []
      page.on('request', (request) => requests.push(new URL(request.url()).pathname))
      await press(page, 'Today')
      await page.waitForSelector('tr:has-text("Registered")', { state: 'detached' })
      const row = page.locator('tbody tr:has-text("The account was locked")').first()
      // The page names whom it was done to, and asked once for all rows.
      expect(await row.innerText()).toContain(bob.identifier)
      expect(await row.innerText()).toContain(grace.person.identifier)
      expect(requests.filter((path) => path.startsWith('/admin/v1/'))).toEqual(['/admin/v1/events'])
      expect(await page.inputValue('input[name=from]')).toMatch(/^\d{4}-\d\d-\d\d$/)
      await look(page, 'events-team')

      await row.locator(`a:has-text("${grace.person.identifier}")`).click()
      await page.waitForSelector(`tbody tr:has-text("${ada.person.identifier}")`, { state: 'detached' })
      await page.waitForSelector(`tbody tr:has-text("Signed in")`)
      expect(await page.inputValue('input[name=actor]')).toBe(grace.person.identifier)
      const shown = await page.locator('tbody tr').allInnerTexts()
      expect(shown.filter((text) => text.includes('Signed in'))).toHaveLength(1)
      await page.fill('input[name=to]', '2020-01-01')
      await page.waitForSelector('.empty p:has-text("No event matches.")')
      await press(page, 'Clear')
      await page.waitForSelector('tr:has-text("Registered")')
      expect(await page.inputValue('input[name=to]')).toBe('')
      await close()
    },
  )

  test('every kind of event has its sentence in both languages', () => {
    for (const words of [wordsEn, wordsFr])
      expect(eventTypes.filter((type) => !(`event:${type}` in words))).toEqual([])
  })

  longTest('a refused sign-in says why, and a session that ended leads back to it', async () => {
    const { person, uuid } = await addAdministrator(service, 'viewer')
    const { page, close } = await open()
    await page.fill('input[name=identifier]', person.identifier)
    await page.fill('input[name=password]', 'not the right one')
    await page.press('input[name=password]', 'Enter')
    await page.waitForSelector('[role=alert]:not(:empty)')
    await look(page, 'refused')
    const secret = await signIn(page, person)
    await asOperator(service, 'DELETE', `accounts/${uuid}/sessions`)
    await page.click('nav a:text-is("Events")')
    await heading(page, 'Sign in')
    service.clock.advance(PERIOD_MS)
    await signIn(page, person, secret)
    await heading(page, 'Events')
    await asOperator(service, 'DELETE', `accounts/${uuid}/sessions`)
    // Back shows a page that the browser kept.
    await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })), null")
    await heading(page, 'Sign in')
    await close()
  })

  test('no answer with anything of a session is kept by a browser', async () => {
    const paths = ['', 'app.js', 'v1/session', 'v1/accounts', 'v1/openapi.json', 'docs']
    const kept = await Promise.all(
      paths.map(async (path) => {
        const { headers } = await fetch(`${service.adminUrl}/admin/${path}`)
        return [path, headers.get('cache-control')]
      }),
    )
    expect(kept).toEqual(paths.map((path) => [path, 'no-store']))
  })

  longTest('on a phone no field has letters so small that the browser zooms into it', async () => {
    const context = await browser.newContext({ hasTouch: true, isMobile: true })
    const page = await context.newPage()
    await page.goto(`${service.adminUrl}/admin/?lang=en`)
    await heading(page, 'Sign in')
    const sizes = await page.evaluate(
      "[...document.querySelectorAll('input')].map((input) => getComputedStyle(input).fontSize)",
    )
    expect(sizes).toEqual(['16px', '16px'])
    await context.close()
  })
})

/** On the page of their own passkeys, which speaks the language of the account. */
async function addPasskey(page: Page, person: Person, secret: string): Promise<void> {
  await page.click('a[href="/account/passkeys/add"]')
  service.clock.advance(PERIOD_MS)
  await page.fill('input[name=password]', person.password)
  await page.fill('input[name=otp]', appCode(secret, service.clock.now()))
  await page.press('input[name=otp]', 'Enter')
  await page.waitForSelector('form[action^="/account/passkeys/choose"]')
}

/** A message tells what became of its code. Whoever did something is named once, and when by the clock below the day. */
async function readRows(page: Page, screen: string): Promise<void> {
  if (screen === 'Messages') await page.waitForSelector('td.outcome:text-matches("^used after .* second")')
  if (screen !== 'Events') return
  const own = page.locator('tr:has-text("Signed in to this page")').first()
  expect(await own.locator('td.named').innerText()).toBe('')
  expect(await own.locator('td.when').innerText()).toMatch(/^\d{1,2}:\d\d$/)
  expect(await page.innerText('tbody th')).toMatch(/^(Today|Yesterday|\d+ \w+ \d{4})$/)
}

/** A phone and a tablet show the words of a row whole, and the icons of events. */
async function narrowRows(page: Page, screen: string): Promise<void> {
  for (const width of [390, 768, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    expect([screen, width, await cutOff(page, CELLS)]).toEqual([screen, width, []])
    if (screen === 'Events') expect(await page.isVisible('tbody .icon')).toBe(true)
  }
}

/** Returns how much larger the first plot is shown than it was drawn. */
const plotScale = (page: Page) =>
  page.evaluate<number>(`(() => {
    const plot = document.querySelector('svg.plot')
    return plot.clientWidth / plot.viewBox.baseVal.width
  })()`)

/** Returns the parts of an address in the heading, which takes several lines, that a line breaks. */
const wordsOverLines = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const range = document.createRange()
    const linesOf = (node) => {
      range.selectNodeContents(node)
      return range.getClientRects().length
    }
    const title = document.querySelector('main h1')
    if (title.offsetHeight < 50) return ['it has one line']
    return [...title.childNodes].filter((node) => node.data && linesOf(node) > 1).map(({ data }) => data)
  })()`)

/** Tells whether the heading of a dialog breaks a long address. */
const fitsLongAddress = (page: Page) =>
  page.evaluate<boolean>(`(() => {
    const heading = document.querySelector('dialog h2')
    heading.append('a'.repeat(60), '@example.com')
    return heading.scrollWidth <= heading.clientWidth
  })()`)

/** Presses Tab until what has the focus reads so, and it is seen to have it. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<{ text: string; outline: string }>(`(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
      return { text: document.activeElement.textContent, outline: outlineStyle + ' ' + outlineWidth }
    })()`)
    if (focused.text !== text) continue
    expect(focused.outline).toBe('solid 2px')
    return
  }
  throw new Error(`Tab does not reach "${text}"`)
}
