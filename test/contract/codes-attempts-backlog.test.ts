/** The time in which an attempt is taken back, however many others its day has. It is measured, so it runs alone. */
import { expect, test } from 'bun:test'
import type { AttemptKey } from '../../src/domain/messages/codes/attempt-store.ts'
import { measured } from '../helpers/timing.ts'
import { forEachBackend, type OpenBackend } from './backends.ts'

const morning = new Date('2026-07-01T00:00:00.000Z')
const dayOn = (days: number) => new Date(morning.getTime() + days * 86_400_000)
const bounds = { perDay: 20, inARow: 100 }

const newKey = (): AttemptKey => ({
  subject: crypto.randomUUID(),
  budget: 'confirmation',
  group: 'stranger',
  factor: 'confirmation',
})

const suite = (backend: () => OpenBackend) => {
  const attempts = () => backend().attempts!

  test('taking an attempt back takes as long as before, however many others were counted today', async () => {
    /** The shortest of several, by plans that were made while the tables were small. */
    async function releaseMs(): Promise<number> {
      let shortest = Number.POSITIVE_INFINITY
      for (let i = 0; i < 60; i++) {
        const keys = [newKey(), newKey()]
        await attempts().reserve(keys, bounds, morning)
        const startedAt = performance.now()
        await attempts().release(keys, true, morning)
        shortest = Math.min(shortest, performance.now() - startedAt)
      }
      return shortest
    }
    await attempts().sweep(dayOn(1000), 10_000)
    const before = await releaseMs()
    for (let i = 0; i < 8; i++) {
      const others = Array.from({ length: 1000 }, newKey)
      await attempts().reserve(others, bounds, morning)
      await attempts().release(others, i % 2 === 0, morning)
    }
    const ratio = await measured(
      async () => (await releaseMs()) / before,
      (value) => value < 8,
    )
    // Reading all 8,000 would take more than ten times as long.
    expect(ratio).toBeLessThan(8)
    await attempts().sweep(dayOn(1000), 100_000)
  })
}

forEachBackend('the counting of wrong codes', suite, ['PostgreSQL', 'embedded PostgreSQL'])
