/** Rotated refreshes a second, against Better Auth's session read and against bare single-row updates and inserts. */
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses, type Traffic } from '../load.ts'
import type { StoresQuestion } from '../rivals/stores.ts'
import { startBareStores, startBetterAuth } from '../rivals.ts'
import { compareInRounds, type Goal, type Row } from '../row.ts'
import { betterAuthSessionReads, openSessions, refreshes } from '../traffic.ts'
import { countTrips, describeTrips } from '../trips.ts'

/** Enough for PostgreSQL to use its indexes. */
const ACCOUNTS = 1000

export const refreshRow: Row = {
  name: 'refresh',
  async measure(bench: Bench) {
    const poterne = await bench.startPoterne({ accounts: ACCOUNTS, cheapPasswords: true })
    const better = await startBetterAuth(bench, { hash: 'default', accounts: ACCOUNTS })
    const bare = await startBareStores(bench)
    const { seconds } = bench
    const load = async (url: string, traffic: Traffic, duration = seconds) =>
      requireStatuses(await bench.load({ url, traffic, connections: CLIENTS, seconds: duration }), [200], url)
    // Sessions of their own for each round: the tokens of a connection that was cut are lost with it.
    const refresh = async () => {
      const tokens = await openSessions(poterne.url, CLIENTS)
      return load(poterne.url, refreshes(tokens.map(({ refresh_token }) => refresh_token)))
    }
    const tokens = await openSessions(poterne.url, CLIENTS)
    const counter = await countTrips(poterne.databaseUrl, poterne.redisUrl)
    const first = refreshes(tokens.map(({ refresh_token }) => refresh_token))
    const counted = await load(poterne.url, first, bench.warmupSeconds)
    const trips = await counter.take(counted.answered)
    const sessionReads = await betterAuthSessionReads(better.url, CLIENTS)
    await load(better.url, sessionReads, bench.warmupSeconds)
    const bareWrites = (trips: StoresQuestion['trips']) => () =>
      bare.rate({ trips, atOnce: CLIENTS, seconds })
    const line = (rival: string, goal: Goal, theirs: () => Promise<number>) =>
      compareInRounds(bench, {
        row: 'refresh',
        what: `rotated refreshes, ${CLIENTS} clients`,
        ...{ rival, goal, theirs, trips: describeTrips(trips) },
        rounds: goal.atLeast === undefined ? Math.ceil(bench.rounds / 2) : bench.rounds,
        ours: async () => (await refresh()).rate,
      })
    const lines = [
      await line(
        "Better Auth's session read",
        { atLeast: 2 },
        async () => (await load(better.url, sessionReads)).rate,
      ),
      await line('single-row updates by postgres.js', { atLeast: 0.5 }, bareWrites({ writes: 1 })),
      await line('single-row inserts by postgres.js', {}, bareWrites({ inserts: 1 })),
    ]
    await Promise.all([poterne.stop(), better.end(), bare.end()])
    return lines
  },
}
