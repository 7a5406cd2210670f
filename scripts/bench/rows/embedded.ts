/**
 * The operations that the embedded database does in a second, against the same executable with PostgreSQL and Redis
 * servers.
 */
import { type Bench, CLIENTS } from '../bench.ts'
import { type Load, requireStatuses, type Traffic } from '../load.ts'
import { compareInRounds, type Line, type Row } from '../row.ts'
import {
  codeRequests,
  logins,
  openSessions,
  ownAccount,
  refreshes,
  registrations,
  strangersLogin,
} from '../traffic.ts'

const ACCOUNTS = 1000
/** Nobody registers twice, or asks for a second code. */
const PER_ROUND = 20_000
/** Enough for two warm-ups and the rounds of both sides. */
const ACCOUNTS_OF_CODES = 8 * PER_ROUND

export const embeddedRow: Row = {
  name: 'embedded',
  async measure(bench: Bench) {
    let first = 0
    let asked = 1
    return [
      await measured(bench, {
        what: 'logins',
        atLeast: 0.95,
        // Passwords of a load that ended are still hashed when the next one begins.
        more: { warmupSeconds: 0.5, lastly: strangersLogin },
        trafficOf: async () => logins(ACCOUNTS),
      }),
      await measured(bench, {
        what: 'rotated refreshes',
        atLeast: 0.75,
        cheapPasswords: true,
        // Sessions of their own for each round: the tokens of a connection that was cut are lost with it.
        trafficOf: async (url) =>
          refreshes((await openSessions(url, CLIENTS)).map(({ refresh_token }) => refresh_token)),
      }),
      await measured(bench, {
        what: 'GET me',
        atLeast: 0.95,
        cheapPasswords: true,
        trafficOf: async (url) =>
          ownAccount((await openSessions(url, CLIENTS)).map(({ access_token }) => access_token)),
      }),
      await measured(bench, {
        what: 'registrations',
        atLeast: 0.8,
        status: 201,
        cheapPasswords: true,
        trafficOf: async () => {
          first += PER_ROUND
          return registrations(PER_ROUND, first)
        },
      }),
      await measured(bench, {
        what: '2fa/request-otp',
        atLeast: 0.8,
        status: 201,
        cheapPasswords: true,
        accounts: ACCOUNTS_OF_CODES,
        trafficOf: async () => {
          asked += PER_ROUND
          return codeRequests(PER_ROUND, asked - PER_ROUND)
        },
      }),
    ]
  },
}

interface Measured {
  what: string
  atLeast: number
  status?: number
  cheapPasswords?: boolean
  accounts?: number
  more?: Pick<Load, 'warmupSeconds' | 'lastly'>
  trafficOf(url: string): Promise<Traffic>
}

async function measured(
  bench: Bench,
  {
    what,
    atLeast,
    status = 200,
    cheapPasswords = false,
    accounts = ACCOUNTS,
    more = {},
    trafficOf,
  }: Measured,
): Promise<Line> {
  const embedded = await bench.startEmbedded({ accounts, cheapPasswords })
  const served = await bench.startPoterne({ accounts, cheapPasswords })
  const rate = async (url: string, seconds = bench.seconds) => {
    const load = { url, traffic: await trafficOf(url), connections: CLIENTS, seconds, ...more }
    return requireStatuses(await bench.load(load), [status], what).rate
  }
  await rate(embedded.url, bench.warmupSeconds)
  await rate(served.url, bench.warmupSeconds)
  const line = await compareInRounds(bench, {
    row: 'embedded',
    what: `embedded: ${what}, ${CLIENTS} clients`,
    rival: 'with PostgreSQL and Redis servers',
    rounds: Math.ceil(bench.rounds / 2),
    ours: () => rate(embedded.url),
    theirs: () => rate(served.url),
    goal: { atLeast },
  })
  await Promise.all([embedded.stop(), served.stop()])
  return line
}
