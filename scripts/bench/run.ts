/**
 * `bun run bench [--quick] [--only row,row] [--executable FILE] [--results DIRECTORY]` measures every row of the table
 * against its limit or rival on this machine, now. It prints the table, and writes it with the machine to
 * scripts/bench/results/.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Bench, createBench } from './bench.ts'
import { endChildren } from './children.ts'
import { describeMachine, type Machine } from './machine.ts'
import type { Line, Row } from './row.ts'
import { rows } from './rows.ts'
import { printTable } from './table.ts'

const options = readOptions(process.argv.slice(2))
const startedAt = performance.now()
const progress = (text: string) =>
  console.error(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(4)} s  ${text}`)
const bench = createBench({ ...options, progress })

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    progress('stopping what was started')
    await stop()
    process.exit(130)
  })
}
process.exitCode = await main()

async function main(): Promise<number> {
  const machine = await describeMachine()
  const { processors, model, memoryGib } = machine
  console.error(
    `${processors} processors (${model}), ${memoryGib} GiB; every row against its limit or rival in this run`,
  )
  const lines: Line[] = []
  const failures: string[] = []
  try {
    for (const row of options.rows) await measure(row, lines, failures)
  } finally {
    await stop()
  }
  console.log(`\n${printTable(lines)}`)
  for (const failure of failures) console.log(`  failed: ${failure}`)
  if (lines.length > 0) console.log(`\n${writeResults(machine, lines)}`)
  return failures.length > 0 ? 1 : 0
}

async function measure(row: Row, lines: Line[], failures: string[]): Promise<void> {
  progress(row.name)
  try {
    lines.push(...(await row.measure(bench)))
  } catch (error) {
    failures.push(`${row.name}: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
    progress(`  failed: ${failures.at(-1)}`)
  }
}

async function stop(): Promise<void> {
  await endChildren()
  await (bench as Bench).close()
}

/** Returns the file's path. */
function writeResults(machine: Machine, lines: Line[]): string {
  const directory = options.results
  mkdirSync(directory, { recursive: true })
  const date = new Date().toISOString()
  const file = join(
    directory,
    `${date.slice(0, 19).replaceAll(':', '')}${options.quick ? '-quick' : ''}.json`,
  )
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  writeFileSync(file, `${JSON.stringify({ date, quick: options.quick, seconds, machine, lines }, null, 2)}\n`)
  return file
}

function readOptions(argv: string[]) {
  const { values } = parseArgs({
    args: argv,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      executable: { type: 'string' },
      results: { type: 'string', default: join(import.meta.dir, 'results') },
    },
  })
  const names = values.only?.split(',')
  const unknown = names?.filter((name) => !rows.some((row) => row.name === name)) ?? []
  if (unknown.length > 0) {
    console.error(`no row ${unknown.join(', ')}; there are: ${rows.map(({ name }) => name).join(', ')}`)
    process.exit(2)
  }
  return {
    quick: values.quick,
    results: resolve(values.results),
    executable: values.executable === undefined ? null : resolve(values.executable),
    rows: names ? rows.filter(({ name }) => names.includes(name)) : rows,
  }
}
