/** Logins and registrations a second, against the bare hashing of as many passwords. A registration sends a message. */
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses, type Traffic } from '../load.ts'
import type { HashQuestion } from '../rivals/argon2.ts'
import { startRawHashes } from '../rivals.ts'
import { compareInRounds, type Line, type Row } from '../row.ts'
import { logins, registrations, strangersLogin } from '../traffic.ts'
import { countTrips, describeTrips } from '../trips.ts'

const ACCOUNTS = 1000

/** No machine hashes more in a round. */
const PER_ROUND = 20_000

interface Hashing {
  operation: 'login' | 'register'
  status: number
  /** The accounts that exist before. */
  accounts: number
  /** The requests that the clients send in each round, from the first (0) on. */
  traffic(round: number): Traffic
  /** The rate of hashing alone, and the share of it that is asked for. */
  raws: { kind: HashQuestion['kind']; name: string; atLeast: number }[]
}

const againstRawHashing = (name: string, of: Hashing): Row => ({
  name,
  async measure(bench: Bench) {
    const poterne = await bench.startPoterne({ accounts: of.accounts })
    const raw = await startRawHashes()
    const seconds = bench.seconds + 1
    let round = 0
    const load = async (duration: number, warmupSeconds: number) =>
      requireStatuses(
        await bench.load({
          url: poterne.url,
          traffic: of.traffic(round++),
          connections: CLIENTS,
          seconds: duration,
          warmupSeconds,
          lastly: strangersLogin,
        }),
        [of.status],
        of.operation,
      )
    const counter = await countTrips(poterne.databaseUrl, poterne.redisUrl)
    const counted = await load(bench.warmupSeconds, 0)
    // The calls that were under way when the load ended were done too, answered to nobody.
    const trips = await counter.take(counted.answered + CLIENTS)
    const lines: Line[] = []
    for (const { kind, name: rival, atLeast } of of.raws) {
      const line = await compareInRounds(bench, {
        row: name,
        what: `${name}, ${CLIENTS} clients`,
        rival,
        ours: async () => (await load(seconds, 0.5)).rate,
        theirs: () => raw.rate({ kind, atOnce: CLIENTS, seconds }),
        goal: { atLeast },
        trips: describeTrips(trips),
      })
      lines.push(line)
    }
    await Promise.all([poterne.stop(), raw.end()])
    return lines
  },
})

export const loginsRow = againstRawHashing('logins', {
  operation: 'login',
  status: 200,
  accounts: ACCOUNTS,
  traffic: () => logins(ACCOUNTS),
  raws: [
    { kind: 'addon', name: 'raw verification by the addon', atLeast: 0.7 },
    { kind: 'verify', name: 'raw Bun.password.verify', atLeast: 2 },
  ],
})

export const registrationsRow = againstRawHashing('registrations', {
  operation: 'register',
  status: 201,
  accounts: 0,
  traffic: (round) => registrations(PER_ROUND, 1 + round * PER_ROUND),
  raws: [{ kind: 'hash', name: 'raw Bun.password.hash', atLeast: 0.9 }],
})
