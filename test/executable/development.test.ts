/** `serve --dev` as a developer meets it: one name, people who can sign in, what is refused. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runExecutable, spawnExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { longTest } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

interface Line {
  msg: string
  url?: string
  email?: string
  password?: string
  about?: string
  administration?: string
  route?: string | null
  path?: string
  start?: string
}

/** What an answer holds. */
// biome-ignore lint/suspicious/noExplicitAny: each test says what it expects of it.
const bodyOf = async (answer: Response): Promise<any> => answer.json()

interface Listed {
  identifier: string
  password: string | null
  app_secret: string | null
  code: string | null
}

async function start(directory: string, { args = ['--seed'], people = 4, env = {} } = {}) {
  const port = await freePort()
  const all = { POTERNE_SERVER_PORT: String(port), ...env }
  const service = await spawnExecutable(['serve', '--dev', '--json', ...args], { directory, env: all })
  const lines = () =>
    service
      .stdout()
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as Line)
  const told = () => lines().filter(({ msg }) => msg === 'you can sign in as')
  const find = (message: string) => lines().find(({ msg }) => msg === message)
  await waitFor(() => find('open these') && told().length === people, { what: 'people', timeoutMs: 30_000 })
  const url = find('listening')!.url!
  const key = new URL(find('open these')!.start!).searchParams.get('key')
  const read = async (path: string) =>
    bodyOf(await fetch(`${url}/dev/${path}${path.includes('?') ? '&' : '?'}key=${key}`))
  return {
    ...{ port, url, key, lines, read, told: told() },
    administration: find('administration listens')!.url!,
    async stop() {
      service.signal('SIGTERM')
      expect(await service.exited).toBe(0)
    },
  }
}

const send = (url: string, body: object, cookie = '') =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', cookie },
    body: JSON.stringify(body),
  })

const cookiesOf = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

