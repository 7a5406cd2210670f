/** `bun run routes`: every operation of the public interface, on one screen. */
import { readRoutes } from '../src/app.ts'

const columns = readRoutes().map(({ method, path, operation, authentication, file }) => [
  method,
  path,
  operation,
  authentication,
  file,
])
const widths = [0, 1, 2, 3].map((column) => Math.max(...columns.map((row) => (row[column] as string).length)))
for (const row of columns) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
