/** A gateway repeats the secrets it was shown, in every form: nobody reads them in what is kept of its words. */
import { afterAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import type { RenderedMessage } from '../../src/domain/messages/senders/sender.ts'
import { createGateway } from '../../src/domain/messages/sms-gateways/gateways.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { defineStatement } from '../../src/platform/postgres/statement.ts'
import { createRedactor } from '../../src/platform/redact.ts'
import { operatorOf } from '../helpers/administration.ts'
import { newPhone, registration } from '../helpers/api-client.ts'
import { startGateway } from '../helpers/gateway.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const key = 'k€y/Pa+ss"word\\7&é<x>'

const forms: Record<string, (secret: string) => string> = {
  'as it is': (secret) => secret,
  'percent-encoded': encodeURIComponent,
  'percent-encoded whole, in small letters': (secret) =>
    [...Buffer.from(secret)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  'percent-encoded twice': (secret) => encodeURIComponent(encodeURIComponent(secret)),
  'as a form': (secret) => new URLSearchParams({ key: secret }).toString(),
  'as JSON': (secret) => JSON.stringify({ key: secret }),
  'as JSON with escaped slashes and letters': (secret) =>
    JSON.stringify(secret)
      .replaceAll('/', '\\/')
      .replace(/[^ -~]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'as JSON in JSON': (secret) => JSON.stringify(JSON.stringify({ key: secret })),
  'as HTML': (secret) =>
    secret.replace(
      /[&<>"]/g,
      (letter) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[letter]!,
    ),
  'as numbered entities': (secret) => secret.replace(/./gu, (letter) => `&#${letter.codePointAt(0)};`),
  'in hexadecimal digits': (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  'base64 for URLs': (secret) => Buffer.from(secret).toString('base64url'),
  'in base64 of more, at each place': (secret) =>
    ['', 'a', 'ab'].map((before) => Buffer.from(`${before}${secret}:end`).toString('base64')).join(' '),
  'percent-encoded base64': (secret) => encodeURIComponent(Buffer.from(`me:${secret}`).toString('base64')),
}

/** Tells whether somebody who knows the usual encodings reads the secret, or six characters of it, in the text. */
function isReadable(text: string, secret: string): boolean {
  const tails = [secret, ...Object.values(forms).flatMap((form) => form(secret).split(' '))]
  return tails.some((form) => form.length >= 6 && text.includes(form.slice(1, -1)))
}

test.each(Object.entries(forms))('a secret is taken out %s, and the words around it stay', (_, form) => {
  const text = `refused: ${form(key)} is wrong, 100% sure`
  const clean = createRedactor([key])(text)
  expect(isReadable(text, key)).toBe(true)
  expect(isReadable(clean, key)).toBe(false)
  expect(clean).toStartWith('refused: ')
  expect(clean).toEndWith(' is wrong, 100% sure')
  expect(clean).toContain('…')
})

const gateway = await startGateway()
afterAll(() => gateway.stop())

const message: RenderedMessage = {
  ...{ id: 1, channel: 'sms', to: '+33612345678', purpose: 'confirmation', language: 'en' },
  ...{ subject: '', text: 'Your code', html: null, code: null, minutes: 10 },
}

test('what is kept of a reply holds no secret of the configuration, wherever it stands there', async () => {
  const secrets = {
    query: 'query-key-1',
    header: 'header-token-2',
    body: 'body-password',
    nested: 'x7-nested-value',
    basic: 'basic-password-4',
    receipts: 'receipts-secret-5',
    path: 'path-key-6789012',
  }
  const ask = createGateway(
    {
      ...{ name: 'acme', channel: 'sms', method: 'POST', format: 'json', timeoutMs: 5000 },
      url: `${gateway.url}/${secrets.path}?key=${secrets.query}&to={to_digits}`,
      headers: { 'x-authorization': `App ${secrets.header}`, accept: 'application/json' },
      body: { from: 'Acme', to: '{to}', p: secrets.body, messages: [{ text: '{text}', id: secrets.nested }] },
      basicAuth: { username: 'acme', password: secrets.basic },
      ...{ oauth: null, success: null, retry: null, messageId: 'id', prefixes: [] },
      receipts: {
        ...{ secret: secrets.receipts, message_id: 'id', status: 'status', delivered: ['ok'], failed: [] },
        ...{ items: null, signature: null },
      },
    },
    systemClock,
  )
  for (const [place, secret] of Object.entries(secrets))
    for (const [name, form] of Object.entries(forms)) {
      const body = `{"id": ${JSON.stringify(secret)}, "said": ${JSON.stringify(`Acme: ${form(secret)}`)}}`
      gateway.behave({ status: 200, body })
      const { reason = '', providerId } = await ask(message)
      expect(`${place} ${name} ${isReadable(reason, secret)}`).toBe(`${place} ${name} false`)
      expect(providerId).toBeUndefined()
      expect(reason).toContain('Acme')
    }
  gateway.behave({ body: Buffer.from(`acme:${secrets.basic}`).toString('base64') })
  expect((await ask(message)).reason).toBe('…')
})

const replies = defineStatement({
  name: 'test.replies',
  params: {},
  row: { row: 'text' },
  sql: () => sql`select to_jsonb(messages)::text as row from messages`,
})

const echoing = await startGateway()
afterAll(() => echoing.stop())

describe('in the service', () => {
  const secret = 'live-key/0815+é'
  const service = useService({
    settings: {
      sms: {
        gateways: [
          {
            name: 'echo',
            url: echoing.url,
            headers: { authorization: `Bearer ${secret}` },
            body: { to: '{to}', text: '{text}' },
          },
        ],
      },
    },
  })

  test('neither the log nor a message nor administration holds what a gateway repeats', async () => {
    const said = Object.values(forms).map((form) => form(secret))
    echoing.behave({ status: 400, body: `it says: ${said.join(' ')}` })
    const phone = newPhone()
    await service.post('register', registration(phone))
    const find = async () => {
      const { items } = (await operatorOf(service)('GET', `messages?state=refused`)).body
      return items.find(({ destination }: { destination: string }) => destination === phone)
    }
    const message = await waitFor(find, { what: 'the refusal' })
    expect(message).toMatchObject({ detail: 'echo:400', reply: expect.stringContaining('it says: …') })
    const rows = await service.inside.database.all(replies, {})
    for (const kept of [JSON.stringify(message), JSON.stringify(rows), service.log.join('\n')])
      expect(isReadable(kept, secret)).toBe(false)
    expect(service.log.join('\n')).toContain('it says: …')
  })
})