test('people are there as described, and the start page signs in as them', async () => {
  const dev = await start(newDirectory('seeded'), { env: { LANG: 'pt_BR.UTF-8' } })
  expect(dev.told.map(({ about, administration }) => [about, administration])).toEqual([
    ['plain', undefined],
    ['authenticator_app', 'owner'],
    ['locked', undefined],
    ['unconfirmed', undefined],
  ])
  // What the developer did not ask is not in the log.
  expect(dev.lines().filter(({ route }) => route !== undefined)).toEqual([])
  const logIn = async ({ email, password }: Line) => {
    const answer = await send(`${dev.url}/api/v1/auth/login`, { identifier: email, password })
    return [answer.status, ((await answer.json()) as { code?: string }).code]
  }
  const answers: unknown[] = []
  for (const person of dev.told) answers.push(await logIn(person))
  expect(answers).toEqual([
    [200, undefined],
    [202, 'two_factor_required'],
    [403, 'account_locked'],
    [403, 'account_unconfirmed'],
  ])
  const sent = await dev.read('mailbox.json?to=chloe@example.com&purpose=confirmation&wait=5')
  // In the language of the terminal, as the developer reads it.
  expect(sent).toMatchObject([{ language: 'pt' }])

  const people: Listed[] = await dev.read('people.json')
  const owner = people[1]!
  const api = new URL('v1/session', dev.administration).href
  const begun = await send(api, { identifier: owner.identifier, password: owner.password })
  const opened = await send(`${api}/verify`, { otp: owner.code }, cookiesOf(begun))
  expect(await opened.json()).toMatchObject({ status: 200, csrf_token: expect.any(String) })

  const page = await fetch(`${dev.url}/?key=${dev.key}`, { headers: { 'accept-language': 'pt' } })
  const shown = await page.text()
  for (const text of [...people.map(({ identifier }) => identifier), owner.password, 'Iniciar sessão como'])
    expect(shown).toContain(text!)
  const keyed = cookiesOf(page)
  const signInAs = (identifier: string, { cookie = keyed, site = 'same-origin' } = {}) =>
    fetch(`${dev.url}/dev/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, 'sec-fetch-site': site, 'accept-language': 'pt' },
      body: new URLSearchParams({ identifier }),
    })
  for (const { identifier } of people.slice(0, 2)) {
    const answer = await signInAs(identifier)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account'])
    const account = await fetch(`${dev.url}/account`, { headers: { cookie: cookiesOf(answer) } })
    const body = await account.text()
    expect(body).toContain(identifier)
    expect(body).toContain('<html lang="pt"')
  }
  const refused = await signInAs('bob@example.com')
  expect(refused.headers.get('location')).toStartWith('/sign-in?')
  expect(cookiesOf(refused)).not.toContain('poterne=')
  // Not without the key, not from another site, and nobody else.
  const without = keyed.replace(/poterne_dev_\d+=[^;]+/, 'x=y')
  expect((await signInAs('dora@example.com', { cookie: without })).status).toBe(404)
  expect(await (await fetch(`${dev.url}/dev/people.json`)).json()).toMatchObject({
    status: 404,
    cause: 'no_key',
  })
  expect((await signInAs('dora@example.com', { site: 'cross-site' })).status).toBe(422)
  const others = await signInAs('nobody@example.com')
  expect(cookiesOf(others)).not.toContain('poterne=')
  await dev.stop()
})

longTest('the service has one name, and what is not there is named in the log', async () => {
  const { port, url, lines, stop } = await start(newDirectory('named'), { args: ['--fast'], people: 0 })
  expect(url).toBe(`http://localhost:${port}`)
  const here = `http://127.0.0.1:${port}`
  const json = async (path: string) => bodyOf(await fetch(here + path))
  expect((await json('/.well-known/openid-configuration')).issuer).toBe(url)
  expect((await json('/.well-known/oauth-authorization-server')).issuer).toBe(url)
  expect((await json('/swagger/json')).servers).toEqual([{ url: '/' }])
  expect((await json('/api/v1/auth/settings')).status).toBe(200)
  for (const path of ['/sign-in?return_to=x', '/account', '/', '/swagger', '/dev/mailbox?key=x']) {
    const answer = await fetch(here + path, { redirect: 'manual' })
    expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 303, url + path])
  }
  expect((await fetch(`${url}/sign-in`, { redirect: 'manual' })).status).toBe(200)
  const icon = await fetch(`${url}/favicon.ico`)
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
  await fetch(`${url}/nowhere/at/${'a'.repeat(64)}/123456?token=secret`)
  const missed = await waitFor(() => lines().find(({ path }) => path), {
    what: 'the line of what is missing',
  })
  expect(missed).toMatchObject({ route: null, path: '/nowhere/at/…/…' })
  const error = await bodyOf(await send(`${here}/api/v1/auth/login`, {}))
  expect(error.message).toBe('Some fields are not valid.')
  expect(lines().some(({ msg }) => msg.startsWith('--fast: '))).toBe(true)
  const statuses = new Set<number>()
  for (let tries = 0; tries < 12; tries++)
    statuses.add((await send(`${url}/api/v1/auth/login`, { identifier: 'a@b.co', password: 'x' })).status)
  expect(statuses).toEqual(new Set([401]))
  await stop()
})

test('where others reach it, administration and mailbox ask for the key at every call', async () => {
  const { port, key, url, administration, lines, stop } = await start(newDirectory('reachable'), {
    args: ['--dev-host', '0.0.0.0', '--fast'],
    people: 0,
    env: { POTERNE_SERVER_HOST: '0.0.0.0' },
  })
  expect(url).toBe(`http://localhost:${port}`)
  expect(lines().some(({ msg }) => msg.startsWith('--dev-host: '))).toBe(true)
  const status = async (at: string, headers: Record<string, string> = {}) =>
    (await fetch(at, { headers })).status
  const admin = new URL('v1/session', administration)
  const cookie = `poterne_dev_${port}=${key}`
  expect(await status(`${url}/dev/mailbox.json`)).toBe(404)
  expect(await status(`${url}/dev/mailbox.json?key=${key}`, { host: 'poterne:8080' })).toBe(200)
  for (const path of ['', 'v1/session', 'v1/accounts', 'v1/openapi.json', 'page.js']) {
    expect([path, await status(new URL(path, administration).href)]).toEqual([path, 404])
    expect([path, await status(new URL(path, administration).href, { cookie: `${cookie}x` })]).toEqual([
      path,
      404,
    ])
  }
  expect(await status(`${administration}?key=${key}`)).toBe(200)
  expect(await status(admin.href, { cookie, host: 'poterne:1' })).toBe(401)
  expect(await status(admin.href, { cookie, origin: 'http://evil.example' })).toBe(403)
  await stop()
})

