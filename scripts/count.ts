/**
 * `bun scripts/count.ts [--json] [--list]`: how large and how tangled the project is, in numbers that can be compared between
 * two commits. It counts, and refuses nothing. `--list` names the long statements, functions and files behind the numbers.
 */
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { registeredStatements } from '../src/platform/postgres/statement.ts'
import type { SourceFile } from './check-layers.ts'
import { circlesOf, domainFolders, roomOrder } from './check-layers.ts'
import { readFiles, root } from './checks/source-files.ts'
import { writersOf } from './table-owners.ts'

const { values } = parseArgs({ options: { json: { type: 'boolean' }, list: { type: 'boolean' } } })

const source = await readFiles('src/**/*.ts')
const tests = await readFiles('test/**/*.ts')
const domain = source.filter(({ path }) => path.startsWith('src/domain/'))

const lines = (files: SourceFile[]) => files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
const linesOf = async (pattern: string) => lines(await readFiles(pattern))

const snakeCaseKey = /^\s+([a-z]+(?:_[a-z]+)+)\??: /gm
const keysIn = ({ text }: SourceFile) => [...text.matchAll(snakeCaseKey)].map(([, key]) => key as string)
const declaresSchemas = ({ path }: SourceFile) => /(?:^|\/)(routes|[a-z-]+-schemas?)\.ts$/.test(path)

/** The names of the interface. Other keys are named by texts, by providers, or by formats that are only stored. */
const interfaceNames = new Set(source.filter(declaresSchemas).flatMap(keysIn))
const holdsWireFormat = (file: SourceFile) =>
  !/-sql\.ts$|store(-postgres|-redis)?\.ts$|\/words-[a-z]+\.ts$|\/providers\//.test(file.path) &&
  keysIn(file).some((key) => interfaceNames.has(key))

interface Counted {
  name: string
  lines: number
}

/** Each function that stands by itself in a file. */
const functionsOf = ({ path, text }: SourceFile): Counted[] => {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line
  return file.statements.filter(ts.isFunctionDeclaration).map((each) => ({
    name: `${path} ${each.name?.text}`,
    lines: lineAt(each.end) - lineAt(each.getStart(file)) + 1,
  }))
}

/** Each statement as it is sent, fragments of other rooms included, without empty lines. */
async function statements(): Promise<Counted[]> {
  for (const { path } of source.filter((file) => /store[^/]*\.ts$|-sql\.ts$/.test(file.path)))
    await import(join(root, path))
  return registeredStatements().map(({ name, text }) => ({
    name,
    lines: text.split('\n').filter((line) => line.trim() !== '').length,
  }))
}

const above = (most: number, counted: Counted[]) =>
  counted.filter(({ lines }) => lines > most).sort((one, other) => other.lines - one.lines)
const filesOfSource = source.map(({ path, text }) => ({ name: path, lines: text.split('\n').length - 1 }))
const long = {
  'statements above 20 lines': above(20, await statements()),
  'functions above 150 lines': above(150, source.flatMap(functionsOf)),
  'files above 520 lines': above(520, filesOfSource),
}

const writers = writersOf(source)
const wireFiles = domain.filter(holdsWireFormat)
const wireRooms = [...Map.groupBy(wireFiles, ({ path }) => dirname(path)).values()]
const several = [...writers].filter(([, files]) => files.size > 1)
const counted = {
  'lines of source': lines(source),
  'files of source': source.length,
  'lines of tests': lines(tests),
  'lines of drizzle/': (await linesOf('drizzle/**/*.sql')) + (await linesOf('drizzle/**/*.json')),
  'lines of docs/openapi.json': await linesOf('docs/openapi.json'),
  'folders of src/domain': Object.keys(domainFolders).length,
  'rooms of src': roomOrder.length,
  'files that write accounts': writers.get('accounts')?.size ?? 0,
  'files that write sessions': writers.get('sessions')?.size ?? 0,
  'tables that more than one file writes': several.length,
  'files of the domain with the wire format': wireFiles.length,
  'of these, beside routes and schemas': wireFiles.filter((file) => !declaresSchemas(file)).length,
  'rooms with the wire format in several files': wireRooms.filter((files) => files.length > 1).length,
  'circles of imports': circlesOf(source).length,
  'files above 300 lines': above(300, filesOfSource).length,
  'files of at most 30 lines': filesOfSource.filter((file) => file.lines <= 30).length,
  ...Object.fromEntries(Object.entries(long).map(([what, found]) => [what, found.length])),
}

if (values.list)
  for (const [what, found] of Object.entries(long))
    console.log(
      `${what}\n${found.map(({ name, lines }) => `${String(lines).padStart(5)}  ${name}`).join('\n')}`,
    )
else if (values.json) console.log(JSON.stringify(counted, null, 2))
else
  for (const [name, number] of Object.entries(counted))
    console.log(`${name.padEnd(44)}${String(number).padStart(8)}`)
