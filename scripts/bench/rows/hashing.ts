/** Logins and registrations a second, against the bare hashing of as many passwords, and against Better Auth. */
import { hashing } from '../bare.ts'
import { type Bench, CLIENTS } from '../bench.ts'
import { compare, type Line, ratePerSecond } from '../compare.ts'
import { betterAuthLogins, startBetterAuth } from '../rivals.ts'
import { logins, registrations, type Traffic } from '../traffic.ts'
import { countTrips } from '../trips.ts'

const ACCOUNTS = 1000
/** No machine hashes more in a round. */
const PER_ROUND = 20_000

interface Hashing {
  /** The accounts that exist before. */
  accounts: number
  /** The requests of each round, from the first (0) on. */
  traffic(round: number): Traffic
  /** The share of the rate of hashing alone that is asked for. */
  goals: Partial<Record<keyof typeof hashing, number>>
}

async function againstBareHashing(bench: Bench, name: string, { accounts, traffic, goals }: Hashing) {
  const { url, ...poterne } = await bench.startPoterne({ accounts })
  const seconds = bench.seconds + 1
  let round = 0
  const trips = await countTrips(poterne)
  await trips.during(() =>
    bench.load(url, traffic(round++), { seconds: bench.warmupSeconds, warmupSeconds: 0 }),
  )
  const lines: Line[] = []
  for (const [rival, atLeast] of Object.entries(goals)) {
    const hash = hashing[rival as keyof typeof hashing]
    const line = await compare(bench, {
      ...{ what: `${name}, ${CLIENTS} clients`, rival, atLeast, trips: trips.describe() },
      ours: () => bench.rate(url, traffic(round++), { seconds, warmupSeconds: 0.5 }),
      theirs: () => ratePerSecond(CLIENTS, seconds, hash),
    })
    lines.push(line)
  }
  return lines
}

export const measureLogins = (bench: Bench) =>
  againstBareHashing(bench, 'logins', {
    accounts: ACCOUNTS,
    traffic: () => logins(ACCOUNTS),
    goals: { 'raw verification by the addon': 0.7, 'raw Bun.password.verify': 2 },
  })

/** A registration sends a message. */
export const measureRegistrations = (bench: Bench) =>
  againstBareHashing(bench, 'registrations', {
    accounts: 0,
    traffic: (round) => registrations(PER_ROUND, 1 + round * PER_ROUND),
    goals: { 'raw Bun.password.hash': 0.9 },
  })

const hashes = {
  default: { name: 'with its default hash (scrypt)', atLeast: 4 },
  argon2id: { name: 'with our hash', atLeast: 2 },
}

export const loginsAgainstBetterAuth = (hash: keyof typeof hashes) => async (bench: Bench) => {
  const poterne = await bench.startPoterne({ accounts: ACCOUNTS })
  const rival = await startBetterAuth(bench, hash, ACCOUNTS)
  // So many, not so long: Better Auth answers in waves, as many at a time as there are clients.
  const amount = CLIENTS * (bench.quick ? 2 : 8)
  const { name, atLeast } = hashes[hash]
  return compare(bench, {
    ...{
      what: `logins, ${CLIENTS} clients, ${name}`,
      rival: 'Better Auth 1.7.0',
      atLeast,
      rounds: bench.rounds / 2,
    },
    ours: () => bench.rate(poterne.url, logins(ACCOUNTS), { amount }),
    theirs: () => bench.rate(rival.url, betterAuthLogins(ACCOUNTS), { amount }),
  })
}
