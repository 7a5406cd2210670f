/** How commands print: tables for people, JSON for programs. Without colours, so that a pipe and a terminal look alike. */

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
}

/** One line for each row, with columns of equal width; the first row names them. */
export function printTable(header: string[], rows: (string | number | null)[][]): void {
  const cells = [header, ...rows.map((row) => row.map((cell) => toCell(cell)))]
  const widths = header.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  for (const row of cells)
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    )
}

/** One line for each field. */
export function printRecord(record: Record<string, unknown>): void {
  const width = Math.max(...Object.keys(record).map((name) => name.length))
  for (const [name, value] of Object.entries(record)) {
    const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : toCell(value as string)
    process.stdout.write(`${name.padEnd(width)}  ${text}\n`)
  }
}

/** What is stored may hold line breaks and terminal codes: they are shown, and do nothing. */
export const toCell = (value: string | number | boolean | null) =>
  value === null ? '-' : String(value).replace(/[\p{Cc}\p{Cf}]/gu, '?')
