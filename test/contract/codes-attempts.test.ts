/** The promise of the AttemptStore of codes, on the two backends that are PostgreSQL. */
import { expect, test } from 'bun:test'
import type { AttemptKey } from '../../src/domain/messages/codes/attempt-store.ts'
import { countRows, forEachBackend, type OpenBackend } from './backends.ts'

const DAY_MS = 86_400_000
const morning = new Date('2026-07-01T00:00:00.000Z')
const dayOn = (days: number) => new Date(morning.getTime() + days * DAY_MS)
const justBeforeMidnight = new Date(dayOn(1).getTime() - 1)
const bounds = { perDay: 20, inARow: 100 }

const newKey = (): AttemptKey => ({
  subject: crypto.randomUUID(),
  budget: 'confirmation',
  group: 'stranger',
  factor: 'confirmation',
})

const suite = (backend: () => OpenBackend) => {
  const attempts = () => backend().attempts!
  const isOpen = async (key: AttemptKey, now = morning, within = bounds) =>
    (await attempts().reserve([key], within, now))[0]?.isOpen
  const wrong = async (key: AttemptKey, times: number, now = morning) => {
    for (let i = 0; i < times; i++) expect(await isOpen(key, now)).toBe(true)
  }

  test('20 attempts a day are open, the next is not', async () => {
    const key = newKey()
    await wrong(key, 20)
    expect(await isOpen(key)).toBe(false)
    expect(await isOpen(key, justBeforeMidnight)).toBe(false)
    expect(await isOpen(key, dayOn(1))).toBe(true)
  })

  test('after 100 in a row one a day is open, and what is not open adds nothing', async () => {
    const key = newKey()
    for (let day = 0; day < 5; day++) {
      await wrong(key, 20, dayOn(day))
      for (let i = 0; i < 50; i++) expect(await isOpen(key, dayOn(day))).toBe(false)
    }
    for (let day = 5; day < 8; day++) {
      expect(await isOpen(key, dayOn(day))).toBe(true)
      for (let i = 0; i < 3; i++) expect(await isOpen(key, dayOn(day))).toBe(false)
    }
  })

  test('a right one ends the count in a row of its own group and factor, and gives the day back', async () => {
    const key = newKey()
    const other: AttemptKey = { ...key, budget: 'confirmation/owner', group: 'owner' }
    const few = { perDay: 1000, inARow: 3 }
    for (let i = 0; i < 3; i++) {
      expect(await isOpen(key, morning, few)).toBe(true)
      expect(await isOpen(other, morning, few)).toBe(true)
    }
    expect([await isOpen(key, morning, few), await isOpen(other, morning, few)]).toEqual([false, false])
    await attempts().release([key], true, morning)
    for (let i = 0; i < 3; i++) expect(await isOpen(key, morning, few)).toBe(true)
    expect([await isOpen(key, morning, few), await isOpen(other, morning, few)]).toEqual([false, false])
  })

  test('one that was not compared is taken back, and never more than was reserved', async () => {
    const key = newKey()
    const one = { perDay: 1, inARow: 1 }
    expect(await isOpen(key, morning, one)).toBe(true)
    for (let i = 0; i < 3; i++) await attempts().release([key], false, morning)
    await attempts().release([newKey()], false, morning)
    expect(await isOpen(key, morning, one)).toBe(true)
    expect(await isOpen(key, morning, one)).toBe(false)
  })

  test('subjects, purposes and groups are counted apart', async () => {
    const key = newKey()
    const one = { perDay: 1, inARow: 100 }
    for (const apart of [
      key,
      { ...key, budget: 'two_factor' },
      { ...key, budget: 'confirmation/owner' },
      { ...key, subject: crypto.randomUUID() },
    ]) {
      expect(await isOpen(apart, morning, one)).toBe(true)
      expect(await isOpen(apart, morning, one)).toBe(false)
    }
  })

  test('several keys are counted in one step, each on its own, and answered in their order', async () => {
    const [a, b] = [newKey(), newKey()]
    const two = { perDay: 2, inARow: 100 }
    const both = async (keys: AttemptKey[]) =>
      (await attempts().reserve(keys, two, morning)).map((key) => key.isOpen)
    await attempts().reserve([a], two, morning)
    expect(await both([a, b])).toEqual([true, true])
    expect(await both([a, b])).toEqual([false, true])
    expect(await both([b, a])).toEqual([false, false])
    await attempts().release([a, b], false, morning)
    expect(await both([b, a])).toEqual([true, true])
  })

  test('the one of the day that is given back is open again', async () => {
    const key = newKey()
    const one = { perDay: 20, inARow: 1 }
    expect(await isOpen(key, dayOn(0), one)).toBe(true)
    expect(await isOpen(key, dayOn(1), one)).toBe(true)
    await attempts().release([key], false, dayOn(1))
    expect(await isOpen(key, dayOn(1), one)).toBe(true)
    expect(await isOpen(key, dayOn(1), one)).toBe(false)
  })

  test('one that is given back after its day leaves the next day as it is', async () => {
    const key = newKey()
    const one = { perDay: 20, inARow: 1 }
    for (const days of [0, 1, 2]) expect(await isOpen(key, dayOn(days), one)).toBe(true)
    await attempts().release([key], false, dayOn(1))
    expect(await isOpen(key, dayOn(2), one)).toBe(false)
  })

  test('of 200 attempts at once exactly 20 are open', async () => {
    const key = newKey()
    const answers = await Promise.all(Array.from({ length: 200 }, () => isOpen(key)))
    expect(answers.filter(Boolean)).toHaveLength(20)
  })

  test('200 attempts on two keys at once, named in either order, are exact and finish', async () => {
    const [a, b] = [newKey(), newKey()]
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const keys = i % 2 ? [a, b] : [b, a]
        const counted = await attempts().reserve(keys, bounds, morning)
        const open = keys.filter((_, place) => counted[place]?.isOpen)
        await attempts().release(open, i % 3 === 0, morning)
      }),
    )
    await wrong(a, 20)
    expect(await isOpen(a)).toBe(false)
  })

  test('a reset forgets the day of the purposes it names, and no count in a row', async () => {
    const [key, other] = [newKey(), newKey()]
    const few = { perDay: 3, inARow: 5 }
    for (const one of [key, { ...key, budget: 'two_factor' }, other])
      for (let i = 0; i < 3; i++) await isOpen(one, morning, few)
    await attempts().clearDay(key.subject, ['confirmation'], morning)
    expect(await isOpen({ ...key, budget: 'two_factor' }, morning, few)).toBe(false)
    expect(await isOpen(other, morning, few)).toBe(false)
    expect(await isOpen(key, dayOn(0), few)).toBe(false)
  })

  test('what no day bounds is counted in a row until the right one', async () => {
    const key = { subject: crypto.randomUUID(), group: 'owner', factor: 'password' } as const
    const counts = await Promise.all(Array.from({ length: 20 }, () => attempts().addInARow(key, morning)))
    expect(counts.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    await attempts().clearInARow(key)
    expect(await attempts().addInARow(key, morning)).toBe(1)
  })

  test('old budgets and old counts in a row are swept, a few at a time, and only these', async () => {
    const { database } = backend()
    await attempts().sweep(dayOn(1000), 100_000)
    for (let i = 0; i < 3; i++) await isOpen(newKey(), morning)
    await isOpen(newKey(), dayOn(1))
    expect(await attempts().sweep(dayOn(1), 10)).toBe(0)
    expect([await attempts().sweep(dayOn(2), 2), await attempts().sweep(dayOn(2), 2)]).toEqual([2, 1])
    expect(await countRows(database!, 'code_budgets')).toBe(1)
    expect(await countRows(database!, 'code_failures')).toBe(4)
    await attempts().sweep(dayOn(91), 10)
    expect(await countRows(database!, 'code_failures')).toBe(1)
  })
}

forEachBackend('the counting of wrong codes', suite, ['PostgreSQL', 'embedded PostgreSQL'])
