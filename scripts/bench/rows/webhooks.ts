/** What webhooks cost: events told a second against a bare loop of such requests, and sign-ins beside them. */
import { recordEvents } from '../../../src/domain/foundation/events/event-sql.ts'
import { applyMigrations } from '../../../src/platform/postgres/migrate.ts'
import { openServer } from '../../../src/platform/postgres/server.ts'
import { sendSigned } from '../../../src/platform/signed-request.ts'
import { waitFor } from '../../../test/helpers/wait.ts'
import { newHookSecret } from '../../../test/helpers/webhook-receiver.ts'
import { startTeller } from '../../../test/helpers/webhook-teller.ts'
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses } from '../load.ts'
import { compareInRounds, type Line, type Row } from '../row.ts'
import { logins } from '../traffic.ts'

const ACCOUNTS = 1000
const AT_ONCE = 8

function startReceiver() {
  let count = 0
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      await request.text()
      count++
      return Response.json({})
    },
  })
  return {
    call: { url: `http://127.0.0.1:${server.port}/`, secret: newHookSecret(), previousSecrets: [] },
    count: () => count,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

async function measureDeliveries(bench: Bench): Promise<Line> {
  const { newDatabase } = await bench.stores()
  const database = openServer({ url: await newDatabase(), poolSize: 4 })
  await applyMigrations(database, new Date())
  await using receiver = startReceiver()
  const tell = () => startTeller(database, receiver.call)
  // It begins with what happens from now on.
  await (await tell()).close()
  const events = 3000
  const rateSince = (startedAt: number) => (events / (performance.now() - startedAt)) * 1000
  /** From the start of a process to the last of the events that it finds in the log. */
  const told = async () => {
    const news = Array.from({ length: events }, () => ({
      type: 'account.updated' as const,
      account: crypto.randomUUID(),
    }))
    await recordEvents(database, news, new Date())
    const all = receiver.count() + events
    const startedAt = performance.now()
    const teller = await tell()
    await waitFor(() => receiver.count() >= all, { intervalMs: 5 })
    const rate = rateSince(startedAt)
    await teller.close()
    return rate
  }
  const body = JSON.stringify({ type: 'account.updated', data: 'x'.repeat(300) })
  const { signal } = new AbortController()
  const looped = async () => {
    const startedAt = performance.now()
    let left = events
    const loop = async () => {
      while (left-- > 0)
        await sendSigned(receiver.call, { id: `evt_${left}`, body, timeoutMs: 15_000, signal })
    }
    await Promise.all(Array.from({ length: AT_ONCE }, loop))
    return rateSince(startedAt)
  }
  for (const each of [told, looped]) await each()
  const line = await compareInRounds(bench, {
    ...{ row: 'webhooks', what: 'events told to a webhook', rival: 'a loop of eight such requests' },
    ...{ ours: told, theirs: looped, goal: { atLeast: 0.5 } },
  })
  await database.close()
  return line
}

async function measureLogins(bench: Bench, kind: string, atLeast: number): Promise<Line> {
  await using receiver = startReceiver()
  const { url, secret } = receiver.call
  const webhooks = [{ name: 'app', url, secret, events: [kind] }]
  const told = await bench.startPoterne({ accounts: ACCOUNTS, settings: { webhooks: webhooks as never } })
  const alone = await bench.startPoterne({ accounts: ACCOUNTS })
  // So many, not so long: they cost the same on both sides.
  const amount = CLIENTS * (bench.quick ? 2 : 8)
  const rate = async ({ url }: { url: string }) => {
    const load = { url, traffic: logins(ACCOUNTS), connections: CLIENTS, seconds: 0, amount }
    return requireStatuses(await bench.load(load), [200], 'login').rate
  }
  const line = await compareInRounds(bench, {
    row: 'webhooks',
    what: `logins, ${CLIENTS} clients, with a webhook for ${kind}`,
    rival: 'without one',
    ours: () => rate(told),
    theirs: () => rate(alone),
    goal: { atLeast },
  })
  await Promise.all([told.stop(), alone.stop()])
  return { ...line, notes: [`${receiver.count()} events told`] }
}

export const webhooksRow: Row = {
  name: 'webhooks',
  measure: async (bench: Bench) => [
    await measureDeliveries(bench),
    await measureLogins(bench, 'account.*', 0.98),
    await measureLogins(bench, 'session.*', 0.85),
  ],
}
