/** Webhooks: what is told, how it is signed, in which order, and what becomes of what an endpoint does not take. */
import { afterAll, describe, expect, test } from 'bun:test'
import { recordEvents } from '../../src/domain/foundation/events/event-sql.ts'
import { countedTypes, type EventType } from '../../src/texts/event-types.ts'
import { asOperator, listening, onListener, signInAs } from '../helpers/administration.ts'
import { PASSWORD } from '../helpers/api-client.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { mergeSettings, rareShapes, startService, type TestService, testsOn } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { useReplica, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'
import { type Behaviour, newHookSecret, startReceiver, webhookSettings } from '../helpers/webhook-receiver.ts'

const hook = (
  name: string,
  { url, secret }: { url: string; secret: string },
  events: string[],
  more = {},
) => ({
  ...{ name, url, secret, events },
  ...more,
})

const ids = (count: number): string[] => Array.from({ length: count }, () => crypto.randomUUID())

/** Events as they are written, about accounts that need not be there. */
const happen = (service: TestService, accounts: (string | null)[], type: EventType = 'account.updated') =>
  recordEvents(
    service.inside.database,
    accounts.map((account) => ({ type, account })),
    service.clock.now(),
  )

const stateOf = async (service: TestService, name: string) => {
  const { items } = (await asOperator(service, 'GET', 'webhooks')).body
  return items.find((item: { name: string }) => item.name === name)
}
const waitingOf = async (service: TestService, name: string) =>
  (await asOperator(service, 'GET', `webhooks/${name}/waiting?limit=200`)).body.items

const [app, mirror] = (await Promise.all([startReceiver(), startReceiver()])) as [Receiver, Receiver]
type Receiver = Awaited<ReturnType<typeof startReceiver>>
afterAll(() => Promise.all([app.close(), mirror.close()]))

