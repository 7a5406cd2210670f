/** docs/quickstart.md: its page in a browser, and its back ends, against the executable in --dev. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { Browser } from 'playwright-core'
import { stringify } from 'smol-toml'
import { launchBrowser } from '../helpers/browser.ts'
import { browserClient, serverClient } from '../helpers/client-package.ts'
import { readMailbox } from '../helpers/dev-pages.ts'
import { builtExecutable, type RunningProcess, spawnExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { basic, codeFor as codeOf, entry, redeemBySecret } from '../helpers/hand-over.ts'
import { openBrowser } from '../helpers/page-browser.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { reduced } from '../helpers/soak.ts'
import { openToldApplication } from '../helpers/told-application.ts'
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
const told = openToldApplication()
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
  const client = await browserClient()
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
    fetch: ({ url: asked }) =>
      asked.includes('/node_modules/@poterne/client/')
        ? new Response(client, { headers: { 'content-type': 'text/javascript' } })
        : new Response(source, { headers: { 'content-type': 'text/html' } }),
  })
  const config = join(newDirectory('applications'), 'poterne.toml')
  const applications = [
    entry('grafana', { backchannel_logout_uri: told.address }),
    entry('team', { own: true, groups: undefined }),
  ]
  writeFileSync(config, stringify({ pages: { applications } }))
  poterne = await spawnExecutable(['serve', '--dev', '--config', config], {
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
  await told.close()
})

/** Runs the file as the quick start says, in a folder of its own. */
async function startBackEnd(file: string, command: string[], at: string) {
  const directory = newDirectory('back-end')
  copyFileSync(join(files, file), join(directory, file))
  const installed = join(directory, 'node_modules/@poterne/client')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'server.js'), await serverClient())
  writeFileSync(
    join(installed, 'package.json'),
    JSON.stringify({ type: 'module', exports: { './server': './server.js' } }),
  )
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

const password = 'une phrase bien longue'

async function signUp() {
  const json = { 'content-type': 'application/json' }
  const post = async (path: string, body: object) =>
    (
      await fetch(`${url}/api/v1/auth/${path}`, { method: 'POST', headers: json, body: JSON.stringify(body) })
    ).json()
  const identifier = `back-end-${crypto.randomUUID()}@example.com`
  await post('register', { email: identifier, password, password_confirmation: password })
  const confirmed = { identifier, otp: await codeFor(identifier), password, sign_in: true }
  const { access_token } = (await post('verify-account', confirmed)) as { access_token: string }
  return { identifier, access_token }
}

/** The tokens that the hand-over gives, by what they are: access tokens of the team, and all others. */
async function handedOver() {
  const { identifier } = await signUp()
  const { host, origin } = front.url
  const browser = await openBrowser(url, { host, headers: { origin } }).open('/sign-in')
  await browser.press('Sign in', { identifier, password })
  const scope = { scope: 'openid offline_access' }
  const team = (await redeemBySecret({ url }, 'team', await codeOf(browser, 'team', scope))).body
  const other = (await redeemBySecret({ url }, 'grafana', await codeOf(browser, 'grafana', scope))).body
  const body = new URLSearchParams({ token: other.refresh_token })
  await fetch(`${url}/oauth2/revoke`, { method: 'POST', headers: basic('grafana'), body })
  const [{ token: logout = '' } = {}] = await waitFor(() => told.received.length > 0 && told.received)
  const foreign: Record<string, string> = {
    'the access token of another program': other.access_token,
    'its refresh token': other.refresh_token,
    'its ID token': other.id_token,
    'its logout token': logout,
    'a refresh token of the team': team.refresh_token,
    'an ID token of the team': team.id_token,
  }
  for (const [what, token] of Object.entries(foreign))
    expect(token?.length ?? 0, what).toBeGreaterThanOrEqual(64)
  return { own: team.access_token as string, foreign }
}
let handed: ReturnType<typeof handedOver> | undefined
const tokens = () => {
  handed ??= handedOver()
  return handed
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
  ['backend.php', ['php', '-S', '127.0.0.1:$PORT', 'backend.php']],
  // Its compilation takes longer than all others.
  ...reduced<[string, string[]][]>([], [['backend.go', ['go', 'run', 'backend.go']]]),
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
        const { access_token: token } = await signUp()
        const { own, foreign } = await tokens()
        isAway = true
        expect((await ask(token)).status).toBe(503)
        isAway = false
        const [header = '', claims = '', signature = ''] = token.split('.')
        const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString())
        expect(await ask(token)).toEqual({ status: 200, body: { user: sub } })
        expect((await ask(own)).status).toBe(200)
        for (const [what, token] of Object.entries(foreign))
          expect([what, (await ask(token)).status]).toEqual([what, 401])
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

  test('also one that knows the issuer alone, and asks for no audience', async () => {
    const issuer = front.url.origin
    const document = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json()
    const keys = createRemoteJWKSet(new URL((document as { jwks_uri: string }).jwks_uri))
    const { own, foreign } = await tokens()
    expect((await jwtVerify(own, keys, { issuer })).payload.sub).toBeString()
    for (const [what, token] of Object.entries(foreign)) {
      const taken = await jwtVerify(token, keys, { issuer }).catch(() => null)
      expect([what, taken]).toEqual([what, null])
    }
  })
})