describe('the people of a file', () => {
  const write = (lines: unknown[]) => {
    const file = join(newDirectory('people'), 'people.jsonl')
    writeFileSync(
      file,
      `${lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')}\n`,
    )
    return file
  }

  longTest(
    'sign in with their password, or with the one whose hash it holds, also after another start',
    async () => {
      const password = 'a rather long sentence'
      const [bcrypt, argon2] = await Promise.all([
        Bun.password.hash(password, { algorithm: 'bcrypt', cost: 4 }),
        Bun.password.hash(password, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 }),
      ])
      const file = write([
        {
          email: 'one@example.com',
          password,
          email_verified_at: true,
          groups: ['staff'],
          profile: { given_name: 'One' },
        },
        { email: 'two@example.com', password: { hash: bcrypt }, email_verified_at: '2026-01-02T03:04:05Z' },
        '',
        {
          phone: '+33612345678',
          email: 'claim@example.com',
          password: { hash: argon2 },
          phone_verified_at: true,
        },
      ])
      const directory = newDirectory('people')
      for (let run = 0; run < 2; run++) {
        const { url, stop, told } = await start(directory, { args: ['--fast', '--seed', file], people: 3 })
        expect(told.map((one) => one.password)).toEqual([password, undefined, undefined])
        const accounts: { email_verified: boolean }[] = []
        for (const identifier of ['one@example.com', 'two@example.com', '+33612345678']) {
          const answer = await bodyOf(await send(`${url}/api/v1/auth/login`, { identifier, password }))
          expect([identifier, answer.status]).toEqual([identifier, 200])
          const headers = { authorization: `Bearer ${answer.access_token}` }
          accounts.push(await bodyOf(await fetch(`${url}/api/v1/auth/me/security`, { headers })))
        }
        expect(accounts.map((one) => one.email_verified)).toEqual([true, true, false])
        await stop()
      }
    },
  )

  longTest('are refused by line and name, and nobody is made', async () => {
    const options = { directory: newDirectory('refused'), env: { POTERNE_SERVER_PORT: '0' } }
    const refused = async (...lines: unknown[]) => {
      const file = write(lines)
      const { code, error } = await runExecutable(['serve', '--dev', '--seed', file], options)
      const [name, ...problems] = error.trimEnd().split('\n')
      expect([code, name]).toEqual([2, `--seed: ${file}`])
      return problems.map((problem) => problem.trim())
    }
    expect(await refused({ email: 'a@example.com' }, 'not json')).toEqual(['line 2: not_json'])
    const good = { email: 'good@example.com', email_verified_at: true }
    expect(
      await refused(
        good,
        { email: 'a@example.com', pasword: 'x' },
        '',
        { email: 'b@example.com', email_verified_at: 'yesterday' },
        { email: 'c@example.com', password: { hash: '$2x$' } },
        { email: 5 },
      ),
    ).toEqual([
      'line 2: unknown_field (the nearest one is password)',
      'line 4: invalid_value (email_verified_at)',
      'line 5: unsupported_hash (password)',
      'line 6: invalid_value (email)',
    ])
    expect(JSON.parse((await runExecutable(['accounts', 'list', '--json'], options)).out)).toEqual([])
  })
})

test.each(['--seed', '--fast', '--dev-host=0.0.0.0'])('%s works only together with --dev', async (option) => {
  const { code, error } = await runExecutable(['serve', option])
  expect([code, error.trim()]).toEqual([2, `${option.split('=')[0]} works only together with --dev`])
})