describe.each(rareShapes)('a webhook on %s', (shape) => {
  const settings = mergeSettings(
    listening,
    webhookSettings(
      hook('app', app, ['account.*', 'identifier.*', 'session.ended'], { account_state: true }),
      hook('mirror', mirror, ['login.*', 'administrator.*', 'key.rotated'], {
        previous_secrets: [newHookSecret()],
      }),
    ),
  )
  const service = useService({ shape, settings })
  const { rule } = testsOn(shape)

  test('is told of each event within a second, signed, as the audit trail shows it', async () => {
    const phone = '+33612345678'
    const { uuid, bearer, person } = await service.signedIn()
    await service.post('phone/change', { phone, password: PASSWORD }, { bearer })
    await asOperator(service, 'PATCH', `accounts/${uuid}`, { metadata: { plan: 'b' }, groups: ['staff'] })
    await asOperator(service, 'PATCH', `accounts/${uuid}`, { locked: true })
    const locked = await toldOf(uuid, 'account.locked')
    const ended = await toldOf(uuid, 'session.ended')
    expect(ended.data).toMatchObject({ data: { cause: 'lock' } })
    expect(locked.receivedAt - Date.parse(locked.timestamp)).toBeLessThan(2000)
    expect(locked.headers).toMatchObject({ 'content-type': 'application/json', 'user-agent': 'poterne' })
    const { events } = await trailOf(uuid)
    const found = events.find(({ type }) => type === 'account.locked')
    const { address: _, device: __, ...shown } = found as Record<string, unknown>
    expect(JSON.parse(locked.body)).toEqual({
      type: 'account.locked',
      timestamp: locked.data.created_at,
      data: { ...shown, account_state: expect.anything() },
    })
    expect(locked.id).toBe(`evt_${locked.data.id}_${Date.parse(locked.data.created_at)}`)
    expect(locked.data.account_state).toEqual({
      ...{ uuid, email: person.identifier, phone: null, username: null, profile: {} },
      ...{ role_id: 1, role: '1', groups: ['staff'], metadata: { plan: 'b' }, language: 'fr' },
      ...{ locked: true, confirmed: true, created_at: expect.stringMatching(/^2.*Z$/) },
    })
    expect([...app.problems, ...mirror.problems]).toEqual([])
  })

  rule('gets nobody’s contact, and no state where there is no account', async () => {
    await asOperator(service, 'POST', 'keys/rotate', {})
    const { person, page } = await signInAs(service, 'owner')
    const uuid = crypto.randomUUID()
    await happen(service, [uuid])
    const rotated = await waitFor(() => mirror.of('key.rotated')[0])
    expect(rotated.data).toMatchObject({ account: null, actor: { type: 'operator', name: 'root' } })
    expect(rotated.data).not.toHaveProperty('account_state')
    const without = await waitFor(() => app.deliveries.find(({ data }) => data.account === uuid))
    expect(without.data.account_state).toBeNull()
    await page.call('PATCH', `accounts/${(await service.signedIn()).uuid}`, { locked: true })
    await waitFor(() => app.of('account.locked').length > 1)
    const bodies = [...app.deliveries, ...mirror.deliveries].map(
      ({ data: { account_state: _, ...data } }) => data,
    )
    expect(JSON.stringify(bodies)).not.toContain(person.identifier)
    for (const body of bodies) expect(Object.keys(body)).not.toContain('address')
  })

  rule('is not told of what still grows, or of who looked', async () => {
    const accounts = ids(countedTypes.length + 1)
    for (const [index, type] of ([...countedTypes, 'account.viewed'] as EventType[]).entries())
      await happen(service, [accounts[index] as string], type)
    const last = crypto.randomUUID()
    await happen(service, [last])
    await happen(service, [last], 'login.succeeded')
    await waitFor(() => app.deliveries.find(({ data }) => data.account === last))
    await waitFor(() => mirror.deliveries.find(({ data }) => data.account === last))
    const about = [...app.deliveries, ...mirror.deliveries].map(({ data }) => data.account)
    expect(about.filter((account) => accounts.includes(account as string))).toEqual([])
  })

  test('gets the events about one account in their order, eight accounts at a time', async () => {
    const accounts = ids(12)
    app.behave(() => ({ delayMs: 20 }))
    const order = Array.from({ length: 9 }, () => accounts).flat()
    await happen(service, order)
    const mine = () => app.deliveries.filter(({ data }) => accounts.includes(data.account as string))
    await waitFor(() => mine().length >= order.length)
    for (const account of accounts) {
      const about = mine().filter(({ data }) => data.account === account)
      expect(about.map(({ data }) => data.id)).toEqual(
        about.map(({ data }) => data.id).toSorted((a, b) => a - b),
      )
    }
    expect(mine()).toHaveLength(order.length)
    expect(app.mostUnderWay()).toBeGreaterThan(4)
    expect(app.mostUnderWay()).toBeLessThanOrEqual(8)
    expect(app.problems).toEqual([])
    app.behave(() => ({}))
    await waitFor(async () => (await stateOf(service, 'app')).lag_seconds === 0)
  })

  rule('that refuses one event gets the others, and that one again', async () => {
    const [poor, ...others] = ids(20) as [string, ...string[]]
    let refused = 0
    app.behave(({ data }) => (data.account === poor && refused++ < 1 ? { status: 500 } : {}))
    await happen(service, [poor, ...others, poor, poor])
    const accepted = (account: string) => app.accepted().filter(({ data }) => data.account === account)
    await waitFor(() => others.every((account) => accepted(account).length === 1))
    // What came after it about the same account does not wait for the five seconds of its next try.
    await waitFor(() => accepted(poor).length === 2, { timeoutMs: 3000 })
    // What was accepted leaves the list a moment later.
    const [first] = await waitFor(async () => {
      const items = await waitingOf(service, 'app')
      return items.length === 1 && items
    })
    expect(first).toMatchObject({ type: 'account.updated', attempts: 1, last_failure: 'http_500' })
    const dueInMs = Date.parse(first.due_at) - service.clock.now().getTime()
    expect(dueInMs).toBeLessThan(5600)
    expect(await stateOf(service, 'app')).toMatchObject({ set_aside: 1, given_up: 0, away_since: null })
    await waitFor(() => accepted(poor).length === 3)
    await waitFor(async () => (await waitingOf(service, 'app')).length === 0)
    const [before, after] = app.deliveries.filter(({ data }) => data.id === first.event)
    expect(after?.id).toBe(before?.id as string)
    expect(after?.headers['webhook-timestamp']).not.toBe(before?.headers['webhook-timestamp'])
    app.behave(() => ({}))
  })

  const toldOf = (account: string, type: string) =>
    waitFor(() => app.of(type).find(({ data }) => data.account === account))

  async function trailOf(uuid: string) {
    const { items } = (await asOperator(service, 'GET', `events?after=0&account=${uuid}&limit=200`)).body
    return { events: items as { type: string }[] }
  }
})

