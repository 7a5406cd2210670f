/** The table of src/compose/admin-app.ts against the routes that are mounted, and against the files that it names. */

import { firstWord, tagOf } from '../../src/administration/access/interface-description.ts'
import { adminRoutes } from '../../src/compose/admin-app.ts'
import { mountedAdminRoutes } from '../mounted-routes.ts'
import { type Check, readFiles } from './source-files.ts'

const TABLE = 'src/compose/admin-app.ts'

export const checkRoutes: Check = async () => {
  const files = new Map((await readFiles('src/**/routes.ts')).map(({ path, text }) => [path, text]))
  return [
    ...compare(files),
    ...adminRoutes
      .filter(({ access, path }) => access !== 'operator' && !(firstWord(path) in tagOf))
      .map(
        ({ path }) =>
          `src/administration/access/interface-description.ts: tagOf needs the tag of ${firstWord(path)}`,
      ),
  ]
}

function compare(files: Map<string, string>): string[] {
  const byName = <Row extends { method: string; path: string }>(rows: Row[]) =>
    new Map(rows.map((row) => [`${row.method} ${row.path}`, row]))
  const described = byName(adminRoutes)
  const mounted = byName(mountedAdminRoutes())
  const problems: string[] = []
  for (const [name, { operation }] of mounted) {
    if (described.get(name)?.operation === operation) continue
    problems.push(`${TABLE}: the table needs the row ${[name, operation, 'FOLDER/ROOM'].join(' ')}`)
  }
  for (const [name, { file, path }] of described) {
    if (!mounted.has(name)) problems.push(`${TABLE}: ${name} is in the table, and not mounted`)
    if (!files.has(file)) {
      problems.push(`${TABLE}: the last column of ${name} must be the FOLDER/ROOM whose routes.ts has it`)
      continue
    }
    const words = path.split('/').filter((word) => word !== '' && !word.startsWith(':'))
    if (!files.get(file)?.includes(words.at(-1) as string))
      problems.push(`${TABLE}: ${name} is not in ${file}`)
  }
  return problems
}
