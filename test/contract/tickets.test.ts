/** The promise of TicketStore, on every backend. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { seed } from '../random/seed.ts'
import { countRows, forEachBackend } from './backends.ts'
import { raceProcesses } from './racer.ts'
import { runsOf } from './runs.ts'

const start = new Date('2026-07-01T12:00:00.000Z')
const after = (ms: number) => new Date(start.getTime() + ms)
const end = after(600_000)
const newKey = () => `ticket:${crypto.randomUUID()}`
const value = { account: 7, state: 'é "quoted" \\ {x} \n', nested: { list: [1, null, true] } }

forEachBackend('tickets', (backend, name) => {
  test('a value is found as it was put, as often as asked', async () => {
    const { tickets } = backend()
    const key = newKey()
    expect(await tickets.find(key, start)).toBeNull()
    await tickets.put(key, value, end, start)
    expect(await tickets.find(key, start)).toEqual(value)
    expect(await tickets.find(key, start)).toEqual(value)
    expect(await tickets.find(newKey(), start)).toBeNull()
  })

  test('a value is taken once, and then gone', async () => {
    const { tickets } = backend()
    const key = newKey()
    await tickets.put(key, value, end, start)
    expect(await tickets.take(key, start)).toEqual(value)
    expect(await tickets.take(key, start)).toBeNull()
    expect(await tickets.find(key, start)).toBeNull()
  })

  test('putting again replaces value and expiry', async () => {
    const { tickets } = backend()
    const key = newKey()
    await tickets.put(key, value, end, start)
    await tickets.put(key, { other: 1 }, after(700_000), start)
    expect(await tickets.find(key, after(600_001))).toEqual({ other: 1 })
  })

  test('an expired value is absent, to the millisecond', async () => {
    const { tickets } = backend()
    const [found, taken] = [newKey(), newKey()]
    await tickets.put(found, value, end, start)
    await tickets.put(taken, value, end, start)
    expect(await tickets.find(found, after(599_999))).toEqual(value)
    expect(await tickets.find(found, end)).toBeNull()
    expect(await tickets.take(taken, end)).toBeNull()
    await tickets.put(found, value, start, after(1))
    expect(await tickets.find(found, after(1))).toBeNull()
  })

  for (const callers of [32, 200])
    test(`of ${callers} callers one takes the value`, async () => {
      const { tickets } = backend()
      const key = newKey()
      await tickets.put(key, value, end, start)
      const taken = await Promise.all(Array.from({ length: callers }, () => tickets.take(key, start)))
      expect(taken.filter((one) => one !== null)).toEqual([value])
    })

  if (name !== 'embedded PostgreSQL')
    test('two processes: one call takes the value', async () => {
      const { tickets, place } = backend()
      const key = newKey()
      await tickets.put(key, value, end, start)
      expect(await raceProcesses(place, { what: 'ticket', key, nowMs: start.getTime() })).toBe(1)
    })

  test('any JSON object comes back as it went in', async () => {
    const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false })
    const property = fc.asyncProperty(fc.dictionary(fc.string({ minLength: 1 }), json), async (object) => {
      const plain = JSON.parse(JSON.stringify(object)) as Record<string, unknown>
      fc.pre(!/\\u(0000|d[89a-f])/i.test(JSON.stringify(plain)))
      const { tickets } = backend()
      const key = newKey()
      await tickets.put(key, plain, end, start)
      expect(await tickets.take(key, start)).toEqual(plain)
    })
    await fc.assert(property, { seed, numRuns: runsOf(40) })
  }, 60_000)

  if (name.startsWith('Redis'))
    test('a key lives as long as its value', async () => {
      const { tickets, lifetimes } = backend()
      const key = newKey()
      await tickets.put(key, value, end, start)
      const found = (await lifetimes()).find((entry) => entry.key.endsWith(key))
      expect(found?.lifetimeMs).toBeGreaterThan(590_000)
      expect(found?.lifetimeMs).toBeLessThanOrEqual(600_000)
    })
  else
    test('expired values are swept, a few at a time, and only these', async () => {
      const { tickets, database } = backend()
      await tickets.sweep(after(10_000_000), 1000)
      for (let i = 0; i < 3; i++) await tickets.put(newKey(), value, end, start)
      await tickets.put(newKey(), value, after(600_001), start)
      expect(await tickets.sweep(after(599_999), 10)).toBe(0)
      expect([await tickets.sweep(end, 2), await tickets.sweep(end, 2)]).toEqual([2, 1])
      expect(await countRows(database!, 'tickets')).toBe(1)
    })
})
