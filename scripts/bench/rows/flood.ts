/** Logins at ten times what the machine can hash, whatever the answers take, and somebody else's calls meanwhile. */
import { type Bench, CLIENTS, type Poterne } from '../bench.ts'
import { type Line, median, round } from '../compare.ts'
import type { Latencies } from '../load.ts'
import { watchMemory } from '../resident.ts'
import { logins, ownAccount, refreshes } from '../traffic.ts'

/** Of the p99 of each, in milliseconds. */
const limits = { refused: 50, admitted: 800, 'GET me': 100, refresh: 100 }
type Latency = Record<keyof typeof limits, Latencies | undefined>

async function floodOnce(bench: Bench, { url }: Poterne): Promise<Latency & { rate: number }> {
  const traffic = { ...logins(1000), status: null }
  const rate = Math.ceil((await bench.rate(url, traffic, { seconds: bench.seconds + 1 })) * 10)
  const other = { connections: 10, rate: 50, seconds: bench.quick ? 4 : 9 }
  // Neither is asked for all of its answers: what the flood does to them is what is measured.
  const reading = { ...(await ownAccount(url, 10)), status: null }
  const refreshing = { ...(await refreshes(url, 10)), status: null }
  // A connection sends once a second, and those whose login is admitted wait up to two.
  const flooding = bench.load(url, traffic, {
    connections: rate + 2 * CLIENTS,
    rate,
    seconds: other.seconds + 3,
  })
  await Bun.sleep(1500)
  const loads = [flooding, bench.load(url, reading, other), bench.load(url, refreshing, other)]
  const [flood, me, refresh] = (await Promise.all(loads)).map(({ byStatus }) => byStatus)
  bench.progress(`  flood of ${rate}/s`)
  return {
    rate,
    refused: flood!['503'],
    admitted: flood!['200'],
    'GET me': me!['200'],
    refresh: refresh!['200'],
  }
}

export async function measureFlood(bench: Bench) {
  const { results, line: memoryLine } = await watchMemory(bench, (poterne) => floodOnce(bench, poterne))
  const latency = (what: keyof typeof limits): Line => {
    const some = results.flatMap((turn) => turn[what] ?? [])
    const p99Ms = median(some.map((one) => one.p99Ms))
    return {
      what: `login flood of 10 × capacity: ${what}, p99`,
      rival: 'asked',
      ours: some.length > 0 ? `${round(p99Ms)} ms` : 'none',
      theirs: `${median(results.map(({ rate }) => rate))} logins/s`,
      ratio: null,
      goal: `< ${limits[what]} ms`,
      met: some.length === results.length && p99Ms < limits[what],
      notes: some.map(
        (of) => `${what}: ${of.count} answers, p50 ${round(of.p50Ms)} ms, at most ${round(of.maxMs)} ms`,
      ),
    }
  }
  return [
    ...(Object.keys(limits) as (keyof typeof limits)[]).map(latency),
    memoryLine('login flood of 10 × capacity: memory', 100),
  ]
}