describe('a webhook that takes nothing', () => {
  const settings = mergeSettings(listening, {
    admin: { ...listening.admin, notify: 'ops@acme.test' },
    ...webhookSettings(hook('app', app, ['account.*'])),
  })
  const service = useService({ shape: 'postgres', settings })
  const lines = (words: string) => service.log.filter((line) => line.includes(words))

  test('is away after five failures, is asked again and again, and loses nothing', async () => {
    const accounts = ids(60)
    app.behave(() => ({ status: 503 }))
    const before = app.deliveries.length
    await happen(service, accounts)
    await waitFor(async () => (await stateOf(service, 'app')).away_since !== null)
    const asked = app.deliveries.length
    expect(asked - before).toBeLessThanOrEqual(13)
    await Bun.sleep(3500)
    // After one second, and two more.
    expect(app.deliveries.length - asked).toBeLessThanOrEqual(3)
    expect(lines('the webhook is away')).toHaveLength(1)
    service.clock.advance(3_600_000)
    const mail = await service.smtp.waitForMailTo('ops@acme.test')
    expect(mail.text).toContain('poterne webhooks try app')
    app.behave(() => ({}))
    await waitFor(() => accounts.every((uuid) => app.accepted().some(({ data }) => data.account === uuid)))
    expect(await waitFor(async () => (await waitingOf(service, 'app')).length === 0)).toBeTrue()
    // The position is stored up to 200 ms after the last one was accepted.
    await waitFor(async () => (await stateOf(service, 'app')).lag_seconds === 0)
    expect(await stateOf(service, 'app')).toMatchObject({ away_since: null, set_aside: 0 })
    expect(JSON.stringify(service.log)).not.toContain(app.secret)
    expect(JSON.stringify(service.log)).not.toContain('/hooks')
  })
})

/** How a receiver answers, and what is noted of it; null: it counts as accepted. */
const answers: [Behaviour, string | null][] = [
  [{ status: 410 }, 'http_410'],
  [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'redirect'],
  [{ breaks: true }, 'connection'],
  [{ status: 429, headers: { 'retry-after': '7200' } }, 'http_429'],
  [{ status: 204 }, null],
  [{ streams: true }, null],
  [{ status: 200, headers: { 'content-length': '5000' } }, null],
]

const failures = answers.filter(([, failure]) => failure !== null)

