/**
 * LimitStore against its model over random histories, on every backend. A failure prints fast-check's seed and path;
 * TEST_SEED, or `fc.assert(…, { seed, path })`, replays it.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Charge, LimitStore, Rule } from '../../src/domain/foundation/limits/store.ts'
import { seed } from '../random/seed.ts'
import { forEachBackend } from './backends.ts'
import { createLimitModel } from './limit-model.ts'
import { runsOf } from './runs.ts'

const startMs = Date.parse('2026-07-01T12:00:00.000Z')

/**
 * Few steps long, so that a short history meets every edge; but minutes, since Redis forgets a counter by its own clock
 * however fast the history's goes.
 */
const MINUTE = 60_000
const rules: Rule[] = [
  { kind: 'bucket', burst: 1, intervalMs: 10 * MINUTE },
  { kind: 'bucket', burst: 3, intervalMs: 7 * MINUTE },
  { kind: 'window', count: 1, windowMs: 15 * MINUTE },
  { kind: 'window', count: 4, windowMs: 30 * MINUTE },
  { kind: 'failures', count: 1, windowMs: 20 * MINUTE, refusalMs: 5 * MINUTE, maximumMs: 15 * MINUTE },
  { kind: 'failures', count: 3, windowMs: 40 * MINUTE, refusalMs: 6 * MINUTE, maximumMs: 100 * MINUTE },
]

interface Step {
  /** Negative: the clock is set back. */
  advanceMs: number
  counters: number[]
  clears: boolean
}

const history = (advanceMs: fc.Arbitrary<number>) =>
  fc.array(
    fc.record({
      advanceMs,
      counters: fc.uniqueArray(fc.nat(rules.length - 1), { minLength: 1, maxLength: 3 }),
      clears: fc.integer({ min: 0, max: 12 }).map((die) => die === 0),
    }),
    { minLength: 1, maxLength: 40 },
  )

const edges = [0, 0, 5, 6, 7, 10, 15].map((minutes) => minutes * MINUTE)
const forwards = fc.oneof(fc.constantFrom(...edges), fc.nat(25 * MINUTE))
const bothWays = fc.oneof(
  { weight: 8, arbitrary: forwards },
  { weight: 1, arbitrary: fc.constantFrom(-6000 * MINUTE, -20 * MINUTE, -1, 6000 * MINUTE) },
)

/** Counters of one history, under keys nobody else has. */
function freshCharges(): (counters: number[]) => Charge[] {
  const run = crypto.randomUUID()
  return (counters) => counters.map((i) => ({ key: `history:${run}:${i}`, rule: rules[i]! }))
}

/** Plays a history on the store and on the model; returns where it ended. */
async function play(limits: LimitStore, steps: Step[]) {
  const model = createLimitModel()
  const chargesOf = freshCharges()
  let nowMs = startMs
  for (const { advanceMs, counters, clears } of steps) {
    nowMs += advanceMs
    const charges = chargesOf(counters)
    if (clears) {
      const keys = charges.map(({ key }) => key)
      model.clear(keys)
      await limits.clear(keys)
    } else {
      const { waitMs, nextMs } = await limits.chargeAndForesee(charges, new Date(nowMs))
      expect(waitMs).toBe(model.charge(charges, nowMs))
      if (waitMs > 0) continue
      for (const laterMs of [nowMs, nowMs + 7 * MINUTE])
        expect(nextMs(charges, new Date(laterMs))).toBe(model.nextMs(charges, laterMs))
    }
  }
  return { chargesOf, nowMs }
}

forEachBackend('limits', (backend, name) => {
  const numRuns = runsOf(name === 'embedded PostgreSQL' ? 25 : 60)

  test('after any history the store answers as the model does', async () => {
    const property = fc.asyncProperty(history(forwards), async (steps) => {
      await play(backend().limits, steps)
    })
    await fc.assert(property, { seed, numRuns })
  }, 120_000)

  test('so it does when the clock is set back and forward', async () => {
    const property = fc.asyncProperty(history(bothWays), async (steps) => {
      await play(backend().limits, steps)
    })
    await fc.assert(property, { seed, numRuns })
  }, 120_000)

  test('waiting the told time admits, a millisecond less does not', async () => {
    const property = fc.asyncProperty(history(bothWays), async (steps) => {
      const { limits } = backend()
      const { chargesOf, nowMs } = await play(limits, steps)
      const charges = chargesOf(rules.map((_, i) => i))
      const waitMs = await limits.charge(charges, new Date(nowMs))
      const longest = Math.max(...rules.map(longestWaitMs))
      expect(waitMs).toBeLessThanOrEqual(longest)
      if (waitMs === 0) return
      expect(await limits.charge(charges, new Date(nowMs + waitMs - 1))).toBe(1)
      expect(await limits.charge(charges, new Date(nowMs + waitMs))).toBe(0)
    })
    await fc.assert(property, { seed, numRuns })
  }, 120_000)
})

function longestWaitMs(rule: Rule): number {
  if (rule.kind === 'bucket') return rule.intervalMs
  return rule.kind === 'window' ? rule.windowMs : rule.maximumMs
}
