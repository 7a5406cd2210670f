/** Durations in words: pages say by them when one can try again. */
import { expect, test } from 'bun:test'
import { writeDuration } from '../../src/texts/dates.ts'

test.each([
  ['en', 0.2, '1 second'],
  ['en', 45, '45 seconds'],
  ['en', 60, '1 minute'],
  ['en', 61, '2 minutes'],
  ['en', 7201, '2 hours'],
  ['en', 7261, '3 hours'],
  ['fr', 120, '2 minutes'],
  ['es', 60, '1 minuto'],
  ['pt', 10_000, '3 horas'],
  ['ar', 45, '45 ثانية'],
  ['ar', 60, 'دقيقة'],
  ['ar', 120, 'دقيقتان'],
  ['ar', 300, '5 دقائق'],
  ['ar', 660, '11 دقيقة'],
])('in %s %d seconds are %s', (language, seconds, words) => {
  expect(writeDuration(seconds, language).replaceAll('\u00a0', ' ')).toBe(words)
})
