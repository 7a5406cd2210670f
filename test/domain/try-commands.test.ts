/** `poterne gateways try` and `poterne mail try`, against servers on loopback. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { poterneCommand } from '../helpers/executable.ts'
import { startGateway } from '../helpers/gateway.ts'
import { deliverySettings, mergeSettings, type Settings, writeSettings } from '../helpers/service.ts'
import { startSmtp } from '../helpers/smtp.ts'

setDefaultTimeout(30_000)

async function poterne(settings: Settings, ...argv: string[]) {
  const { file, directory } = writeSettings(settings)
  const child = Bun.spawn([...poterneCommand(), ...argv, '--config', file], {
    cwd: directory,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, out, error }
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

test('a mail server is tried step by step', async () => {
  const [gateway, smtp] = [await startGateway(), await startSmtp()]
  const settings = mergeSettings(deliverySettings(smtp, gateway), { smtp: { ca_file: smtp.caFile } })
  const sent = await poterne(settings, 'mail', 'try', 'ada@example.com')
  expect(sent).toMatchObject({ code: 0, error: '' })
  expect(sent.out).toMatch(/resolve:[\s\S]*connect:[\s\S]*security starttls[\s\S]*verdict: +sent/)
  expect(sent.out).not.toContain('mail-password')
  expect(smtp.messages).toMatchObject([{ to: 'ada@example.com', subject: 'Test of Poterne' }])
  const untrusted = await poterne(deliverySettings(smtp, gateway), 'mail', 'try', 'ada@example.com')
  expect(untrusted.code).toBe(1)
  expect(untrusted.out).toMatch(/reply: +smtp_tls UNABLE_TO_VERIFY/)
  await gateway.stop()
  await smtp.stop()
})