describe('what a webhook answers', () => {
  const settings = mergeSettings(listening, webhookSettings(hook('app', app, ['account.*'])))
  const service = useService({ shape: 'postgres', settings })

  test('decides whether it took the event, and when it gets it again', async () => {
    const accounts = ids(answers.length)
    app.behave(({ data }) => answers[accounts.indexOf(data.account as string)]?.[0] ?? {})
    const before = app.deliveries.length
    // Five failures in a row would make it away.
    await happen(service, accounts.toReversed())
    const waiting = await waitFor(async () => {
      const items = await waitingOf(service, 'app')
      return items.length === failures.length && items
    })
    expect(waiting.map((item: { last_failure: string }) => item.last_failure).sort()).toEqual(
      failures.map(([, failure]) => failure as string).sort(),
    )
    const later = waiting.find((item: { last_failure: string }) => item.last_failure === 'http_429')
    expect(Date.parse(later.due_at) - service.clock.now().getTime()).toBeGreaterThan(7_000_000)
    expect(app.deliveries.length - before).toBe(answers.length)
    app.behave(() => ({}))
  })

  test('may be asked for again, one event or all, and everything since a time', async () => {
    const [first] = await waitingOf(service, 'app')
    const one = await asOperator(service, 'POST', 'webhooks/app/retry', { event: first.event })
    expect(one.body).toEqual({ status: 200, events: 1 })
    await waitFor(() => app.accepted().some(({ data }) => data.id === first.event))
    await asOperator(service, 'POST', 'webhooks/app/retry', {})
    await waitFor(async () => (await waitingOf(service, 'app')).length === 0)
    const since = service.clock.now()
    const accounts = ids(3)
    await happen(service, accounts)
    const times = (account: string) => app.accepted().filter(({ data }) => data.account === account)
    await waitFor(() => accounts.every((account) => times(account).length === 1))
    const replayed = await asOperator(service, 'POST', 'webhooks/app/replay', { since: since.toISOString() })
    expect(replayed.status).toBe(200)
    await waitFor(() => accounts.every((account) => times(account).length === 2))
    for (const account of accounts) expect(new Set(times(account).map(({ id }) => id)).size).toBe(1)
    expectRefusal(
      await asOperator(service, 'POST', 'webhooks/app/replay', { since: 'noon' }),
      'validation_failed',
    )
    await asOperator(service, 'POST', 'webhooks/app/retry', {})
    const { items } = (await asOperator(service, 'GET', 'events?type=webhook.*&after=0')).body
    expect(items).toMatchObject([
      { type: 'webhook.retried', data: { webhook: 'app', events: 1, event: first.event } },
      { type: 'webhook.retried', data: { webhook: 'app', events: expect.any(Number) } },
      {
        ...{ type: 'webhook.replayed', actor: { type: 'operator', name: 'root' }, account: null },
        data: { webhook: 'app', since: since.toISOString() },
      },
    ])
  })

  test('is shown step by step by a try, which counts for nothing', async () => {
    const tried = await asOperator(service, 'POST', 'webhooks/app/try')
    expect(tried.body).toMatchObject({ accepted: true })
    expect(tried.body.steps.at(-1)).toEqual({ name: 'answer', text: '200 {"taken":true}' })
    expect(app.of('webhook.test').at(-1)?.data).toMatchObject({ type: 'webhook.test', account: null })
    app.behave(() => ({ status: 500 }))
    const refused = await asOperator(service, 'POST', 'webhooks/app/try')
    expect(refused.body).toMatchObject({ accepted: false })
    expect(refused.body.steps.at(-1).text).toStartWith('http_500')
    // The head of an answer is enough here too.
    app.behave(() => ({ status: 200, headers: { 'content-length': '5000' }, body: 'half' }))
    const half = await asOperator(service, 'POST', 'webhooks/app/try')
    expect(half.body).toMatchObject({ accepted: true })
    app.behave(() => ({}))
    expect(app.problems).toEqual([])
  })

  test('is seen with events:read, and changed by owners alone', async () => {
    const { body } = await asOperator(service, 'POST', 'tokens', {
      ...{ name: 'watch', scopes: ['events:read'], expires_in: '1h' },
    })
    const headers = { authorization: `Bearer ${body.token}` }
    expect((await onListener(service, 'GET', 'webhooks', undefined, { headers })).body.items).toHaveLength(1)
    expect((await onListener(service, 'GET', 'webhooks/app/waiting', undefined, { headers })).status).toBe(
      200,
    )
    for (const path of ['try', 'retry', 'replay'])
      expectRefusal(
        await onListener(service, 'POST', `webhooks/app/${path}`, {}, { headers }),
        'insufficient_scope',
      )
    expectRefusal(await asOperator(service, 'POST', 'webhooks/none/try'), 'webhook_not_found')
    expectRefusal(await asOperator(service, 'GET', 'webhooks/none/waiting'), 'webhook_not_found')
  })
})

