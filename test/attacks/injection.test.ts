/** The text that a stranger writes stays text: in SQL, mails, SMS gateways, templates, logs, objects and columns. */
import { describe, expect, test } from 'bun:test'
import { createApiClient, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { dumpTables } from '../helpers/database.ts'
import { startGateway } from '../helpers/gateway.ts'
import { createInbox } from '../helpers/inbox.ts'
import {
  differingShapes,
  type Settings,
  type Shape,
  startService,
  type TestService,
} from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const TABLES = ['accounts', 'sessions', 'messages', 'code_budgets']

/** One parameter is like another on every shape; hostile numbers and times are tried on both databases. */
describe.each(reduced<Shape[]>(['redis'], differingShapes))('SQL on %s', (shape) => {
  const service = useService({ shape })

  test.each([
    "' or 1=1 --",
    "a@example.com' or '1'='1",
    '"; drop table accounts; --',
    "'); delete from sessions; --",
    "\\'; select pg_sleep(5); --",
    '$1',
    '$$; drop table accounts; $$',
    '%',
    '_@example.com',
    '{1,2}',
    "E'\\\\x00'",
    "1'::jsonb->>'a",
    'null',
    '*/ or 1=1 /*',
  ])('%j in every field is text', async (text) => {
    const person = await service.signUp(newEmail())
    const device = { device_name: text, device_os: text, device_fingerprint: text }
    for (const operation of [
      'login',
      '2fa/verify',
      'verify-account',
      'resend-verification',
      'password/forgot',
    ]) {
      const answer = await service.post(operation, { identifier: text, password: text, otp: text, ...device })
      expect([operation, [201, 401, 422].includes(answer.status)]).toEqual([operation, true])
    }
    expect(
      (await service.post('register', { email: text, password: text, password_confirmation: text })).status,
    ).toBe(422)
    const { access_token, refresh_token } = await service.logIn(person, device)
    const { body } = await service.get('sessions', { bearer: access_token })
    expect([body.sessions[0].device_name, body.sessions[0].device_os]).toEqual([text, text])
    expect((await service.post('refresh', { refresh_token: text })).status).toBe(401)
    expect((await service.post('refresh', { refresh_token })).status).toBe(200)
    const end = await service.call('DELETE', `/api/v1/auth/sessions/${encodeURIComponent(text)}`, undefined, {
      bearer: access_token,
    })
    expect([404, 422]).toContain(end.status)
    expect(await service.post('login', { ...person, ...device })).toMatchObject({ status: 200 })
    const rows = await dumpTables(service)
    for (const table of TABLES) expect(rows).toContain(`${table} (`)
  })
})

/** The owner gets a notice that quotes the device: the one place where a stranger's words reach a message. */
async function noticeWithDevice(
  service: TestService,
  identifier: string,
  device_name: string,
): Promise<string> {
  const { refresh_token } = await service.signedIn(identifier, { device_name })
  const { body } = await service.post('refresh', { refresh_token })
  await service.post('refresh', { refresh_token: body.refresh_token })
  const before = service.inbox.textsTo(identifier).length
  expect((await service.post('refresh', { refresh_token })).status).toBe(401)
  return waitFor(() => service.inbox.textsTo(identifier)[before], { what: 'the notice' })
}

const hostile = [
  'x\r\nBcc: evil@example.com\r\n\r\nhello',
  'x\nSubject: other',
  'x\r\n.\r\nMAIL FROM:<evil@example.com>',
  '","to":"+33600000000","x":"',
  '&to=%2B33600000000&text=evil',
  `{code} {to} {text} ${'$'}{code} {{code}} <%= code %> %s`,
  "$& $1 $` $'",
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '\u202egnp.exe\u2066 \u001b[31m',
]

const service = useService()

describe('a device’s name', () => {
  test.each(hostile)('%j in a mail', async (device) => {
    const email = newEmail()
    const text = await noticeWithDevice(service, email, device)
    const mails = service.smtp.messages.filter(({ envelope }) => envelope.to.includes(email))
    const mail = mails.at(-1)!
    expect(service.smtp.messages.every(({ envelope }) => envelope.to.length === 1)).toBe(true)
    expect(Object.keys(mail.headers).sort()).toEqual(Object.keys(mails[0]!.headers).sort())
    expect(mail.subject).toStartWith('Un appareil')
    // Letters, digits, spaces and a few signs: nothing of which a mail program makes a link.
    const shown = /«\u00a0(.*)\u00a0»/.exec(text)?.[1] ?? ''
    expect(shown).toMatch(/^[\p{L}\p{M}\p{Nd} ’()&+_-]{0,40}$/u)
    for (const word of device.match(/[a-z]{4,}/gi)?.slice(0, 2) ?? []) expect(text).toContain(word)
    expect(mail.html).not.toMatch(/<script|<img/i)
    expect(mail.raw).not.toMatch(/^(bcc|subject: other|mail from)/im)
  })

  const formats: [string, Settings[string]][] = [
    ['json', { format: 'json' }],
    ['form', { format: 'form' }],
    ['query', { format: 'query', method: 'GET' }],
  ]
  test.each(reduced(formats.slice(0, 1), formats))(
    'in an SMS, by a gateway that takes %s',
    async (_name, gatewaySettings) => {
      const gateway = await startGateway()
      const gateways = [
        {
          name: 'stub',
          url: gateway.url,
          body: { to: '{to}', text: '{text}', code: '{code}', note: 'a {text} b' },
          ...gatewaySettings,
        },
      ]
      await using sending = await startService({ settings: { sms: { allowed_countries: ['*'], gateways } } })
      const inbox = createInbox(sending.smtp, gateway)
      const through = { ...sending, ...createApiClient(sending.url, inbox), inbox }
      for (const device of hostile) {
        const phone = newPhone()
        await noticeWithDevice(through, phone, device)
        const requests = gateway.requests.filter(({ fields }) => fields.to === phone)
        expect(requests).toHaveLength(2)
        for (const { fields } of requests) {
          expect(Object.keys(fields).sort()).toEqual(['code', 'note', 'text', 'to'])
          expect(fields.note).toBe(`a ${fields.text} b`)
          expect(String(fields.text)).not.toMatch(/[\r\n]\S+:/)
        }
      }
      expect(gateway.requests.some(({ fields }) => fields.to === '+33600000000')).toBe(false)
      await gateway.stop()
    },
  )
})

describe('one service', () => {
  test('log lines cannot be written by a client, and hold no secret', async () => {
    const evil = '\r\n{"level":"error","msg":"forged"}\u001b[2J\u009b31m\u2028forged'
    const person = await service.signUp(newEmail())
    const first = service.log.length
    const device = { device_name: evil, device_os: evil, device_fingerprint: evil }
    const { access_token, refresh_token } = await service.logIn(person, device)
    const options = {
      headers: { 'user-agent': 'forged', 'accept-language': 'forged', 'x-request-id': 'forged' },
    }
    await service.post('login', { identifier: evil, password: evil }, options)
    await service.call(
      'GET',
      `/forged${encodeURIComponent(evil)}?forged=${encodeURIComponent(evil)}`,
      undefined,
      options,
    )
    await service.call('POST', '/api/v1/auth/login', `{"identifier": ${JSON.stringify(evil)}`, options)
    const lines = service.log.slice(first)
    expect(lines.length).toBeGreaterThanOrEqual(4)
    for (const line of lines) {
      expect(line).toEndWith('}\n')
      expect(() => JSON.parse(line)).not.toThrow()
      expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
      expect(line).not.toMatch(/forged/)
      for (const secret of [person.password, access_token, refresh_token]) expect(line).not.toContain(secret)
    }
  })

  test('prototypes are not polluted, and what a prototype would bring is not believed', async () => {
    const email = newEmail()
    const { email: _, ...rest } = registration(email) as Record<string, unknown>
    const bodies = [
      `{"__proto__":{"polluted":1,"email":"${email}"},"password":"${PASSWORD}","password_confirmation":"${PASSWORD}"}`,
      `{"constructor":{"prototype":{"polluted":1,"email":"${email}"}},"password":"${PASSWORD}","password_confirmation":"${PASSWORD}"}`,
      `{"__proto__.polluted":1,"constructor.prototype.polluted":1,"password":"${PASSWORD}","password_confirmation":"${PASSWORD}"}`,
      JSON.stringify({ ...rest, toString: 'x', hasOwnProperty: 'x', valueOf: 1 }),
    ]
    for (const body of bodies) {
      const answer = await service.post('register', body)
      expect([answer.status, answer.body.errors[0].code]).toEqual([422, 'identifier_required'])
    }
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    const nested = `{"identifier":"${email}","password":"x","device_name":{"__proto__":{"polluted":1}}}`
    expect((await service.post('login', nested)).status).toBe(422)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })

  test('nothing of an account is taken from a body but what the operation names', async () => {
    const extra = {
      ...{
        id: 1,
        uuid: crypto.randomUUID(),
        role_id: 99,
        roleId: 99,
        accountable_type: 'Admin',
        accountable_id: 7,
      },
      ...{
        account_confirmed: true,
        account_confirmed_at: '2020-01-01T00:00:00.000Z',
        email_confirmed_at: 'now',
      },
      ...{
        two_factor_enabled: true,
        provider: 'google',
        provider_uid: '1',
        locked_at: null,
        sign_in_count: 9,
      },
      ...{
        failed_attempts: -5,
        password_digest: '$argon2id$x',
        unlock_token: 'x',
        language: 'en',
        phone_confirmed_at: 'now',
      },
      ...{
        waiting_for: null,
        created_at: '2020-01-01',
        current_sign_in_ip: '1.2.3.4',
        amr: 'mfa',
      },
      ...{
        sub: 'x',
        sid: 'x',
        is_admin: true,
        status: 200,
        purpose: 'password_reset',
        subject: 'x',
        attempts: 0,
      },
    }
    const email = newEmail()
    expect((await service.post('register', { ...registration(email), ...extra })).status).toBe(201)
    expect((await service.post('login', { identifier: email, password: PASSWORD, ...extra })).body.code).toBe(
      'account_unconfirmed',
    )
    const otp = await service.inbox.nextCode(email)
    expect((await service.post('verify-account', { identifier: email, otp, ...extra })).status).toBe(201)
    const { body } = await service.post('login', { identifier: email, password: PASSWORD, ...extra })
    const { account } = body
    expect(account).toMatchObject({
      role_id: 1,
      accountable_type: 'User',
      accountable_id: account.id,
      two_factor_enabled: false,
      provider: 'local',
      provider_uid: null,
      sign_in_count: 1,
      failed_attempts: 0,
      current_sign_in_ip: '127.0.0.1',
      phone: null,
    })
    expect(account.uuid).not.toBe(extra.uuid)
    expect(account.id).not.toBe(1_000_000)
    const bearer = body.access_token
    await service.post(
      'password/change',
      {
        current_password: PASSWORD,
        password: 'another good one',
        password_confirmation: 'another good one',
        ...extra,
      },
      { bearer },
    )
    await service.post(
      'email/change',
      { email: newEmail(), password: 'another good one', ...extra },
      { bearer },
    )
    const after = (await service.get('me', { bearer })).body.account
    expect([after.role_id, after.two_factor_enabled, after.email, after.uuid]).toEqual([
      1,
      false,
      email,
      account.uuid,
    ])
  })
})
