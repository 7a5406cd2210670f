/**
 * Walks the tour of docs/tour.md in Chromium and takes its pictures: `bun scripts/take-tour.ts`. Needs a build and
 * Debian's chromium-headless-shell. It starts a service and the page of the quick start, and stops them.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { launchBrowser } from '../test/helpers/browser.ts'
import { freePort } from '../test/helpers/free-port.ts'
import { waitFor } from '../test/helpers/wait.ts'

const root = join(import.meta.dir, '..')
const pictures = join(root, 'docs/pictures')
const directory = mkdtempSync(join(tmpdir(), 'poterne-tour-'))
const [port, appPort] = [await freePort(), await freePort()]
const server = `http://localhost:${port}`
const application = `http://localhost:${appPort}/hand-over.html`
const password = 'a long enough phrase'

const example = readFileSync(join(root, 'docs/quickstart/hand-over.html'), 'utf8')
const app = Bun.serve({
  port: appPort,
  hostname: '127.0.0.1',
  fetch: () =>
    new Response(example.replace('http://localhost:8080', server), {
      headers: { 'content-type': 'text/html; charset=utf-8' },
    }),
})
const configFile = join(directory, 'app.toml')
writeFileSync(
  configFile,
  `[server]
cors_origins = ["${new URL(application).origin}"]
[pages]
name = "Example"
[[pages.applications]]
id = "web"
name = "Example"
redirect_uris = ["${application}"]
sign_out_uris = ["${application}"]
`,
)
const env = {
  ...process.env,
  POTERNE_SERVER_PORT: String(port),
  POTERNE_STORAGE_DATA_DIR: directory,
}
const words = [join(root, 'dist/poterne'), 'serve', '--dev', '--config', configFile]
const service = Bun.spawn(words, { env, stdout: 'ignore', stderr: 'ignore' })
const browser = await launchBrowser({})
try {
  mkdirSync(pictures, { recursive: true })
  await waitFor(async () => (await fetch(`${server}/readyz`)).ok, { what: 'the service', timeoutMs: 30_000 })
  const key = readFileSync(join(directory, 'dev-key'), 'utf8').trim()
  const context = await browser.newContext({ viewport: { width: 560, height: 640 }, locale: 'en-GB' })
  const page = await context.newPage()
  const press = (label: string) => page.click(`main button:text-is("${label}")`)
  const take = (name: string) => page.screenshot({ path: join(pictures, `tour-${name}.png`) })

  await page.goto(`${server}/?key=${key}`)
  await take('1-start')
  await page.goto(`${server}/sign-up`)
  await page.fill('input[name=identifier]', 'ada@example.com')
  await page.fill('input[name=password]', password)
  await take('2-register')
  await press('Create an account')
  await page.waitForSelector('input[name=otp]')
  const code = await waitFor(
    async () => {
      const list = await (await fetch(`${server}/dev/mailbox.json?key=${key}`)).json()
      return (list as { code: string | null }[]).find((message) => message.code !== null)?.code
    },
    { what: 'the code' },
  )
  const mailbox = await context.newPage()
  await mailbox.goto(`${server}/dev/mailbox?key=${key}`)
  await mailbox.waitForSelector(`text=${code}`)
  await mailbox.screenshot({ path: join(pictures, 'tour-3-mailbox.png') })
  await mailbox.close()
  // Six digits submit themselves, so the picture shows five.
  await page.fill('input[name=otp]', code.slice(0, 5))
  await take('4-confirm')
  await page.fill('input[name=otp]', code)
  await page.waitForURL(/\/account/)
  await take('5-account')

  await page.goto(`${server}/account/two-factor/app`)
  await page.fill('input[name=password]', password)
  await press('Continue')
  await page.waitForSelector('.qr')
  const secret = Secret.fromBase32((await page.textContent('main code')) as string)
  await take('6-app')
  await page.fill('input[name=otp]', new TOTP({ secret }).generate())
  await page.waitForSelector('#codes')
  const recoveryCode = (await page.textContent('#codes li')) as string
  await page.click('main a:text-is("I have kept them")')
  await page.click('header button:text-is("Sign out")')
  await page.waitForURL(/\/signed-out/)

  await page.goto(application)
  await take('7-application')
  await page.click('button')
  await page.waitForURL(/\/sign-in/)
  await page.fill('input[name=identifier]', 'ada@example.com')
  await page.fill('input[name=password]', password)
  await take('8-sign-in')
  await press('Sign in')
  await page.waitForURL(/\/code/)
  await take('9-second-step')
  // The app's code was used just now.
  await page.fill('input[name=otp]', recoveryCode)
  await press('Sign in')
  await page.waitForSelector('h1:text-is("Continue to Example")')
  await take('10-continue')
  await page.click('main a.button')
  await page.waitForSelector('text=Signed in as ada@example.com.')
  await take('11-signed-in')

  const asked = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: application })
  await page.goto(`${server}/oauth2/sign-out?${asked}`)
  await take('12-sign-out')
  await press('Sign out')
  await page.waitForSelector('text=Not signed in.')
} finally {
  await browser.close()
  await app.stop(true)
  service.kill()
  await service.exited
  rmSync(directory, { recursive: true, force: true })
}
