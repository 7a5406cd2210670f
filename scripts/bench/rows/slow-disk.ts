/** The p99 of `GET me` on the embedded database while clients register, on a disk that takes 5 ms longer to flush. */
import { type Bench, CLIENTS } from '../bench.ts'
import { requireStatuses } from '../load.ts'
import { median } from '../rounds.ts'
import { type Row, round } from '../row.ts'
import { openSessions, ownAccount, registrations } from '../traffic.ts'

/** Nobody registers twice. */
const PER_ROUND = 20_000
/** Reads of people who come by, not a load of their own: so many connections, so many a second in all. */
const CONNECTIONS = 10
const RATE = 100
const LIMIT_MS = 30

/** `-D` leaves the service the process that was started. */
const SLOW_DISK = [
  ...['strace', '-D', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null'],
  ...['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:delay_exit=5000'],
]

export const slowDiskRow: Row = {
  name: 'slow-disk',
  async measure(bench: Bench) {
    if (Bun.which('strace') === null) {
      bench.progress('  left out: it needs strace')
      return []
    }
    const poterne = await bench.startEmbedded({ accounts: 1000, cheapPasswords: true, wrapper: SLOW_DISK })
    const [busy, idle]: [number[], number[]] = [[], []]
    const seconds = bench.seconds * 2
    const readers = (await openSessions(poterne.url, CONNECTIONS)).map(({ access_token }) => access_token)
    const p99 = async () => {
      const load = {
        url: poterne.url,
        traffic: ownAccount(readers),
        connections: CONNECTIONS,
        seconds,
        rate: RATE,
      }
      return requireStatuses(await bench.load(load), [200], 'GET me').byStatus['200']!.p99Ms
    }
    for (let turn = 0; turn < bench.rounds; turn++) {
      idle.push(await p99())
      const traffic = registrations(PER_ROUND, turn * PER_ROUND + 1)
      const loading = bench.load({ url: poterne.url, traffic, connections: CLIENTS, seconds: seconds + 2 })
      await Bun.sleep(1000)
      const [p99Ms, { rate }] = await Promise.all([p99(), loading])
      busy.push(p99Ms)
      bench.progress(`  p99 ${p99Ms.toFixed(1)} ms beside ${rate.toFixed(0)} registrations/s`)
    }
    await poterne.stop()
    return [
      {
        row: 'slow-disk',
        what: `embedded, flushes of + 5 ms: p99 of GET me while ${CLIENTS} clients register`,
        rival: 'idle',
        ours: `${round(median(busy))} ms`,
        theirs: `${round(median(idle))} ms`,
        ratio: null,
        goal: `≤ ${LIMIT_MS} ms`,
        met: median(busy) <= LIMIT_MS,
      },
    ]
  },
}
