/** Resident memory at 500 parallel logins, against that of the same process before. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Bench } from '../bench.ts'
import { median } from '../rounds.ts'
import { type Row, round } from '../row.ts'
import { logins, strangersLogin } from '../traffic.ts'

const PARALLEL = 500
const LIMIT_MIB = 100

export const memoryRow: Row = {
  name: 'memory',
  async measure(bench: Bench) {
    const idle: number[] = []
    const peak: number[] = []
    for (let turn = 0; turn < (bench.quick ? 1 : 3); turn++) {
      const poterne = await bench.startPoterne({ accounts: 1000 })
      await Bun.sleep(1000)
      idle.push(readMib(poterne.pid, 'VmRSS'))
      // The peak of from now on: proc(5), clear_refs.
      writeFileSync(`/proc/${poterne.pid}/clear_refs`, '5')
      const traffic = logins(1000)
      const seconds = bench.quick ? 5 : 15
      await bench.load({
        url: poterne.url,
        traffic,
        connections: PARALLEL,
        // Each waits the second that a refusal asks for.
        rate: PARALLEL,
        seconds,
        lastly: strangersLogin,
      })
      peak.push(readMib(poterne.pid, 'VmHWM'))
      bench.progress(`  ${idle.at(-1)!.toFixed(0)} MiB idle, at most ${peak.at(-1)!.toFixed(0)} MiB`)
      await poterne.stop()
    }
    const growth = median(peak.map((most, turn) => most - idle[turn]!))
    return [
      {
        row: 'memory',
        what: `memory, ${PARALLEL} parallel logins`,
        rival: 'idle',
        ours: `${round(median(peak))} MiB`,
        theirs: `${round(median(idle))} MiB`,
        ratio: null,
        goal: `≤ + ${LIMIT_MIB} MiB`,
        met: growth <= LIMIT_MIB,
        notes: [`+ ${round(growth)} MiB (resident set, its highest moment)`],
      },
    ]
  },
}

function readMib(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
}
