/** The share of the service's messages that networks of strangers may use up: never what others need. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { from, newClient, noon, startLimited } from '../helpers/limited-service.ts'
import { createTestClock, limitingShapes, type TestService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { useLimited } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

const HOUR = 3_600_000
let hosts = 0
/** A host of its own /64 in this /48. */
const hostOf = (network: string) => from(`${network}:${(++hosts).toString(16)}::1`)
const [FIRST, SECOND, ELSEWHERE] = ['2a01:e0a:1', '2a01:e0a:2', '2a02:8428:3'] as const

/** French mobile numbers, each in a range of its own. */
let ranges = 0
const numberOfNextRange = () => `+3361${String(++ranges).padStart(3, '0')}${String(1000 + ranges)}`

const register = (service: TestService, contact: string, network: string) =>
  service.post('register', registration(contact), hostOf(network))

/** Counts the calls that were not refused. */
async function passed(count: number, call: () => Promise<{ status: number }>): Promise<number> {
  let admitted = 0
  for (let i = 0; i < count; i++) if ((await call()).status === 201) admitted++
  return admitted
}

describe.each(limitingShapes)('of two networks that attack, on %s', (shape) => {
  const service = useLimited({ shape, settings: { admin: { notify: 'operator@example.com' } } })

  test('each gets a twentieth of the SMS for newcomers in a day, and newcomers elsewhere go on', async () => {
    for (const network of [FIRST, SECOND]) {
      const attack = () => register(service, numberOfNextRange(), network)
      expect(await passed(40, attack)).toBe(13)
      service.clock.advance(24 * HOUR)
      expect(await passed(40, attack)).toBe(12)
    }
    expect((await register(service, newPhone(), ELSEWHERE)).status).toBe(201)
  })

  test('the refusal names a wait that is true', async () => {
    const attack = () => register(service, numberOfNextRange(), '2a01:e0a:9')
    await passed(13, attack)
    const { status, body } = await attack()
    expect(status).toBe(429)
    service.clock.advance(body.retry_after * 1000 - 1000)
    expect((await attack()).status).toBe(429)
    service.clock.advance(1000)
    expect((await attack()).status).toBe(201)
  })

  test('calls at numbers of one range close it to nobody else', async () => {
    let next = 0
    const ask = (network: string) =>
      service.post(
        '2fa/request-otp',
        { identifier: `+3361299${String(next++).padStart(4, '0')}` },
        hostOf(network),
      )
    for (const network of ['2a01:e0a:3', '2a01:e0a:4']) await passed(60, () => ask(network))
    expect((await ask(ELSEWHERE)).status).toBe(201)
  })

  test('e-mails: a twentieth of the hour each, and the rest of the world goes on', async () => {
    const attack = () => service.post('2fa/request-otp', { identifier: newEmail() }, hostOf('2a01:e0a:5'))
    expect(await passed(100, attack)).toBe(63)
    expect(
      (await service.post('2fa/request-otp', { identifier: newEmail() }, hostOf(ELSEWHERE))).status,
    ).toBe(201)
  })
})

test('a network of IPv4 is a /24, and addresses that are not public share nothing', async () => {
  await using service = await startLimited()
  const ask = (address: string) => service.post('register', registration(numberOfNextRange()), from(address))
  let host = 0
  expect(await passed(20, () => ask(`10.1.7.${++host}`))).toBe(20)
  expect(await passed(20, () => ask(`82.64.7.${++host}`))).toBe(13)
  expect((await ask('82.64.8.1')).status).toBe(201)
})

longTest('forty networks use up the SMS of newcomers, of which one then comes back in its time', async () => {
  await using service = await startLimited({ clock: noon(), settings: { sms: { daily_budget: 240 } } })
  const ask = (network: number) => register(service, numberOfNextRange(), `2a01:e0b:${network.toString(16)}`)
  for (let network = 1; network <= 39; network++) expect(await passed(4, () => ask(network))).toBe(3)
  expect(await passed(4, () => register(service, numberOfNextRange(), ELSEWHERE))).toBe(3)
  expect((await ask(41)).status).toBe(429)
  service.clock.advance((24 * HOUR) / 120)
  expect((await ask(41)).status).toBe(201)
  expect((await ask(42)).status).toBe(429)
})

test('when the pool of newcomers is dry, owners on new devices still get their codes, and the operator is told', async () => {
  await using service = await startLimited({
    clock: noon(),
    settings: { sms: { daily_budget: 8 }, admin: { notify: 'operator@example.com' } },
  })
  const owner = await service.signUp(newPhone())
  service.clock.advance(HOUR)
  expect(await passed(10, () => service.post('register', registration(newPhone()), newClient()))).toBe(3)
  const before = service.inbox.textsTo(owner.identifier).length
  const asked = await service.post('2fa/request-otp', { identifier: owner.identifier }, newClient())
  expect(asked.status).toBe(201)
  await service.delivered()
  expect(service.inbox.textsTo(owner.identifier)).toHaveLength(before + 1)
  await waitFor(() =>
    service.inbox.textsTo('operator@example.com').some((text) => text.includes('sms_newcomers')),
  )
  expect(service.log.filter((line) => line.includes('"pool":"sms_newcomers"'))).toHaveLength(1)
})

test('strangers who name numbers without an account use up nothing that an owner needs', async () => {
  await using service = await startLimited({ settings: { sms: { daily_budget: 8 } } })
  const owner = await service.signUp(newPhone())
  service.clock.advance(HOUR)
  const left = await service.inside.services.limits.smsLeft()
  expect(
    await passed(30, () => service.post('password/forgot', { identifier: newPhone() }, newClient())),
  ).toBe(30)
  expect(await service.inside.services.limits.smsLeft()).toBe(left)
  const before = service.inbox.textsTo(owner.identifier).length
  await service.post('password/forgot', { identifier: owner.identifier }, newClient())
  await service.delivered()
  expect(service.inbox.textsTo(owner.identifier)).toHaveLength(before + 1)
})

test('what was used comes back over the day', async () => {
  await using service = await startLimited({ clock: noon(), settings: { sms: { daily_budget: 24 } } })
  const ask = () => service.post('register', registration(newPhone()), newClient())
  expect(await passed(20, ask)).toBe(12)
  service.clock.advance(2 * HOUR)
  expect(await passed(5, ask)).toBe(1)
  service.clock.advance(8 * HOUR)
  expect(await passed(20, ask)).toBe(4)
})

test('the e-mails of newcomers use up none that go to verified addresses', async () => {
  await using service = await startLimited({
    clock: createTestClock(),
    settings: { smtp: { strangers_per_hour: 6 }, limits: { codes_burst: 100, codes_per_hour: 100 } },
  })
  const owner = await service.signUp(newEmail())
  for (let i = 0; i < 8; i++) await service.post('register', registration(newEmail()), newClient())
  const count = () => service.inbox.textsTo(owner.identifier).length
  const before = count()
  await service.post('password/forgot', { identifier: owner.identifier }, newClient())
  await waitFor(() => count() > before, { timeoutMs: 3000 })
  expect((await service.post('login', { identifier: owner.identifier, password: PASSWORD })).status).toBe(200)
})
