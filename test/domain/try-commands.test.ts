/** `poterne gateways try` and `poterne mail try`, against servers on loopback. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { startGateway } from '../helpers/gateway.ts'
import { runHere } from '../helpers/run-here.ts'
import { deliverySettings, mergeSettings, type Settings, writeSettings } from '../helpers/service.ts'
import { startSmtp } from '../helpers/smtp.ts'

setDefaultTimeout(30_000)

async function poterne(settings: Settings, ...argv: string[]) {
  const { file, directory } = writeSettings(settings)
  return runHere([...argv, '--config', file], {}, directory)
}

test('a gateway is tried step by step, and no secret is printed', async () => {
  const [gateway, smtp] = [await startGateway(), await startSmtp({ security: 'none', auth: null })]
  const entry = {
    name: 'acme',
    url: `${gateway.url}?key=hunter2`,
    headers: { authorization: 'Bearer hunter2' },
    body: { to: '{to}', text: '{text}', key: 'hunter2' },
    success: { path: 'status', equals: 'ok' },
    message_id: 'id',
  }
  const settings = mergeSettings(deliverySettings(smtp, gateway), { sms: { gateways: [entry] } })
  gateway.behave({ body: '{"status": "ok", "id": "m-1"}' })
  const sent = await poterne(settings, 'gateways', 'try', 'acme', '0612345678')
  expect(sent).toMatchObject({ code: 0, error: '' })
  for (const line of ['resolve:', 'connect:', 'request:', 'body:', 'reply:', 'm-1', 'verdict:     sent'])
    expect(sent.out).toContain(line)
  expect(sent.out).not.toContain('hunter2')
  expect(gateway.messages).toMatchObject([{ to: '+33612345678', text: expect.stringContaining('test') }])
  gateway.behave({ body: '{"status": "no credit"}' })
  const refused = await poterne(settings, 'gateways', 'try', 'acme', '0612345678')
  expect(refused.code).toBe(1)
  expect(refused.out).toMatch(/no credit[\s\S]*verdict: +refused/)
  expect(await poterne(settings, 'gateways', 'try', 'other', '0612345678')).toMatchObject({
    code: 2,
    error: 'there is no gateway other: there are acme\n',
  })
  await gateway.stop()
  await smtp.stop()
})

test('the token of a gateway is a step, whether it is given or not', async () => {
  const [gateway, tokens] = [await startGateway(), await startGateway()]
  const smtp = await startSmtp({ security: 'none', auth: null })
  const oauth = { token_url: tokens.url, client_id: 'acme', client_secret: 'hunter2secret' }
  const entry = { name: 'acme', url: gateway.url, body: { to: '{to}', text: '{text}' }, oauth }
  const settings = mergeSettings(deliverySettings(smtp, gateway), { sms: { gateways: [entry] } })
  tokens.behave({ body: '{"access_token": "opaque-token-1234", "expires_in": 600}' })
  gateway.behave({ body: 'thank you, opaque-token-1234' })
  const sent = await poterne(settings, 'gateways', 'try', 'acme', '0612345678')
  expect(sent).toMatchObject({ code: 0, error: '' })
  expect(sent.out).toMatch(
    /token: +asked at http[^\n]*\ntoken: +200, for 600 s[\s\S]*request: [\s\S]*reply: +200 thank/,
  )
  expect(sent.out).not.toContain('opaque-token')
  tokens.behave({ status: 401, body: '{"error": "invalid_client", "tried": "hunter2secret"}' })
  const refused = await poterne(settings, 'gateways', 'try', 'acme', '0612345678')
  expect(refused.code).toBe(1)
  expect(refused.out).toMatch(/token: +oauth oauth_401 [^\n]*invalid_client[^\n]*\nverdict: +not sent/)
  expect(refused.out).not.toContain('hunter2secret')
  for (const server of [gateway, tokens, smtp]) await server.stop()
})

test('a mail server is tried step by step', async () => {
  const [gateway, smtp] = [await startGateway(), await startSmtp()]
  const settings = mergeSettings(deliverySettings(smtp, gateway), { smtp: { ca_file: smtp.caFile } })
  const sent = await poterne(settings, 'mail', 'try', 'ada@example.com')
  expect(sent).toMatchObject({ code: 0, error: '' })
  expect(sent.out.split('\n').map((line) => line.split(':')[0])).toEqual([
    ...[
      'server',
      'resolve',
      'connect',
      'greeting',
      'hello',
      'starttls',
      'hello',
      'auth',
      'sender',
      'recipient',
    ],
    ...['message', 'reply', 'verdict', ''],
  ])
  expect(sent.out).toMatch(/starttls: +TLSv1\.[23] \w+, the certificate is trusted\n/)
  expect(sent.out).toMatch(/auth: +235[\s\S]*verdict: +sent/)
  expect(sent.out).not.toContain('mail-password')
  expect(smtp.messages).toMatchObject([{ to: 'ada@example.com', subject: 'Test of Poterne' }])
  const untrusted = await poterne(deliverySettings(smtp, gateway), 'mail', 'try', 'ada@example.com')
  expect(untrusted.code).toBe(1)
  expect(untrusted.out).toMatch(/reply: +smtp_tls UNABLE_TO_VERIFY/)
  await gateway.stop()
  await smtp.stop()
})

test('a server that takes nothing is followed by its fallback, as in the service', async () => {
  const [gateway, away, smtp] = [
    await startGateway(),
    await startSmtp(),
    await startSmtp({ security: 'tls' }),
  ]
  await away.stop()
  const fallback = [
    { host: 'mail.invalid', port: 25 },
    { host: smtp.host, port: smtp.port, security: 'tls', ca_file: smtp.caFile, ...smtp.auth! },
  ]
  const settings = mergeSettings(deliverySettings(away, gateway), { smtp: { fallback } })
  const sent = await poterne(settings, 'mail', 'try', 'ada@example.com')
  expect(sent).toMatchObject({ code: 0, error: '' })
  expect(sent.out).toMatch(
    /server: +smtp,[\s\S]*reply: +smtp_connection[\s\S]*server: +smtp\.fallback\[0\][\s\S]*reply: +smtp_dns/,
  )
  expect(sent.out).toMatch(
    /server: +smtp\.fallback\[1\][\s\S]*tls: +TLSv1\.\d \w+, the certificate is trusted[\s\S]*auth: +235[\s\S]*reply: +it took the message\nverdict: +sent/,
  )
  expect(smtp.messages).toHaveLength(1)
  for (const server of [gateway, smtp]) await server.stop()
})

test('a mail server that repeats the password does not get it printed', async () => {
  const [gateway, smtp] = [await startGateway(), await startSmtp()]
  const password = smtp.auth!.password
  const base64 = Buffer.from(`\0poterne\0${password}`).toString('base64')
  const words = `no: ${password} ${base64} ${encodeURIComponent(password)}`
  smtp.behave({ refuse: { status: 550, at: 'recipient', words } })
  const settings = mergeSettings(deliverySettings(smtp, gateway), { smtp: { ca_file: smtp.caFile } })
  const refused = await poterne(settings, 'mail', 'try', 'ada@example.com')
  expect(refused.out).toMatch(/recipient: +550[\s\S]*verdict: +refused/)
  // The reply to RSET is no step.
  expect(refused.out.match(/^auth:/gm)).toHaveLength(1)
  expect(refused.out).not.toContain('Flushed')
  for (const form of [password, base64]) expect(refused.out).not.toContain(form)
  await gateway.stop()
  await smtp.stop()
})
