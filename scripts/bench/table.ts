/** A result of the bench: its table for the terminal, and the same as Markdown for the documents. */
import { type Line, round } from './compare.ts'
import type { Machine } from './machine.ts'

export interface Result {
  date: string
  quick: boolean
  seconds: number
  machine: Machine
  lines: (Line & { row: string })[]
}

const heads = ['row', 'poterne', 'limit or rival', 'ratio (min … max)', 'goal', 'met', 'round trips']

export function printTable(lines: Result['lines']): string {
  const cells = [heads, ...lines.map(cellsOf)]
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => Bun.stringWidth(row[column]!))))
  const padded = (row: string[]) =>
    row.map((text, column) => text + ' '.repeat(widths[column]! - Bun.stringWidth(text)))
  const rule = widths.map((width) => '─'.repeat(width)).join('  ')
  const [head, ...rows] = cells.map((row) => padded(row).join('  ').trimEnd())
  return [head, rule, ...rows, ...notesOf(lines, '  ')].join('\n')
}

export function markdownTable(lines: Result['lines']): string {
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`
  const rows = [heads, heads.map(() => '---'), ...lines.map(cellsOf)].map(row)
  return [...rows, ...notesOf(lines, '- ')].join('\n')
}

/** After an empty line, if there are any. */
function notesOf(lines: Result['lines'], before: string): string[] {
  const all = lines.flatMap(({ row, notes = [] }) => notes.map((note) => `${before}${row}: ${note}`))
  return all.length > 0 ? ['', ...all] : []
}

function cellsOf({ what, rival, ours, theirs, ratio, goal, met, trips = '' }: Line): string[] {
  const spread = ratio && `${round(ratio.median)} (${round(ratio.minimum)} … ${round(ratio.maximum)})`
  const exact = ratio && ratio.minimum === ratio.maximum && round(ratio.median)
  return [
    what,
    ours,
    `${rival}: ${theirs}`,
    exact || spread || '',
    goal,
    met === null ? '' : met ? 'yes' : 'NO',
    trips,
  ]
}
