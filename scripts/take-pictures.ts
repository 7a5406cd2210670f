/**
 * Takes the pictures of the page of administration that docs/administration.md shows: `bun scripts/take-pictures.ts`.
 * Needs Debian's chromium-headless-shell and pngquant. It starts a service of its own with invented people, and stops it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { launchBrowser } from '../test/helpers/browser.ts'
import { freePort } from '../test/helpers/free-port.ts'
import { waitFor } from '../test/helpers/wait.ts'

const root = join(import.meta.dir, '..')
const pictures = join(root, 'docs/pictures')
const directory = mkdtempSync(join(tmpdir(), 'poterne-pictures-'))
const [port, adminPort] = [await freePort(), await freePort()]
const main = [process.execPath, join(root, 'src/main.ts')]
const env = {
  ...process.env,
  POTERNE_SERVER_PORT: String(port),
  POTERNE_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
  POTERNE_STORAGE_DATA_DIR: directory,
}
const password = 'a long enough phrase'
const api = `http://127.0.0.1:${port}/api/v1/auth`
/** Each with a name and groups, and some with a second step. */
const people: [name: string, groups: string[], factor?: 'app' | 'codes'][] = [
  ['Grace Hopper', ['staff']],
  ['Alan Turing', []],
  ['Edsger Dijkstra', ['editors'], 'app'],
  ['Barbara Liskov', []],
  ['Siobhán Wiśniewski', ['editors', 'beta'], 'codes'],
  ['Donald Knuth', ['beta', 'editors', 'staff']],
  ['Leslie Lamport', [], 'app'],
  ['Ada Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh', []],
]
/** So many wrong passwords are refused for a while. */
const TOO_MANY = 12
const addressOf = (name: string) =>
  `${name
    .split(' ')[0]!
    .normalize('NFD')
    .replace(/[^a-z]/gi, '')
    .toLowerCase()}@example.com`

const post = async (path: string, body: object, bearer?: string) =>
  (await (
    await fetch(`${api}/${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'accept-language': 'en',
        ...(bearer && { authorization: `Bearer ${bearer}` }),
      },
      body: JSON.stringify(body),
    })
  ).json()) as { access_token: string; secret: string }

const poterne = (...words: string[]) => $`${main} ${words}`.env(env as Record<string, string>).quiet()

/** The newest code for somebody that is not `last`. */
const codeFor = (identifier: string, last?: string) =>
  waitFor(
    async () => {
      const key = readFileSync(join(directory, 'dev-key'), 'utf8').trim()
      const answer = await fetch(`http://127.0.0.1:${port}/dev/mailbox.json?key=${key}`)
      const list = (await answer.json()) as { to: string; code: string | null }[]
      return list.find(({ to, code }) => to === identifier && code !== null && code !== last)?.code
    },
    { what: `the code of ${identifier}`, timeoutMs: 10_000 },
  )

/** Registers somebody, confirms with the code from the mailbox, signs in now and then, and turns a second step on. */
async function play([name, groups, factor]: (typeof people)[number], logins: number): Promise<void> {
  const identifier = addressOf(name)
  await post('register', { email: identifier, password, password_confirmation: password })
  const otp = await codeFor(identifier)
  await post('verify-account', { identifier, otp })
  const device = { device_type: 'Navigateur', device_name: 'Firefox', device_os: 'Linux' }
  let bearer = ''
  for (let i = 0; i < logins; i++) {
    const { access_token: token } = await post('login', { identifier, password, ...device })
    bearer = token
  }
  await post('login', { identifier, password: 'not the right one' })
  if (factor === 'codes') {
    await post('2fa/enable', { password }, bearer)
    await post('2fa/enable/confirm', { otp: await codeFor(identifier, otp) }, bearer)
  }
  if (factor === 'app') {
    const { secret } = await post('2fa/totp', { password }, bearer)
    await post(
      '2fa/totp/confirm',
      { otp: new TOTP({ secret: Secret.fromBase32(secret) }).generate() },
      bearer,
    )
  }
  const given = groups.flatMap((group) => ['--group', group])
  await poterne('accounts', 'set', identifier, '--profile', JSON.stringify({ name }), ...given)
}

async function signIn(page: Page): Promise<void> {
  await page.fill('input[name=identifier]', 'grace@example.com')
  await page.fill('input[name=password]', password)
  await page.click('main .button.wide')
  await page.waitForSelector('main code')
  const secret = Secret.fromBase32((await page.textContent('main code')) as string)
  await page.fill('input[name=otp]', new TOTP({ secret }).generate())
  await page.click('main .button.wide')
  await page.waitForSelector('ul.codes')
  await page.click('main .button.wide')
  await page.waitForSelector('header nav')
}

async function take(page: Page, name: string): Promise<void> {
  const file = join(pictures, `${name}.png`)
  // What is pointed at looks different.
  await page.mouse.move(0, 0)
  await page.screenshot({ path: file })
  await $`pngquant --force --skip-if-larger --output ${file} 64 ${file}`.nothrow().quiet()
}

const service = Bun.spawn([...main, 'serve', '--dev'], { env, stdout: 'ignore', stderr: 'ignore' })
const browser = await launchBrowser({})
try {
  mkdirSync(pictures, { recursive: true })
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, {
    what: 'the service',
    timeoutMs: 120_000,
  })
  for (const [index, person] of people.entries()) await play(person, (index % 3) + 1)
  const waiting = { email: 'margaret@example.com', password, password_confirmation: password }
  await post('register', waiting)
  await poterne('admins', 'add', 'grace@example.com', '--role', 'owner')
  await poterne('accounts', 'lock', 'alan@example.com', '--reason', 'chargeback')

  for (const [suffix, width, height, colorScheme] of [
    ['wide', 1440, 900, 'light'],
    ['narrow', 390, 844, 'dark'],
  ] as const) {
    for (let i = 0; i < TOO_MANY; i++)
      await post('login', { identifier: 'barbara@example.com', password: `the wrong one ${i}` })
    if (suffix === 'narrow') await poterne('accounts', 'remove-two-factor', 'grace@example.com', '--yes')
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, locale: 'en-GB' })
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${adminPort}/admin/?lang=en`)
    await signIn(page)
    await page.waitForSelector('svg.plot rect')
    await take(page, `administration-overview-${suffix}`)
    for (const screen of ['accounts', 'messages', 'events']) {
      await page.goto(`http://127.0.0.1:${adminPort}/admin/?lang=en#/${screen}`)
      await page.waitForSelector('tbody tr')
      await take(page, `administration-${screen}-${suffix}`)
    }
    await page.goto(`http://127.0.0.1:${adminPort}/admin/?lang=en#/accounts`)
    await page.click('tbody a:has-text("Barbara Liskov")')
    await page.waitForSelector('h1:has-text("Barbara Liskov")')
    await take(page, `administration-account-${suffix}`)
    await context.close()
  }
} finally {
  await browser.close()
  service.kill()
  await service.exited
  rmSync(directory, { recursive: true, force: true })
}
