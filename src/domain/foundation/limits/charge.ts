/**
 * Charges in the form in which both stores send them to where they are evaluated: the Lua script of store-redis.ts and
 * the SQL function limits_charge. The state of a counter is the same JSON in both; `ends` is when it no longer matters.
 * A bucket is {full, at, ends}: when it will be full again, as of when. A window is {n, ends}: how many, and until
 * when. Failures are {n, ends} until the first refusal, then {level, until, ends}: how many refusals, the end of the
 * last.
 */
import type { Charge, NextMs, Rule } from './store.ts'

/**
 * Puts the charges in the order of the keys. Throws a RangeError if a key occurs twice, because its two rules would not
 * see each other.
 */
export function normalizeCharges(charges: Charge[]): Charge[] {
  const sorted = charges
    .map(({ key, rule }) => ({ key, rule: wholeNumbers(rule) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  sorted.forEach(({ key }, i) => {
    if (key === sorted[i + 1]?.key) throw new RangeError('a charge names a key twice')
  })
  return sorted
}

/** Rounded up, so that a wait is never too short, and Lua and SQL compute the same. */
function wholeNumbers(rule: Rule): Rule {
  const numbers = Object.entries(rule).filter(([name]) => name !== 'kind')
  const rounded = numbers.map(([name, value]) => {
    const number = Math.ceil(Number(value))
    if (!(number >= (name === 'count' ? 0 : 1) && number <= Number.MAX_SAFE_INTEGER))
      throw new RangeError(`limit rule: ${name}`)
    return [name, number]
  })
  return { ...rule, ...Object.fromEntries(rounded) }
}

/** The state of a counter as both stores keep it, of whichever kind it is. */
export interface CounterState {
  n?: number
  ends?: number
  full?: number
  until?: number
}

export const windowCount = ({ n = 0, ends = 0 }: CounterState, now: Date) => (ends > now.getTime() ? n : 0)

/**
 * Returns the milliseconds until one more would be admitted. Reads what the evaluation wrote: a clock that was set back
 * is not corrected here.
 */
export function waitMsOf(rule: Rule, state: CounterState, now: Date): number {
  const nowMs = now.getTime()
  if (rule.kind === 'window') {
    const count = windowCount(state, now)
    if (count < rule.count) return 0
    return count === 0 ? rule.windowMs : (state.ends ?? 0) - nowMs
  }
  if (rule.kind === 'failures') return Math.max((state.until ?? 0) - nowMs, 0)
  return Math.max((state.full ?? 0) - nowMs - (rule.burst - 1) * rule.intervalMs, 0)
}

/** Foresees by the states that counters had after a charge, by their keys. */
export const foresee =
  (states: Record<string, CounterState>): NextMs =>
  (charges, now) =>
    Math.max(0, ...charges.map(({ key, rule }) => waitMsOf(rule, states[key] ?? {}, now)))
