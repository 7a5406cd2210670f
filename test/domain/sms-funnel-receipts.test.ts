/** Receipts of gateways, and what is counted of SMS, through HTTP against a gateway on loopback. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { statement } from '../../src/platform/postgres/database.ts'
import { newPhone, registration } from '../helpers/api-client.ts'
import { countRows } from '../helpers/database.ts'
import { startGateway, type TestGateway } from '../helpers/gateway.ts'
import { from, startLimited } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, startService, type TestService, testsOn } from '../helpers/service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(30_000)

const SECRET = 'a-secret-of-the-gateway'
const receipts = {
  secret: SECRET,
  message_id: 'messageId',
  status: 'status',
  delivered: ['DELIVRD'],
  failed: ['UNDELIV', 'REJECTD'],
}
const gatewayAt = (url: string, more: object = {}) => ({
  name: 'acme',
  url,
  body: { to: '{to}', text: '{text}' },
  message_id: 'id',
  receipts,
  ...more,
})
const PATH = '/api/v1/sms/receipts/acme'
const authorization = `Bearer ${SECRET}`

describe.each(racingShapes)('receipts on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  let gateway: TestGateway
  let service: TestService
  beforeAll(async () => {
    gateway = await startGateway()
    service = await startService({ shape, settings: { sms: { gateways: [gatewayAt(gateway.url)] } } })
  })
  afterAll(async () => {
    await service?.close()
    await gateway?.stop()
  })

  const messageOf = statement<{ id: string }, { receipt: string | null }>(
    sql`select receipt from messages where provider_id = ${sql.placeholder('id')}`,
  )
  const receiptOf = async (id: string) => (await service.inside.database.first(messageOf, { id }))?.receipt
  const report = (body: unknown, headers: Record<string, string> = { authorization }) =>
    service.call('POST', PATH, body, { headers })
  async function send(id: string): Promise<string> {
    gateway.behave({ body: JSON.stringify({ id }) })
    const phone = newPhone()
    expect((await service.post('register', registration(phone))).status).toBe(201)
    await gateway.waitForSms(phone)
    await service.delivered()
    return phone
  }

  test('say whether an SMS was delivered: that is final, a failure is not', async () => {
    const id = crypto.randomUUID()
    await send(id)
    const entry = (status: string) => ({ messageId: id, status })
    const states: unknown[] = []
    for (const status of ['QUEUED', 'UNDELIV', 'DELIVRD', 'UNDELIV', 'DELIVRD']) {
      expect((await report(entry(status))).body).toEqual({ status: 200 })
      states.push(await receiptOf(id))
    }
    expect(states).toEqual([null, 'failed', 'delivered', 'delivered', 'delivered'])
  })

  raced('are counted once, by 32 calls at once too', async () => {
    const id = crypto.randomUUID()
    await send(id)
    const before = await count('delivered')
    await Promise.all(Array.from({ length: 32 }, () => report({ messageId: id, status: 'DELIVRD' })))
    expect((await count('delivered')) - before).toBe(1)
  })

  test('that come before the sending is recorded are kept', async () => {
    const id = crypto.randomUUID()
    expect((await report({ messageId: id, status: 'DELIVRD' })).status).toBe(200)
    await send(id)
    await waitFor(async () => (await receiptOf(id)) === 'delivered', { what: 'the early receipt' })
  })

  test('for messages that nobody sends are kept a minute, and not longer', async () => {
    const id = crypto.randomUUID()
    await report({ messageId: id, status: 'DELIVRD' })
    const kept = () => countRows(service, 'early_receipts', sql`provider_id = ${sql.raw(`'${id}'`)}`)
    await service.inside.housekeeping.run()
    expect(await kept()).toBe(1)
    service.clock.advance(60_001)
    await service.inside.housekeeping.run()
    expect(await kept()).toBe(0)
  })

  rule('come in each form, with the secret in each place', async () => {
    const [json, form, basic, query] = Array.from({ length: 4 }, () => crypto.randomUUID())
    for (const id of [json, form, basic, query]) await send(id as string)
    const encoded = `messageId=${form}&status=DELIVRD`
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    await report({ messageId: json, status: 'DELIVRD' }, { 'x-poterne-secret': SECRET })
    await report(encoded, { ...type, authorization })
    const credentials = Buffer.from(`anybody:${SECRET}`).toString('base64')
    await report({ messageId: basic, status: 'DELIVRD' }, { authorization: `Basic ${credentials}` })
    const search = new URLSearchParams({ key: SECRET, messageId: query as string, status: 'DELIVRD' })
    expect((await service.call('GET', `${PATH}?${search}`)).status).toBe(200)
    expect(await Promise.all([json, form, basic, query].map((id) => receiptOf(id as string)))).toEqual(
      Array(4).fill('delivered'),
    )
  })

  rule('without the right secret are 401 and change nothing', async () => {
    const id = crypto.randomUUID()
    await send(id)
    const attempts = [{}, { authorization: `Bearer ${SECRET}x` }, { 'x-poterne-secret': '' }]
    for (const headers of attempts) {
      const { status, body } = await report({ messageId: id, status: 'DELIVRD' }, headers)
      expect([status, body.code]).toEqual([401, 'invalid_token'])
    }
    expect(await receiptOf(id)).toBeNull()
  })

  test('of unknown messages, of nonsense and of other gateways do no harm', async () => {
    for (const body of [{ messageId: 'unknown', status: 'DELIVRD' }, [], [1], { messageId: {} }, {}]) {
      expect((await report(body)).status).toBe(200)
    }
    const other = await service.call('POST', '/api/v1/sms/receipts/other', {}, { headers: { authorization } })
    expectRefusal(other, 'route_not_found')
    expect((await report('{', { authorization })).status).toBe(400)
    expect((await report({ a: 'x'.repeat(17_000) })).status).toBe(413)
  })

  /** Counts as `poterne sms report` tells it. */
  async function count(stage: string): Promise<number> {
    await service.inside.services.funnel.flush()
    const rows = await service.inside.services.funnel.report(1)
    return rows.filter((row) => row.stage === stage).reduce((sum, row) => sum + row.count, 0)
  }

  const stages = ['asked', 'handed_over', 'accepted', 'verified']
  async function countAll(): Promise<number[]> {
    const counts: number[] = []
    for (const stage of stages) counts.push(await count(stage))
    return counts
  }

  test('and right codes are counted by gateway and country', async () => {
    const before = await countAll()
    const phone = await send(crypto.randomUUID())
    const otp = gateway.messages.at(-1)?.code
    expect((await service.post('verify-account', { identifier: phone, otp })).status).toBe(201)
    await waitFor(async () => (await count('verified')) > (before[3] as number), {
      what: 'the verified code',
    })
    expect(await countAll()).toEqual(before.map((each) => each + 1))
    const rows = await service.inside.services.funnel.report(1)
    expect(rows).toContainEqual({
      gateway: 'acme',
      country: 'FR',
      stage: 'verified',
      count: expect.any(Number),
    })
  })
})

