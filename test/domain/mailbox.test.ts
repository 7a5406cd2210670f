/** The mailbox of --dev: what programs read, and a page that shows what people wrote without believing it. */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { createMailbox } from '../../src/domain/delivery/mailbox.ts'
import type { RenderedMessage } from '../../src/domain/delivery/message.ts'
import { createSender } from '../../src/domain/delivery/service.ts'
import { createMailboxRoutes } from '../../src/domain/mailbox/routes.ts'

const now = new Date('2026-07-01T12:00:00.000Z')
const open = () => {
  const mailbox = createMailbox({ now: () => now })
  const routes = createMailboxRoutes(mailbox, 'fr')
  const get = (path: string, headers: Record<string, string> = {}) =>
    routes.handle(new Request(`http://127.0.0.1${path}`, { headers }))
  return { mailbox, get }
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
  expect(await sender.send(sms)).toEqual({ outcome: 'refused', detail: 'no_gateway' })
  await sender.close()
})

test('keeps the newest 200, newest first', async () => {
  const { mailbox, get } = open()
  for (let id = 1; id <= 205; id++) await mailbox.send(message({ id }))
  const list = (await (await get('/dev/mailbox.json')).json()) as { id: number }[]
  expect(list).toHaveLength(200)
  expect([list[0]?.id, list.at(-1)?.id]).toEqual([205, 6])
})

describe('the page', () => {
  test('shows messages newest first, in the language of the browser', async () => {
    const { mailbox, get } = open()
    expect(await (await get('/dev/mailbox')).text()).toContain('Aucun message')
    await mailbox.send(message({ id: 1, to: 'first@example.com' }))
    await mailbox.send(message({ id: 2, to: '+33612345678', channel: 'sms', subject: '', html: null }))
    const answer = await get('/dev/mailbox', { 'accept-language': 'en-GB,en;q=0.9,fr;q=0.5' })
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const page = await answer.text()
    expect(page).toContain('<html lang="en">')
    expect(page.indexOf('+33612345678')).toBeLessThan(page.indexOf('first@example.com'))
    expect(page).toContain('<output>012345</output>')
  })

  test('escapes everything a person may have written', async () => {
    const { mailbox, get } = open()
    const hostile = `"'><script>alert(1)</script>&amp;`
    await mailbox.send(message({ to: hostile, subject: hostile, text: hostile, code: hostile }))
    const page = await (await get('/dev/mailbox')).text()
    expect(page).not.toContain('<script>alert')
    expect(page).not.toContain(hostile)
    expect(page.split('&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;')).toHaveLength(6)
  })

  test('allows its own style and script by their hashes, and nothing from elsewhere', async () => {
    const { get } = open()
    const answer = await get('/dev/mailbox')
    const policy = answer.headers.get('content-security-policy') ?? ''
    const page = await answer.text()
    expect(policy).toStartWith("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|http|\*/)
    for (const element of ['style', 'script']) {
      const content = new RegExp(`<${element}>(.*?)</${element}>`, 's').exec(page)?.[1] as string
      const hash = createHash('sha256').update(content).digest('base64')
      expect(policy).toContain(`${element}-src 'sha256-${hash}'`)
    }
    expect(page).not.toMatch(/ (src|href|style|on\w+)=/)
  })
})
