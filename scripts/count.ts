/**
 * `bun scripts/count.ts [--json]`: how large and how tangled the project is, in numbers that can be compared between two
 * commits. It counts and judges nothing.
 */
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { SourceFile } from './check-layers.ts'
import { domainFolders, domainOrder } from './check-layers.ts'
import { readFiles } from './checks/source-files.ts'
import { writersOf } from './table-owners.ts'

const { values } = parseArgs({ options: { json: { type: 'boolean' } } })

const source = await readFiles('src/**/*.ts')
const tests = await readFiles('test/**/*.ts')
const domain = source.filter(({ path }) => path.startsWith('src/domain/'))

const lines = (files: SourceFile[]) => files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
const linesOf = async (pattern: string) => lines(await readFiles(pattern))

/** Files with keys such as `sent_to:`, which only the interface and the database write so. */
const holdsWireFormat = ({ path, text }: SourceFile) =>
  !/-sql\.ts$|store(-postgres|-redis)?\.ts$/.test(path) && /^\s+[a-z]+(?:_[a-z]+)+\??: /m.test(text)

/** Groups of files that import each other in a circle, types included. */
function circles(files: SourceFile[]): string[][] {
  const known = new Set(files.map(({ path }) => path))
  const targets = new Map(
    files.map(({ path, text }) => [
      path,
      [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)]
        .map(([, target]) => join(dirname(path), target as string))
        .filter((target) => known.has(target)),
    ]),
  )
  const reach = (from: string): Set<string> => {
    const seen = new Set<string>()
    const open = [...(targets.get(from) ?? [])]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...(targets.get(next) ?? []))
    }
    return seen
  }
  const reached = new Map(files.map(({ path }) => [path, reach(path)]))
  const inCircle = files.map(({ path }) => path).filter((path) => reached.get(path)?.has(path))
  const groups = Map.groupBy(inCircle, (path) =>
    inCircle.filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path)).join(),
  )
  return [...groups.values()]
}

const writers = writersOf(source)
const several = [...writers].filter(([, files]) => files.size > 1)
const counted = {
  'lines of source': lines(source),
  'lines of tests': lines(tests),
  'lines of drizzle/': (await linesOf('drizzle/**/*.sql')) + (await linesOf('drizzle/**/*.json')),
  'lines of docs/openapi.json': await linesOf('docs/openapi.json'),
  'folders of src/domain': Object.keys(domainFolders).length,
  'rooms of src/domain': domainOrder.length,
  'files that write accounts': writers.get('accounts')?.size ?? 0,
  'files that write sessions': writers.get('sessions')?.size ?? 0,
  'tables that more than one file writes': several.length,
  'files of the domain with the wire format': domain.filter(holdsWireFormat).length,
  'circles of imports': circles(source).length,
  'files above 300 lines': source.filter(({ text }) => text.split('\n').length > 300).length,
}

if (values.json) console.log(JSON.stringify(counted, null, 2))
else
  for (const [name, number] of Object.entries(counted))
    console.log(`${name.padEnd(44)}${String(number).padStart(8)}`)
