/** The resident memory of a process, in MB of 10^6 bytes. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Line, round } from './row.ts'

export interface ResidentMemory {
  idleMb: number
  /** The most since this was made. */
  peakMb(): number
}

/** Reads what it has now, and has the system note the most from here on: proc(5), clear_refs. */
export function watchMemory(pid: number): ResidentMemory {
  const idleMb = read(pid, 'VmRSS')
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  return { idleMb, peakMb: () => read(pid, 'VmHWM') }
}

function read(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024) / 1e6
}

/** `limitMb`: what it may grow by while logins storm in. */
export function memoryLine(
  row: string,
  what: string,
  { idleMb, peakMb, limitMb }: { idleMb: number; peakMb: number; limitMb: number },
): Line {
  return {
    row,
    what,
    rival: 'idle',
    ours: `${round(peakMb)} MB`,
    theirs: `${round(idleMb)} MB`,
    ratio: null,
    goal: `≤ + ${limitMb} MB`,
    met: peakMb - idleMb <= limitMb,
    notes: [`+ ${round(peakMb - idleMb)} MB (resident set, its highest moment)`],
  }
}
