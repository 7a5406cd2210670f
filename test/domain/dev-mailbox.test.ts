/** The mailbox of --dev: what programs read, and a page that shows what people wrote without believing it. */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { createSender } from '../../src/domain/messages/delivery/service.ts'
import type { RenderedMessage } from '../../src/domain/messages/senders/sender.ts'
import { openDevKey } from '../../src/operations/dev/dev-key.ts'
import { createMailbox } from '../../src/operations/dev/mailbox.ts'
import { createDevRoutes } from '../../src/operations/dev/routes.ts'
import { createCatalog } from '../../src/texts/catalog.ts'
import { newDirectory } from '../helpers/run-directory.ts'

const now = new Date('2026-07-01T12:00:00.000Z')
const open = (file: string | null = null, anyHost = false) => {
  const mailbox = createMailbox({ now: () => now }, file)
  const start = {
    ...{ adminUrl: 'http://127.0.0.1:8081/admin/', hasDocumentation: true, hasPages: true },
    ...{ baseUrl: 'http://localhost:8080', applications: [] },
  }
  const key = openDevKey(null, 8080)
  // Alone, the routes answer with the code of what they throw.
  const routes = createDevRoutes(new Elysia({ name: 'alone' }) as never, {
    ...{ mailbox, catalog: createCatalog({ language: 'fr' }), clock: { now: () => now }, key, start },
    ...{ people: [], signInAs: null, anyHost },
  })
  const send = (method: string, path: string, headers: Record<string, string> = {}) => {
    const all = { host: '127.0.0.1', cookie: `other=1; poterne_dev_8080=${key.value}`, ...headers }
    return routes.handle(new Request(`http://127.0.0.1${path}`, { method, headers: all }))
  }
  const get = (path: string, headers: Record<string, string> = {}) => send('GET', path, headers)
  return { mailbox, get, send, key: key.value }
}

function message(values: Partial<RenderedMessage> = {}): RenderedMessage {
  return {
    id: 7,
    channel: 'email',
    to: 'ada@example.com',
    purpose: 'confirmation',
    language: 'fr',
    subject: 'Confirmez votre compte',
    text: 'Voici votre code :\n\n    012345',
    html: '<p>012345</p>',
    code: '012345',
    minutes: 10,
    ...values,
  }
}

test('takes every message, whatever else is configured', async () => {
  const { mailbox, get } = open()
  const sender = createSender({ smtp: null, sms: { gateways: [] }, server: {} } as never, mailbox)
  expect(await sender.send(message())).toEqual({ outcome: 'sent', detail: 'mailbox' })
  const answer = await get('/dev/mailbox.json')
  expect(await answer.json()).toEqual([
    {
      id: 7,
      channel: 'email',
      to: 'ada@example.com',
      purpose: 'confirmation',
      language: 'fr',
      subject: 'Confirmez votre compte',
      text: 'Voici votre code :\n\n    012345',
      code: '012345',
      created_at: '2026-07-01T12:00:00.000Z',
    },
  ])
})

test('is not there outside --dev: a channel without configuration refuses its messages', async () => {
  const config = { smtp: null, sms: { gateways: [] }, server: { baseUrl: 'http://127.0.0.1' } }
  const sender = createSender(config as never, null)
  expect(await sender.send(message())).toEqual({ outcome: 'refused', detail: 'no_smtp' })
  const sms = message({ channel: 'sms', to: '+33612345678' })
  expect(await sender.send(sms)).toMatchObject({ outcome: 'refused', detail: 'no_gateway' })
  await sender.close()
})

test('keeps the newest 200, newest first', async () => {
  const { mailbox, get } = open()
  for (let id = 1; id <= 205; id++) await mailbox.send(message({ id }))
  const list = (await (await get('/dev/mailbox.json')).json()) as { id: number }[]
  expect(list).toHaveLength(200)
  expect([list[0]?.id, list.at(-1)?.id]).toEqual([205, 6])
})

