/** The demonstration page of --dev in Chromium: what a person does on it, with the public interface only. */

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { Secret, TOTP } from 'otpauth'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { addPlatformAuthenticator, launchBrowser } from '../helpers/browser.ts'
import { devKey, readMailbox } from '../helpers/dev-pages.ts'
import { type RunningProcess, spawnExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

const PASSWORD = 'une phrase bien longue'

let url: string
let poterne: RunningProcess
let browser: Browser

beforeAll(async () => {
  const port = await freePort()
  url = `http://localhost:${port}`
  poterne = await spawnExecutable(['serve', '--dev', '--seed'], {
    env: { POTERNE_SERVER_PORT: String(port) },
  })
  await waitFor(
    () => poterne.stderr().includes('chloe@example.com') || poterne.stdout().includes('chloe@example.com'),
    {
      what: 'the people to be seeded',
      timeoutMs: 30_000,
    },
  )
  browser = await launchBrowser({})
}, 90_000)

afterAll(async () => {
  await browser?.close()
  poterne?.signal('SIGTERM')
  await poterne?.exited
})

interface Person {
  page: Page
  context: BrowserContext
  problems: string[]
}

async function open(): Promise<Person> {
  const context = await browser.newContext({ locale: 'en-GB' })
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', ({ message }) => problems.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy/.test(message.text()))
      problems.push(message.text())
  })
  await page.goto(`${url}/dev/app?key=${await devKey(poterne.stdout)}`)
  return { page, context, problems }
}

async function submit(page: Page, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await page.fill(`input[name=${name}]`, value)
  await page.click('form button.main')
}

const heading = (page: Page, text: string) =>
  page.waitForSelector(`h1:text-is("${text}")`, { timeout: 15_000 })

const codeFor = (to: string) =>
  waitFor(
    async () => {
      const list = await readMailbox(url.replace('localhost', '127.0.0.1'), poterne.stdout)
      return list.find((entry) => entry.to === to)?.code ?? undefined
    },
    { what: `a code for ${to}` },
  )

async function signUp(page: Page, email: string): Promise<void> {
  await page.click('text=Create an account')
  await submit(page, { email, password: PASSWORD })
  await heading(page, 'Confirm the account')
  await submit(page, { otp: await codeFor(email) })
  await heading(page, 'You are signed in')
}

/** Attaches a key as devtools do: it checks its person, and answers at once. */
async function attachAuthenticator({ page, context }: Person, verifies = true) {
  const session = await context.newCDPSession(page)
  const authenticatorId = await addPlatformAuthenticator(session, verifies)
  return {
    setVerified: (isUserVerified: boolean) =>
      session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    credentials: async () => (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    clear: () => session.send('WebAuthn.clearCredentials', { authenticatorId }),
    add: (credential: object) =>
      session.send('WebAuthn.addCredential', { authenticatorId, credential: credential as never }),
  }
}

describe('on the demonstration page', () => {
  test('somebody registers, confirms, sees their sessions, signs out and in again', async () => {
    const { page, problems, context } = await open()
    await signUp(page, 'dora@example.com')
    expect(await page.textContent('main')).toContain('dora@example.com')
    expect(await page.textContent('main')).toContain('This session')
    await page.reload()
    await heading(page, 'You are signed in')
    await page.click('button:text-is("Sign out")')
    await heading(page, 'Sign in')
    await submit(page, { identifier: 'dora@example.com', password: 'wrong wrong wrong' })
    await page.waitForSelector('[role=alert]:visible')
    await submit(page, { identifier: 'dora@example.com', password: PASSWORD })
    await heading(page, 'You are signed in')
    expect(await page.textContent('#log')).not.toContain(PASSWORD)
    expect(problems).toEqual([])
    await context.close()
  })

  test('a seeded person with an authenticator app takes the second step', async () => {
    const { page, problems, context } = await open()
    const line = `${poterne.stdout()}\n${poterne.stderr()}`
      .split('\n')
      .find((each) => each.includes('ada@example.com'))!
    const secret = /[A-Z2-7]{32}/.exec(line)?.[0] as string
    await submit(page, { identifier: 'ada@example.com', password: PASSWORD })
    await heading(page, 'Second step')
    // The step that confirmed the app at the seeding is used up.
    const otp = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + 30_000 })
    await submit(page, { otp })
    await heading(page, 'You are signed in')
    expect(problems).toEqual([])
    await context.close()
  })

  test('the seeded people who are locked, and not confirmed, meet what such people meet', async () => {
    const { page, context } = await open()
    await submit(page, { identifier: 'bob@example.com', password: PASSWORD })
    expect(await (await page.waitForSelector('[role=alert]:visible')).textContent()).toContain('locked')
    await submit(page, { identifier: 'chloe@example.com', password: PASSWORD })
    await heading(page, 'Confirm the account')
    await context.close()
  })

  test('opened by the address 127.0.0.1, it moves to the name localhost', async () => {
    const page = await browser.newPage()
    const path = `/dev/app?key=${await devKey(poterne.stdout)}`
    await page.goto(url.replace('localhost', '127.0.0.1') + path)
    await page.waitForURL(url + path)
    await heading(page, 'Sign in')
    await page.close()
  })
})

