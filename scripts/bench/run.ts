/**
 * `bun run bench [--quick] [--only row,row] [--executable FILE] [--results DIRECTORY]` measures every row of the table
 * against its limit or rival on this machine, now. It prints the table, and writes it with the machine to
 * scripts/bench/results/. The run's guard (test/helpers) ends the stores when this process is gone, on Ctrl-C too.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createBench } from './bench.ts'
import { describeMachine } from './machine.ts'
import { rows } from './rows.ts'
import { endServers } from './server.ts'
import { printTable, type Result } from './table.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(rows).join(',') },
    executable: { type: 'string' },
    results: { type: 'string', default: join(import.meta.dir, 'results') },
  },
})
const { quick } = values
const asked = values.only.split(',')
const unknown = asked.filter((name) => !(name in rows))
if (unknown.length > 0) {
  console.error(`no row ${unknown.join(', ')}; there are: ${Object.keys(rows).join(', ')}`)
  process.exit(2)
}

const startedAt = performance.now()
const passedSeconds = () => Math.round((performance.now() - startedAt) / 1000)
const progress = (text: string) => console.error(`${String(passedSeconds()).padStart(4)} s  ${text}`)
const bench = createBench(quick, values.executable && resolve(values.executable), progress)
const machine = describeMachine()
const { processors, model, memoryGib } = machine
console.error(
  `${processors} processors (${model}), ${memoryGib} GiB; every row against its limit or rival in this run`,
)
const lines: Result['lines'] = []
const failures: string[] = []
for (const [row, measurements] of Object.entries(rows).filter(([name]) => asked.includes(name))) {
  progress(row)
  for (const measure of measurements) {
    try {
      lines.push(...[await measure(bench)].flat().map((line) => ({ row, ...line })))
    } catch (error) {
      failures.push(`${row}: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
      progress(`  failed: ${failures.at(-1)}`)
    }
    await endServers()
  }
}

console.log(`\n${printTable(lines)}`)
for (const failure of failures) console.log(`  failed: ${failure}`)
if (lines.length > 0) {
  const date = new Date().toISOString()
  const name = `${date.slice(0, 19).replaceAll(':', '')}${quick ? '-quick' : ''}.json`
  const result: Result = { date, quick, seconds: passedSeconds(), machine, lines }
  mkdirSync(values.results, { recursive: true })
  writeFileSync(join(values.results, name), `${JSON.stringify(result, null, 2)}\n`)
  console.log(`\n${resolve(values.results, name)}`)
}
process.exit(failures.length > 0 ? 1 : 0)
