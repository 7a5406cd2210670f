/** A range of numbers whose codes nobody enters is closed for a day to the networks that asked there. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { type SQL, sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { startGateway } from '../helpers/gateway.ts'
import { from, newClient, noon, startLimited } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { startService } from '../helpers/service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

/** A French mobile number with these first seven digits. */
const numberOf = (prefix: string, i: number) => `+${prefix}${String(i).padStart(4, '0')}`

/** Messages that gateways took, with codes that nobody entered. */
const sent = (count: number, purpose: string, subject: SQL, to: SQL, gateway: SQL) => sql`
  insert into messages (channel, destination, purpose, language, code_subject, code_purpose, created_at,
                        next_attempt_at, finished_at, outcome, gateway)
  select 'sms', ${to}, ${sql.raw(`'${purpose}'`)}, 'fr', ${subject}, ${sql.raw(`'${purpose}'`)}, times.at, times.at,
         times.at, 'sent', ${gateway}
    from generate_series(1, ${sql.raw(String(count))}), (select ${param('now', 'timestamptz')} as at) as times`
const unusedCodes = statement<{ to: string; now: Date }, never>(
  sent(
    60,
    'two_factor',
    sql`(select uuid from accounts where phone = ${param('to', 'text')})`,
    param('to', 'text'),
    sql`'stub'`,
  ),
)
const soldCodes = statement<{ gateway: string; now: Date }, never>(
  sent(200, 'confirmation', sql`gen_random_uuid()`, sql`'+33612380000'`, param('gateway', 'text')),
)
const endEarlier = statement(sql`update sessions set created_at = created_at - interval '1 hour'`)

test('fifty codes that nobody enters close their prefix, and no other one', async () => {
  const clock = noon()
  await using service = await startLimited({
    clock,
    settings: { limits: { sms_per_prefix_per_hour: 1000 }, sms: { daily_budget: 10_000 } },
  })
  const { funnel } = service.inside.services
  const register = (phone: string) => service.post('register', registration(phone), newClient())
  const send = async (prefix: string, from: number, count: number) => {
    for (let i = from; i < from + count; i++) expect((await register(numberOf(prefix, i))).status).toBe(201)
    await service.delivered()
    await funnel.flush()
  }

  await send('3361234', 0, 49)
  expect(funnel.closedBy('+3361234')).toBeNull()
  await send('3361235', 0, 5)
  await send('3361234', 49, 1)
  const refused = await register(numberOf('3361234', 60))
  expectRefusal(refused, 'too_many_requests')
  expect(refused.body.retry_after).toBeGreaterThan(86_000)
  expect((await register(numberOf('3361235', 60))).status).toBe(201)
  // A trickle stays open to networks that did not ask.
  const elsewhere = (i: number) =>
    service.post('register', registration(numberOf('3361234', 70 + i)), from('2a02:8428:3:4::1'))
  const statuses: number[] = []
  for (let i = 0; i < 5; i++) statuses.push((await elsewhere(i)).status)
  expect(statuses).toEqual([201, 201, 201, 429, 429])
  const told = service.log.map((line) => JSON.parse(line)).find(({ prefix }) => prefix === '+3361234')
  expect(told).toMatchObject({ level: 'warn', codes: 50, verified: 0 })
  clock.advance(86_400_000)
  await send('3361234', 61, 2)
  expect(funnel.closedBy('+3361234')).toBeNull()
})

test('one verified code in fifty keeps a prefix open', async () => {
  await using service = await startLimited({
    settings: { limits: { sms_per_prefix_per_hour: 1000 }, sms: { daily_budget: 10_000 } },
  })
  const { funnel } = service.inside.services
  for (let i = 0; i < 60; i++) {
    const phone = numberOf('3361236', i)
    expect((await service.post('register', registration(phone), newClient())).status).toBe(201)
    if (i >= 2) continue
    const { code: otp } = await service.gateway.waitForSms(phone)
    expect((await service.post('verify-account', { identifier: phone, otp }, newClient())).status).toBe(201)
    await waitFor(async () => {
      await funnel.flush()
      return (await funnel.report(1)).find(({ stage }) => stage === 'verified')?.count === i + 1
    })
  }
  await service.delivered()
  await funnel.flush()
  expect(funnel.closedBy('+3361236')).toBeNull()
})

test('codes do not count where the sign-in ended by another factor while they were valid', async () => {
  await using service = await startLimited({
    clock: noon(),
    settings: { limits: { sms_per_prefix_per_hour: 1000 }, sms: { daily_budget: 10_000 } },
  })
  const { funnel } = service.inside.services
  const { database } = service.inside
  const phone = numberOf('3361237', 1)
  await service.post('register', registration(phone), newClient())
  const { code: otp } = await service.gateway.waitForSms(phone)
  await service.post('verify-account', { identifier: phone, otp }, newClient())
  await service.delivered()
  await database.all(unusedCodes, { to: phone, now: service.clock.now() })
  const refused = () => funnel.closedBy(phone.slice(0, -4)) !== null
  const evaluate = async () => {
    service.clock.advance(60_001)
    funnel.codeSent(phone)
    await funnel.flush()
  }
  const session = await service.post('login', { identifier: phone, password: PASSWORD }, newClient())
  expect(session.status).toBe(200)
  for (let i = 0; i < 60; i++) funnel.codeSent(phone)
  await evaluate()
  expect(refused()).toBe(false)
  await database.all(endEarlier, {})
  await evaluate()
  expect(refused()).toBe(true)
})

test('a gateway whose codes are hardly ever verified is tried last', async () => {
  const [first, second] = [await startGateway(), await startGateway()]
  const gateways = [first, second].map(({ url }, i) => ({
    name: `gateway-${i}`,
    url,
    body: { to: '{to}', text: '{text}' },
  }))
  const settings = { sms: { gateways, minimum_conversion: 10 } }
  const service = await startService({ settings, clock: noon() })
  const send = async () => {
    const phone = newPhone()
    expect((await service.post('register', registration(phone))).status).toBe(201)
    await service.delivered()
    return first.messages.some(({ to }) => to === phone) ? 'first' : 'second'
  }
  expect(await send()).toBe('first')
  await service.inside.database.all(soldCodes, { gateway: 'gateway-0', now: service.clock.now() })
  expect(await send()).toBe('first')
  service.clock.advance(601_000)
  await service.inside.services.funnel.checkConversions()
  expect(await send()).toBe('second')
  expect(service.log.join('')).toContain('too few codes of a gateway are verified')
  await service.close()
  await Promise.all([first.stop(), second.stop()])
})
