/** Registrations a second, against the bare hashing of as many passwords. Each sends a message. */
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses } from '../load.ts'
import { startRawHashes } from '../rivals.ts'
import { runRounds } from '../rounds.ts'
import { compareLine, type Row } from '../row.ts'
import { registrations, strangersLogin } from '../traffic.ts'
import { countTrips, describeTrips } from '../trips.ts'

/** More than any machine hashes in a round. */
const PER_ROUND = 20_000

export const registrationsRow: Row = {
  name: 'registrations',
  async measure(bench: Bench) {
    const poterne = await bench.startPoterne()
    const raw = await startRawHashes()
    const seconds = bench.seconds + 1
    let first = 1
    const load = async (duration: number, warmupSeconds: number) => {
      const traffic = registrations(PER_ROUND, first)
      first += PER_ROUND
      return requireStatuses(
        await bench.load({
          url: poterne.url,
          traffic,
          connections: CLIENTS,
          seconds: duration,
          warmupSeconds,
          lastly: strangersLogin,
        }),
        [201],
        'register',
      )
    }
    const counter = await countTrips(poterne.databaseUrl, poterne.redisUrl)
    const counted = await load(bench.warmupSeconds, 0)
    // Those that were under way when the load ended were done too, answered to nobody.
    const trips = await counter.take(counted.answered + CLIENTS)
    const series = await runRounds({
      rounds: bench.rounds,
      ours: async () => (await load(seconds, 0.5)).rate,
      theirs: () => raw.rate({ kind: 'hash', atOnce: CLIENTS, seconds }),
      onRound: (_, a, b) =>
        bench.progress(`  ${a.toFixed(1)} registrations/s, ${b.toFixed(1)} raw: ${(a / b).toFixed(3)}`),
    })
    await Promise.all([poterne.stop(), raw.end()])
    return [
      compareLine({
        row: 'registrations',
        what: `registrations, ${CLIENTS} clients`,
        rival: 'raw Bun.password.hash',
        series,
        goal: { atLeast: 0.9 },
        unit: '/s',
        trips: describeTrips(trips),
      }),
    ]
  },
}
