/** The map of numbers that an import keeps the names of its lines in. */
import { expect, test } from 'bun:test'
import { createNumberMap } from '../../src/platform/number-map.ts'

test('it gives back what was set last for each number, also after it grew, and nothing for another one', () => {
  const [map, plain] = [createNumberMap(), new Map<number, number>()]
  const random = () => Math.floor(Math.random() * 2 ** 53) + 1
  let key = random()
  for (let at = 0; at < 20_000; at++) {
    if (at % 4 > 0) key = random()
    const value = at % 2 === 0 ? at : ~at
    map.set(key, value)
    plain.set(key, value)
  }
  expect([...plain].filter(([key, value]) => map.get(key) !== value)).toEqual([])
  expect(map.get(2 ** 53)).toBeUndefined()
  expect(
    Array.from({ length: 1000 }, random).filter((key) => !plain.has(key) && map.get(key) !== undefined),
  ).toEqual([])
})
