/** What the embedded database does in a second, against the same executable with PostgreSQL and Redis servers. */
import { type Bench, CLIENTS } from '../bench.ts'
import { type Load, requireStatuses, type Traffic } from '../load.ts'
import { runRounds } from '../rounds.ts'
import { compareLine, type Line, type Row } from '../row.ts'
import { logins, openSessions, ownAccount, refreshes, strangersLogin } from '../traffic.ts'

const ACCOUNTS = 1000
const RIVAL = 'with PostgreSQL and Redis servers'

export const embeddedRow: Row = {
  name: 'embedded',
  async measure(bench: Bench) {
    return [
      await measured(bench, {
        what: 'logins',
        // Passwords of a load that ended are still hashed when the next one begins.
        more: { warmupSeconds: 0.5, lastly: strangersLogin },
        trafficOf: async () => logins(ACCOUNTS),
      }),
      await measured(bench, {
        what: 'rotated refreshes',
        cheapPasswords: true,
        // Sessions of their own for each round: the tokens of a connection that was cut are lost with it.
        trafficOf: async (url) =>
          refreshes((await openSessions(url, CLIENTS)).map(({ refresh_token }) => refresh_token)),
      }),
      await measured(bench, {
        what: 'GET me',
        cheapPasswords: true,
        trafficOf: async (url) =>
          ownAccount((await openSessions(url, CLIENTS)).map(({ access_token }) => access_token)),
      }),
    ]
  },
}

interface Measured {
  what: string
  cheapPasswords?: boolean
  more?: Pick<Load, 'warmupSeconds' | 'lastly'>
  trafficOf(url: string): Promise<Traffic>
}

async function measured(
  bench: Bench,
  { what, cheapPasswords = false, more = {}, trafficOf }: Measured,
): Promise<Line> {
  const embedded = await bench.startEmbedded({ accounts: ACCOUNTS, cheapPasswords })
  const served = await bench.startPoterne({ accounts: ACCOUNTS, cheapPasswords })
  const rate = async (url: string, seconds = bench.seconds) => {
    const load = { url, traffic: await trafficOf(url), connections: CLIENTS, seconds, ...more }
    return requireStatuses(await bench.load(load), [200], what).rate
  }
  await rate(embedded.url, bench.warmupSeconds)
  await rate(served.url, bench.warmupSeconds)
  const series = await runRounds({
    rounds: Math.ceil(bench.rounds / 2),
    ours: () => rate(embedded.url),
    theirs: () => rate(served.url),
    onRound: (_, a, b) => bench.progress(`  ${a.toFixed(0)} ${what}/s, ${b.toFixed(0)} ${RIVAL}`),
  })
  await Promise.all([embedded.stop(), served.stop()])
  return compareLine({
    row: 'embedded',
    what: `embedded: ${what}, ${CLIENTS} clients`,
    rival: RIVAL,
    series,
    goal: {},
    unit: '/s',
  })
}
