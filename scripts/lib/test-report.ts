/**
 * The progress and the report of a long run of tests. `bun scripts/lib/test-report.ts progress` reads the output of
 * `bun test`. It prints a line every half minute, and each failure as it comes. `failed OUTPUT…` prints the files that
 * failed in such outputs. `summary REPORT…` reads the reports in XML and prints the slowest ten tests. At the end come the
 * names of those that failed. `count REPORT…` prints how many passed, failed and were skipped. Where a file is in several
 * reports, the last one counts.
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
  const failedFiles = new Set<string>()
  function read(line: string): string | null {
    if (/^\d+ tests? failed:$/.test(line)) isRepeating = true
    if (line.startsWith('Interrupted while still running')) isInterrupted = true
    if (isInterrupted) {
      const running = /^ +(\S+\.test\.ts)\b/.exec(line)
      if (running) failedFiles.add(running[1]!)
      return line
    }
    if (isRepeating) return null
    // `✗ FILE (…)` is a file that ended its process.
    const heading = /^(?:✗ )?(\S+\.test\.ts)(?::$| \()/.exec(line)
    if (heading) counted.file = heading[1]!
    if (line.startsWith('(pass) ')) counted.passed++
    if (!/^(?:\(fail\) |✗ |# Unhandled error)/.test(line)) return null
    failedFiles.add(counted.file)
    if (!line.startsWith('#')) counted.failed++
    return `${counted.file}: ${line}`
  }
  return { counted, failedFiles, read }
}

export interface Outcome {
  file: string
  name: string
  seconds: number
  failed: boolean
  skipped: boolean
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const plain = (text = '') =>
  text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&(\w+);/g, (whole, name) => entities[name] ?? whole)

/** Each test of a report, which names its groups from the inside out. */
export function outcomesOf(report: string): Outcome[] {
  const cases = report.matchAll(/<testcase ([^>]*?)(?:\/>|>\s*(?:<(failure|error|skipped))?)/g)
  return [...cases].map(([, attributes = '', inside]) => {
    const of = (name: string) => plain(new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1])
    const groups = of('classname').split(' > ').reverse()
    const file = of('file')
    return {
      file,
      name: `${file}: ${[...groups, of('name')].filter(Boolean).join(' > ')}`,
      seconds: Number(of('time')),
      failed: inside === 'failure' || inside === 'error',
      skipped: inside === 'skipped',
    }
  })
}

/** The outcomes of several runs, each file's from the last report that it is in. */
export function lastOutcomes(reports: string[]): Outcome[] {
  const byFile = new Map<string, Outcome[]>()
  for (const report of reports) {
    for (const [file, outcomes] of Map.groupBy(outcomesOf(report), (outcome) => outcome.file))
      byFile.set(file, outcomes)
  }
  return [...byFile.values()].flat()
}

export function countOf(outcomes: Outcome[]): { passed: number; failed: number; skipped: number } {
  const failed = outcomes.filter((outcome) => outcome.failed).length
  const skipped = outcomes.filter((outcome) => outcome.skipped).length
  return { passed: outcomes.length - failed - skipped, failed, skipped }
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
  const [mode, ...files] = process.argv.slice(2)
  const texts = () => Promise.all(files.filter(existsSync).map((file) => Bun.file(file).text()))
  if (mode === 'progress') await showProgress()
  else if (mode === 'failed') {
    const counters = (await texts()).map((text) => {
      const counter = createCounter()
      text.split('\n').forEach(counter.read)
      return counter
    })
    const failed = new Set(counters.flatMap((counter) => [...counter.failedFiles]))
    // What failed before any file was named is mended by no second try.
    for (const file of failed.has('') ? [] : failed) console.log(file)
  } else if (mode === 'count') {
    const { passed, failed, skipped } = countOf(lastOutcomes(await texts()))
    console.log(passed, failed, skipped)
  } else {
    for (const line of summaryOf(lastOutcomes(await texts()))) console.log(line)
  }
}
