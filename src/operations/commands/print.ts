/**
 * The output of commands: tables for people, JSON for programs. They have no colours, so that a pipe and a terminal
 * look alike.
 */

export function print(text: string | Uint8Array): void {
  process.stdout.write(text)
}

export const printJson = (value: unknown): void => print(`${JSON.stringify(value, null, 2)}\n`)

/** Prints the result of a command: a sentence for people, a value for programs. */
export function printResult({ json }: { json?: boolean | undefined }, value: unknown, sentence: string) {
  if (json) printJson(value)
  else print(`${sentence}\n`)
}

export type Cell = string | number | boolean | null

export interface TableOptions {
  /** The columns from this one on are numbers, which end alike. */
  numbersFrom?: number
  /** Stands in place of a table without rows, and says what to do next. */
  empty?: string
  /** The columns that fit on a line; in a pipe any number does. */
  width?: number | undefined
}

const GAP = '  '
/** A column that is cut off keeps so many characters. */
const LEAST = 12

export function printTable(header: string[], rows: Cell[][], options: TableOptions = {}): void {
  if (rows.length === 0 && options.empty !== undefined) {
    print(`${options.empty}\n`)
    return
  }
  const width = options.width ?? (process.stdout.isTTY ? process.stdout.columns : undefined)
  print(layOutTable(header, rows, { ...options, width }))
}

/**
 * One line for each row, with columns of equal width; the first line names them. Where a line is too long, columns but the
 * first, which names the row, are cut off; where that does not suffice, each row is a block of lines.
 */
export function layOutTable(
  header: string[],
  rows: Cell[][],
  { numbersFrom = header.length, width = Number.POSITIVE_INFINITY }: TableOptions = {},
): string {
  const cells = [header, ...rows.map((row) => row.map(toCell))]
  const natural = header.map((_, column) =>
    Math.max(...cells.map((row) => Bun.stringWidth(row[column] ?? ''))),
  )
  const widths = fit(natural, width)
  if (widths === null) return rows.map((row) => layOutBlock(header, row)).join('\n')
  const lineOf = (row: string[]) =>
    row
      .map((cell, column) => padTo(cell, widths[column] ?? 0, column >= numbersFrom))
      .join(GAP)
      .trimEnd()
  return cells.map((row) => `${lineOf(row)}\n`).join('')
}

/** Takes from the widest columns until all fit. It returns null where they cannot. */
function fit(natural: number[], width: number): number[] | null {
  const widths = [...natural]
  const total = () => widths.reduce((sum, each) => sum + each, GAP.length * (widths.length - 1))
  while (total() > width) {
    const widest = Math.max(...widths.slice(1))
    if (widths.length < 2 || widest <= LEAST) return null
    widths[widths.indexOf(widest, 1)] = widest - 1
  }
  return widths
}

function padTo(cell: string, width: number, isNumber: boolean): string {
  const text = Bun.stringWidth(cell) > width ? `${cutTo(cell, width - 1)}…` : cell
  const padding = ' '.repeat(width - Bun.stringWidth(text))
  return isNumber ? padding + text : text + padding
}

function cutTo(text: string, width: number): string {
  let kept = ''
  for (const character of text) {
    if (Bun.stringWidth(kept + character) > width) break
    kept += character
  }
  return kept
}

const layOutBlock = (header: string[], row: Cell[]): string => {
  const names = Math.max(...header.map((name) => name.length))
  return header.map((name, column) => `${name.padEnd(names)}${GAP}${toCell(row[column] ?? null)}\n`).join('')
}

/** One line for each field. */
export function printRecord(record: Record<string, unknown>): void {
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  for (const [name, value] of Object.entries(record)) {
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : toCell(value as string)
    print(`${name.padEnd(width)}  ${text}\n`)
  }
}

/** Stored text may hold line breaks and terminal codes: they are shown, and do nothing. */
export const toCell = (value: Cell) =>
  value === null || value === '' ? '-' : String(value).replace(/[\p{Cc}\p{Cf}]/gu, '?')

/** `87.3 KiB`, `12.0 MiB`, `3.4 GiB`. */
export function formatBytes(bytes: number): string {
  const [size, unit] =
    bytes < 2 ** 20 ? [2 ** 10, 'KiB'] : bytes < 2 ** 30 ? [2 ** 20, 'MiB'] : [2 ** 30, 'GiB']
  return `${(bytes / size).toFixed(1)} ${unit}`
}

/** `1 account`, `3 accounts`. */
export const countOf = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
