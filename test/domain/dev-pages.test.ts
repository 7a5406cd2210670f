/** The start page and the mailbox of --dev in Chromium: what axe finds on a phone and on a wide screen, and what "Copy" copies. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { Elysia } from 'elysia'
import type { Browser, Page } from 'playwright-core'
import { openDevKey } from '../../src/operations/dev/dev-key.ts'
import { createMailbox } from '../../src/operations/dev/mailbox.ts'
import { builtInPeople } from '../../src/operations/dev/people.ts'
import { createDevRoutes } from '../../src/operations/dev/routes.ts'
import { createCatalog } from '../../src/texts/catalog.ts'
import { examine, examineLargeText, loadAxe } from '../helpers/axe.ts'
import { launchBrowser } from '../helpers/browser.ts'

setDefaultTimeout(60_000)

const clock = { now: () => new Date('2026-07-01T12:00:00.000Z') }
const mailbox = createMailbox(clock, null)
const key = openDevKey(null, 8080)
const routes = createDevRoutes(new Elysia({ name: 'alone' }) as never, {
  ...{ mailbox, catalog: createCatalog({ language: 'fr' }), clock, key, people: builtInPeople },
  start: {
    ...{ adminUrl: 'http://127.0.0.1:8081/admin/', hasDocumentation: true, hasPages: true },
    ...{ baseUrl: 'http://localhost:8080', applications: [] },
  },
  signInAs: { cookieFor: () => null, take: () => Promise.reject(new Error('nobody signs in here')) },
  anyHost: false,
})

let browser: Browser
let server: ReturnType<typeof Bun.serve>
beforeAll(async () => {
  browser = await launchBrowser({})
  server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => routes.handle(request) })
  const common = {
    id: 1,
    to: 'ada@example.com',
    purpose: 'confirmation',
    language: 'fr',
    minutes: 10,
  } as const
  const text = 'Voici votre code : 012345'
  const subject = 'Confirmez votre compte'
  await mailbox.send({ ...common, channel: 'email', subject, text, html: '<p>012345</p>', code: '012345' })
  await mailbox.send({ ...common, id: 2, channel: 'sms', subject: '', text, html: null, code: '012345' })
})
afterAll(async () => {
  await browser?.close()
  await server?.stop(true)
})

async function open(path: string, bypassCSP: boolean): Promise<Page> {
  const context = await browser.newContext({ bypassCSP, locale: 'en' })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const page = await context.newPage()
  await page.goto(`http://127.0.0.1:${server.port}${path}?key=${key.value}`)
  return page
}

test.each(['/', '/dev/mailbox'])('axe finds nothing on %s', async (path) => {
  const page = await open(path, true)
  await loadAxe(page)
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [1440, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    expect([width, ...(await examine(page)), ...(await examineLargeText(page))]).toEqual([width])
  }
  await page.context().close()
})

test('the start page copies the address, the password and the present code of a person', async () => {
  const page = await open('/', false)
  const ada = page.locator('li', { has: page.locator('bdi:text-is("ada@example.com")') })
  const copied: unknown[] = []
  for (const button of await ada.locator('.copy').all()) {
    await button.click()
    await ada.getByText('Copied').nth(copied.length).waitFor()
    copied.push(await page.evaluate('navigator.clipboard.readText()'))
  }
  const code = await ada.locator('output').textContent()
  expect(copied).toEqual(['ada@example.com', 'a rather long sentence', code])
  await page.context().close()
})