describe('a program', () => {
  const idsOf = async (answer: Response) => ((await answer.json()) as { id: number }[]).map(({ id }) => id)

  test('finds messages by recipient, purpose and what it knows', async () => {
    const { mailbox, get } = open()
    await mailbox.send(message({ id: 1, to: 'Ada@Example.com' }))
    await mailbox.send(message({ id: 2, to: 'Ada@Example.com', purpose: 'login_code' }))
    await mailbox.send(message({ id: 3, to: '+33612345678', channel: 'sms', html: null }))
    const ids = async (query: string) => idsOf(await get(`/dev/mailbox.json?${query}`))
    expect(await ids('to=ada@example.com')).toEqual([2, 1])
    expect(await ids('to=ada@example.com&purpose=login_code')).toEqual([2])
    expect(await ids('to=ada@example.com&after=1')).toEqual([2])
    expect(await ids('to=ada@example.com&after=2')).toEqual([])
    expect(await ids('to=%2B33612345678')).toEqual([3])
    expect(await ids('to=+33612345678')).toEqual([3])
    expect(await ids('to=grace@example.com&wait=0')).toEqual([])
  })

  test('waits until one fits, and not for one that does not', async () => {
    const { mailbox, get } = open()
    await mailbox.send(message({ id: 1 }))
    const waiting = get('/dev/mailbox.json?to=ada@example.com&after=1&wait=10').then(idsOf)
    await mailbox.send(message({ id: 2, to: 'bob@example.com' }))
    expect(await Promise.race([waiting, Bun.sleep(50)])).toBeUndefined()
    await mailbox.send(message({ id: 3 }))
    expect(await waiting).toEqual([3])
    expect(await idsOf(await get('/dev/mailbox.json?after=3&wait=1'))).toEqual([])
  })

  test.each(['purpos=confirmation', 'after=yesterday', 'wait=26', 'wait=-1'])(
    'is told what is wrong: %s',
    async (query) => {
      const { get } = open()
      expect(await (await get(`/dev/mailbox.json?${query}`)).text()).toBe('validation_failed')
    },
  )
})