describe('a passkey in Chromium', () => {
  test('is added, signs in by the button and from the identifier field, and is removed on both sides', async () => {
    const person = await open()
    const { page, problems } = person
    const authenticator = await attachAuthenticator(person)
    await signUp(page, 'eve@example.com')
    await page.click('text=Add a passkey')
    await submit(page, { password: PASSWORD })
    await heading(page, 'You are signed in')
    await page.waitForSelector('button:text-is("Remove")')
    const [kept] = await authenticator.credentials()
    expect(kept).toMatchObject({ rpId: 'localhost', isResidentCredential: true })

    // The browser offers it by itself below the identifier, and this authenticator takes the offer at once.
    // Until its answer is there, the page may still show the heading of before.
    const offered = page.waitForResponse((answer) => answer.url().endsWith('/passkeys/login') && answer.ok())
    await page.click('button:text-is("Sign out")')
    await offered
    await heading(page, 'You are signed in')

    await authenticator.setVerified(false)
    await page.click('button:text-is("Sign out")')
    await heading(page, 'Sign in')
    await authenticator.setVerified(true)
    await page.click('text=Sign in with a passkey')
    await heading(page, 'You are signed in')

    await page.click('button:text-is("Remove")')
    await page.waitForSelector('text=None yet')
    expect(problems).toEqual([])
    await person.context.close()
  })

  test('that the service does not know any more signs nobody in', async () => {
    const person = await open()
    const { page } = person
    const authenticator = await attachAuthenticator(person)
    await signUp(page, 'fay@example.com')
    await page.click('text=Add a passkey')
    await submit(page, { password: PASSWORD })
    await page.waitForSelector('button:text-is("Remove")')
    const [kept] = await authenticator.credentials()
    await page.click('button:text-is("Remove")')
    await page.waitForSelector('text=None yet')
    await authenticator.clear()
    await authenticator.setVerified(false)
    await page.click('button:text-is("Sign out")')
    await heading(page, 'Sign in')
    await authenticator.add(kept!)
    await authenticator.setVerified(true)
    const refused = page.waitForResponse((answer) => answer.url().endsWith('/passkeys/login'))
    await page.click('text=Sign in with a passkey')
    expect((await refused).status()).toBe(401)
    await heading(page, 'Sign in')
    await person.context.close()
  })

  test('is not used where the person is not verified', async () => {
    const person = await open()
    const { page } = person
    const authenticator = await attachAuthenticator(person)
    await signUp(page, 'gus@example.com')
    await page.click('text=Add a passkey')
    await submit(page, { password: PASSWORD })
    await page.waitForSelector('button:text-is("Remove")')
    await authenticator.setVerified(false)
    const calls: string[] = []
    page.on('request', (request) => calls.push(new URL(request.url()).pathname))
    await page.click('button:text-is("Sign out")')
    await heading(page, 'Sign in')
    await page.click('text=Sign in with a passkey')
    await waitFor(() => calls.filter((path) => path.endsWith('/passkeys/login/options')).length > 0)
    await heading(page, 'Sign in')
    expect(calls.filter((path) => path.endsWith('/passkeys/login'))).toEqual([])
    await person.context.close()
  })
})
