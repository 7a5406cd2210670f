/** The length of the tests of faults: reduced, or with POTERNE_SOAK=1 in full. */
export const soaking = process.env.POTERNE_SOAK === '1'

export function reduced<T>(short: T, full: T): T {
  return soaking ? full : short
}

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
