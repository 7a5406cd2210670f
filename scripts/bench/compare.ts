/** Rounds by turns (A B A B …): whatever else runs on the machine meets both sides. And the lines of the table. */
import type { Bench } from './bench.ts'

export interface Line {
  /** The thing that is measured, and what it is compared with. */
  what: string
  rival: string
  /** The value with its unit. */
  ours: string
  theirs: string
  /** It is that of the rounds; null for a line that compares no rounds. */
  ratio: { minimum: number; median: number; maximum: number } | null
  goal: string
  /** It is null if the value is reported without a goal. */
  met: boolean | null
  trips?: string
  notes?: string[]
}

interface Comparison extends Pick<Line, 'what' | 'rival' | 'trips'> {
  ours: () => Promise<number>
  theirs: () => Promise<number>
  /** The goal of the median ratio; without one the line is reported. */
  atLeast?: number
  atMost?: number
  rounds?: number
  unit?: string
}

/** Measures both sides by turns. The result is the median of the ratios, ours divided by theirs. */
export async function compare(bench: Pick<Bench, 'rounds' | 'progress'>, sides: Comparison): Promise<Line> {
  const { what, rival, atLeast, atMost, rounds = bench.rounds, unit = '/s', trips } = sides
  const [ours, theirs, ratios]: number[][] = [[], [], []]
  for (let turn = 0; turn < rounds; turn++) {
    const [a, b] = [await sides.ours(), await sides.theirs()]
    ours!.push(a)
    theirs!.push(b)
    ratios!.push(a / b)
    bench.progress(`  ${what}: ${round(a)} ${unit}, ${rival}: ${round(b)} ${unit}; ${(a / b).toFixed(3)}`)
  }
  const middle = median(ratios!)
  const goals = [atLeast && `≥ ${atLeast} ×`, atMost && `≤ ${atMost} ×`].filter(Boolean)
  return {
    ...{ what, rival },
    ours: `${round(median(ours!))} ${unit}`,
    theirs: `${round(median(theirs!))} ${unit}`,
    ratio: { minimum: Math.min(...ratios!), median: middle, maximum: Math.max(...ratios!) },
    goal: goals.join('') || 'reported',
    met:
      goals.length === 0 ? null : middle >= (atLeast ?? 0) && middle <= (atMost ?? Number.POSITIVE_INFINITY),
    ...(trips !== undefined && { trips }),
  }
}

interface Difference extends Pick<Line, 'what' | 'rival'> {
  ours: number
  theirs: number
  unit: string
  /** By so much ours may be more. */
  limit: number
  more?: number
  note?: (more: string) => string
}

export function difference(of: Difference): Line {
  const { what, rival, ours, theirs, unit, limit, more = ours - theirs, note = String } = of
  return {
    ...{ what, rival },
    ours: `${round(ours)} ${unit}`,
    theirs: `${round(theirs)} ${unit}`,
    ratio: null,
    goal: `≤ + ${limit} ${unit}`,
    met: more <= limit,
    notes: [note(`+ ${round(more)} ${unit}`)],
  }
}

/** How often a second so many loops do the work, each one call after the other. The beginning is not counted. */
export async function ratePerSecond(
  loops: number,
  seconds: number,
  work: (loop: number) => Promise<unknown>,
) {
  const endMs = performance.now() + seconds * 1000
  const beginMs = performance.now() + Math.min(1000, seconds * 200)
  let done = 0
  const loop = async (_: unknown, number: number) => {
    while (performance.now() < endMs) {
      await work(number)
      const nowMs = performance.now()
      if (nowMs >= beginMs && nowMs < endMs) done++
    }
  }
  await Promise.all(Array.from({ length: loops }, loop))
  return (done * 1000) / (endMs - beginMs)
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Three figures that count. */
export function round(number: number): string {
  if (number === 0 || !Number.isFinite(number)) return String(number)
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(number))))
  return number.toFixed(Math.min(digits, 3))
}
