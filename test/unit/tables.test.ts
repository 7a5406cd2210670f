/** Tables as commands print them, in terminals of any width. */
import { expect, test } from 'bun:test'
import { countOf, formatBytes, layOutTable } from '../../src/operations/commands/print.ts'

const header = ['UUID', 'E-MAIL', 'CREATED']
const uuid = '0f8f1e52-3c7a-4b1d-9a60-5e2f7c8d9b01'
const rows = [
  [uuid, 'somebody-with-a-long-name@mail.example.com', '2026-11-22'],
  ['short', null, '2026-11-23'],
]
const widthOf = (text: string) => Math.max(...text.split('\n').map((line) => Bun.stringWidth(line)))

test('in a pipe nothing is cut off, and columns are in line', () => {
  const lines = layOutTable(header, rows).split('\n')
  expect(lines[1]).toBe(`${uuid}  somebody-with-a-long-name@mail.example.com  2026-11-22`)
  expect(new Set(lines.slice(0, 3).map((line) => line.length - 'CREATED'.length)).size).toBeLessThanOrEqual(2)
  expect(lines[2]).toStartWith('short ')
})

test('a table fits its terminal, and the name of a row stays whole', () => {
  for (const width of [200, 91, 80, 70]) {
    const table = layOutTable(header, rows, { width })
    expect(widthOf(table)).toBeLessThanOrEqual(width)
    expect(table).toContain(uuid)
  }
  expect(layOutTable(header, rows, { width: 80 })).toContain('somebody-with-a-long-name@mai…')
})

test('in a narrow window each row is a block of lines', () => {
  expect(layOutTable(header, rows, { width: 40 })).toBe(
    `UUID     ${uuid}\nE-MAIL   somebody-with-a-long-name@mail.example.com\nCREATED  2026-11-22\n` +
      '\nUUID     short\nE-MAIL   -\nCREATED  2026-11-23\n',
  )
})

test('wide characters count as two, and terminal codes as one that does nothing', () => {
  const table = layOutTable(['NAME', 'TEXT'], [['日本', '\u001b[31mred']])
  expect(table.split('\n')[1]).toBe('日本  ?[31mred')
})

test('numbers end alike', () => {
  expect(
    layOutTable(
      ['gateway', 'sent'],
      [
        ['main', 7],
        ['other', 1234],
      ],
      { numbersFrom: 1 },
    ),
  ).toBe('gateway  sent\nmain        7\nother    1234\n')
})

test('sizes and numbers are said as people say them', () => {
  expect([0, 900, 89_000, 12_582_912, 3_650_722_202].map(formatBytes)).toEqual([
    '0.0 KiB',
    '0.9 KiB',
    '86.9 KiB',
    '12.0 MiB',
    '3.4 GiB',
  ])
  expect([0, 1, 2].map((count) => countOf(count, 'account'))).toEqual([
    '0 accounts',
    '1 account',
    '2 accounts',
  ])
})
