/**
 * Webhooks through kills, a restore, and receivers in trouble: no event is lost, few come twice, and nobody's events wait for
 * those of another person.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { recordEvents } from '../../src/domain/foundation/events/event-sql.ts'
import { type Database, param, statement } from '../../src/platform/postgres/database.ts'
import { applyMigrations } from '../../src/platform/postgres/migrate.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { delayWhileAwayMs } from '../../src/platform/waiting.ts'
import { asOperator, listening } from '../helpers/administration.ts'
import { newEmail } from '../helpers/api-client.ts'
import { countRows } from '../helpers/database.ts'
import { runPoterne, startExecutable } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import {
  createStorage,
  mergeSettings,
  startService,
  type TestService,
  writeSettings,
} from '../helpers/service.ts'
import { longDescribe, longTest, reduced } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'
import { type Behaviour, startReceiver, webhookSettings } from '../helpers/webhook-receiver.ts'
import { startTeller } from '../helpers/webhook-teller.ts'

setDefaultTimeout(reduced(120_000, 900_000))

type Receiver = Awaited<ReturnType<typeof startReceiver>>

const ids = (count: number): string[] => Array.from({ length: count }, () => crypto.randomUUID())

async function happen(database: Database, accounts: string[]): Promise<void> {
  for (let at = 0; at < accounts.length; at += 500)
    await recordEvents(
      database,
      accounts.slice(at, at + 500).map((account) => ({ type: 'account.updated', account })),
      new Date(),
    )
}

const leaveOut = statement<{ count: number }>(sql`
  select setval(pg_get_serial_sequence('events', 'id'), ${param('count', 'bigint')})`)

/** How often each account was told about and accepted. */
function timesIn(receiver: Receiver): Map<string, number> {
  const times = new Map<string, number>()
  for (const { data } of receiver.accepted())
    times.set(data.account as string, (times.get(data.account as string) ?? 0) + 1)
  return times
}

const hasAll = (receiver: Receiver, accounts: string[]) => {
  const times = timesIn(receiver)
  return accounts.every((account) => times.has(account))
}

const EVENTS = reduced(400, 10_000)
const KILLS = reduced(1, 10)
/** So many may come twice after each. */
const MOST_TWICE = 100

describe('processes that are killed', () => {
  let receiver: Receiver
  let database: Database
  /** Resolves once it tells the endpoint, or waits for its turn. */
  let start: () => Promise<Bun.Subprocess>
  const running: Bun.Subprocess[] = []

  beforeAll(async () => {
    receiver = await startReceiver()
    const { url } = await createDatabase({ migrated: false })
    database = openServer({ url, poolSize: 2 })
    await applyMigrations(database, new Date())
    const script = join(import.meta.dir, '../helpers/webhook-process.ts')
    start = async () => {
      const child = Bun.spawn([process.execPath, script, url, receiver.url, receiver.secret], {
        stdout: 'pipe',
      })
      running.push(child)
      await child.stdout.getReader().read()
      return child
    }
  })
  afterAll(async () => {
    for (const child of running) child.kill('SIGKILL')
    await Promise.all(running.map(({ exited }) => exited))
    await database.close()
    await receiver.close()
  })

  test('lose nothing, tell at most a hundred events twice, and are replaced within ten seconds', async () => {
    let first = await start()
    let second = await start()
    receiver.behave(() => ({ delayMs: 4 }))
    const accounts = ids(EVENTS)
    await happen(database, accounts)
    for (let kill = 1; kill <= KILLS; kill++) {
      await waitFor(() => timesIn(receiver).size > (EVENTS * kill) / (KILLS + 2))
      const before = receiver.deliveries.length
      // Nobody says which of the two holds the endpoint: the one that does not goes on.
      first.kill('SIGKILL')
      await first.exited
      const killedAt = performance.now()
      await waitFor(() => receiver.deliveries.length > before + 8 || hasAll(receiver, accounts))
      expect(performance.now() - killedAt).toBeLessThan(10_000)
      first = second
      second = await start()
    }
    await waitFor(() => hasAll(receiver, accounts), { timeoutMs: 120_000 })
    await Bun.sleep(1000)
    const times = [...timesIn(receiver).values()]
    expect(times).toHaveLength(EVENTS)
    expect(times.reduce((sum, each) => sum + each - 1, 0)).toBeLessThanOrEqual(KILLS * MOST_TWICE)
    expect(receiver.problems).toEqual([])
  })
})

interface Page {
  items: { id: number; set_aside: number }[]
}

