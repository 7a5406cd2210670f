/**
 * The length of the random tests, and their seed. TEST_SEED replays a run, TEST_SOAK=1 makes it long and
 * different each time, TEST_STEPS sets the number of steps by itself.
 */

import { soaking } from '../helpers/soak.ts'

export { soaking }

/** Of the normal run: what passed once is not refused the next time for a case that nobody had met. */
const USUAL_SEED = 20_260_701

/** Of this run: the one given, in a soak a new one. Said by every failure. */
export const seed = Number(
  process.env.TEST_SEED ?? (soaking ? Math.floor(Math.random() * 2 ** 31) : USUAL_SEED),
)

/** `usual` in the normal run, `long` in a soak, unless TEST_STEPS says otherwise. */
export function stepsOf(usual: number, long: number): number {
  return Number(process.env.TEST_STEPS ?? (soaking ? long : usual))
}

export interface Random {
  /** Returns a number from 0 up to, not including, `limit`. */
  below(limit: number): number
  pick<T>(from: readonly T[]): T
  /** It returns true once in so many, on average. */
  oneIn(many: number): boolean
  digits(count: number): string
}

/** The same numbers for the same seed, on every machine (mulberry32). */
export function createRandom(start: number): Random {
  let state = start | 0
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    pick: (from) => {
      if (from.length === 0) throw new RangeError('nothing to pick from')
      return from[below(from.length)]!
    },
    oneIn: (many) => below(many) === 0,
    digits: (count) => Array.from({ length: count }, () => below(10)).join(''),
  }
}
