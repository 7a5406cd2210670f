/** Where the lines of pages may break. */
import { expect, test } from 'bun:test'
import { IN_TITLE, lineParts } from '../../src/platform/look/line-breaks.ts'

test.each([
  ['', []],
  ['ada@example.com', ['ada@example.com']],
  ['ada@example.com, grace@example.com and alan@example.com', null],
  [
    'Sent to somebody.with.a.long.name@example.com, not to ada@example.com.',
    [
      'Sent to ',
      ...['somebody', '.with', '.a', '.long', '.name', '@example', '.com,'],
      ' not to ada@example.com.',
    ],
  ],
])('%p breaks before an @ or a dot of a word that is longer than a row of a phone', (text, parts) => {
  expect(lineParts(text)).toEqual(parts ?? [text])
})

test('in a title shorter words break too', () => {
  expect(lineParts('waiting.one@example.com', IN_TITLE)).toEqual(['waiting', '.one', '@example', '.com'])
})
