/** What webhooks cost: events told a second against a bare loop of such requests, and sign-ins beside them. */
import { recordEvents } from '../../../src/domain/foundation/events/event-sql.ts'
import { applyMigrations } from '../../../src/platform/postgres/migrate.ts'
import { openServer } from '../../../src/platform/postgres/server.ts'
import { sendSigned } from '../../../src/platform/signed-request.ts'
import { waitFor } from '../../../test/helpers/wait.ts'
import { newHookSecret } from '../../../test/helpers/webhook-receiver.ts'
import { startTeller } from '../../../test/helpers/webhook-teller.ts'
import { type Bench, CLIENTS } from '../bench.ts'
import { compare } from '../compare.ts'
import { logins } from '../traffic.ts'

const ACCOUNTS = 1000
const EVENTS = 3000
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
    hook: { url: `http://127.0.0.1:${server.port}/`, secret: newHookSecret(), previousSecrets: [] },
    count: () => count,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** Returns how many of the events are told a second. */
async function rateOf(tell: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await tell()
  return (EVENTS / (performance.now() - startedAt)) * 1000
}

export async function measureDeliveries(bench: Bench) {
  const database = openServer({ url: await bench.newDatabase(), poolSize: 4 })
  await applyMigrations(database, new Date())
  await using receiver = startReceiver()
  // It begins with what happens from now on.
  await (await startTeller(database, receiver.hook)).close()
  /** From the start of a process to the last of the events that it finds in the log. */
  const told = async () => {
    const type = 'account.updated' as const
    const news = Array.from({ length: EVENTS }, () => ({ type, account: crypto.randomUUID() }))
    await recordEvents(database, news, new Date())
    const all = receiver.count() + EVENTS
    let teller: Awaited<ReturnType<typeof startTeller>> | undefined
    const rate = await rateOf(async () => {
      teller = await startTeller(database, receiver.hook)
      await waitFor(() => receiver.count() >= all, { intervalMs: 5 })
    })
    await teller?.close()
    return rate
  }
  const body = JSON.stringify({ type: 'account.updated', data: 'x'.repeat(300) })
  const { signal } = new AbortController()
  const looped = async () => {
    let left = EVENTS
    const loop = async () => {
      while (left-- > 0)
        await sendSigned(receiver.hook, { id: `evt_${left}`, body, timeoutMs: 15_000, signal })
    }
    return rateOf(() => Promise.all(Array.from({ length: AT_ONCE }, loop)))
  }
  for (const each of [told, looped]) await each()
  const line = await compare(bench, {
    ...{ what: 'events told to a webhook', rival: 'a loop of eight such requests', atLeast: 0.5 },
    ...{ ours: told, theirs: looped },
  })
  await database.close()
  return line
}

export const loginsWithWebhook = (kind: string, atLeast: number) => async (bench: Bench) => {
  await using receiver = startReceiver()
  const { url, secret } = receiver.hook
  const webhooks = [{ name: 'app', url, secret, events: [kind] }]
  const told = await bench.startPoterne({ accounts: ACCOUNTS, settings: { webhooks: webhooks as never } })
  const alone = await bench.startPoterne({ accounts: ACCOUNTS })
  // So many, not so long: they cost the same on both sides.
  const amount = CLIENTS * (bench.quick ? 2 : 8)
  const line = await compare(bench, {
    ...{ what: `logins, ${CLIENTS} clients, with a webhook for ${kind}`, rival: 'without one', atLeast },
    ours: () => bench.rate(told.url, logins(ACCOUNTS), { amount }),
    theirs: () => bench.rate(alone.url, logins(ACCOUNTS), { amount }),
  })
  return { ...line, notes: [`${receiver.count()} events told`] }
}