describe('a restart', () => {
  test('keeps the messages, newest first, with their HTML parts', async () => {
    const file = join(newDirectory('mailbox'), 'mailbox.jsonl')
    const before = open(file)
    await before.mailbox.send(message({ id: 1 }))
    await before.mailbox.send(message({ id: 2, html: '<p>second</p>' }))
    const { mailbox } = open(file)
    expect(mailbox.list().map(({ id }) => id)).toEqual([2, 1])
    expect(mailbox.findHtml(2)).toBe('<p>second</p>')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('skips a line that a crash cut short, and keeps the file bounded', async () => {
    const file = join(newDirectory('mailbox'), 'mailbox.jsonl')
    const { mailbox } = open(file)
    for (let id = 1; id <= 450; id++) await mailbox.send(message({ id }))
    expect(readFileSync(file, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(400)
    appendFileSync(file, '{"entry": {"id": 99')
    await open(file).mailbox.send(message({ id: 451 }))
    const again = open(file)
    expect(again.mailbox.list().map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, i) => 451 - i))
  })
})

describe('clearing', () => {
  test('empties the mailbox, also after a restart, and shows it again', async () => {
    const file = join(newDirectory('mailbox'), 'mailbox.jsonl')
    const { mailbox, send, get } = open(file)
    await mailbox.send(message())
    const answer = await send('POST', '/dev/mailbox/clear', { 'sec-fetch-site': 'same-origin' })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/dev/mailbox'])
    expect(await (await get('/dev/mailbox.json')).json()).toEqual([])
    expect(open(file).mailbox.list()).toEqual([])
  })

  test('is refused to a page of another site', async () => {
    const { mailbox, send } = open()
    await mailbox.send(message())
    expect((await send('POST', '/dev/mailbox/clear', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect(mailbox.list()).toHaveLength(1)
  })
})

describe('the HTML part', () => {
  test('is a document without origin that runs and loads nothing', async () => {
    const { mailbox, get } = open()
    await mailbox.send(message({ id: 7, html: '<p>012345</p>' }))
    const answer = await get('/dev/mailbox/7.html')
    expect(await answer.text()).toBe('<p>012345</p>')
    expect(answer.headers.get('content-security-policy')).toStartWith("sandbox; default-src 'none'")
  })

  test.each(['8.html', '7', 'x.html', '../7.html', '-7.html'])('is 404 for %s', async (part) => {
    const { mailbox, get } = open()
    await mailbox.send(message({ id: 7 }))
    expect((await get(`/dev/mailbox/${part}`)).status).toBe(404)
  })

  test('is 404 for an SMS, which has none', async () => {
    const { mailbox, get } = open()
    await mailbox.send(message({ id: 7, channel: 'sms', html: null }))
    expect((await get('/dev/mailbox/7.html')).status).toBe(404)
  })
})

describe('the page', () => {
  test('tells e-mail and SMS apart, and names purposes in the language of the reader', async () => {
    const { mailbox, get } = open()
    await mailbox.send(message({ id: 1 }))
    await mailbox.send(message({ id: 2, to: '+33612345678', channel: 'sms', subject: '', html: null }))
    await mailbox.send(message({ id: 3, purpose: 'password_changed', code: null }))
    const page = await (await get('/dev/mailbox', { 'accept-language': 'en' })).text()
    expect(page.match(/data-channel="(\w+)"/g)).toEqual([
      'data-channel="email"',
      'data-channel="sms"',
      'data-channel="email"',
    ])
    expect(page).toContain('Account confirmation')
    expect(page).not.toContain('password_changed')
    expect(page).toContain(`<time datetime="${now.toISOString()}">`)
  })

  test('shows messages newest first, in the language of the browser', async () => {
    const { mailbox, get } = open()
    expect(await (await get('/dev/mailbox')).text()).toContain('Aucun message')
    await mailbox.send(message({ id: 1, to: 'first@example.com' }))
    await mailbox.send(message({ id: 2, to: '+33612345678', channel: 'sms', subject: '', html: null }))
    const answer = await get('/dev/mailbox', { 'accept-language': 'en-GB,en;q=0.9,fr;q=0.5' })
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const page = await answer.text()
    expect(page).toContain('<html lang="en" dir="ltr">')
    expect(page.indexOf('+33612345678')).toBeLessThan(page.indexOf('first@example.com'))
    expect(page).toContain('<output>012345</output>')
  })

  test('lists each message beside the one that is read', async () => {
    const { mailbox, get } = open()
    await mailbox.send(message())
    await mailbox.send(message({ id: 8, channel: 'sms', subject: '', text: 'Code 12', html: null }))
    const page = await (await get('/dev/mailbox')).text()
    const ids = (pattern: RegExp) => [...page.matchAll(pattern)].map(([, id]) => id)
    expect(ids(/<article id="m(\d+)"/g)).toHaveLength(2)
    expect(ids(/class="row" href="#m(\d+)"/g)).toEqual(ids(/<article id="m(\d+)"/g))
  })

  test('escapes everything a person may have written', async () => {
    const { mailbox, get } = open()
    const hostile = `"'><script>alert(1)</script>&amp;`
    await mailbox.send(message({ to: hostile, subject: hostile, text: hostile, code: hostile }))
    const page = await (await get('/dev/mailbox')).text()
    expect(page).not.toContain('<script>alert')
    expect(page).not.toContain(hostile)
    expect(page.split('&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;')).toHaveLength(8)
  })

  test('allows its own style and script by their hashes, and nothing from elsewhere', async () => {
    const { get } = open()
    const answer = await get('/dev/mailbox')
    const policy = answer.headers.get('content-security-policy') ?? ''
    const page = await answer.text()
    expect(policy).toStartWith("default-src 'none'")
    expect(policy).toContain("img-src 'self'")
    expect(policy).not.toMatch(/unsafe|http|\*/)
    for (const element of ['style', 'script']) {
      const content = new RegExp(`<${element}>(.*?)</${element}>`, 's').exec(page)?.[1] as string
      const hash = createHash('sha256').update(content).digest('base64')
      expect(policy).toContain(`${element}-src 'sha256-${hash}'`)
    }
    expect(page).not.toMatch(/ (src|style|on\w+)=/)
    for (const [, target] of page.matchAll(/ (?:href|action)="([^"]*)"/g)) expect(target).toStartWith('/')
  })
})

test.each([
  ['forwarded', 'for=203.0.113.9'],
  ['via', '1.1 proxy'],
  ['x-forwarded-for', '203.0.113.9'],
  ['x-forwarded-proto', 'https'],
  ['x-real-ip', '203.0.113.9'],
])('its pages are not there for what a reverse proxy forwards: %s', async (name, value) => {
  const { get } = open()
  for (const path of ['/dev/mailbox', '/dev/mailbox.json', '/dev/mailbox/1.html']) {
    expect([path, await (await get(path, { [name]: value })).text()]).toEqual([path, 'route_not_found'])
  }
  expect((await get('/dev/mailbox.json')).status).toBe(200)
})

const devPaths = ['/dev/mailbox', '/dev/mailbox.json', '/dev/mailbox/7.html']

describe('behind a proxy that says nothing of itself', () => {
  test('its pages are not there for who lacks the key, and no code is', async () => {
    const { mailbox, send, key } = open()
    await mailbox.send(message())
    const wrong = ['', 'poterne_dev_8080=', `poterne_dev_8081=${key}`, `poterne_dev_8080=${key.slice(1)}`]
    for (const cookie of wrong)
      for (const path of [...devPaths, `/dev/mailbox?key=${key}x`, '/dev/mailbox.json?key='])
        expect([path, await (await send('GET', path, { cookie })).text()]).toEqual([path, 'route_not_found'])
    expect(await (await send('POST', '/dev/mailbox/clear', { cookie: '' })).text()).toBe('route_not_found')
    expect(mailbox.list()).toHaveLength(1)
  })

  test('the key of the address opens them, and the browser keeps it', async () => {
    const { mailbox, send, key } = open()
    await mailbox.send(message())
    for (const path of ['/', ...devPaths]) {
      const answer = await send('GET', `${path}?key=${key}`, { cookie: '' })
      expect([path, answer.status]).toEqual([path, 200])
      const cookie = answer.headers.get('set-cookie') ?? ''
      expect(cookie).toMatch(/^poterne_dev_8080=[\w-]{22}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/)
      expect((await send('GET', path, { cookie: cookie.split(';')[0]! })).status).toBe(200)
    }
    expect((await send('GET', '/dev/mailbox')).headers.get('set-cookie')).toBeNull()
  })

  test('the first page links to the others, and without the key to the documentation alone', async () => {
    const { send } = open()
    const targets = async (cookie?: string) => {
      const answer = await send('GET', '/', cookie === undefined ? {} : { cookie })
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      return [...(await answer.text()).matchAll(/href="([^"]*)"/g)].map(([, target]) => target)
    }
    expect(await targets()).toEqual(['/sign-in', '/dev/mailbox', '/swagger', 'http://127.0.0.1:8081/admin/'])
    expect(await targets('')).toEqual(['/swagger'])
  })
})

test('the key outlives a restart where there is a file for it, which nobody else reads', () => {
  const file = join(newDirectory('dev-key'), 'dev-key')
  const { value } = openDevKey(file, 8080)
  expect(openDevKey(file, 8080).value).toBe(value)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  appendFileSync(file, 'x')
  expect(openDevKey(file, 8080).value).not.toBe(value)
})

test('is open under a name of this machine alone, and a Host header that only resembles one is none', async () => {
  const { get } = open()
  const isOpenAs = async (host: string) => (await get('/dev/mailbox', { host })).status === 200
  for (const host of ['localhost', 'LOCALHOST:8080', '127.0.0.1:8080', '[::1]', '[::1]:8080'])
    expect([host, await isOpenAs(host)]).toEqual([host, true])
  const others = ['x@localhost', 'evil.example:x@127.0.0.1', 'localhost/x', 'localhost?x', '%6cocalhost']
  for (const host of [...others, 'localhost\\x', 'evil.example', ''])
    expect([host, await isOpenAs(host)]).toEqual([host, false])
})

test('is open under any name to who brings the key, where others are meant to reach it', async () => {
  const { send, key } = open(null, true)
  const at = async (host: string, path: string) => (await send('GET', path, { host, cookie: '' })).status
  expect(await at('poterne:8080', `/dev/mailbox.json?key=${key}`)).toBe(200)
  expect(await (await send('GET', '/dev/mailbox.json', { host: 'poterne', cookie: '' })).text()).toBe(
    'route_not_found',
  )
  expect(await (await send('GET', '/', { host: 'poterne', cookie: '' })).text()).toBe('route_not_found')
})
