/** The applications of docs/quickstart.md and docs/pages.md that get their tokens by the hand-over, in a browser. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../helpers/browser.ts'
import { readMailbox } from '../helpers/dev-pages.ts'
import {
  builtExecutable,
  type RunningProcess,
  runExecutable,
  spawnExecutable,
} from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(180_000)

const root = join(import.meta.dir, '../..')
const files = join(root, 'docs/quickstart')
const person = { email: 'ada@example.com', password: 'a rather long sentence' }

let browser: Browser
beforeAll(async () => {
  await builtExecutable()
  browser = await launchBrowser({})
})
afterAll(async () => {
  await browser?.close()
})

const answers = async (at: string) => (await fetch(at).catch(() => null)) !== null

/** The blocks of a shell that write a file: what they write. */
const written = (name: string) =>
  new RegExp(`^cat > ${name} <<'END'\\n(.*?)^END$`, 'ms').exec(
    readFileSync(join(root, 'docs/quickstart.md'), 'utf8'),
  )?.[1] as string

async function startHandOver(settings = written('app.toml')) {
  const [port, pagePort] = [await freePort(), await freePort()]
  const own = `http://127.0.0.1:${port}`
  const here = (text: string) => text.replaceAll(':8080', `:${port}`).replaceAll(':5173', `:${pagePort}`)
  const site = Bun.serve({
    hostname: '127.0.0.1',
    port: pagePort,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith('/node_modules/')) return new Response(Bun.file(join(root, pathname)))
      const file = Bun.file(join(files, pathname))
      if (!(await file.exists())) return new Response(null, { status: 404 })
      const text = here(await file.text())
      return new Response(text, { headers: { 'content-type': 'text/html' } })
    },
  })
  const config = join(newDirectory('hand-over'), 'app.toml')
  writeFileSync(config, here(settings))
  const env = { POTERNE_SERVER_PORT: String(port) }
  const process = await spawnExecutable(['serve', '--dev', '--config', config], { env })
  await waitFor(() => answers(`${own}/readyz`), { what: 'poterne to listen', timeoutMs: 30_000 })
  const close = async () => {
    process.signal('SIGTERM')
    await process.exited
    await site.stop(true)
  }
  return { own: own.replace('127.0.0.1', 'localhost'), process, pagePort, config, here, env, close }
}

/** On the pages of poterne: somebody who has no account yet. */
async function register(tab: Page, own: string, process: RunningProcess): Promise<void> {
  await tab.click('text=Create an account')
  await tab.fill('main input[name=identifier]', person.email)
  await tab.fill('main input[name=password]', person.password)
  await tab.press('main input[name=password]', 'Enter')
  await tab.waitForSelector('main input[name=otp]')
  const findCode = async () => (await readMailbox(own, process.stdout))[0]?.code
  await tab.fill('main input[name=otp]', await waitFor(findCode, { what: 'the code' }))
  await tab.click('main a:text-is("Continue")')
}

test('without a library: it signs in, stays signed in, refreshes, waits while poterne is away, and signs out', async () => {
  const { own, process, pagePort, close } = await startHandOver()
  const context = await browser.newContext({ locale: 'en-GB' })
  const tab = await context.newPage()
  const problems: string[] = []
  tab.on('pageerror', ({ message }) => problems.push(message))
  const says = (text: string) => tab.waitForSelector(`p:text-is("${text}")`)
  const isSignedIn = () => says(`Signed in as ${person.email}.`)
  const tokens = () => tab.evaluate(() => JSON.parse(localStorage.tokens))
  await tab.goto(`http://localhost:${pagePort}/hand-over.html`)
  await tab.click('button')
  await register(tab, own, process)
  await isSignedIn()
  await tab.reload()
  await isSignedIn()
  const before = await tokens()
  // Two tabs that find the access token dead at once: one refreshes.
  await tab.evaluate(() => {
    localStorage.tokens = JSON.stringify({ ...JSON.parse(localStorage.tokens), access_token: 'dead' })
  })
  const second = await context.newPage()
  await Promise.all([tab.reload(), second.goto(`http://localhost:${pagePort}/hand-over.html`)])
  await isSignedIn()
  await second.waitForSelector(`p:text-is("Signed in as ${person.email}.")`)
  expect((await tokens()).refresh_token).not.toBe(before.refresh_token)
  await second.close()
  await tab.route(`${own}/**`, (route) => route.abort())
  await tab.reload()
  await tab.waitForSelector('p:text-matches("^Not now: ")')
  await tab.unroute(`${own}/**`)
  await tab.reload()
  await isSignedIn()
  const elsewhere = own.replace('localhost', '127.0.0.1')
  await tab.goto(`http://localhost:${pagePort}/hand-over.html?code=a&state=b&iss=${elsewhere}`)
  await says(`Not now: the tokens come from ${elsewhere}, and not from ${own}`)
  await tab.goto(`http://localhost:${pagePort}/with-library.html`)
  await tab.click('button')
  await tab.click('main a:text-is("Continue")')
  await isSignedIn()
  expect(new URL(tab.url()).search).toBe('')
  await tab.goto(`http://localhost:${pagePort}/hand-over.html`)
  await tab.click('button:text-is("Sign out")')
  await tab.click('main button:text-is("Sign out")')
  await says('Not signed in.')
  expect(await tokens()).toBeNull()
  expect(problems).toEqual([])
  expect(process.stdout()).not.toContain('cors_origins')
  await context.close()
  await close()
})

