/** The promise of LimitStore by examples and races, on every backend; limits-history.test.ts has the properties. */
import { expect, test } from 'bun:test'
import type { Charge, Rule } from '../../src/domain/foundation/limits/store.ts'
import { countRows, forEachBackend } from './backends.ts'
import { raceProcesses } from './racer.ts'

const start = new Date('2026-07-01T12:00:00.000Z')
const after = (ms: number) => new Date(start.getTime() + ms)
const minute = 60_000
const hour = 60 * minute
const newKey = () => `test:${crypto.randomUUID()}`

const bucket: Rule = { kind: 'bucket', burst: 3, intervalMs: minute }
const window: Rule = { kind: 'window', count: 6, windowMs: hour }
const failures: Rule = {
  kind: 'failures',
  count: 10,
  windowMs: 15 * minute,
  refusalMs: minute,
  maximumMs: hour,
}

forEachBackend('limits', (backend, name) => {
  const takeAt = (charges: Charge[]) => (ms: number) => backend().limits.charge(charges, after(ms))
  const oneCounter = (rule: Rule) => takeAt([{ key: newKey(), rule }])

  test('no charges are admitted', async () => {
    expect(await backend().limits.charge([], start)).toBe(0)
  })

  test('a bucket gives its burst at once, then one an interval', async () => {
    const take = oneCounter(bucket)
    expect([await take(0), await take(0), await take(0), await take(0)]).toEqual([0, 0, 0, minute])
    expect([await take(minute - 1), await take(minute), await take(minute)]).toEqual([1, 0, minute])
  })

  test('a bucket fills up again while nobody takes', async () => {
    const take = oneCounter(bucket)
    for (let i = 0; i < 3; i++) await take(0)
    const later = 10 * hour
    expect([await take(later), await take(later), await take(later)]).toEqual([0, 0, 0])
    expect(await take(later)).toBe(minute)
  })

  test('a window begins with the first it counts, admits its count, and begins anew once it is over', async () => {
    const take = oneCounter(window)
    for (let i = 0; i < 6; i++) expect(await take(i * 1000)).toBe(0)
    expect(await take(6000)).toBe(hour - 6000)
    expect(await take(hour - 1)).toBe(1)
    for (let i = 0; i < 6; i++) expect(await take(hour + i)).toBe(0)
    expect(await take(hour + 6)).toBe(hour - 6)
  })

  test('a window says how many it has counted, and none once it is over', async () => {
    const { limits } = backend()
    const key = newKey()
    expect(await limits.countOf(key, start)).toBe(0)
    for (let i = 0; i < 7; i++) await limits.charge([{ key, rule: window }], start)
    expect(await limits.countOf(key, start)).toBe(6)
    expect(await limits.countOf(key, after(hour - 1))).toBe(6)
    expect(await limits.countOf(key, after(hour))).toBe(0)
  })

  test('of several counters the one that refuses is named, and none once they admit again', async () => {
    const { limits } = backend()
    const rules: Rule[] = [bucket, window, failures]
    for (const [tight, rule] of rules.entries()) {
      const charges = rules.map((each, i) => ({
        key: newKey(),
        rule: i === tight ? rule : each.kind === 'bucket' ? { ...each, burst: 50 } : { ...each, count: 50 },
      }))
      expect(await limits.findRefusing(charges, start)).toBeNull()
      let waitMs = 0
      while (waitMs === 0) waitMs = await limits.charge(charges, start)
      expect(await limits.findRefusing(charges, start)).toBe(charges[tight]!)
      expect(await limits.findRefusing(charges, after(waitMs - 1))).toBe(charges[tight]!)
      expect(await limits.findRefusing(charges, after(waitMs))).toBeNull()
    }
    const nothing: Charge = { key: newKey(), rule: { ...window, count: 0 } }
    expect(await limits.findRefusing([nothing], start)).toBe(nothing)
  })

  test('an admitted charge foresees what the next returns, also by other rules and at another time', async () => {
    const { limits } = backend()
    for (const rule of [bucket, window, failures]) {
      const charges: Charge[] = [{ key: newKey(), rule }]
      let foreseen = 0
      for (let now = 0; now < 20_000; now += 1000) {
        const { waitMs, nextMs } = await limits.chargeAndForesee(charges, after(now))
        expect(waitMs).toBe(foreseen)
        if (waitMs > 0) break
        foreseen = nextMs(charges, after(now + 1000))
      }
      expect(foreseen).toBeGreaterThan(0)
    }
    const key = newKey()
    const { nextMs } = await limits.chargeAndForesee([{ key, rule: window }], start)
    const counting = (count: number) => ({ key, rule: { ...window, count } })
    expect(nextMs([counting(1), counting(2)], after(minute))).toBe(hour - minute)
    expect([nextMs([counting(2)], start), nextMs([], start)]).toEqual([0, 0])
    expect(nextMs([{ key: newKey(), rule: { ...window, count: 0 } }], start)).toBe(hour)
  })

  test('of 32 charges at once, which count on two counters, each foresees by its own count and those before', async () => {
    const { limits } = backend()
    const one = { key: newKey(), rule: { ...bucket, burst: 32 } }
    const two = { key: newKey(), rule: { ...window, count: 33 } }
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => limits.chargeAndForesee([one, two], start)),
    )
    const foreseen = answers.map(({ nextMs }) =>
      [one, { ...two, rule: { ...two.rule, count: 20 } }].map((charge) => nextMs([charge], start)),
    )
    expect(foreseen.filter(([ofOne]) => ofOne === minute)).toHaveLength(1)
    expect(foreseen.filter(([, ofTwo]) => ofTwo === hour)).toHaveLength(13)
  })

  test('a window of nothing admits nothing', async () => {
    const take = oneCounter({ ...window, count: 0 })
    expect([await take(0), await take(hour)]).toEqual([hour, hour])
  })

  test('a counter is as small after a thousand as after one', async () => {
    const { limits, sizeOf } = backend()
    const key = newKey()
    const charge = () => limits.charge([{ key, rule: { ...window, count: 100_000 } }], start)
    await charge()
    const sizeAtFirst = await sizeOf(key)
    for (let i = 0; i < 50; i++) await Promise.all(Array.from({ length: 20 }, charge))
    expect(await sizeOf(key)).toBeLessThanOrEqual(sizeAtFirst + 8)
  })

  test('ten failures are admitted, then refusals double from a minute to an hour, one try between', async () => {
    const take = oneCounter(failures)
    let now = 0
    for (let i = 0; i < 10; i++) {
      now += 1000
      expect(await take(now)).toBe(0)
    }
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60, 60]) {
      expect(await take(now + 500)).toBe(minutes * minute - 500)
      now += minutes * minute
      expect(await take(now - 1)).toBe(1)
      expect(await take(now)).toBe(0)
    }
  })

  test('failures fewer than the count in each window never refuse', async () => {
    const take = oneCounter(failures)
    for (let i = 0; i < 30; i++) expect(await take(i * 2 * minute)).toBe(0)
  })

  test('a window of quiet after a refusal starts afresh', async () => {
    const take = oneCounter(failures)
    for (let i = 0; i < 10; i++) await take(0)
    await take(minute)
    const quiet = 3 * minute + 15 * minute
    for (let i = 0; i < 10; i++) expect(await take(quiet)).toBe(0)
    expect(await take(quiet)).toBe(minute)
  })

  test('a success forgets the failures, and what was refused', async () => {
    const { limits } = backend()
    const [key, other] = [newKey(), newKey()]
    const charges = [
      { key, rule: failures },
      { key: other, rule: bucket },
    ]
    for (let i = 0; i < 3; i++) await limits.charge(charges, start)
    await limits.clear([key])
    expect(await limits.charge([{ key: other, rule: bucket }], start)).toBe(minute)
    for (let i = 0; i < 10; i++) expect(await limits.charge([{ key, rule: failures }], start)).toBe(0)
    expect(await limits.charge([{ key, rule: failures }], start)).toBe(minute)
    await limits.clear([key, other, newKey()])
    expect(await limits.charge(charges, start)).toBe(0)
    await limits.clear([])
  })

  test('a charge on several counters tells the longest wait, and refused it counts in none', async () => {
    const { limits } = backend()
    const [wide, narrow] = [newKey(), newKey()]
    const both = [
      { key: wide, rule: { kind: 'bucket', burst: 5, intervalMs: minute } as const },
      { key: narrow, rule: { kind: 'window', count: 2, windowMs: hour } as const },
    ]
    expect([await limits.charge(both, start), await limits.charge(both, start)]).toEqual([0, 0])
    for (let i = 0; i < 10; i++) expect(await limits.charge(both, start)).toBe(hour)
    const alone = both.slice(0, 1)
    for (let i = 0; i < 3; i++) expect(await limits.charge(alone, start)).toBe(0)
    expect(await limits.charge(alone, start)).toBe(minute)
    expect(await limits.charge(both, after(1))).toBe(hour - 1)
  })

  test('a key named twice, and a rule without a number, are refused as mistakes', async () => {
    const { limits } = backend()
    const key = newKey()
    const twice = [
      { key, rule: bucket },
      { key, rule: bucket },
    ]
    await expect(limits.charge(twice, start)).rejects.toThrow(RangeError)
    const nothing = { kind: 'bucket', burst: 0, intervalMs: minute } as const
    await expect(limits.charge([{ key, rule: nothing }], start)).rejects.toThrow(RangeError)
  })

  test('a smaller number in the configuration holds at once, a larger one too', async () => {
    const { limits } = backend()
    const key = newKey()
    const take = (rule: Rule, ms: number) => limits.charge([{ key, rule }], after(ms))
    for (let i = 0; i < 6; i++) await take(window, i * 1000)
    expect(await take({ ...window, count: 3 }, 6000)).toBe(hour - 6000)
    expect(await take({ ...window, count: 7 }, 6000)).toBe(0)
    const drained = newKey()
    const drain = (rule: Rule) => limits.charge([{ key: drained, rule }], start)
    for (let i = 0; i < 3; i++) await drain(bucket)
    expect(await drain({ ...bucket, burst: 2, intervalMs: 1000 })).toBe(1000)
  })

  for (const back of [1000, hour])
    test(`a clock set back by ${back / 1000} s neither refills a counter nor locks it for longer`, async () => {
      const emptied = async (rule: Rule, takes: number) => {
        const take = oneCounter(rule)
        for (let i = 0; i < takes; i++) expect(await take(0)).toBe(0)
        const waitMs = await take(-back)
        expect(await take(-back + waitMs - 1)).toBe(1)
        expect(await take(-back + waitMs)).toBe(0)
        return waitMs
      }
      expect(await emptied(bucket, 3)).toBe(minute)
      expect(await emptied(window, 6)).toBe(hour)
      expect(await emptied(failures, 10)).toBe(minute)
    })

  test('failures noted before the clock was set back still count', async () => {
    const take = oneCounter(failures)
    for (let i = 0; i < 9; i++) await take(0)
    expect(await take(-hour)).toBe(0)
    expect(await take(-hour)).toBe(minute)
  })

  test('a clock set forward frees, and set back again holds', async () => {
    const take = oneCounter(window)
    for (let i = 0; i < 6; i++) await take(0)
    for (let i = 0; i < 6; i++) expect(await take(hour)).toBe(0)
    expect(await take(1)).toBe(hour)
    expect(await take(hour + 1)).toBe(0)
  })

  for (const callers of [32, 200])
    test(`of ${callers} takes at once exactly the burst is admitted`, async () => {
      const take = oneCounter({ kind: 'bucket', burst: 20, intervalMs: minute })
      const waits = await Promise.all(Array.from({ length: callers }, () => take(0)))
      expect(waits.filter((wait) => wait === 0)).toHaveLength(20)
      expect(new Set(waits)).toEqual(new Set([0, minute]))
    })

  test('200 charges at once on overlapping counters, named in any order, are exact and finish', async () => {
    const { limits } = backend()
    const keys = [newKey(), newKey(), newKey()]
    const rule = { kind: 'window', count: 50, windowMs: hour } as const
    const pairs = [
      [0, 1],
      [1, 0],
      [1, 2],
      [2, 1],
      [0, 2],
      [2, 0],
    ]
    const calls = Array.from({ length: 200 }, (_, i) => pairs[i % 6]!.map((n) => keys[n]!))
    const waits = await Promise.all(
      calls.map((pair) =>
        limits.charge(
          pair.map((key) => ({ key, rule })),
          start,
        ),
      ),
    )
    const admitted = calls.filter((_, i) => waits[i] === 0)
    const takenOf = (key: string) => admitted.filter((pair) => pair.includes(key)).length
    for (const key of keys) expect(takenOf(key)).toBeLessThanOrEqual(50)
    expect(keys.filter((key) => takenOf(key) === 50).length).toBeGreaterThanOrEqual(2)
    for (const key of keys) {
      const left = 50 - takenOf(key)
      for (let i = 0; i < left; i++) expect(await limits.charge([{ key, rule }], start)).toBe(0)
      expect(await limits.charge([{ key, rule }], start)).toBe(hour)
    }
  })

  test('takes, clears and sweeps of the same counters at once all finish', async () => {
    const { limits } = backend()
    const keys = Array.from({ length: 6 }, newKey)
    const rule = { kind: 'window', count: 3, windowMs: 10 } as const
    const all = (order: string[]) => order.map((key) => ({ key, rule }))
    const calls = Array.from({ length: 150 }, async (_, i) => {
      const order = i % 2 ? keys : keys.toReversed()
      if (i % 3 === 0) return limits.clear(order)
      if (i % 3 === 1) return limits.sweep(after(i * 5), 10)
      return limits.charge(all(order), after(i * 5))
    })
    const outcomes = await Promise.allSettled(calls)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([])
  })

  if (name !== 'embedded PostgreSQL')
    test('two processes: together they are admitted exactly the burst', async () => {
      const race = { what: 'limit', key: newKey(), burst: 20, nowMs: start.getTime() } as const
      expect(await raceProcesses(backend().place, race)).toBe(20)
    })

  if (name.startsWith('Redis'))
    test('a counter lives as long as it matters', async () => {
      const lifetimeOf = async (rule: Rule, takes: number) => {
        const key = newKey()
        for (let i = 0; i < takes; i++) await backend().limits.charge([{ key, rule }], start)
        const found = (await backend().lifetimes()).find((entry) => entry.key.endsWith(key))
        return Math.round((found?.lifetimeMs ?? 0) / minute)
      }
      expect(await lifetimeOf(bucket, 2)).toBe(2)
      expect(await lifetimeOf(window, 2)).toBe(60)
      expect(await lifetimeOf(failures, 2)).toBe(15)
      expect(await lifetimeOf(failures, 10)).toBe(1 + 15)
    })
  else
    test('counters that no longer matter are swept, a few at a time, and only these', async () => {
      const { limits, database } = backend()
      const [old, older, kept] = [newKey(), newKey(), newKey()]
      const rule = { kind: 'window', count: 1, windowMs: 1000 * hour } as const
      await limits.sweep(after(100 * hour), 1000)
      await limits.charge([{ key: old, rule: bucket }], start)
      await limits.charge([{ key: older, rule: bucket }], start)
      await limits.charge([{ key: kept, rule }], start)
      expect(await limits.sweep(after(minute - 1), 10)).toBe(0)
      expect(await limits.sweep(after(minute), 1)).toBe(1)
      expect(await limits.sweep(after(minute), 10)).toBe(1)
      expect(await countRows(database!, 'limits')).toBe(1)
      expect(await limits.charge([{ key: kept, rule }], after(minute))).toBeGreaterThan(0)
    })
})
