/** Resident memory at 500 parallel logins, against that of the same process before. */
import type { Bench } from '../bench.ts'
import { memoryLine, watchMemory } from '../resident.ts'
import { median } from '../rounds.ts'
import type { Row } from '../row.ts'
import { logins, strangersLogin } from '../traffic.ts'

const PARALLEL = 500
const LIMIT_MB = 60

export const memoryRow: Row = {
  name: 'memory',
  async measure(bench: Bench) {
    const idle: number[] = []
    const peak: number[] = []
    for (let turn = 0; turn < (bench.quick ? 1 : 3); turn++) {
      const poterne = await bench.startPoterne({ accounts: 1000 })
      await Bun.sleep(1000)
      const memory = watchMemory(poterne.pid)
      await bench.load({
        url: poterne.url,
        traffic: logins(1000),
        connections: PARALLEL,
        // Each waits the second that a refusal asks for.
        rate: PARALLEL,
        seconds: bench.quick ? 5 : 15,
        lastly: strangersLogin,
      })
      idle.push(memory.idleMb)
      peak.push(memory.peakMb())
      bench.progress(`  ${idle.at(-1)!.toFixed(0)} MB idle, at most ${peak.at(-1)!.toFixed(0)} MB`)
      await poterne.stop()
    }
    const memory = { idleMb: median(idle), peakMb: median(peak), limitMb: LIMIT_MB }
    return [memoryLine('memory', `memory, ${PARALLEL} parallel logins`, memory)]
  },
}