longTest('the embedded shape, killed amid ten thousand events, loses none of them', async () => {
  const refused = new Set<number>()
  const receiver = await startReceiver(({ data: { id } }) => {
    if (id % 100 > 0 || refused.has(id)) return { delayMs: 2 }
    refused.add(id)
    return { status: 500 }
  })
  const { url, secret } = receiver
  const settings = webhookSettings({ name: 'app', url, secret, events: ['account.updated'] })
  const service = await startExecutable({ shape: 'embedded', settings })
  // What is set aside is told more slowly than 24 people make events: of many, each one's next event comes later.
  const people = await Array.fromAsync({ length: 300 }, () => service.signedIn())
  const unix = join((service.storage.storage as { data_dir: string }).data_dir, 'admin.sock')
  const ask = async (path: string) =>
    ((await (await fetch(`http://administration/admin/v1/${path}`, { unix } as RequestInit)).json()) as Page)
      .items

  let acknowledged = 0
  /** Until the service is killed. */
  async function changeOn({ bearer }: (typeof people)[number]): Promise<void> {
    for (;;) {
      const profile = { name: `Ada ${acknowledged}` }
      const answer = await service.call('PATCH', '/api/v1/auth/me', { profile }, { bearer }).catch(() => null)
      if (answer === null) return
      expect(answer.status).toBe(200)
      acknowledged++
    }
  }
  for (let kill = 1; kill <= KILLS; kill++) {
    const load = people.map(changeOn)
    await waitFor(() => acknowledged >= (EVENTS * kill) / KILLS, { timeoutMs: 300_000 })
    expect(await service.kill('SIGKILL')).toBe(137)
    await Promise.all(load)
    await service.start()
  }
  const happened: number[] = []
  for (let page: Page['items'] | null = null; page === null || page.length > 0; ) {
    // Nothing is read past a transaction that is open, so the last page waits for more.
    page = await ask(`events?after=${happened.at(-1) ?? 0}&type=account.updated&limit=200&wait=2`)
    happened.push(...page!.map(({ id }) => id))
  }
  expect(happened.length).toBeGreaterThanOrEqual(acknowledged)
  const told = () => new Set(receiver.accepted().map(({ data }) => data.id))
  await waitFor(() => told().size >= happened.length, { timeoutMs: 300_000 })
  await waitFor(async () => (await ask('webhooks'))[0]?.set_aside === 0)
  expect([...told()].sort((a, b) => a - b)).toEqual(happened)
  expect(receiver.accepted().length - happened.length).toBeLessThanOrEqual(KILLS * MOST_TWICE)
  expect(refused.size).toBeGreaterThan(EVENTS / 200)
  expect(await ask('webhooks')).toMatchObject([{ given_up: 0, lag_seconds: 0, away_since: null }])
  expect(receiver.problems).toEqual([])
  await service.close()
  await receiver.close()
})

describe('one person’s events', () => {
  const taken: [string, Behaviour][] = [
    ['that are all refused', { status: 500 }],
    ['that are taken slowly', { delayMs: 2000 }],
  ]
  test.each(reduced(taken.slice(0, 1), [...taken, ['whose requests hang', { hangs: true }]]))(
    '%s, six hundred in a row, hold up nobody',
    async (_, behaviour) => {
      const [person] = ids(1) as [string]
      const receiver = await startReceiver(({ data }) => (data.account === person ? behaviour : {}))
      const { url, secret } = receiver
      const settings = webhookSettings({ name: 'app', url, secret, events: ['account.*'] })
      await using service = await startService({ shape: 'postgres', settings })
      const { database } = service.inside
      const others = ids(300)
      await happen(database, [...others.slice(0, 100), ...Array.from({ length: 600 }, () => person)])
      await happen(database, others.slice(100))
      const startedAt = performance.now()
      await waitFor(() => hasAll(receiver, others), { timeoutMs: 60_000 })
      expect(performance.now() - startedAt).toBeLessThan(reduced(20_000, 60_000))
      expect(receiver.problems).toEqual([])
      await receiver.close()
    },
  )
})

test.each([
  ['the events of sixty people that are all refused keep nobody’s away for more than a minute', 60, 60_000],
  ['those of more people than are held do not keep the others away for long', 118, 500_000],
])('%s', async (_, count, longestMs) => {
  const [poisoned, others] = [ids(count), ids(3)]
  const isPoison = new Set(poisoned)
  let refused = 0
  // Eight requests go out at once; the last three are refused while the places of the others are filled.
  const refusal = () => ({ status: 500, delayMs: ++refused > 5 && refused <= 8 ? 100 : 0 })
  const receiver = await startReceiver(({ data }) => (isPoison.has(data.account as string) ? refusal() : {}))
  const { url } = await createDatabase({ migrated: false })
  const database = openServer({ url, poolSize: 2 })
  await applyMigrations(database, new Date())
  // So long it would have waited, while it is away and requests go out one at a time.
  let waitedMs = 0
  const teller = await startTeller(database, receiver, (tries) => {
    if (!hasAll(receiver, others)) waitedMs += delayWhileAwayMs(tries)
    return 1
  })
  // Ids that were left out, as after a restore, are passed over.
  await database.run(leaveOut, { count: 10_000 })
  await happen(database, [...poisoned, ...others])
  await waitFor(() => hasAll(receiver, others))
  expect(waitedMs).toBeLessThan(longestMs)
  expect(receiver.deliveries.length).toBeLessThan(3 * poisoned.length)
  expect(receiver.problems).toEqual([])
  await teller.close()
  await database.close()
  await receiver.close()
})

