/** docs/quickstart.md: its page in a browser, and its back ends, against the executable in --dev. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../helpers/browser.ts'
import { readMailbox } from '../helpers/dev-pages.ts'
import { builtExecutable, type RunningProcess, spawnExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

const root = join(import.meta.dir, '../..')
const files = join(root, 'docs/quickstart')

let url: string
/** The poterne that the back ends know: it is there or not as `isAway` says. */
let front: Bun.Server<undefined>
let isAway = false
let page: Bun.Server<undefined>
let backEndAddress = ''
let poterne: RunningProcess
let browser: Browser

const answers = async (at: string) => (await fetch(at).catch(() => null)) !== null

const codeFor = (to: string, older?: string) =>
  waitFor(
    async () => {
      const entries = await readMailbox(url, poterne.stdout)
      return entries.find((entry) => entry.to === to && entry.code !== older)?.code
    },
    { what: `a code for ${to}` },
  )

beforeAll(async () => {
  await builtExecutable()
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  backEndAddress = `http://127.0.0.1:${await freePort()}`
  const source = (await Bun.file(join(files, 'index.html')).text())
    .replace('http://localhost:8080', url)
    .replace('http://127.0.0.1:3000', backEndAddress)
  front = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url: asked }) =>
      isAway ? new Response('{}', { status: 503 }) : fetch(url + new URL(asked).pathname),
  })
  page = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(source, { headers: { 'content-type': 'text/html' } }),
  })
  poterne = await spawnExecutable(['serve', '--dev'], {
    env: {
      POTERNE_SERVER_PORT: String(port),
      POTERNE_SERVER_BASE_URL: front.url.origin,
      POTERNE_SERVER_CORS_ORIGINS: `http://127.0.0.1:${page.port}`,
    },
  })
  await waitFor(() => answers(`${url}/readyz`), { what: 'poterne to listen' })
  browser = await launchBrowser({})
})

afterAll(async () => {
  await browser?.close()
  poterne?.signal('SIGTERM')
  await poterne?.exited
  await page?.stop(true)
  await front?.stop(true)
})

/** Runs the file as the quick start says, in a folder of its own. */
async function startBackEnd(file: string, command: string[], at: string) {
  const directory = newDirectory('back-end')
  copyFileSync(join(files, file), join(directory, file))
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  const { port } = new URL(at)
  const start = (words: string[]) =>
    Bun.spawn(
      words.map((word) => word.replace('$PORT', port)),
      {
        cwd: directory,
        env: {
          PATH: process.env.PATH,
          HOME: directory,
          GOCACHE: join(directory, 'go'),
          POTERNE_URL: front.url.origin,
          PAGE_ORIGIN: `http://127.0.0.1:${page.port}`,
          PORT: port,
        },
        stdout: 'ignore',
        stderr: 'ignore',
      },
    )
  // The first compilation on a machine takes a minute where other tests run beside it, and `go run` then finds it.
  if (command[0] === 'go') await start(['go', 'build', '-o', '/dev/null', file]).exited
  const server = start(command)
  await waitFor(() => answers(at), { what: `${file} to listen`, timeoutMs: 40_000 })
  return server
}

