/** Logins at ten times what the machine can hash, whatever the answers take, and somebody else's calls meanwhile. */
import { type Bench, CLIENTS } from '../bench.ts'
import type { Latencies, LoadResult } from '../load.ts'
import { memoryLine, watchMemory } from '../resident.ts'
import { median } from '../rounds.ts'
import { type Line, type Row, round } from '../row.ts'
import { logins, openSessions, ownAccount, refreshes, strangersLogin } from '../traffic.ts'

const ACCOUNTS = 1000
const TIMES = 10
const limits = { refused: 50, admitted: 800, other: 100, memoryMb: 100 }
/** The rate of each of the other calls. */
const OTHER_RATE = 50
const OTHER_CONNECTIONS = 10

interface Turn {
  /** Logins a second that were sent. */
  rate: number
  flood: LoadResult
  me: LoadResult
  refresh: LoadResult
  idleMb: number
  peakMb: number
}

export const floodRow: Row = {
  name: 'flood',
  async measure(bench: Bench) {
    const turns: Turn[] = []
    for (let turn = 0; turn < (bench.quick ? 1 : 3); turn++) turns.push(await floodOnce(bench))
    return [
      ...report(turns),
      memoryLine('flood', 'login flood of 10 × capacity: memory', {
        idleMb: median(turns.map(({ idleMb }) => idleMb)),
        peakMb: median(turns.map(({ peakMb }) => peakMb)),
        limitMb: limits.memoryMb,
      }),
    ]
  },
}

async function floodOnce(bench: Bench): Promise<Turn> {
  const poterne = await bench.startPoterne({ accounts: ACCOUNTS })
  const { url } = poterne
  const traffic = logins(ACCOUNTS)
  await Bun.sleep(1000)
  const memory = watchMemory(poterne.pid)
  const closed = { url, traffic, connections: CLIENTS, seconds: bench.seconds + 1, lastly: strangersLogin }
  const capacity = (await bench.load(closed)).rate
  const rate = Math.ceil(capacity * TIMES)
  const tokens = await openSessions(url, OTHER_CONNECTIONS)
  const seconds = bench.quick ? 7 : 12
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
  const { idleMb } = memory
  const peakMb = memory.peakMb()
  await poterne.stop()
  bench.progress(
    `  capacity ${capacity.toFixed(1)} logins/s; flood of ${rate}/s; + ${(peakMb - idleMb).toFixed(0)} MB`,
  )
  return { rate, flood, me, refresh, idleMb, peakMb }
}

function report(turns: Turn[]): Line[] {
  const rate = median(turns.map((turn) => turn.rate))
  const line = (what: string, latenciesOf: (turn: Turn) => Latencies | undefined, limitMs: number): Line => {
    const latencies = turns.map(latenciesOf)
    const some = latencies.filter((one) => one !== undefined)
    const p99Ms = median(some.map((one) => one.p99Ms))
    return {
      row: 'flood',
      what: `login flood of 10 × capacity: ${what}, p99`,
      rival: 'asked',
      ours: some.length > 0 ? `${round(p99Ms)} ms` : 'none',
      theirs: `${rate} logins/s`,
      ratio: null,
      goal: `< ${limitMs} ms`,
      met: some.length === turns.length && p99Ms < limitMs,
      notes: some.map(
        ({ count, p50Ms, maxMs }) =>
          `${what}: ${count} answers, p50 ${round(p50Ms)} ms, at most ${round(maxMs)} ms`,
      ),
    }
  }
  return [
    line('refused', ({ flood }) => flood.byStatus['503'], limits.refused),
    line('admitted', ({ flood }) => flood.byStatus['200'], limits.admitted),
    line('GET me', ({ me }) => me.byStatus['200'], limits.other),
    line('refresh', ({ refresh }) => refresh.byStatus['200'], limits.other),
  ]
}
