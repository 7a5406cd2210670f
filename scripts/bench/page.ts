/**
 * `bun scripts/bench/page.ts FILE`: writes a result of the bench (its table, its notes, its machine) into
 * docs/performance.md, between the two marks there.
 */
import { join } from 'node:path'
import type { Machine } from './machine.ts'
import type { Line } from './row.ts'
import { markdownTable } from './table.ts'

interface Result {
  date: string
  quick: boolean
  seconds: number
  machine: Machine
  lines: Line[]
}

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: bun scripts/bench/page.ts scripts/bench/results/FILE.json')
  process.exit(2)
}
const page = join(import.meta.dir, '../../docs/performance.md')
const marks = ['<!-- measured -->', '<!-- /measured -->'] as const
const text = await Bun.file(page).text()
const [begin, end] = marks.map((mark) => text.indexOf(mark)) as [number, number]
if (begin < 0 || end < begin) throw new Error(`${page} lacks its marks`)
await Bun.write(
  page,
  `${text.slice(0, begin)}${marks[0]}\n${describe(await Bun.file(file).json())}\n${text.slice(end)}`,
)

function describe({ date, quick, seconds, machine, lines }: Result): string {
  const { processors, model, memoryGib, kernel, versions } = machine
  const programs = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const notes = lines.flatMap(({ row, notes = [] }) => notes.map((note) => `- ${row}: ${note}`))
  return [
    `${date.slice(0, 10)}, ${quick ? 'quick' : 'full'} run of ${seconds} s on ${processors} processors (${model}), ${memoryGib} GiB, Linux ${kernel}: ${programs.join('; ')}.`,
    markdownTable(lines),
    ...(notes.length > 0 ? [notes.join('\n')] : []),
  ].join('\n\n')
}
