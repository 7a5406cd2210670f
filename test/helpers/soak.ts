import { describe, test } from 'bun:test'

/**
 * The length of the tests: reduced, or with TEST_SOAK=1 in full. scripts/soak.ts finds those that use it. The variables of tests
 * do not begin with POTERNE_: a poterne that a test starts would refuse them as unknown ones.
 */
export const soaking = process.env.TEST_SOAK === '1'

export function reduced<T>(short: T, full: T): T {
  return soaking ? full : short
}

const nothing = Object.assign(() => {}, { each: () => () => {}, concurrent: () => {} })
/** The `test` that is not registered at all, rather than skipped. */
export const notHere = nothing as unknown as typeof test

/** The `test` of a long way to what a shorter test shows as well: for a soak only. */
export const longTest: typeof test = soaking ? test : notHere

/** The same for what has a service or a machine of its own, which then is not started either. */
export const longDescribe: typeof describe = soaking ? describe : (nothing as unknown as typeof describe)

/** The middle one; of an even number the upper of the two. */
export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/**
 * Others may disturb a number on a shared machine. So it is measured again, up to `tries` times, before it counts as
 * missed. The last value, and the first that is below the goal.
 */
export async function measureBelow(goal: number, measure: () => Promise<number>, tries = 4): Promise<number> {
  let value = await measure()
  for (let done = 1; value >= goal && done < tries; done++) value = await measure()
  return value
}
