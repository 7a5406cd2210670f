/**
 * The progress and the report of a long run of tests, for people. `bun scripts/lib/test-report.ts progress` reads the
 * output of `bun test` and prints a line every half minute, and each failure as it comes. `bun
 * scripts/lib/test-report.ts summary REPORT…` reads the reports in XML and prints the slowest ten tests, and at the end
 * the names of those that failed.
 */
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'

const PROGRESS_MS = 30_000
const SLOWEST = 10

/** Counts the lines of `bun test`. Gives what is to be printed at once, if anything. */
export function createCounter() {
  const counted = { passed: 0, failed: 0, file: '' }
  let isRepeating = false
  let isInterrupted = false
  function read(line: string): string | null {
    if (/^\d+ tests? failed:$/.test(line)) isRepeating = true
    if (line.startsWith('Interrupted while still running')) isInterrupted = true
    if (isInterrupted) return line
    if (isRepeating) return null
    const heading = /^(\S+\.test\.ts):$/.exec(line)
    if (heading) counted.file = heading[1]!
    if (line.startsWith('(pass) ')) counted.passed++
    if (line.startsWith('# Unhandled error')) return `${counted.file}: ${line}`
    if (!line.startsWith('(fail) ')) return null
    counted.failed++
    return `${counted.file}: ${line}`
  }
  return { counted, read }
}

export interface Outcome {
  name: string
  seconds: number
  failed: boolean
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const plain = (text = '') =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&(\w+);/g, (whole, name) => entities[name] ?? whole)

/** Each test of a report, which names its groups from the inside out. */
export function outcomesOf(report: string): Outcome[] {
  const cases = report.matchAll(/<testcase ([^>]*?)(?:\/>|>\s*(<failure|<error)?)/g)
  return [...cases].map(([, attributes = '', failure]) => {
    const of = (name: string) => plain(new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1])
    const groups = of('classname').split(' > ').reverse()
    return {
      name: `${of('file')}: ${[...groups, of('name')].filter(Boolean).join(' > ')}`,
      seconds: Number(of('time')),
      failed: failure !== undefined,
    }
  })
}

export function summaryOf(outcomes: Outcome[]): string[] {
  const slowest = outcomes.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST)
  const failed = outcomes.filter((outcome) => outcome.failed)
  return [
    '== the slowest tests',
    ...slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(6)} s  ${name}`),
    ...(failed.length > 0 ? ['== failed tests', ...failed.map(({ name }) => `  ${name}`)] : []),
  ]
}

async function showProgress(): Promise<void> {
  const startedAt = performance.now()
  const { counted, read } = createCounter()
  const show = () => {
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
    console.log(`   ${time}  ${counted.passed} passed, ${counted.failed} failed, at ${counted.file}`)
  }
  const timer = setInterval(show, PROGRESS_MS)
  for await (const line of createInterface({ input: process.stdin })) {
    const said = read(line)
    if (said !== null) console.log(said)
  }
  clearInterval(timer)
  show()
}

if (import.meta.main) {
  const [mode, ...reports] = process.argv.slice(2)
  if (mode === 'progress') await showProgress()
  else {
    const texts = await Promise.all(reports.filter(existsSync).map((file) => Bun.file(file).text()))
    for (const line of summaryOf(texts.flatMap(outcomesOf))) console.log(line)
  }
}
