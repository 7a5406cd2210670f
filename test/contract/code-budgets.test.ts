/** The promise of CodeBudgetStore, on the two backends that are PostgreSQL. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { BudgetKey } from '../../src/domain/codes/store.ts'
import { countRows, forEachBackend, type OpenBackend } from './backends.ts'

setDefaultTimeout(20_000)

const morning = new Date('2026-07-01T00:00:00.000Z')
const midnightNext = new Date('2026-07-02T00:00:00.000Z')
const justBefore = new Date(midnightNext.getTime() - 1)
const newKey = (): BudgetKey => ({ subject: crypto.randomUUID(), purpose: 'confirmation' })

const budgetsOf = ({ budgets, database }: OpenBackend) => ({ budgets: budgets!, database: database! })

const suite = (backend: () => OpenBackend) => {
  test('20 tries a day are granted, the next is not', async () => {
    const { budgets } = budgetsOf(backend())
    const key = newKey()
    for (let i = 0; i < 20; i++) expect(await budgets.reserve(key, 20, morning)).toBe(true)
    expect(await budgets.reserve(key, 20, morning)).toBe(false)
    expect(await budgets.reserve(key, 20, justBefore)).toBe(false)
    expect(await budgets.reserve(key, 20, midnightNext)).toBe(true)
  })

  test('subjects and purposes have budgets of their own', async () => {
    const { budgets } = budgetsOf(backend())
    const key = newKey()
    expect(await budgets.reserve(key, 1, morning)).toBe(true)
    expect(await budgets.reserve(key, 1, morning)).toBe(false)
    expect(await budgets.reserve({ ...key, purpose: 'two_factor' }, 1, morning)).toBe(true)
    expect(await budgets.reserve(newKey(), 1, morning)).toBe(true)
  })

  test('the try of a right code is given back, and never more than was reserved', async () => {
    const { budgets } = budgetsOf(backend())
    const key = newKey()
    await budgets.reserve(key, 1, morning)
    await budgets.release(key, morning)
    await budgets.release(key, morning)
    await budgets.release(newKey(), morning)
    expect(await budgets.reserve(key, 1, morning)).toBe(true)
    expect(await budgets.reserve(key, 1, morning)).toBe(false)
  })

  test('a budget of nothing grants nothing', async () => {
    const { budgets } = budgetsOf(backend())
    expect(await budgets.reserve(newKey(), 0, morning)).toBe(false)
  })

  test('of 200 tries at once exactly 20 are granted', async () => {
    const { budgets } = budgetsOf(backend())
    const key = newKey()
    const granted = await Promise.all(Array.from({ length: 200 }, () => budgets.reserve(key, 20, morning)))
    expect(granted.filter(Boolean)).toHaveLength(20)
  })

  test('two subjects are counted in one step, each on its own', async () => {
    const { budgets } = budgetsOf(backend())
    const [a, b] = [newKey(), newKey()]
    await budgets.reserve(a, 2, morning)
    expect(await budgets.reserveTwo([a, b], 2, morning)).toEqual([true, true])
    expect(await budgets.reserveTwo([a, b], 2, morning)).toEqual([false, true])
    expect(await budgets.reserveTwo([b, a], 2, morning)).toEqual([false, false])
    await budgets.releaseTwo([a, b], morning)
    expect(await budgets.reserveTwo([b, a], 2, morning)).toEqual([true, true])
    expect(await budgets.reserveTwo([newKey(), newKey()], 0, morning)).toEqual([false, false])
  })

  test('200 tries on two subjects at once, named in either order, are exact and finish', async () => {
    const { budgets } = budgetsOf(backend())
    const [a, b] = [newKey(), newKey()]
    const granted = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const [first, second] = await budgets.reserveTwo(i % 2 ? [a, b] : [b, a], 20, morning)
        if (i % 4 < 2) await budgets.releaseTwo(i % 2 ? [b, a] : [a, b], morning)
        return first && second
      }),
    )
    expect(granted.filter(Boolean).length).toBeGreaterThanOrEqual(20)
  })

  test('budgets older than yesterday are swept, a few at a time, and only these', async () => {
    const { budgets, database } = budgetsOf(backend())
    const dayAfter = new Date(midnightNext.getTime() + 86_400_000)
    await budgets.sweep(new Date(dayAfter.getTime() + 86_400_000), 1000)
    for (let i = 0; i < 3; i++) await budgets.reserve(newKey(), 20, morning)
    await budgets.reserve(newKey(), 20, midnightNext)
    expect(await budgets.sweep(midnightNext, 10)).toBe(0)
    expect([await budgets.sweep(dayAfter, 2), await budgets.sweep(dayAfter, 2)]).toEqual([2, 1])
    expect(await countRows(database, 'code_budgets')).toBe(1)
  })
}

forEachBackend('the budget of wrong codes', suite, ['PostgreSQL', 'embedded PostgreSQL'])
