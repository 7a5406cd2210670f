/** The rate at which codes are sent, at the numbers of the default configuration and at others. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { newClient, seen, startLimited } from '../helpers/limited-service.ts'
import { limitingShapes, type Settings, type TestService } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'

setDefaultTimeout(60_000)

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Repeats a call: returns the number that pass now, and the words of the first refused one. */
async function passing(call: () => ReturnType<TestService['post']>, most = 40) {
  for (let passed = 0; passed < most; passed++) {
    const answer = await call()
    if (answer.status >= 400) return { passed, answer }
  }
  throw new Error(`${most} passed`)
}

async function withService(settings: Settings, work: (service: TestService) => Promise<void>) {
  await using service = await startLimited({ settings })
  await work(service)
}

describe.each(limitingShapes)('codes sent to one destination, on %s', (shape) => {
  const service = useLimited({ shape })

  const request = (identifier: string) => () => service.post('2fa/request-otp', { identifier }, newClient())
  const resend = (identifier: string) => () =>
    service.post('resend-verification', { identifier }, newClient())

  test('three at once, then one a minute, and the told wait is exact', async () => {
    const call = request(newEmail())
    const { passed, answer } = await passing(call)
    expect(passed).toBe(3)
    expect([answer.status, answer.body.code, answer.body.retry_after]).toEqual([429, 'too_many_requests', 60])
    expect(answer.headers.get('retry-after')).toBe('60')
    service.clock.advance(59 * SECOND)
    expect((await call()).body.retry_after).toBe(1)
    service.clock.advance(SECOND)
    expect((await passing(call)).passed).toBe(1)
  })

  test('six an hour and twelve a day, over all purposes', async () => {
    const email = newEmail()
    const [code, confirmation] = [request(email), resend(email)]
    expect((await passing(code)).passed).toBe(3)
    expect((await passing(confirmation)).passed).toBe(3)
    service.clock.advance(10 * MINUTE)
    const sixth = (await passing(code)).answer
    expect(sixth.body.retry_after).toBe(50 * 60)
    service.clock.advance(50 * MINUTE - SECOND)
    expect((await code()).status).toBe(429)
    service.clock.advance(SECOND)
    expect((await passing(code)).passed + (await passing(confirmation)).passed).toBe(6)
    const twelfth = (await passing(code)).answer
    service.clock.advance(2 * HOUR)
    const day = (await code()).body.retry_after
    expect(day).toBe(21 * 3600)
    expect(twelfth.status).toBe(429)
    service.clock.advance(21 * HOUR - SECOND)
    expect((await code()).body.retry_after).toBe(1)
    service.clock.advance(SECOND)
    expect((await code()).status).toBe(201)
  })

  test('registering counts like any other sending', async () => {
    const email = newEmail()
    const call = () => service.post('register', registration(email), newClient())
    const { passed, answer } = await passing(call)
    expect([passed, answer.body.retry_after]).toEqual([3, 60])
    expect((await passing(resend(email))).passed).toBe(0)
  })

  test('one destination has one bucket, however it is spelled', async () => {
    const phone = newPhone()
    const email = newEmail()
    const spellings = [
      phone,
      phone.replace('+33', '0'),
      phone.replace('+', '00'),
      `${phone.slice(0, 5)} ${phone.slice(5)}`,
    ]
    const refusals: number[] = []
    for (const identifier of spellings) refusals.push((await request(identifier)()).status)
    expect(refusals).toEqual([201, 201, 201, 429])
    for (const identifier of [email, email.toUpperCase(), ` ${email} `]) await request(identifier)()
    expect((await request(email)()).status).toBe(429)
  })
})

test('each of these numbers is configuration', async () => {
  const limits = { codes_burst: 2, codes_interval: '5m', codes_per_hour: 4, codes_per_day: 5 }
  await withService({ limits }, async (service) => {
    const email = newEmail()
    const call = () => service.post('2fa/request-otp', { identifier: email }, newClient())
    const counts: number[][] = []
    for (let i = 0; i < 4; i++) {
      const { passed, answer } = await passing(call)
      counts.push([passed, answer.body.retry_after])
      service.clock.advance(answer.body.retry_after * SECOND)
    }
    expect(counts).toEqual([
      [2, 300],
      [1, 300],
      [1, 50 * 60],
      [1, 23 * 3600],
    ])
  })
})

