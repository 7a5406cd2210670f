/** Mail servers and gateways in trouble, as clients see it: registrations answer as always, messages follow. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { startGateway } from '../helpers/gateway.ts'
import { startSmtp, type TestSmtp } from '../helpers/smtp.ts'
import { longTest, measureBelow, median, reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(reduced(60_000, 400_000))

/** In the normal run it is over before the first retry. */
const AWAY_MS = reduced(1000, 60_000)
/** The next try after so long: 2 s, 10 s, 30 s, 90 s, each up to a fifth later. */
const RETRY_MS = reduced(20_000, 180_000)

interface Mailing {
  smtp: TestSmtp
  service: Executable
}

async function startMailing(): Promise<Mailing> {
  const smtp = await startSmtp()
  return { smtp, service: await startExecutable({ smtp }) }
}

async function stopMailing(mailing: Mailing | undefined): Promise<void> {
  await mailing?.service.close()
  await mailing?.smtp.stop()
}

const tenEmails = () => Array.from({ length: 10 }, newEmail)

/** Milliseconds of each answer. */
async function register({ service }: Mailing, emails: string[]): Promise<number[]> {
  const times: number[] = []
  for (const email of emails) {
    const startedAt = performance.now()
    expect((await service.post('register', registration(email))).status).toBe(201)
    times.push(performance.now() - startedAt)
  }
  return times
}

/** Registrations answer as always during the trouble; after it every message comes, once, with a code that is right. */
async function expectPatience(
  mailing: Mailing,
  awayMs: number,
  trouble: (smtp: TestSmtp) => unknown,
  end: (smtp: TestSmtp) => unknown,
) {
  const { smtp, service } = mailing
  const usual = median(await register(mailing, tenEmails()))
  await trouble(smtp)
  const emails = tenEmails()
  const startedAt = performance.now()
  const times = await register(mailing, emails)
  expect(median(times)).toBeLessThan(usual * 3 + 100)
  await Bun.sleep(Math.max(0, awayMs - (performance.now() - startedAt)))
  await end(smtp)
  await Promise.all(emails.map((email) => smtp.waitForMailTo(email, RETRY_MS)))
  const email = emails[0] as string
  const otp = await service.inbox.nextCode(email)
  expect((await service.post('verify-account', { identifier: email, otp })).status).toBe(201)
  for (const each of emails) expect(service.inbox.textsTo(each)).toHaveLength(1)
}

describe('a mail server in trouble', () => {
  let mailing: Mailing
  beforeAll(async () => {
    mailing = await startMailing()
  })
  afterAll(() => stopMailing(mailing))

  test('that says 451 for a while', () =>
    expectPatience(
      mailing,
      AWAY_MS,
      (smtp) => smtp.behave({ refuse: { status: 451, at: 'recipient' } }),
      (smtp) => smtp.behave({}),
    ))

  test('that drips its greeting', () =>
    expectPatience(
      mailing,
      AWAY_MS,
      (smtp) => smtp.drip(200),
      (smtp) => smtp.start(),
    ))

  test('that is down delays neither an answer nor an SMS', () =>
    expectPatience(
      mailing,
      AWAY_MS,
      (smtp) => smtp.stop(),
      async (smtp) => {
        const mails = smtp.messages.length
        const phone = newPhone()
        await mailing.service.post('register', registration(phone))
        await mailing.service.gateway.waitForSms(phone, 20_000)
        expect(smtp.messages).toHaveLength(mails)
        await smtp.start()
      },
    ))
})

/** Each of these has an executable of its own and waits more than it works, so they run at the same time. */
describe('a mail server that cannot be trusted', () => {
  const untrusted: [string, NonNullable<Parameters<typeof startSmtp>[0]>][] = [
    ['whose certificate nobody signed', { certificate: 'self-signed' }],
    ['that offers no STARTTLS', { security: 'none' }],
  ]
  test.concurrent.each(reduced(untrusted.slice(0, 1), untrusted))(
    '%s gets neither password nor message',
    async (_, options) => {
      const smtp = await startSmtp(options)
      const service = await startExecutable({
        shape: 'postgres',
        smtp,
        settings: { smtp: { security: 'starttls' } },
      })
      const registering = async () => (await register({ smtp, service }, [newEmail()]))[0]!
      expect(await measureBelow(2000, registering)).toBeLessThan(2000)
      const tries = () => service.log().filter(({ msg }) => msg === 'message')
      await waitFor(() => tries().length >= 2, { what: 'a second try' })
      for (const line of tries()) expect(line).toMatchObject({ outcome: 'failed', detail: 'smtp_tls' })
      expect(smtp.connections).toBeGreaterThan(0)
      expect(smtp.messages).toEqual([])
      await service.close()
      await smtp.stop()
    },
  )
})

describe('a gateway', () => {
  longTest.concurrent(
    'that does not answer for a while: the SMS goes out, with the same code, once it is well',
    async () => {
      const gateway = await startGateway({ behaviour: { delayMs: 60_000 } })
      const stub = { name: 'stub', url: gateway.url, body: { to: '{to}', text: '{text}' }, timeout: '5s' }
      const settings = { sms: { gateways: [stub] } }
      const service = await startExecutable({ shape: 'postgres', gateway, settings })
      const phone = newPhone()
      // An answer that waited for the gateway would take as long as its time-out.
      const startedAt = performance.now()
      expect((await service.post('register', registration(phone))).status).toBe(201)
      expect(performance.now() - startedAt).toBeLessThan(5000)
      await waitFor(() => gateway.requests.length > 0)
      gateway.behave({})
      await waitFor(() => service.log().some(({ outcome }) => outcome === 'sent'), { timeoutMs: 20_000 })
      const codes = new Set(gateway.messages.map(({ code }) => code))
      expect(codes.size).toBe(1)
      const [otp] = codes
      expect((await service.post('verify-account', { identifier: phone, otp })).status).toBe(201)
      await service.close()
      await gateway.stop()
    },
  )

  longTest.concurrent('on this machine is asked directly, whatever proxy the environment names', async () => {
    const proxy = `http://127.0.0.1:${await freePort()}`
    const env = { HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy, https_proxy: proxy }
    const service = await startExecutable({ shape: 'postgres', env })
    await service.signUp(newPhone())
    await service.close()
  })
})
