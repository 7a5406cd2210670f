/** A row of the table: the servers to measure, and the line that comes out. */
import type { Bench } from './bench.ts'
import { median, type RoundOptions, runRounds } from './rounds.ts'

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

interface Comparison extends Pick<Line, 'row' | 'what' | 'rival' | 'trips' | 'notes'> {
  ours: RoundOptions['ours']
  theirs: RoundOptions['theirs']
  /** Without it as many as the bench has. */
  rounds?: number
  goal?: Goal
  unit?: string
}

/** Measures both sides by turns, and tells of each round. The result of the line is the median of the ratios. */
export async function compareInRounds(
  bench: Pick<Bench, 'rounds' | 'progress'>,
  { row, what, rival, ours, theirs, rounds = bench.rounds, goal = {}, unit = '/s', ...rest }: Comparison,
): Promise<Line> {
  const onRound = (a: number, b: number) =>
    bench.progress(`  ${what}: ${round(a)} ${unit}, ${rival}: ${round(b)} ${unit}; ${(a / b).toFixed(3)}`)
  const series = await runRounds({ rounds, ours, theirs, onRound })
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
