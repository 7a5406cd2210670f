/**
 * `bun scripts/bench/page.ts FILE`: writes a result of the bench, its machine, its table and its notes, between the
 * two marks of docs/performance.md.
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

const marks = ['<!-- measured -->', '<!-- /measured -->'] as const

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: bun scripts/bench/page.ts scripts/bench/results/FILE.json')
  process.exit(2)
}
const result: Result = await Bun.file(file).json()
const { versions } = result.machine
await put('docs/performance.md', describe(result))

async function put(page: string, parts: string[]): Promise<void> {
  const path = join(import.meta.dir, '../..', page)
  const text = await Bun.file(path).text()
  const [begin, end] = marks.map((mark) => text.indexOf(mark)) as [number, number]
  if (begin < 0 || end < begin) throw new Error(`${page} lacks its marks`)
  await Bun.write(path, `${text.slice(0, begin)}${marks[0]}\n${parts.join('\n\n')}\n${text.slice(end)}`)
}

function measuredOn({ date, quick, seconds, machine }: Result): string {
  const { processors, model, memoryGib, kernel } = machine
  const run = `${quick ? 'quick' : 'full'} run of ${seconds} s`
  return `${date.slice(0, 10)}, ${run} on ${processors} processors (${model}), ${memoryGib} GiB, Linux ${kernel}`
}

function describe(result: Result): string[] {
  const programs = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const notes = result.lines.flatMap(({ row, notes = [] }) => notes.map((note) => `- ${row}: ${note}`))
  const table = markdownTable(result.lines)
  return [
    `${measuredOn(result)}: ${programs.join('; ')}.`,
    table,
    ...(notes.length > 0 ? [notes.join('\n')] : []),
  ]
}
