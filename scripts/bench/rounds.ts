/** Interleaved rounds A B A B …: what changes on the machine meanwhile meets both sides; a ratio for each round. */

export interface Series {
  ours: number[]
  theirs: number[]
  /** Ours divided by theirs, for each round. */
  ratios: number[]
}

export interface RoundOptions {
  rounds: number
  ours: () => Promise<number>
  theirs: () => Promise<number>
  onRound: (ours: number, theirs: number) => void
}

export async function runRounds({ rounds, ours, theirs, onRound }: RoundOptions): Promise<Series> {
  const series: Series = { ours: [], theirs: [], ratios: [] }
  for (let round = 0; round < rounds; round++) {
    const [a, b] = [await ours(), await theirs()]
    series.ours.push(a)
    series.theirs.push(b)
    series.ratios.push(a / b)
    onRound(a, b)
  }
  return series
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
