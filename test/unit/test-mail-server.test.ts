/** The mail server and the SMS gateway that the other tests read codes from. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createTransport } from 'nodemailer'
import { startGateway, type TestGateway } from '../helpers/gateway.ts'
import { type SmtpOptions, startSmtp, type TestSmtp } from '../helpers/smtp.ts'

setDefaultTimeout(20_000)

function send(smtp: TestSmtp, overrides: object = {}): Promise<unknown> {
  const transport = createTransport({
    host: 'localhost',
    port: smtp.port,
    requireTLS: true,
    ...(smtp.auth === null ? {} : { auth: { user: smtp.auth.username, pass: smtp.auth.password } }),
    tls: { ca: smtp.ca },
    ...overrides,
  })
  return transport.sendMail({
    from: 'Poterne <no-reply@example.com>',
    to: 'claire@example.com',
    subject: 'Votre code à six chiffres',
    text: 'Votre code : 012345.',
    html: '<p>012345</p>',
  })
}

async function withSmtp(options: SmtpOptions, work: (smtp: TestSmtp) => Promise<void>): Promise<void> {
  const smtp = await startSmtp(options)
  try {
    await work(smtp)
  } finally {
    await smtp.stop()
  }
}

describe('mail server', () => {
  test('a mail comes over STARTTLS, signed in, and is read', () =>
    withSmtp({}, async (smtp) => {
      await send(smtp)
      const mail = await smtp.waitForMailTo('claire@example.com')
      expect(mail).toMatchObject({
        envelope: { from: 'no-reply@example.com', to: ['claire@example.com'] },
        subject: 'Votre code à six chiffres',
        code: '012345',
        secure: true,
        username: 'poterne',
      })
      expect(mail.html).toContain('<p>012345</p>')
    }))

  test('a mail comes over TLS and in clear', async () => {
    await withSmtp({ security: 'tls' }, async (smtp) => {
      await send(smtp, { secure: true })
      expect(smtp.messages[0]?.secure).toBe(true)
    })
    await withSmtp({ security: 'none', auth: null }, async (smtp) => {
      await send(smtp, { requireTLS: false })
      expect(smtp.messages[0]?.secure).toBe(false)
    })
  })

  test('a wrong password and an unsigned sender are refused', () =>
    withSmtp({}, async (smtp) => {
      await expect(send(smtp, { auth: { user: 'poterne', pass: 'wrong' } })).rejects.toThrow('535')
      await expect(send(smtp, { auth: undefined })).rejects.toThrow('530')
      expect(smtp.messages).toHaveLength(0)
    }))

  test.each(['expired', 'wrong-host', 'self-signed'] as const)('a certificate can be %s', (certificate) =>
    withSmtp({ certificate }, async (smtp) => {
      await expect(send(smtp)).rejects.toThrow()
      expect(smtp.messages).toHaveLength(0)
    }),
  )

  test('it refuses where it is told to, and takes again', () =>
    withSmtp({ behaviour: { refuse: { status: 451, at: 'recipient' } } }, async (smtp) => {
      await expect(send(smtp)).rejects.toMatchObject({ responseCode: 451 })
      smtp.behave({ refuse: { status: 550, at: 'data' } })
      await expect(send(smtp)).rejects.toMatchObject({ responseCode: 550 })
      smtp.behave({ breakAfterData: true })
      await expect(send(smtp)).rejects.toThrow()
      expect(smtp.messages).toHaveLength(1)
      smtp.behave({})
      await send(smtp)
      expect(smtp.messages).toHaveLength(2)
    }))

  test('it goes away, drips, and comes back on the same port', () =>
    withSmtp({}, async (smtp) => {
      await smtp.stop()
      await expect(send(smtp)).rejects.toThrow('ECONNREFUSED')
      await smtp.drip(20)
      await expect(send(smtp, { greetingTimeout: 500, socketTimeout: 1000 })).rejects.toThrow()
      await smtp.start()
      await send(smtp)
      expect(smtp.messages).toHaveLength(1)
    }))
})

describe('SMS gateway', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway()
  })
  afterAll(() => gateway.stop())

  test('it reads JSON, a form and a query alike', async () => {
    const fields = { to: '+33612345678', text: 'Code é 654321' }
    await fetch(gateway.url, {
      method: 'POST',
      body: JSON.stringify(fields),
      headers: { 'content-type': 'application/json' },
    })
    await fetch(gateway.url, { method: 'POST', body: new URLSearchParams(fields) })
    await fetch(`${gateway.url}?${new URLSearchParams(fields)}`)
    expect(gateway.messages.map(({ method, to, text, code }) => ({ method, to, text, code }))).toEqual(
      ['POST', 'POST', 'GET'].map((method) => ({ method, ...fields, code: '654321' })),
    )
    expect((await gateway.waitForSms('+33612345678')).path).toBe('/send')
  })

  test('it refuses, redirects, hesitates, babbles and hangs up', async () => {
    const ask = (timeoutMs = 1000) =>
      fetch(gateway.url, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    const before = gateway.messages.length
    gateway.behave({ status: 503 })
    expect((await ask()).status).toBe(503)
    gateway.behave({ redirect: 'http://127.0.0.1:1/' })
    expect((await ask()).headers.get('location')).toBe('http://127.0.0.1:1/')
    expect(gateway.messages).toHaveLength(before)
    gateway.behave({ delayMs: 400 })
    await expect(ask(100)).rejects.toThrow('timed out')
    gateway.behave({ replyBytes: 100_000 })
    expect(await (await ask()).text()).toHaveLength(100_000)
    gateway.behave({ drip: true })
    const dripping = await ask(300)
    await expect(dripping.text()).rejects.toThrow('timed out')
    gateway.behave({ hangUp: true })
    await expect(ask()).rejects.toThrow()
    gateway.behave({})
  })

  test('it goes away and comes back on the same port', async () => {
    await gateway.stop()
    await expect(fetch(gateway.url)).rejects.toThrow()
    await gateway.start()
    expect((await fetch(gateway.url)).status).toBe(200)
  })
})
