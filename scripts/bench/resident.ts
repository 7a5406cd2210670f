/** The resident memory of a process, in MB of 10^6 bytes. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Bench, Poterne } from './bench.ts'
import { difference, type Line, median } from './compare.ts'

function read(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6
}

/** Starts poterne for each turn, and compares the most that it has while the work is done with what it had before. */
export async function watchMemory<T>(bench: Bench, work: (poterne: Poterne) => Promise<T>) {
  const turns: { result: T; idleMb: number; peakMb: number }[] = []
  while (turns.length < (bench.quick ? 1 : 3)) {
    const poterne = await bench.startPoterne({ accounts: 1000 })
    await Bun.sleep(1000)
    const idleMb = read(poterne.pid, 'VmRSS')
    // The system notes the most from here on: proc(5).
    writeFileSync(`/proc/${poterne.pid}/clear_refs`, '5')
    const result = await work(poterne)
    const peakMb = read(poterne.pid, 'VmHWM')
    bench.progress(`  ${idleMb.toFixed(0)} MB idle, at most ${peakMb.toFixed(0)} MB`)
    turns.push({ result, idleMb, peakMb })
    await poterne.end()
  }
  const line = (what: string, limit: number): Line =>
    difference({
      ...{ what, rival: 'idle', unit: 'MB', limit },
      ours: median(turns.map(({ peakMb }) => peakMb)),
      theirs: median(turns.map(({ idleMb }) => idleMb)),
      note: (more) => `${more} (resident set, its highest moment)`,
    })
  return { results: turns.map(({ result }) => result), line }
}
