/**
 * Cookies that another host of the site set: their names look like ours to a careless reader, and lack the prefix to the
 * browser. Every byte beside every name over a socket, and the attack itself in Chromium and Firefox.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createPageCookies } from '../../src/administration/access/page-cookie.ts'
import { openDevKey } from '../../src/operations/dev/dev-key.ts'
import { createCookieJar } from '../../src/pages/visits/browser.ts'
import { readCookies } from '../../src/platform/http/redirect.ts'
import { ADMIN_ORIGIN, listening, signInAs } from '../helpers/administration.ts'
import { newEmail, PASSWORD, type Person } from '../helpers/api-client.ts'
import { launchBrowser } from '../helpers/browser.ts'
import { launchFirefox } from '../helpers/firefox.ts'
import { openBrowser, type PageBrowser } from '../helpers/page-browser.ts'
import { type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { sendRaw } from '../helpers/raw-http.ts'
import { mergeSettings, startService, type TestService } from '../helpers/service.ts'
import { HOST, SISTER, type SisterHosts, startSisterHosts } from '../helpers/sister-hosts.ts'
import { reduced } from '../helpers/soak.ts'
import { createSocialBrowser, newPkce, socialSettings } from '../helpers/social.ts'

setDefaultTimeout(60_000)

let service: TestService
let provider: PretendProvider
let hosts: SisterHosts
let intruder: { person: Person; session: string; browser: PageBrowser }

const SESSION = '__Host-poterne'
const hostOf = (origin: string) => new URL(origin).host

async function signedIn() {
  const person = await service.signUp(newEmail())
  const browser = await openBrowser(service.url, { host: hostOf(hosts.origin) }).open('/sign-in')
  await browser.press('Sign in', { identifier: person.identifier, password: PASSWORD })
  return { person, browser, session: browser.cookies.get(SESSION)! }
}

beforeAll(async () => {
  hosts = startSisterHosts(() => Number(new URL(service.url).port))
  provider = await startPretendProvider()
  service = await startService({
    settings: mergeSettings(listening, socialSettings(provider.issuer), {
      server: { base_url: hosts.origin, language: 'en' },
      pages: { enabled: true },
    }),
  })
  intruder = await signedIn()
}, 120_000)
afterAll(async () => {
  hosts?.stop()
  await service?.close()
  await provider?.stop()
})

/** Sends a GET with these bytes as its cookies; gives the whole answer. */
async function ask(port: number, path: string, headers: string, cookies: string): Promise<string> {
  const head = `GET ${path} HTTP/1.1\r\n${headers}\r\nConnection: close\r\nCookie: ${cookies}\r\n\r\n`
  return (await sendRaw(port, [Buffer.from(head, 'latin1')])).text
}

interface Named {
  name: string
  value: string
  /** Tells whether a request with these cookies is taken for one that brought the cookie. */
  isTaken(cookies: string): Promise<boolean>
}

/** A long address may break there: it is read as one text. */
const asPage = async (path: string, cookies: string) => {
  const headers = `Host: ${hostOf(hosts.origin)}\r\nAccept: text/html`
  return (await ask(Number(new URL(service.url).port), path, headers, cookies)).replaceAll('<wbr>', '')
}

const ofService: Record<string, () => Promise<Named>> = {
  'the session of a page': async () => ({
    name: SESSION,
    value: intruder.session,
    isTaken: async (cookies) => (await asPage('/account', cookies)).includes(intruder.person.identifier),
  }),
  'the browser of a page': async () => ({
    name: '__Host-poterne-browser',
    value: intruder.browser.cookies.get('__Host-poterne-browser')!,
    isTaken: async (cookies) => {
      const answer = await asPage('/sign-in', cookies)
      return (
        answer.startsWith('HTTP/1.1 200') &&
        !answer.toLowerCase().includes('set-cookie: __host-poterne-browser')
      )
    },
  }),
  'the session of administration': async () => {
    const { page } = await signInAs(service, 'viewer')
    const [name = '', value = ''] = page.cookie!.split('=')
    const port = Number(new URL(service.adminUrl!).port)
    const headers = `Host: ${hostOf(ADMIN_ORIGIN)}\r\nSec-Fetch-Site: same-origin`
    return {
      name,
      value,
      isTaken: async (cookies) =>
        (await ask(port, '/admin/v1/session', headers, cookies)).startsWith('HTTP/1.1 200'),
    }
  },
  'a sign-in by a provider': async () => {
    const begin = () => createSocialBrowser(service).begin('p1', newPkce())
    // A try that is taken ends that sign-in, and the next one needs another.
    let begun = await begin()
    const named = () => begun.cookie.split('=') as [string, string]
    return {
      get name() {
        return named()[0]
      },
      get value() {
        return named()[1]
      },
      async isTaken(cookies) {
        const state = begun.location.searchParams.get('state')
        const path = `/api/v1/auth/social/p1/callback?error=access_denied&state=${state}`
        const isTaken = (
          await ask(Number(new URL(service.url).port), path, `Host: ${HOST}`, cookies)
        ).startsWith('HTTP/1.1 302')
        if (isTaken) begun = await begin()
        return isTaken
      },
    }
  },
}

