/**
 * Takes the pictures of the page of administration that docs/administration.md shows: `bun scripts/take-pictures.ts`.
 * Needs Debian's chromium and pngquant. It starts a service of its own with invented people, and stops it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { Secret, TOTP } from 'otpauth'
import { chromium, type Page } from 'playwright-core'
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
  POTERNE_LIMITS_ENABLED: 'false',
}
const password = 'a long enough phrase'
const api = `http://127.0.0.1:${port}/api/v1/auth`
const people = ['grace', 'alan', 'edsger', 'barbara', 'donald', 'margaret', 'leslie', 'frances']

const post = async (path: string, body: object) =>
  (
    await fetch(`${api}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-language': 'en' },
      body: JSON.stringify(body),
    })
  ).json()

const poterne = (...words: string[]) => $`${main} ${words}`.env(env as Record<string, string>).quiet()

/** Registers somebody, confirms with the code from the mailbox, and signs in now and then. */
async function play(name: string, logins: number): Promise<void> {
  const identifier = `${name}@example.com`
  await post('register', { email: identifier, password, password_confirmation: password })
  const otp = await waitFor(
    async () => {
      const key = readFileSync(join(directory, 'dev-key'), 'utf8').trim()
      const answer = await fetch(`http://127.0.0.1:${port}/dev/mailbox.json?key=${key}`)
      const list = (await answer.json()) as { to: string; code: string | null }[]
      return list.find(({ to, code }) => to === identifier && code !== null)?.code
    },
    { what: `the code of ${identifier}`, timeoutMs: 10_000 },
  )
  await post('verify-account', { identifier, otp })
  const device = { device_type: 'Navigateur', device_name: 'Firefox', device_os: 'Linux' }
  for (let i = 0; i < logins; i++) await post('login', { identifier, password, ...device })
  await post('login', { identifier, password: 'not the right one' })
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
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
try {
  mkdirSync(pictures, { recursive: true })
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, {
    what: 'the service',
    timeoutMs: 30_000,
  })
  for (const [index, name] of people.entries()) await play(name, (index % 3) + 1)
  await poterne('admins', 'add', 'grace@example.com', '--role', 'owner')
  await poterne('accounts', 'lock', 'alan@example.com', '--reason', 'chargeback')

  for (const [suffix, width, height, colorScheme] of [
    ['wide', 1440, 900, 'light'],
    ['narrow', 390, 844, 'dark'],
  ] as const) {
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
    await page.click('tbody a:has-text("alan@example.com")')
    await page.waitForSelector('h1:has-text("alan@example.com")')
    await take(page, `administration-account-${suffix}`)
    await context.close()
  }
} finally {
  await browser.close()
  service.kill()
  await service.exited
  rmSync(directory, { recursive: true, force: true })
}
