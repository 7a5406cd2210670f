/** A row of the table: the servers to measure, and the line that comes out. */
import type { Bench } from './bench.ts'
import { median, type Series } from './rounds.ts'

export interface Row {
  /** The name for `--only`. */
  name: string
  measure(bench: Bench): Promise<Line[]>
}

/** One line of the table; several where a row has several rivals. */
export interface Line {
  row: string
  /** The thing that is measured, and what it is compared with. */
  what: string
  rival: string
  /** The value with its unit. */
  ours: string
  theirs: string
  /** It is that of the rounds; a single number has all three alike. */
  ratio: { minimum: number; median: number; maximum: number } | null
  goal: string
  /** The median decides. It is null if the value is reported without a goal. */
  met: boolean | null
  trips?: string
  notes?: string[]
}

/** None of both: the line is reported. */
export interface Goal {
  /** `≥` of a ratio, or `≤` of it. */
  atLeast?: number
  atMost?: number
}

interface CompareOptions {
  row: string
  what: string
  rival: string
  series: Series
  goal: Goal
  unit: string
  trips?: string
  notes?: string[]
}

/** A line whose result is the median of the ratios. */
export function compareLine({ row, what, rival, series, goal, unit, ...rest }: CompareOptions): Line {
  const middle = median(series.ratios)
  const { atLeast, atMost } = goal
  const goals = [
    ...(atLeast === undefined ? [] : [`≥ ${atLeast} ×`]),
    ...(atMost === undefined ? [] : [`≤ ${atMost} ×`]),
  ]
  return {
    row,
    what,
    rival,
    ours: `${round(median(series.ours))} ${unit}`,
    theirs: `${round(median(series.theirs))} ${unit}`,
    ratio: { minimum: Math.min(...series.ratios), median: middle, maximum: Math.max(...series.ratios) },
    goal: goals.join('') || 'reported',
    met:
      goals.length === 0
        ? null
        : (atLeast === undefined || middle >= atLeast) && (atMost === undefined || middle <= atMost),
    ...rest,
  }
}

/** Three figures that count. */
export function round(number: number): string {
  if (number === 0 || !Number.isFinite(number)) return String(number)
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number))))
  return number.toFixed(Math.min(digits, 3))
}
