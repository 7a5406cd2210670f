/** Measures times on a machine that has other work to do: each is measured again before it may fail. */
import { expect } from 'bun:test'

/** The processor time of this process since `before`, in milliseconds: other work of the machine is no part of it. */
function spentMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** The processor time of the cheapest of three runs, or of the first one within `limitMs`, in milliseconds. */
export function cheapest(work: () => unknown, limitMs: number): number {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < 3 && best > limitMs; run++) {
    const before = process.cpuUsage()
    work()
    best = Math.min(best, spentMs(before))
  }
  return best
}

/** The processor time of one of `times` runs in a row, in milliseconds. */
export async function workMs(work: () => Promise<unknown>, times: number): Promise<number> {
  const before = process.cpuUsage()
  for (let run = 0; run < times; run++) await work()
  return spentMs(before) / times
}

/** The median of some runs, in milliseconds. */
export async function medianMs(work: () => Promise<unknown>, runs = 9): Promise<number> {
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const startedAt = performance.now()
    await work()
    times.push(performance.now() - startedAt)
  }
  return times.sort((a, b) => a - b)[runs >> 1] as number
}

/** Returns the ratio of the time of the first one to that of the second one, by the medians of alternating runs. */
export async function medianRatio(one: () => Promise<unknown>, other: () => Promise<unknown>, runs = 9) {
  const times: [number[], number[]] = [[], []]
  for (let run = 0; run < runs; run++) {
    times[0].push(await medianMs(one, 1))
    times[1].push(await medianMs(other, 1))
  }
  const [ofOne, ofOther] = times.map((each) => each.sort((a, b) => a - b)[runs >> 1] as number)
  return (ofOne as number) / (ofOther as number)
}

/** The first of up to five measurements that is fine, or the last. */
export async function measured(measure: () => Promise<number>, isFine: (value: number) => boolean) {
  for (let round = 1; ; round++) {
    const value = await measure()
    if (isFine(value) || round === 5) return value
  }
}

/**
 * Returns the ratio of the work of the dearest of these calls to that of the cheapest one. It compares the median
 * processor times of the whole process, taken by turns. Unlike a time it hardly depends on what else the machine has to
 * do.
 */
export async function workRatio(calls: (() => Promise<unknown>)[], rounds = 9): Promise<number> {
  const spent = calls.map(() => [] as number[])
  for (let round = 0; round < rounds; round++) {
    for (const [index, call] of calls.entries()) {
      spent[index]?.push(await workMs(call, 1))
    }
  }
  const medians = spent.map((each) => each.sort((a, b) => a - b)[rounds >> 1] as number)
  return Math.max(...medians) / Math.min(...medians)
}

/** The times must be alike within a fifth. */
export async function expectSameWork(calls: (() => Promise<unknown>)[]): Promise<void> {
  expect(
    await measured(
      () => workRatio(calls),
      (ratio) => ratio < 1.2,
    ),
  ).toBeLessThan(1.2)
}
