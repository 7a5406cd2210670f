/** The route table of src/app.ts against the routes that are mounted, and against the files it names. */
import { routes } from '../../src/app.ts'
import { mountedRoutes } from '../mounted-routes.ts'
import { type Check, readFiles } from './source-files.ts'

export const checkRoutes: Check = async () => {
  const files = new Map((await readFiles('src/domain/*/routes.ts')).map(({ path, text }) => [path, text]))
  const described = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]))
  const mounted = new Map(mountedRoutes().map((route) => [`${route.method} ${route.path}`, route]))
  const problems: string[] = []
  for (const [name, { operation, authentication }] of mounted) {
    const row = described.get(name)
    if (row?.operation === operation && row.authentication === authentication) continue
    problems.push(`src/app.ts: the table needs the row ${name} ${operation} ${authentication}`)
  }
  for (const [name, { file, path }] of described) {
    if (!mounted.has(name)) problems.push(`src/app.ts: ${name} is in the table, and not mounted`)
    const words = path.split('/').filter((word) => word !== '' && !word.startsWith(':'))
    if (!files.get(file)?.includes(words.at(-1) as string))
      problems.push(`src/app.ts: ${name} is not in ${file}`)
  }
  return problems
}
