/** `bun run routes`: every operation of the public interface with its file, on one screen. */
import { readFiles } from './checks/source-files.ts'
import { mountedRoutes } from './mounted-routes.ts'

const files = (await readFiles('src/**/routes.ts')).filter(
  ({ path }) => !path.startsWith('src/administration/'),
)
const fileWith = (word: string) => files.find(({ text }) => text.includes(word))?.path

/** A removal is there by POST too, under a name that is made of the other. */
const fileOf = (operation: string, path: string) =>
  fileWith(`'${operation.replace(/ByPost$/, '')}'`) ?? fileWith(path.split('/').at(-1) as string) ?? ''

const columns = mountedRoutes().map(({ method, path, operation, authentication }) => [
  method,
  path,
  operation,
  authentication,
  fileOf(operation, path),
])
const widths = [0, 1, 2, 3].map((column) => Math.max(...columns.map((row) => (row[column] as string).length)))
for (const row of columns) console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
