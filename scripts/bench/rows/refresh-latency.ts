/** The p99 of refresh while logins keep every processor at hashing, against its p99 when nothing else happens. */
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses } from '../load.ts'
import { compareInRounds, type Row } from '../row.ts'
import { logins, openSessions, refreshes, strangersLogin } from '../traffic.ts'

const ACCOUNTS = 1000
/** Refreshes of people who come by, not a load of their own: so many connections, so many a second in all. */
const CONNECTIONS = 10
const RATE = 100

export const refreshLatencyRow: Row = {
  name: 'refresh-latency',
  async measure(bench: Bench) {
    const poterne = await bench.startPoterne({ accounts: ACCOUNTS })
    const seconds = bench.seconds * 2
    const refresh = async () => {
      const tokens = (await openSessions(poterne.url, CONNECTIONS)).map(({ refresh_token }) => refresh_token)
      return async () => {
        const load = {
          url: poterne.url,
          traffic: refreshes(tokens),
          connections: CONNECTIONS,
          seconds,
          rate: RATE,
        }
        return requireStatuses(await bench.load(load), [200], 'refresh').byStatus['200']!.p99Ms
      }
    }
    const saturated = async () => {
      const measure = await refresh()
      const traffic = logins(ACCOUNTS)
      const flood = {
        url: poterne.url,
        traffic,
        connections: CLIENTS,
        seconds: seconds + 2,
        lastly: strangersLogin,
      }
      const loading = bench.load(flood)
      await Bun.sleep(1000)
      const [p99Ms] = await Promise.all([measure(), loading])
      return p99Ms
    }
    const line = await compareInRounds(bench, {
      row: 'refresh-latency',
      what: `p99 of refresh while ${CLIENTS} clients sign in`,
      rival: 'idle',
      ours: saturated,
      theirs: async () => (await refresh())(),
      goal: { atMost: 5 },
      unit: 'ms',
    })
    await poterne.stop()
    return [line]
  },
}