/** The same readers behind a socket, for cookies that a whole request shows less easily. */
const readers: Record<string, (request: Request) => string | undefined> = {
  '__Host-poterne-trusted': ({ headers }) => jarOf(headers, true).read('trusted'),
  '__Host-poterne-registration': ({ headers }) => jarOf(headers, true).read('registration'),
  '__Host-poterne_admin_device': ({ headers }) =>
    createPageCookies({ secure: true }).device.read(cookieOf(headers)),
  poterne: ({ headers }) => jarOf(headers, false).read('session'),
  'poterne-browser': ({ headers }) => jarOf(headers, false).read('browser'),
  'poterne-trusted': ({ headers }) => jarOf(headers, false).read('trusted'),
  poterne_admin: ({ headers }) => createPageCookies({ secure: false }).session.read(cookieOf(headers)),
  poterne_admin_device: ({ headers }) => createPageCookies({ secure: false }).device.read(cookieOf(headers)),
  poterne_dev_8080: (request) => (devKey.isIn(request) ? devKey.value : undefined),
}
const cookieOf = (headers: Headers) => headers.get('cookie') ?? undefined
const jarOf = (headers: Headers, secure: boolean) => createCookieJar(readCookies(cookieOf(headers)), secure)
const devKey = openDevKey(null, 8080)
let behindSocket: Bun.Server<undefined>
beforeAll(() => {
  behindSocket = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) =>
      new Response(readers[new URL(request.url).searchParams.get('name')!]!(request) ?? '-'),
  })
})
afterAll(() => behindSocket?.stop(true))

const cases: [string, () => Promise<Named>][] = [
  ...Object.entries(ofService),
  ...Object.keys(readers).map((name): [string, () => Promise<Named>] => [
    name,
    async () => ({
      name,
      value: devKey.value,
      isTaken: async (cookies) =>
        (await ask(behindSocket.port!, `/?name=${name}`, 'Host: localhost', cookies)).endsWith(
          `\r\n\r\n${devKey.value}`,
        ),
    }),
  ]),
]

const allBytes = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code))
const codesOf = (bytes: string[]) => bytes.map((byte) => byte.charCodeAt(0))

/** Those of all bytes with which `cookies` is taken, some at a time. */
async function takenOf(named: Named, cookies: (byte: string) => string): Promise<number[]> {
  const taken: string[] = []
  // A sign-in by a provider ends with the first that is taken, so those that may be come one after the other.
  const likely = new Set(['\t', ' ', ';'])
  const others = allBytes.filter((byte) => !likely.has(byte))
  const tryOne = async (byte: string) => {
    if (await named.isTaken(cookies(byte))) taken.push(byte)
  }
  for (let at = 0; at < others.length; at += 64) await Promise.all(others.slice(at, at + 64).map(tryOne))
  for (const byte of likely) await tryOne(byte)
  return codesOf(taken.sort())
}

describe.each(cases)('%s', (_, make) => {
  test('no byte makes another name ours, before it or after it', async () => {
    const named = await make()
    // Space and tab are the blanks around a pair, and a semicolon ends the pair before.
    expect(await takenOf(named, (byte) => `a=1; ${byte}${named.name}=${named.value}`)).toEqual([9, 32, 59])
    expect(await takenOf(named, (byte) => `a=1; ${named.name}${byte}=${named.value}`)).toEqual([9, 32])
  })

  test('a name that occurs twice in any spelling counts as none', async () => {
    const named = await make()
    const { name, value } = named
    for (const other of [name, ` ${name}`, `\t${name} `, name.toLowerCase(), name.toUpperCase()]) {
      for (const text of [
        `${other}=x; ${name}=${value}`,
        `${name}=${value};${other}=x`,
        `${name}=${value}; ${other}=${value}`,
      ])
        expect([text, await named.isTaken(text)]).toEqual([text, false])
    }
    expect(await named.isTaken(`${name}-=x; \xa0${name}=x; x${name}=x; ${name}=${value}`)).toBe(true)
  })
})

interface AnyBrowser {
  open(address: string): Promise<{ path: string; text: string }>
  close(): Promise<void>
}

async function openChromium(): Promise<AnyBrowser> {
  const names = Object.fromEntries([HOST, SISTER].map((name) => [name, '127.0.0.1']))
  const browser = await launchBrowser(names)
  const page = await browser.newPage()
  return {
    async open(address) {
      await page.goto(address)
      return { path: new URL(page.url()).pathname, text: await page.innerText('body') }
    },
    close: () => browser.close(),
  }
}

const browsers: [string, () => Promise<AnyBrowser>][] = [
  ['Chromium', openChromium],
  ['Firefox', () => launchFirefox([HOST, SISTER])],
]

describe.each(browsers.slice(0, reduced(1, 2)))('a sister host, in %s', (_, launch) => {
  let browser: AnyBrowser
  beforeAll(async () => {
    browser = await launch()
  }, 120_000)
  afterAll(() => browser?.close())

  const foreign = ['\xa0', '\x80', '\xff', '\x85', '\xad', '"', ',', '/', '(']

  test('signs nobody in as the intruder', async () => {
    const names = [...foreign.map((byte) => byte + SESSION), SESSION, ` ${SESSION}`, `\t${SESSION}`]
    hosts.setCookies.push(
      ...names.map((name) => `${name}=${intruder.session}; Domain=example.test; Path=/; Secure`),
    )
    const before = hosts.received().length
    await browser.open(hosts.sister)
    const seen = await browser.open(`${hosts.origin}/account`)
    const sent = hosts.received().slice(before)
    expect([seen.path, seen.text.includes(intruder.person.identifier)]).toEqual(['/sign-in', false])
    // The browser brought those, or nothing was tried. Under its own name the prefix keeps the cookie out.
    for (const byte of foreign) expect(sent).toContain(` ${byte}${SESSION}=${intruder.session}`)
    expect(sent).not.toContain(` ${SESSION}=${intruder.session}`)
  })
})
