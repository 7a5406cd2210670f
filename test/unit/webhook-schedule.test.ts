/** When a webhook gets again what it did not take. */
import { expect, test } from 'bun:test'
import { delayMs, isGivenUp } from '../../src/operations/webhooks/aside.ts'
import { delayWhileAwayMs } from '../../src/platform/waiting.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

test('the time after each failure grows to a day, and is up to a tenth longer', () => {
  const delays = Array.from({ length: 11 }, (_, index) => delayMs(index + 1, null, 0))
  expect(delays).toEqual([
    ...[
      5000,
      5 * MINUTE_MS,
      30 * MINUTE_MS,
      2 * HOUR_MS,
      5 * HOUR_MS,
      10 * HOUR_MS,
      14 * HOUR_MS,
      20 * HOUR_MS,
    ],
    ...[DAY_MS, DAY_MS, DAY_MS],
  ])
  expect(delayMs(1, null, 1)).toBe(5500)
  for (let count = 0; count < 50; count++) expect(delayMs(2, null)).toBeWithin(300_000, 330_001)
})

test('a receiver may ask for more time, and not for less', () => {
  expect(delayMs(1, 7200, 0)).toBe(2 * HOUR_MS)
  expect(delayMs(4, 10, 0)).toBe(2 * HOUR_MS)
})

test('one that is away is asked after 1, 2, 5, 10 and then every 15 seconds', () => {
  expect([0, 1, 2, 3, 4, 5, 100].map(delayWhileAwayMs)).toEqual([
    1000, 2000, 5000, 10_000, 15_000, 15_000, 15_000,
  ])
})

test('the tenth failure gives an event up, once it is four days old', () => {
  const now = new Date()
  const before = (ms: number) => new Date(now.getTime() - ms)
  expect(isGivenUp(9, before(30 * DAY_MS), now)).toBeFalse()
  expect(isGivenUp(10, before(4 * DAY_MS - 1), now)).toBeFalse()
  expect(isGivenUp(10, before(4 * DAY_MS), now)).toBeTrue()
  expect(isGivenUp(15, before(5 * DAY_MS), now)).toBeTrue()
})
