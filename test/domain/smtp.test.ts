/** E-mail against a real SMTP server: what is sent, what is refused, and what never leaves in clear. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer } from 'node:net'
import type { RenderedMessage } from '../../src/domain/messages/senders/sender.ts'
import { createSmtpSender, type SmtpTimeouts } from '../../src/domain/messages/smtp/smtp.ts'
import type { SmtpConfig } from '../../src/platform/config/types.ts'
import { type SmtpOptions, startSmtp, type TestSmtp } from '../helpers/smtp.ts'
import { measured } from '../helpers/timing.ts'

setDefaultTimeout(20_000)

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

function message(to = 'ada@example.com'): RenderedMessage {
  return {
    id: 1,
    channel: 'email',
    to,
    purpose: 'confirmation',
    language: 'fr',
    subject: 'Confirmez votre compte Été',
    text: 'Bonjour,\n\n    012345\n',
    html: '<p>é 012345</p>',
    code: '012345',
    minutes: 10,
  }
}

interface Given {
  smtp?: Partial<SmtpConfig>
  timeouts?: Partial<SmtpTimeouts>
  trusted?: boolean
}

async function serve(options: SmtpOptions = {}): Promise<TestSmtp> {
  const server = await startSmtp(options)
  open.push({ close: () => server.stop() })
  return server
}

function senderFor(server: TestSmtp, { smtp, timeouts, trusted = true }: Given = {}) {
  const sender = createSmtpSender({
    baseUrl: 'https://auth.example.com',
    smtp: {
      host: server.host,
      port: server.port,
      security: 'starttls',
      username: server.auth?.username ?? null,
      password: server.auth?.password ?? null,
      from: 'Acme <no-reply@example.com>',
      replyTo: null,
      dkimSelector: null,
      caFile: null,
      strangersPerHour: 5000,
      fallback: [],
      ...smtp,
    },
    ...(trusted && server.ca !== '' ? { ca: server.ca } : {}),
    ...(timeouts === undefined ? {} : { timeouts }),
  })
  open.unshift(sender)
  return sender
}

describe('a message', () => {
  test('goes out over STARTTLS, signed in, as text and HTML, to its one recipient', async () => {
    const server = await serve()
    expect(await senderFor(server).send(message())).toMatchObject({ outcome: 'sent', detail: 'smtp' })
    const [mail] = server.messages
    expect(mail).toMatchObject({
      secure: true,
      username: 'poterne',
      envelope: { from: 'no-reply@example.com', to: ['ada@example.com'] },
      from: 'no-reply@example.com',
      to: 'ada@example.com',
      subject: 'Confirmez votre compte Été',
      code: '012345',
    })
    expect(mail?.html).toContain('é 012345')
    // Two parts and the end of them, each once.
    expect(mail?.raw.match(/^--[^\r]+/gm)).toHaveLength(3)
    expect(mail?.raw).toMatch(/--\r\n$/)
    expect(mail?.headers['auto-submitted']).toBe('auto-generated')
    expect(mail?.headers['message-id']).toEndWith('@auth.example.com>')
    expect(mail?.headers).not.toHaveProperty('x-mailer')
  })

  test('has the name of its sender as it is configured, whatever signs are in it', async () => {
    const server = await serve()
    const names = ['Acme (Staging)', '"Acme: Login"', '"Acme, (Été)"', "O'Neil & Co", '']
    for (const name of names) {
      const from = `${name} <no-reply@example.com>`.trim()
      expect(await senderFor(server, { smtp: { from, replyTo: from } }).send(message())).toMatchObject({
        outcome: 'sent',
      })
    }
    const named = (raw: string) => /^From: *(.*)$/m.exec(raw)?.[1]?.trim()
    expect(server.messages.map(({ raw }) => named(raw))).toEqual([
      '"Acme (Staging)" <no-reply@example.com>',
      '"Acme: Login" <no-reply@example.com>',
      expect.stringMatching(/^=\?UTF-8\?.*\?= <no-reply@example.com>$/),
      '"O\'Neil & Co" <no-reply@example.com>',
      'no-reply@example.com',
    ])
    for (const { headers } of server.messages) expect(headers['reply-to']).toBe(headers.from)
    expect(server.messages.every(({ envelope }) => envelope.from === 'no-reply@example.com')).toBe(true)
  })

  test('names the address for answers where one is configured', async () => {
    const server = await serve()
    await senderFor(server).send(message())
    await senderFor(server, { smtp: { replyTo: 'Acme Help <help@example.com>' } }).send(message())
    expect(server.messages.map(({ headers }) => headers['reply-to'])).toEqual([
      undefined,
      'Acme Help <help@example.com>',
    ])
  })

  test('goes out over TLS from the first byte', async () => {
    const server = await serve({ security: 'tls' })
    const sender = senderFor(server, { smtp: { security: 'tls', host: 'localhost' } })
    expect(await sender.send(message())).toMatchObject({ outcome: 'sent', detail: 'smtp' })
    expect(server.messages[0]?.secure).toBe(true)
  })

  test('goes out in clear to this machine only', async () => {
    const server = await serve({ security: 'none', auth: null })
    expect(await senderFor(server, { smtp: { security: 'none' } }).send(message())).toMatchObject({
      outcome: 'sent',
    })
    expect(() => senderFor(server, { smtp: { security: 'none', host: 'smtp.example.com' } })).toThrow(
      'loopback',
    )
  })

  test('takes the connection that another one left open', async () => {
    const server = await serve()
    const sender = senderFor(server)
    for (let i = 0; i < 3; i++) await sender.send(message())
    expect(server.messages).toHaveLength(3)
    expect(server.connections).toBe(1)
  })

  test('goes out after the server was restarted under kept connections', async () => {
    const server = await serve()
    const sender = senderFor(server)
    await sender.send(message())
    await server.stop()
    expect(await sender.send(message())).toMatchObject({ outcome: 'failed' })
    await server.start()
    expect(await sender.send(message())).toMatchObject({ outcome: 'sent' })
  })

  test('has its domain in ASCII on the way, and its local part as it was written', async () => {
    const server = await serve()
    await senderFor(server).send(message("Ada.O'Brien+x@Bücher.example"))
    expect(server.messages[0]?.raw).toContain("To: Ada.O'Brien+x@xn--bcher-kva.example\r\n")
  })
})

describe('nothing leaves', () => {
  test('in clear when the server offers no STARTTLS', async () => {
    const server = await serve({ security: 'none', auth: null })
    const sender = senderFor(server, { smtp: { username: 'poterne', password: 'mail-password' } })
    expect(await sender.send(message())).toMatchObject({ outcome: 'failed', detail: 'smtp_tls' })
    expect(server.messages).toHaveLength(0)
  })

  test('in clear when somebody in between strips STARTTLS: neither password nor message is written', async () => {
    const heard: string[] = []
    const stripper = createServer((socket) => {
      socket.write('220 mail.example.com ESMTP\r\n')
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        heard.push(chunk.toString())
        const hello = chunk.toString().startsWith('EHLO')
        socket.write(
          hello ? '250-mail.example.com\r\n250 AUTH PLAIN LOGIN\r\n' : '502 5.5.1 not implemented\r\n',
        )
      })
    })
    await new Promise<void>((resolve) => stripper.listen(0, '127.0.0.1', resolve))
    open.push({ close: () => new Promise((resolve) => stripper.close(resolve)) })
    const { port } = stripper.address() as { port: number }
    const sender = senderFor(await serve(), { smtp: { port } })
    expect(await sender.send(message())).toMatchObject({ outcome: 'failed', detail: 'smtp_tls' })
    expect(heard.map((line) => line.split(/[\s:]/)[0])).toEqual(['EHLO', 'STARTTLS'])
  })

  test.each(['expired', 'wrong-host', 'self-signed'] as const)(
    'to a server whose certificate is %s',
    async (certificate) => {
      for (const security of ['starttls', 'tls'] as const) {
        const server = await serve({ certificate, security })
        for (const host of ['127.0.0.1', 'localhost']) {
          const sender = senderFor(server, { smtp: { security, host } })
          expect(await sender.send(message())).toMatchObject({ outcome: 'failed', detail: 'smtp_tls' })
        }
        expect(server.messages).toHaveLength(0)
      }
    },
  )

  test('to a server whose authority is not known', async () => {
    const server = await serve()
    expect(await senderFor(server, { trusted: false }).send(message())).toMatchObject({
      outcome: 'failed',
      detail: 'smtp_tls',
    })
  })

  test.each([
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com\nRCPT TO:<eve@example.com>',
    'ada@example.com, eve@example.com',
    'ada@example.com;eve@example.com',
    'Ada <ada@example.com>',
    '"ada lovelace"@example.com',
    'ada@example.com ',
    'ada@exa%0d%0ample.com',
    'ada@eve@example.com',
    'ada@[127.0.0.1]',
    'àda@example.com',
    '',
  ])('to %j, which is not one plain address', async (to) => {
    const server = await serve()
    expect(await senderFor(server).send(message(to))).toMatchObject({
      outcome: 'refused',
      detail: 'smtp_address',
    })
    expect(server.connections).toBe(0)
  })
})

describe('what the server says', () => {
  test('a refusal of the message is final, a refusal for now is not', async () => {
    const server = await serve()
    const sender = senderFor(server)
    for (const at of ['sender', 'recipient', 'data'] as const) {
      server.behave({ refuse: { status: 550, at } })
      expect(await sender.send(message())).toMatchObject({ outcome: 'refused', detail: 'smtp_550' })
      server.behave({ refuse: { status: 451, at } })
      expect(await sender.send(message())).toMatchObject({ outcome: 'failed', detail: 'smtp_451' })
    }
    server.behave({})
    expect(await sender.send(message())).toMatchObject({ outcome: 'sent' })
    expect(server.messages).toHaveLength(1)
  })

  test('a refusal of the connection is not a refusal of the message', async () => {
    const server = await serve({ behaviour: { refuse: { status: 554, at: 'connect' } } })
    expect(await senderFor(server).send(message())).toMatchObject({ outcome: 'failed', detail: 'smtp_554' })
  })

  test('wrong, missing or useless credentials can be mended, so the message waits', async () => {
    const server = await serve()
    const failed = { outcome: 'failed', detail: 'smtp_auth' } as const
    expect(await senderFor(server, { smtp: { password: 'wrong' } }).send(message())).toMatchObject(failed)
    expect(
      await senderFor(server, { smtp: { username: null, password: null } }).send(message()),
    ).toMatchObject(failed)
    const open = await serve({ auth: null })
    expect(
      await senderFor(open, { smtp: { username: 'poterne', password: 'secret' } }).send(message()),
    ).toMatchObject(failed)
    expect(open.messages).toHaveLength(0)
  })

  test('nothing: a server that is away, or whose name is unknown', async () => {
    const server = await serve()
    await server.stop()
    expect(await senderFor(server).send(message())).toMatchObject({
      outcome: 'failed',
      detail: 'smtp_connection',
    })
    // A label is 63 letters at most: such a name is unknown without a question to the network.
    const sender = senderFor(server, { smtp: { host: `${'m'.repeat(64)}.invalid` } })
    expect(await sender.send(message())).toMatchObject({ outcome: 'failed', detail: 'smtp_dns' })
  })

  test('too slowly: a dripping greeting, a silent server, an answer that never comes', async () => {
    const failed = { outcome: 'failed', detail: 'smtp_timeout' } as const
    const within = async (limitMs: number, send: () => Promise<unknown>) => {
      const timed = async () => {
        const start = performance.now()
        expect(await send()).toMatchObject(failed)
        return performance.now() - start
      }
      expect(await measured(timed, (ms) => ms < limitMs)).toBeLessThan(limitMs)
    }
    const dripping = await serve()
    await dripping.drip(50)
    await within(1500, () => senderFor(dripping, { timeouts: { greetingMs: 400 } }).send(message()))
    await within(1500, () => senderFor(dripping, { timeouts: { sendMs: 400 } }).send(message()))
    const slow = await serve({ behaviour: { delayMs: 5000 } })
    await within(1500, () => senderFor(slow, { timeouts: { socketMs: 400 } }).send(message()))
    await within(1500, () => senderFor(slow, { timeouts: { sendMs: 400 } }).send(message()))
  })

  test('when the whole message was written, and only then: it may have been taken', async () => {
    const slow = await serve({ behaviour: { delayMs: 5000 } })
    const broken = await serve({ behaviour: { breakAfterData: true } })
    for (const server of [slow, broken]) {
      const sender = senderFor(server, { timeouts: { socketMs: 400 } })
      expect(await sender.send(message(), 'one')).toMatchObject({ outcome: 'failed', mayBeTaken: true })
      expect(server.messages[0]?.headers['message-id']).toBe('<one@auth.example.com>')
    }
    const refusing = await serve({ behaviour: { refuse: { status: 451, at: 'data' } } })
    const dripping = await serve()
    await dripping.drip(50)
    for (const server of [refusing, dripping]) {
      const sender = senderFor(server, { timeouts: { greetingMs: 400 } })
      expect(await sender.send(message())).not.toHaveProperty('mayBeTaken')
    }
  })

  test('is passed on as the reason, without the address or the code of anybody', async () => {
    const words = '5.1.1 <ADA@example.com>: no mailbox ada, nor eve@example.org, for 012 345 here'
    const server = await serve({ behaviour: { refuse: { status: 550, at: 'recipient', words } } })
    expect(await senderFor(server).send(message())).toEqual({
      outcome: 'refused',
      detail: 'smtp_550',
      isAddressRefused: true,
      reason: '550 5.1.1 <…>: no mailbox …, nor …, for … here',
    })
  })
})