test('lists of receipts and the signature of Twilio are understood', async () => {
  const gateway = await startGateway()
  const lists = gatewayAt(gateway.url, { receipts: { ...receipts, items: 'results' } })
  const twilio = gatewayAt(gateway.url, { name: 'twilio', receipts: { ...receipts, signature: 'twilio' } })
  const service = await startService({
    settings: { server: { base_url: 'https://auth.example.com' }, sms: { gateways: [lists, twilio] } },
  })
  const ids = [crypto.randomUUID(), crypto.randomUUID()]
  const entry = (messageId: string | undefined) => ({ messageId, status: 'DELIVRD' })
  const answer = await service.call('POST', PATH, { results: ids.map(entry) }, { headers: { authorization } })
  expect(answer.status).toBe(200)
  const early = statement<object, { count: number }>(sql`select count(*)::int as count from early_receipts`)
  expect(await service.inside.database.first(early, {})).toEqual({ count: 2 })

  const target = '/api/v1/sms/receipts/twilio?a=b'
  const sign = (text: string) => createHmac('sha1', SECRET).update(text).digest('base64')
  const signed = sign(`https://auth.example.com${target}messageIdid-1statusDELIVRD`)
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const post = (signature: string, body = 'status=DELIVRD&messageId=id-1') =>
    service.call('POST', target, body, {
      headers: { ...type, 'x-twilio-signature': signature, authorization },
    })
  expect((await post(signed)).status).toBe(200)
  expect((await post(signed, 'status=DELIVRD&messageId=id-2')).status).toBe(401)
  expect((await post('')).status).toBe(401)
  await service.close()
  await gateway.stop()
})

test('600 refused receipts a minute from one address, and no more; the gateway itself is not counted', async () => {
  await using service = await startLimited({
    settings: { sms: { gateways: [gatewayAt('http://127.0.0.1:9')] } },
  })
  const post = (address: string, headers: Record<string, string> = {}) =>
    service.call('POST', PATH, {}, { headers: { ...from(address).headers, ...headers } })
  const statuses = await Promise.all(Array.from({ length: 610 }, () => post('203.0.113.1')))
  expect(statuses.filter(({ status }) => status === 401)).toHaveLength(600)
  expect(statuses.filter(({ status }) => status === 429)).toHaveLength(10)
  expect((await post('203.0.113.1', { authorization })).status).toBe(200)
  expect((await post('203.0.113.2')).status).toBe(401)
  service.clock.advance(59_000)
  expect((await post('203.0.113.1')).status).toBe(429)
  service.clock.advance(1000)
  expect((await post('203.0.113.1')).status).toBe(401)
})