test('with pages of the server: the browser gets no token, one refresh serves all, and poterne counts the person', async () => {
  const appPort = await freePort()
  const app = `http://localhost:${appPort}`
  const application = /^```toml\n(\[server\]\ntrusted_proxies.*?)^```$/ms.exec(
    readFileSync(join(root, 'docs/pages.md'), 'utf8'),
  )?.[1] as string
  const settings = application.replaceAll('localhost:3000', `localhost:${appPort}`)
  const { own, process: poterne, config, env, close } = await startHandOver(settings)
  const run = (...words: string[]) =>
    runExecutable([...words, '--config', config], { env, directory: poterne.directory })
  const exchanges = () =>
    poterne
      .stdout()
      .split('\n')
      .filter((line) => line.includes('"/oauth2/token"')).length

  /** One application from the sign-in to the sign-out. */
  async function tryApplication(command: string, file: string, signIn: (tab: Page) => Promise<void>) {
    const directory = newDirectory('session')
    copyFileSync(join(files, file), join(directory, file))
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
    const server = Bun.spawn([command, file], {
      cwd: directory,
      env: { PATH: process.env.PATH, POTERNE_URL: own, APP_URL: app },
      ...{ stdout: 'inherit', stderr: 'ignore' },
    })
    await waitFor(() => answers(app), { what: `${file} to listen` })
    expect((await fetch(`${app}//`)).status).toBeLessThan(500)
    const context = await browser.newContext({ locale: 'en-GB' })
    const tab = await context.newPage()
    await tab.goto(app)
    await tab.click('text=Sign in')
    await signIn(tab)
    await tab.waitForSelector(`p:text-is("Hello ${person.email}.")`)
    const cookies = await context.cookies(app)
    expect(cookies.find(({ name }) => name === 'session')).toMatchObject({ httpOnly: true, sameSite: 'Lax' })
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    // Tokens of the present second stay.
    await Bun.sleep(1100)
    const before = exchanges()
    expect((await run('accounts', 'set', person.email, '--end-tokens')).error).toBe('')
    const pages = await Promise.all(Array.from({ length: 32 }, () => fetch(app, { headers: { cookie } })))
    const texts = await Promise.all(pages.map((page) => page.text()))
    expect(new Set(texts.map((text) => text.includes(`Hello ${person.email}.`)))).toEqual(new Set([true]))
    expect(exchanges() - before).toBe(1)
    await tab.click('button:text-is("Sign out")')
    await tab.click('main button:text-is("Sign out")')
    await tab.waitForSelector('p:text-is("Not signed in.")')
    expect(await (await fetch(app, { headers: { cookie } })).text()).toContain('Not signed in.')
    await context.close()
    server.kill()
    await server.exited
  }

  await tryApplication('node', 'backend-session.mjs', (tab) => register(tab, own, poterne))
  await turnOnTwoFactors(own, poterne)
  await tryApplication('python3', 'backend-session.py', async (tab) => {
    const latest = async () => (await readMailbox(own, poterne.stdout))[0]
    const { id } = (await latest())!
    await tab.fill('main input[name=identifier]', person.email)
    await tab.fill('main input[name=password]', person.password)
    await tab.press('main input[name=password]', 'Enter')
    await tab.waitForSelector('main input[name=otp]')
    const next = async () => {
      const message = await latest()
      return message && message.id > id ? message.code : undefined
    }
    await tab.fill('main input[name=otp]', await waitFor(next, { what: 'the code' }))
    if (await tab.isVisible('main button:text-is("Continue")'))
      await tab.click('main button:text-is("Continue")')
    await tab.click('main a:text-is("Continue")')
  })
  expect(poterne.stdout()).not.toContain('is not trusted')
  await close()
})

/** As an application with forms of its own does it. */
async function turnOnTwoFactors(own: string, { stdout }: RunningProcess): Promise<void> {
  const call = async (path: string, body: object, token = '') => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return (await (await fetch(`${own}/api/v1/auth/${path}`, init)).json()) as Record<string, string>
  }
  const { access_token } = await call('login', { identifier: person.email, password: person.password })
  await call('2fa/enable', { password: person.password, method: 'email' }, access_token)
  const enrolment = async () =>
    (await readMailbox(own, stdout)).find(({ purpose }) => purpose === 'two_factor_enrolment')?.code
  const otp = await waitFor(enrolment, { what: 'the code' })
  expect(await call('2fa/enable/confirm', { otp }, access_token)).toMatchObject({ status: 200 })
}