describe('an event that is never taken', () => {
  const settings = mergeSettings(listening, {
    admin: { ...listening.admin, notify: 'ops@acme.test' },
    ...webhookSettings(hook('app', app, ['account.*'])),
  })
  const service = useService({ shape: 'postgres', settings })
  const LONGEST_DELAY_MS = 27 * 3_600_000

  longTest(
    'is given up at the tenth failure after four days, said to the operator, and sent again on demand',
    async () => {
      const poor = crypto.randomUUID()
      app.behave(({ data }) => (data.account === poor ? { status: 500 } : {}))
      await happen(service, [poor])
      const attempts = async (count: number) =>
        waitFor(async () => {
          const [item] = await waitingOf(service, 'app')
          return item?.attempts === count && item
        })
      for (let count = 1; count < 10; count++) {
        expect((await attempts(count)).due_at).not.toBeNull()
        // Five failures in a row would make it away.
        const [other] = ids(1) as [string]
        await happen(service, [other])
        await waitFor(() => app.accepted().some(({ data }) => data.account === other))
        service.clock.advance(LONGEST_DELAY_MS)
      }
      const { event, ...given } = await attempts(10)
      expect(given).toEqual({
        ...{ type: 'account.updated', attempts: 10, due_at: null, last_failure: 'http_500' },
      })
      expect(await stateOf(service, 'app')).toMatchObject({ set_aside: 0, given_up: 1, away_since: null })
      const { findings } = (await asOperator(service, 'GET', 'doctor')).body
      expect(findings.find(({ name }: { name: string }) => name === 'webhooks')).toMatchObject({
        ...{ level: 'warning', message: expect.stringContaining('app refused 1 event for good') },
      })
      const mail = await service.smtp.waitForMailTo('ops@acme.test')
      expect(mail.text).toContain('app')
      app.behave(() => ({}))
      await asOperator(service, 'POST', 'webhooks/app/retry', { event })
      await waitFor(() => app.accepted().some(({ data }) => data.account === poor))
      await waitFor(async () => (await waitingOf(service, 'app')).length === 0)
    },
  )
})

describe('a webhook that is taken out of the configuration', () => {
  const withApp = mergeSettings(listening, webhookSettings(hook('app', app, ['account.*'])))
  const service = useService({ shape: 'postgres', settings: listening })

  longTest('goes on where it was within a week, and begins anew after it', async () => {
    const { storage, clock } = service
    const isTold = (account: string) => app.deliveries.some(({ data }) => data.account === account)
    async function untilTold(account: string) {
      await using replica = await startService({ shape: 'postgres', storage, clock, settings: withApp })
      await happen(replica, [account])
      await waitFor(() => isTold(account))
    }
    const forget = () => service.inside.services.webhooks.sweep(clock.now(), 100)
    const [first, missed, second, forgotten, third] = ids(5) as [string, string, string, string, string]
    await untilTold(first)
    expect((await asOperator(service, 'GET', 'webhooks')).body.items).toEqual([])
    expectRefusal(await asOperator(service, 'GET', 'webhooks/app/waiting'), 'webhook_not_found')
    await happen(service, [missed])
    clock.advance(6 * 86_400_000)
    expect(await forget()).toBe(0)
    await untilTold(second)
    expect(isTold(missed)).toBe(true)
    await happen(service, [forgotten])
    clock.advance(8 * 86_400_000)
    expect(await forget()).toBe(1)
    await untilTold(third)
    expect(isTold(forgotten)).toBe(false)
  })
})

describe('two replicas', () => {
  const settings = mergeSettings(listening, webhookSettings(hook('app', app, ['account.*'])))
  const service = useService({ shape: 'redis', settings })
  const replica = useReplica(service, { shape: 'redis', settings })

  test('tell a webhook once, and the other goes on where one ends', async () => {
    const accounts = ids(100)
    const times = (account: string) => app.accepted().filter(({ data }) => data.account === account).length
    await happen(service, accounts.slice(0, 50))
    await happen(replica, accounts.slice(50))
    await waitFor(() => accounts.every((account) => times(account) > 0))
    expect(accounts.filter((account) => times(account) > 1)).toEqual([])
    const more = ids(60)
    await happen(replica, more)
    await service.inside.services.webhookWorker.close()
    await waitFor(() => more.every((account) => times(account) > 0))
    expect(more.filter((account) => times(account) > 1)).toEqual([])
    expect(app.problems).toEqual([])
  })
})
