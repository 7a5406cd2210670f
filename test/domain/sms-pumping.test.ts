/** A prefix of numbers whose codes nobody enters is closed to strangers for a day. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { registration } from '../helpers/api-client.ts'
import { newClient, noon, startLimited } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

/** A French mobile number with these first seven digits. */
const numberOf = (prefix: string, i: number) => `+${prefix}${String(i).padStart(4, '0')}`

test('fifty codes that nobody enters close their prefix, and no other one', async () => {
  const clock = noon()
  const service = await startLimited({
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
  expect(funnel.closedUntil('+33612340000')).toBeNull()
  await send('3361235', 0, 5)
  await send('3361234', 49, 1)
  const refused = await register(numberOf('3361234', 60))
  expectRefusal(refused, 'too_many_requests')
  expect(refused.body.retry_after).toBeGreaterThan(86_000)
  expect((await register(numberOf('3361235', 60))).status).toBe(201)
  const told = service.log.map((line) => JSON.parse(line)).find(({ prefix }) => prefix === '+3361234')
  expect(told).toMatchObject({ level: 'warn', codes: 50, verified: 0 })
  clock.advance(86_400_000)
  await send('3361234', 61, 2)
  expect(funnel.closedUntil('+33612340000')).toBeNull()
  await service.close()
})

test('one verified code in fifty keeps a prefix open', async () => {
  const service = await startLimited({
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
  expect(funnel.closedUntil('+33612360000')).toBeNull()
  await service.close()
})
