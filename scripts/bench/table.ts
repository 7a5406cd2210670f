/** The table of the terminal, and the same as Markdown for the documents. */
import type { Line } from './row.ts'
import { round } from './row.ts'

const heads = ['row', 'poterne', 'limit or rival', 'ratio (min … max)', 'goal', 'met', 'round trips']

export function printTable(lines: Line[]): string {
  const cells = [heads, ...lines.map(cellsOf)]
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => Bun.stringWidth(row[column]!))))
  const pad = (text: string, width: number) => text + ' '.repeat(width - Bun.stringWidth(text))
  const rows = cells.map((row) =>
    row
      .map((text, column) => pad(text, widths[column]!))
      .join('  ')
      .trimEnd(),
  )
  const rule = widths.map((width) => '─'.repeat(width)).join('  ')
  const notes = lines.flatMap(({ row, notes = [] }) => notes.map((note) => `  ${row}: ${note}`))
  return [rows[0], rule, ...rows.slice(1), ...(notes.length > 0 ? ['', ...notes] : [])].join('\n')
}

export function markdownTable(lines: Line[]): string {
  const row = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [row(heads), row(heads.map(() => '---')), ...lines.map((line) => row(cellsOf(line)))].join('\n')
}

function cellsOf({ what, rival, ours, theirs, ratio, goal, met, trips = '' }: Line): string[] {
  const exact = ratio && ratio.minimum === ratio.maximum
  const ratios = ratio === null ? '' : exact ? round(ratio.median) : spread(ratio)
  return [what, ours, `${rival}: ${theirs}`, ratios, goal, met === null ? '' : met ? 'yes' : 'NO', trips]
}

const spread = ({ minimum, median, maximum }: NonNullable<Line['ratio']>) =>
  `${round(median)} (${round(minimum)} … ${round(maximum)})`
