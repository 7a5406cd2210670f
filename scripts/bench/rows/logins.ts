/** Logins a second with 64 clients, against the bare verification of as many passwords. */
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses } from '../load.ts'
import { startRawHashes } from '../rivals.ts'
import { runRounds } from '../rounds.ts'
import { compareLine, type Row } from '../row.ts'
import { logins, strangersLogin } from '../traffic.ts'
import { countTrips, describeTrips } from '../trips.ts'

const ACCOUNTS = 1000

export const loginsRow: Row = {
  name: 'logins',
  async measure(bench: Bench) {
    const poterne = await bench.startPoterne({ accounts: ACCOUNTS })
    const raw = await startRawHashes()
    const traffic = logins(ACCOUNTS)
    const seconds = bench.seconds + 1
    const load = async (duration: number, warmupSeconds: number) =>
      requireStatuses(
        await bench.load({
          url: poterne.url,
          traffic,
          connections: CLIENTS,
          seconds: duration,
          warmupSeconds,
          lastly: strangersLogin,
        }),
        [200],
        'login',
      )
    const counter = await countTrips(poterne.databaseUrl, poterne.redisUrl)
    const counted = await load(bench.warmupSeconds, 0)
    // Those that were under way when the load ended were done too, answered to nobody.
    const trips = await counter.take(counted.answered + CLIENTS)
    const series = await runRounds({
      rounds: bench.rounds,
      ours: async () => (await load(seconds, 0.5)).rate,
      theirs: () => raw.rate({ kind: 'verify', atOnce: CLIENTS, seconds }),
      onRound: (_, a, b) =>
        bench.progress(`  ${a.toFixed(1)} logins/s, ${b.toFixed(1)} raw: ${(a / b).toFixed(3)}`),
    })
    await Promise.all([poterne.stop(), raw.end()])
    return [
      compareLine({
        row: 'logins',
        what: `logins, ${CLIENTS} clients`,
        rival: 'raw Bun.password.verify',
        series,
        goal: { atLeast: 0.95 },
        unit: '/s',
        trips: describeTrips(trips),
      }),
    ]
  },
}