longDescribe('a restore', () => {
  const targets: [string, boolean][] = [
    ['into a new server', true],
    ['over the same database', false],
  ]
  test.each(targets)(
    '%s neither tells again what was told, nor keeps back what happens after it',
    async (_, isNew) => {
      const receiver = await startReceiver()
      const { url, secret } = receiver
      const earlier = await createStorage('postgres')
      const later = isNew ? await createStorage('postgres') : earlier
      const settings = mergeSettings(
        listening,
        webhookSettings({ name: 'app', url, secret, events: ['account.*', 'backup.restored'] }),
      )
      const directory = newDirectory('restore')
      const poterne = async ({ settings: storage }: typeof earlier, ...args: string[]) => {
        const { file } = writeSettings(
          mergeSettings(storage, settings, { smtp: { host: 'x', from: 'a@b.test' } }),
        )
        const { code, error } = await runPoterne([...args, '--config', file], { directory })
        expect([args[0], code, code === 0 ? '' : error]).toEqual([args[0], 0, ''])
      }
      let [token, cursor, heardTo] = ['', '', 0]
      /** The next events for a program that follows the log. */
      const following = async (
        service: TestService,
      ): Promise<{ id: number; type: string; account: string | null }[]> =>
        (await asOperator(service, 'GET', `events?after=${heardTo}&limit=200`)).body.items
      const ended = async (service: TestService) =>
        (await service.get(`sessions/ended?after=${cursor}`, { bearer: token })).body
      const [before, since, after] = [ids(20), ids(20), ids(20)]
      {
        await using service = await startService({ shape: 'postgres', storage: earlier.settings, settings })
        await service.signUp(newEmail())
        const watching = { name: 'verifier', scopes: ['sessions:watch'], expires_in: '1d' }
        token = (await asOperator(service, 'POST', 'tokens', watching)).body.token
        await happen(service.inside.database, before)
        await waitFor(() => hasAll(receiver, before))
        const last = Math.max(...receiver.deliveries.map(({ data }) => data.id))
        // What was told since the position was stored comes again after a restore.
        await waitFor(
          async () => (await countRows(service, 'webhook_endpoints', sql`position >= ${last}`)) === 1,
        )
        await poterne(earlier, 'backup', join(directory, 'auth.backup'))
        await happen(service.inside.database, since)
        await waitFor(() => hasAll(receiver, since))
        cursor = (await ended(service)).cursor
        heardTo = (await following(service)).at(-1)?.id ?? 0
      }
      const lastId = Math.max(...receiver.deliveries.map(({ data }) => data.id))
      const told = receiver.deliveries.length
      await poterne(later, 'restore', join(directory, 'auth.backup'), '--replace', '--yes')
      {
        await using service = await startService({ shape: 'postgres', storage: later.settings, settings })
        // Whoever followed the feed hears of the restore by the cursor of before.
        expect((await ended(service)).ended).toEqual([
          { before: expect.any(Number), until: expect.any(Number) },
        ])
        // Whoever followed the log hears of the restore first, and of nothing that they had heard of before.
        const [first, ...others] = await following(service)
        expect(first).toMatchObject({ type: 'backup.restored', data: { made_at: expect.any(String) } })
        expect(others.map(({ type }) => type)).not.toContain('account.updated')
        await happen(service.inside.database, after)
        await waitFor(() => hasAll(receiver, after))
        const now = await following(service)
        expect(now.map(({ account }) => account)).toEqual(expect.arrayContaining(after))
        await waitFor(() => receiver.of('backup.restored').length === 1)
      }
      // A machine that stalls for seconds loses its lease, and may tell the same events twice.
      const heard = new Set(receiver.deliveries.slice(told).map(({ data }) => data.id as number))
      expect(heard.size).toBe(after.length + 1)
      for (const id of heard) expect(id).toBeGreaterThan(lastId)
      expect(receiver.problems).toEqual([])
      await receiver.close()
      for (const storage of new Set([earlier, later])) await storage.drop()
    },
  )
})

longTest('a request that hangs is over after fifteen seconds, and is noted so', async () => {
  const receiver = await startReceiver(() => ({ hangs: true }))
  const { url, secret } = receiver
  const settings = webhookSettings({ name: 'app', url, secret, events: ['account.*'] })
  await using service = await startService({ shape: 'postgres', settings })
  await happen(service.inside.database, ids(1))
  await waitFor(() => receiver.deliveries.length === 1)
  const { webhooks } = service.inside.services
  const startedAt = performance.now()
  const { items } = await waitFor(async () => {
    const page = await webhooks.waiting('app', {})
    return page.items.length > 0 && page
  })
  expect(performance.now() - startedAt).toBeWithin(14_000, 17_000)
  expect(items[0]).toMatchObject({ attempts: 1, lastFailure: 'timeout' })
  await receiver.close()
})