describe('SMS', () => {
  test('go to the default country only, then to those listed, and to all with "*"', async () => {
    const numbers = { FR: '+33612345678', DE: '+4915112345678', CI: '+2250707070707' }
    const statusesWith = async (allowed_countries: string[], daily_budget = 1000) => {
      const statuses: Record<string, unknown>[] = []
      await withService({ sms: { allowed_countries, daily_budget } }, async (service) => {
        for (const phone of Object.values(numbers)) {
          const asked = await service.post('2fa/request-otp', { identifier: phone }, newClient())
          const resent = await service.post('resend-verification', { identifier: phone }, newClient())
          const registered = await service.post('register', registration(phone), newClient())
          const codes = [asked, resent, registered].map(({ status, body }) =>
            `${status} ${body.code ?? ''}`.trim(),
          )
          statuses.push({ codes: [...new Set(codes)] })
        }
      })
      return statuses.flatMap(({ codes }) => codes)
    }
    expect(await statusesWith([])).toEqual(['201', '422 country_not_allowed', '422 country_not_allowed'])
    expect(await statusesWith(['FR', 'CI'])).toEqual(['201', '422 country_not_allowed', '201'])
    expect(await statusesWith(['*'])).toEqual(['201', '201', '201'])
    expect(await statusesWith(['*'], 0)).toEqual(Array(3).fill('422 country_not_allowed'))
  })

  test('are refused to newcomers beyond half the budget of the day, which comes back over the day', async () => {
    await withService({ sms: { daily_budget: 7 } }, async (service) => {
      const ask = () => service.post('register', registration(newPhone()), newClient())
      const { passed, answer } = await passing(ask)
      expect([passed, answer.status, answer.body.retry_after]).toEqual([3, 429, 86_400 / 3])
      const again = await service.post('resend-verification', { identifier: newPhone() }, newClient())
      expect(seen(again)).toEqual(seen(answer))
      for (const identifier of [newEmail(), newPhone()])
        expect((await service.post('2fa/request-otp', { identifier }, newClient())).status).toBe(201)
      service.clock.advance(8 * HOUR - SECOND)
      expect((await ask()).body.retry_after).toBe(1)
      service.clock.advance(SECOND)
      expect((await passing(ask)).passed).toBe(1)
    })
  })

  test('go to numbers of one range 50 times an hour from one network', async () => {
    await withService({}, async (service) => {
      let next = 0
      const ask = () =>
        service.post('2fa/request-otp', { identifier: `+3361234${String(5000 + next++)}` }, newClient())
      const { passed, answer } = await passing(ask, 60)
      expect([passed, answer.body.retry_after]).toEqual([50, 3600])
      expect(
        (await service.post('2fa/request-otp', { identifier: '+33612355555' }, newClient())).status,
      ).toBe(201)
      service.clock.advance(HOUR)
      expect((await ask()).status).toBe(201)
    })
  })

  test('that strangers ask for never keep a notice from an owner', async () => {
    const limits = { sms_per_prefix_per_hour: 5 }
    await withService({ limits, sms: { daily_budget: 100 } }, async (service) => {
      const { person: owner, bearer } = await service.signedIn(newPhone())
      let next = 0
      const prefix = owner.identifier.slice(0, 8)
      const ofPrefix = () => `${prefix}${String(1000 + next++)}`
      const ask = (phone: string) => service.post('register', registration(phone), newClient())
      expect((await passing(() => ask(ofPrefix()))).answer.status).toBe(429)
      // Each of a prefix of its own: only the budget of the day stops them.
      const elsewhere = Array.from({ length: 120 }, (_, i) => `+336${2000 + i}1234`)
      const others = elsewhere.filter((phone) => !phone.startsWith(prefix)).values()
      const { passed, answer } = await passing(() => ask(others.next().value!), 100)
      expect([passed, answer.status]).toEqual([50 - 5, 429])
      const password = 'the owner chose another'
      const change = { current_password: PASSWORD, password, password_confirmation: password }
      const before = service.inbox.textsTo(owner.identifier).length
      expect((await service.post('password/change', change, { bearer, ...newClient() })).status).toBe(200)
      await service.delivered()
      expect(service.inbox.textsTo(owner.identifier).slice(before)).toEqual([
        expect.stringMatching(/mot de passe/),
      ])
    })
  })

  test('with notices go to one number twelve times a day', async () => {
    await withService({}, async (service) => {
      const owner = await service.signUp(newPhone())
      const passwords = [owner.password, 'the owner chose another']
      const before = service.inbox.textsTo(owner.identifier).length
      for (let i = 0; i < 14; i++) {
        const [current = '', password] = i % 2 === 0 ? passwords : passwords.toReversed()
        const login = await service.logIn({ identifier: owner.identifier, password: current })
        const bearer = login.access_token
        const change = { current_password: current, password, password_confirmation: password }
        expect((await service.post('password/change', change, { bearer, ...newClient() })).status).toBe(200)
        service.clock.advance(10 * MINUTE)
      }
      await service.delivered()
      expect(service.inbox.textsTo(owner.identifier).length - before).toBe(12)
    })
  })

  test('and the prefix number is configuration', async () => {
    await withService({ limits: { sms_per_prefix_per_hour: 2 } }, async (service) => {
      let next = 0
      const ask = () =>
        service.post('2fa/request-otp', { identifier: `+3361234${String(5000 + next++)}` }, newClient())
      expect((await passing(ask)).passed).toBe(2)
    })
  })
})

test('a second factor that goes to another contact counts there too, and a refusal is not told', async () => {
  await withService({}, async (service) => {
    const [email, phone] = [newEmail(), newPhone()]
    await service.post('register', { ...registration(email), phone }, newClient())
    await service.post('verify-account', { identifier: email, otp: await service.inbox.nextCode(email) })
    service.clock.advance(HOUR)
    // The phone is claimed, not proved: its codes go to the e-mail address, and count on both.
    const ask = () => service.post('2fa/request-otp', { identifier: phone }, newClient())
    for (let i = 0; i < 3; i++) {
      expect((await ask()).status).toBe(201)
      await service.inbox.nextCode(email)
    }
    const direct = await service.post('2fa/request-otp', { identifier: email }, newClient())
    expect(direct.status).toBe(429)
    expect((await service.post('login', { identifier: email, password: PASSWORD }, newClient())).status).toBe(
      200,
    )
  })
})
