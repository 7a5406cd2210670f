/**
 * `bun scripts/bench/page.ts FILE`: writes a result of the bench, its machine, its table and its notes, between the
 * two marks of docs/performance.md.
 */
import { join } from 'node:path'
import { markdownTable, type Result } from './table.ts'

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: bun scripts/bench/page.ts scripts/bench/results/FILE.json')
  process.exit(2)
}
const { date, quick, seconds, machine, lines }: Result = await Bun.file(file).json()
const { processors, model, memoryGib, kernel, versions } = machine
const run = `${date.slice(0, 10)}, ${quick ? 'quick' : 'full'} run of ${seconds} s`
const on = `${processors} processors (${model}), ${memoryGib} GiB, Linux ${kernel}`
const programs = Object.entries(versions).map(([name, version]) => `${name} ${version}`)

const page = join(import.meta.dir, '../../docs/performance.md')
const text = await Bun.file(page).text()
const marks = /(?<=<!-- measured -->\n).*(?=<!-- \/measured -->)/s
if (!marks.test(text)) throw new Error(`${page} lacks its marks`)
const measured = `${run} on ${on}: ${programs.join('; ')}.\n\n${markdownTable(lines)}\n`
await Bun.write(
  page,
  text.replace(marks, () => measured),
)
