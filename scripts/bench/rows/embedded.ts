/** The embedded database: against the same executable with PostgreSQL and Redis servers, and on a slow disk. */
import { type Bench, CLIENTS } from '../bench.ts'
import { compare, median, round } from '../compare.ts'
import { untilAtRest } from '../server.ts'
import { codeRequests, logins, ownAccount, refreshes, registrations, type Traffic } from '../traffic.ts'

const ACCOUNTS = 1000
/** Nobody registers twice, or asks for a second code. */
const PER_ROUND = 20_000

interface Operation {
  what: string
  atLeast: number
  cheapPasswords?: boolean
  accounts?: number
  /** Passwords of a load that ended may still be hashed when the next one begins. */
  warmupSeconds?: number
  /** The requests of each load, from the first (0) on. */
  traffic(url: string, load: number): Traffic | Promise<Traffic>
}

const againstServers = (operation: Operation) => async (bench: Bench) => {
  const { what, atLeast, traffic, cheapPasswords = true, accounts = ACCOUNTS, ...more } = operation
  const embedded = await bench.startEmbedded({ accounts, cheapPasswords })
  const served = await bench.startPoterne({ accounts, cheapPasswords })
  let loads = 0
  const rate = async (url: string, seconds = bench.seconds) => {
    const requests = await traffic(url, loads++)
    await Promise.all([embedded, served].map(untilAtRest))
    return bench.rate(url, requests, { seconds, ...more })
  }
  for (const { url } of [embedded, served]) await rate(url, bench.warmupSeconds)
  return compare(bench, {
    ...{ what: `embedded: ${what}, ${CLIENTS} clients`, rival: 'with PostgreSQL and Redis servers', atLeast },
    rounds: bench.rounds / 2,
    ours: () => rate(embedded.url),
    theirs: () => rate(served.url),
  })
}

export const operations = [
  againstServers({
    ...{ what: 'logins', atLeast: 0.95, cheapPasswords: false, warmupSeconds: 0.5 },
    traffic: () => logins(ACCOUNTS),
  }),
  againstServers({
    ...{ what: 'rotated refreshes', atLeast: 0.75 },
    traffic: (url) => refreshes(url, CLIENTS),
  }),
  againstServers({ what: 'GET me', atLeast: 0.95, traffic: (url) => ownAccount(url, CLIENTS) }),
  againstServers({
    ...{ what: 'registrations', atLeast: 0.8 },
    traffic: (_, load) => registrations(PER_ROUND, 1 + load * PER_ROUND),
  }),
  againstServers({
    // Enough for two warm-ups and the rounds of both sides.
    ...{ what: '2fa/request-otp', atLeast: 0.8, accounts: 8 * PER_ROUND },
    traffic: (_, load) => codeRequests(PER_ROUND, 1 + load * PER_ROUND),
  }),
]

/** `-D` leaves the service the process that was started. */
const SLOW_DISK = [
  ...['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null'],
  ...['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_exit=5000'],
]
const LIMIT_MS = 30

/** The p99 of `GET me` while clients register, on a disk that takes 5 ms longer to flush. */
export async function measureSlowDisk(bench: Bench) {
  if (Bun.which('strace') === null) {
    bench.progress('  left out: it needs strace')
    return []
  }
  const poterne = await bench.startEmbedded({ accounts: 1000, cheapPasswords: true, wrapper: SLOW_DISK })
  const { url } = poterne
  const seconds = bench.seconds * 2
  // People who come by, not a load of their own.
  const connections = 10
  const readers = await ownAccount(url, connections)
  const p99 = async () =>
    (await bench.load(url, readers, { connections, seconds, rate: 100 })).byStatus['200']!.p99Ms
  const [busy, idle]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < bench.rounds; turn++) {
    await untilAtRest(poterne)
    idle.push(await p99())
    const traffic = registrations(PER_ROUND, turn * PER_ROUND + 1)
    const loading = bench.rate(url, traffic, { seconds: seconds + 2 })
    await Bun.sleep(1000)
    const [p99Ms, rate] = await Promise.all([p99(), loading])
    busy.push(p99Ms)
    bench.progress(`  p99 ${p99Ms.toFixed(1)} ms beside ${rate.toFixed(0)} registrations/s`)
  }
  return {
    what: `embedded, flushes of + 5 ms: p99 of GET me while ${CLIENTS} clients register`,
    rival: 'idle',
    ours: `${round(median(busy))} ms`,
    theirs: `${round(median(idle))} ms`,
    ratio: null,
    goal: `≤ ${LIMIT_MS} ms`,
    met: median(busy) <= LIMIT_MS,
  }
}
