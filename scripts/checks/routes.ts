/** The route tables of src/app.ts and src/admin-app.ts against the routes that are mounted, and against the files they name. */
import { adminRoutes } from '../../src/admin-app.ts'
import { readRoutes } from '../../src/app.ts'
import { firstWord, tagOf } from '../../src/domain/administration/access/interface-description.ts'
import { mountedAdminRoutes, mountedRoutes } from '../mounted-routes.ts'
import { type Check, readFiles } from './source-files.ts'

interface Row {
  method: string
  path: string
  operation: string
  /** The rest of the table's line, beside the operation. */
  about: string
  file?: string
}

export const checkRoutes: Check = async () => {
  const files = new Map((await readFiles('src/domain/**/routes.ts')).map(({ path, text }) => [path, text]))
  const described = readRoutes().map((route) => ({ ...route, about: route.authentication }))
  const mounted = mountedRoutes().map((route) => ({ ...route, about: route.authentication }))
  const ofAdministration = adminRoutes.map((route) => ({ ...route, about: '' }))
  return [
    ...compare('src/app.ts', described, mounted, files),
    ...compare(
      'src/admin-app.ts',
      ofAdministration,
      mountedAdminRoutes().map((route) => ({ ...route, about: '' })),
      files,
    ),
    ...adminRoutes
      .filter(({ access, path }) => access !== 'operator' && !(firstWord(path) in tagOf))
      .map(
        ({ path }) =>
          `src/domain/administration/access/interface-description.ts: tagOf needs the tag of ${firstWord(path)}`,
      ),
  ]
}

function compare(
  table: string,
  describedRows: Row[],
  mountedRows: Row[],
  files: Map<string, string>,
): string[] {
  const byName = (rows: Row[]) => new Map(rows.map((row) => [`${row.method} ${row.path}`, row]))
  const described = byName(describedRows)
  const mounted = byName(mountedRows)
  const problems: string[] = []
  for (const [name, { operation, about }] of mounted) {
    const row = described.get(name)
    if (row?.operation === operation && row.about === about) continue
    problems.push(
      `${table}: the table needs the row ${[name, operation, about].join(' ').trimEnd()} FOLDER/ROOM`,
    )
  }
  for (const [name, { file = '', path }] of described) {
    if (!mounted.has(name)) problems.push(`${table}: ${name} is in the table, and not mounted`)
    if (file === '' || !files.has(file)) {
      problems.push(`${table}: the last column of ${name} must be the FOLDER/ROOM whose routes.ts has it`)
      continue
    }
    const words = path.split('/').filter((word) => word !== '' && !word.startsWith(':'))
    if (!files.get(file)?.includes(words.at(-1) as string))
      problems.push(`${table}: ${name} is not in ${file}`)
  }
  return problems
}