async function accessToken(): Promise<string> {
  const json = { 'content-type': 'application/json' }
  const post = async (path: string, body: object) =>
    (
      await fetch(`${url}/api/v1/auth/${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) })
    ).json()
  const [identifier, password] = [`back-end-${crypto.randomUUID()}@example.com`, 'une phrase bien longue']
  await post('register', { email: identifier, password, password_confirmation: password })
  const confirmed = { identifier, otp: await codeFor(identifier), password, sign_in: true }
  return ((await post('verify-account', confirmed)) as { access_token: string }).access_token
}

test('the page registers, confirms, keeps people signed in, signs out and in again', async () => {
  const tab = await browser.newPage()
  const problems: string[] = []
  tab.on('pageerror', ({ message }) => problems.push(message))
  await tab.goto(`http://127.0.0.1:${page.port}`)
  const fill = async (values: Record<string, string>) => {
    for (const [name, value] of Object.entries(values)) await tab.fill(`input[name=${name}]`, value)
    await tab.click('form button')
  }
  const title = (text: string) => tab.waitForSelector(`h1:has-text("${text}")`, { timeout: 10_000 })

  await tab.click('text=Create an account')
  const person = { identifier: 'ada@example.com', password: 'une phrase bien longue' }
  await fill({ ...person, password: 'short' })
  await tab.waitForSelector('[role=alert]:has-text("at least 8 characters")')
  await fill(person)
  await title('Enter the code')
  await fill({ otp: '000000' })
  await tab.waitForSelector('[role=alert]:not(:empty)')
  const older = await codeFor('ada@example.com')
  await tab.click('text=Send it again')
  await tab.waitForSelector('[role=status]:has-text("has been sent")')
  await fill({ otp: await codeFor('ada@example.com', older) })
  await title('Hello ada@example.com')
  await tab.reload()
  await title('Hello ada@example.com')
  await tab.click('text=Ask my back end')
  await tab.waitForSelector('[role=alert]:has-text("Nothing answers at")')
  const server = await startBackEnd('backend.mjs', ['node', 'backend.mjs'], backEndAddress)
  await tab.click('text=Ask my back end')
  await tab.waitForSelector('[role=status]:has-text(\'The back end answered: {"user":\')')
  server.kill()
  await server.exited
  await tab.click('text=Sign out')
  await title('Sign in')
  await fill({ ...person, password: 'wrong wrong wrong' })
  await tab.waitForSelector('[role=alert]:not(:empty)')
  await fill(person)
  await title('Hello ada@example.com')
  expect(problems).toEqual([])
  await tab.close()
})

const backEnds: [string, string[]][] = [
  ['backend.mjs', ['node', 'backend.mjs']],
  ['backend.py', ['/usr/bin/python3', 'backend.py']],
  ['backend.go', ['go', 'run', 'backend.go']],
  ['backend.php', ['php', '-S', '127.0.0.1:$PORT', 'backend.php']],
]

describe('a back end takes the access token and nothing else', () => {
  test.each(backEnds)(
    '%s',
    async (file, command) => {
      const at = `http://127.0.0.1:${await freePort()}/`
      const server = await startBackEnd(file, command, at)
      try {
        const ask = async (token: string, scheme = 'Bearer') => {
          const answer = await fetch(at, { headers: { authorization: `${scheme} ${token}` } })
          return { status: answer.status, body: answer.ok ? await answer.json() : null }
        }
        const token = await accessToken()
        isAway = true
        expect((await ask(token)).status).toBe(503)
        isAway = false
        const [header = '', claims = '', signature = ''] = token.split('.')
        const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString())
        expect(await ask(token)).toEqual({ status: 200, body: { user: sub } })
        isAway = true
        expect((await ask(token, 'bearer')).status).toBe(200)
        isAway = false
        const asked = await fetch(at, { method: 'OPTIONS' })
        expect([asked.ok, asked.headers.get('access-control-allow-origin')]).toEqual([
          true,
          `http://127.0.0.1:${page.port}`,
        ])
        expect(asked.headers.get('access-control-allow-headers')).toBe('authorization')
        const changed = (part: string, change: object) =>
          Buffer.from(
            JSON.stringify({ ...JSON.parse(Buffer.from(part, 'base64url').toString()), ...change }),
          ).toString('base64url')
        for (const wrong of [
          '',
          'x',
          `${header}.${claims}`,
          `${changed(header, { alg: 'none' })}.${claims}.`,
          `${changed(header, { kid: 'unknown' })}.${claims}.${signature}`,
          `${header}.${changed(claims, { sub: 'somebody' })}.${signature}`,
          `${header}.${claims}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
        ]) {
          expect((await ask(wrong)).status).toBe(401)
        }
      } finally {
        isAway = false
        server.kill()
        await server.exited
      }
    },
    300_000,
  )
})
