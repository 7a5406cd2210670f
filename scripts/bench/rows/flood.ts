/** Logins at ten times what the machine can hash, whatever the answers take, and somebody else's calls meanwhile. */
import { type Bench, CLIENTS } from '../bench.ts'
import type { Latencies, LoadResult } from '../load.ts'
import { memoryLine, watchMemory } from '../resident.ts'
import { type Line, type Row, round } from '../row.ts'
import { logins, openSessions, ownAccount, refreshes, strangersLogin } from '../traffic.ts'

const ACCOUNTS = 1000
const TIMES = 10
const limits = { refused: 50, admitted: 2000, other: 100 }
/** Of each of the other calls. */
const OTHER_RATE = 50
const OTHER_CONNECTIONS = 10

export const floodRow: Row = {
  name: 'flood',
  async measure(bench: Bench) {
    const poterne = await bench.startPoterne({ accounts: ACCOUNTS })
    const { url } = poterne
    const traffic = logins(ACCOUNTS)
    const memory = watchMemory(poterne.pid)
    const closed = { url, traffic, connections: CLIENTS, seconds: bench.seconds + 1, lastly: strangersLogin }
    const capacity = (await bench.load(closed)).rate
    const rate = Math.ceil(capacity * TIMES)
    bench.progress(`  capacity ${capacity.toFixed(1)} logins/s; flood of ${rate}/s`)
    const tokens = await openSessions(url, OTHER_CONNECTIONS)
    const seconds = bench.quick ? 7 : 20
    // A connection sends once a second, and those whose login is admitted wait up to two.
    const flooding = bench.load({
      url,
      traffic,
      connections: rate + 2 * CLIENTS,
      seconds,
      rate,
      lastly: strangersLogin,
    })
    await Bun.sleep(1500)
    const other = { url, connections: OTHER_CONNECTIONS, seconds: seconds - 3, rate: OTHER_RATE }
    const [flood, me, refresh] = await Promise.all([
      flooding,
      bench.load({ ...other, traffic: ownAccount(tokens.map(({ access_token }) => access_token)) }),
      bench.load({ ...other, traffic: refreshes(tokens.map(({ refresh_token }) => refresh_token)) }),
    ])
    const peakMb = memory.peakMb()
    await poterne.stop()
    return [
      ...report({ flood, me, refresh }, rate),
      memoryLine('flood', 'login flood of 10 × capacity: memory', memory.idleMb, peakMb),
    ]
  },
}

function report(results: { flood: LoadResult; me: LoadResult; refresh: LoadResult }, rate: number): Line[] {
  const { flood, me, refresh } = results
  const line = (what: string, latencies: Latencies | undefined, limitMs: number): Line => ({
    row: 'flood',
    what: `login flood of 10 × capacity: ${what}, p99`,
    rival: 'asked',
    ours: latencies ? `${round(latencies.p99Ms)} ms` : 'none',
    theirs: `${rate} logins/s`,
    ratio: null,
    goal: `< ${limitMs} ms`,
    met: latencies !== undefined && latencies.p99Ms < limitMs,
    ...(latencies && {
      notes: [
        `${what}: ${latencies.count} answers, p50 ${round(latencies.p50Ms)} ms, at most ${round(latencies.maxMs)} ms`,
      ],
    }),
  })
  return [
    line('refused', flood.byStatus['503'], limits.refused),
    line('admitted', flood.byStatus['200'], limits.admitted),
    line('GET me', me.byStatus['200'], limits.other),
    line('refresh', refresh.byStatus['200'], limits.other),
  ]
}
