/** `poterne import FILE|-`: brings accounts in from another system, one JSON object a line. */
import { closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import {
  comparedContacts,
  describeRefusal,
  findTwice,
  keepNames,
  keysOf,
  type LineKey,
  shortKey,
} from '../../administration/imports/line.ts'
import type { LineResult } from '../../administration/imports/service.ts'
import { createNumberMap } from '../../platform/number-map.ts'
import { configOption, readConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { type ReadLine, readJsonLines, requireReadable } from './json-lines.ts'
import { createFile } from './new-file.ts'
import { jsonOption } from './option-values.ts'
import { countOf, print, printJson } from './print.ts'
import { createProgressBar } from './progress.ts'
import { type Call, callService, type Options, socketOption } from './service-call.ts'

interface ImportOptions extends Options {
  dryRun?: boolean
  report?: string
}

/** A line of the report. */
interface Reported extends Omit<LineResult, 'other' | 'hash'> {
  line: number
  other_line?: number
}

interface Answer {
  results: LineResult[]
  wrong_password_ms: number | null
}

const MOST_RECORDS = 500
const FIRST_RECORDS = 50
const MOST_BYTES = 1_500_000
/** Each call ends within seconds, though it may have to hash. */
const CALL_MS = 1500
/** Without a report so many refusals are printed. */
const SHOWN = 10

export function importCommand(): Command {
  return new Command('import')
    .description('bring accounts in from another system: one JSON object a line (docs/import.md)')
    .argument('<file>', 'the file to read; "-": standard input')
    .option('--dry-run', 'say what would happen, and write nothing')
    .option('--report <file>', 'write what became of each line to a new file')
    .option(...configOption)
    .option(...socketOption)
    .option(...jsonOption)
    .action(importFile)
}

async function importFile(file: string, options: ImportOptions): Promise<void> {
  requireReadable(file)
  // First, since the command starts again here where the way to the data has to be opened: no file may be made yet.
  const country = countryOf(options)
  // Whoever opens the embedded database is root no more, and may not read the file.
  const lines = readJsonLines(file, file === '-' ? undefined : openSync(file, 'r'))
  const report = options.report === undefined ? null : createFile(options.report, '--report')
  const note = report === null ? null : (text: string) => writeReport(report, options.report!, text)
  const totals = createTotals(note, options.json === true, sizeOf(file))
  try {
    await callService(options, async (call) => {
      const { wrong_password_ms: before } = await send(call, [], true)
      await importLines(call, lines, { dryRun: options.dryRun === true, country, totals })
      const { wrong_password_ms: now } = await send(call, [], true)
      totals.print({ before, now })
    })
  } finally {
    totals.endProgress()
    if (report !== null) closeSync(report)
    // Nothing was read: the same command works once what was wrong is mended.
    if (options.report !== undefined && totals.isEmpty) rmSync(options.report, { force: true })
  }
  if (totals.refused > 0) throw new CommandFailure(1, '')
}

/** Null for a pipe, of which nobody knows how much there is. */
function sizeOf(file: string): number | null {
  const found = file === '-' ? null : statSync(file)
  return found?.isFile() ? found.size : null
}

/** Numbers without a country code are those of this country. */
function countryOf(options: ImportOptions): string {
  const loaded = readConfig({ ...options, mustDeliver: false })
  return loaded.ok ? loaded.config.accounts.defaultCountry : ''
}

const send = (call: Call, records: unknown[], dryRun: boolean) =>
  call<Answer>('POST', 'accounts/import', { records, dry_run: dryRun })

interface Settings {
  dryRun: boolean
  country: string
  totals: ReturnType<typeof createTotals>
}

/** A line that waits for its call. */
type WaitingLine = ReadLine & { keys: LineKey<number>[]; refused: Reported | null }

/**
 * Lines wait for a call together, those that are refused here among them, so that the report keeps their order. While a
 * call is under way, the lines of the next one are read.
 */
async function importLines(
  call: Call,
  lines: AsyncIterable<ReadLine>,
  { dryRun, country, totals }: Settings,
) {
  /** The line that has a name, for every line that was not refused. */
  const seen = createNumberMap()
  /** The names of the lines under way: the answer says which of them have theirs. */
  let asked = new Set<number>()
  let underWay = Promise.resolve()
  let waiting: WaitingLine[] = []
  let size = FIRST_RECORDS
  let bytes = 0

  function refusedHere(read: ReadLine, keys: LineKey<number>[]): Reported | null {
    const { line } = read
    if ('code' in read) return { line, outcome: 'refused', code: read.code }
    const twice = findTwice(keys, seen)
    if (twice === null) return null
    return { line, outcome: 'refused', code: 'twice_in_file', field: twice.field, other_line: twice.line }
  }

  async function importThem(batch: WaitingLine[]): Promise<void> {
    const sent = batch.filter(({ refused }) => refused === null)
    const records = sent.map((read) => ('record' in read ? read.record : {}))
    const startedAt = performance.now()
    const { results } = records.length > 0 ? await send(call, records, dryRun) : { results: [] }
    const ms = performance.now() - startedAt
    size = Math.max(1, Math.min(MOST_RECORDS, Math.round((size * CALL_MS) / Math.max(ms, CALL_MS / 2))))
    let at = 0
    for (const each of batch) {
      if (each.refused === null) note(each, results[at++] as LineResult, sent)
      else totals.add(each.refused)
    }
    asked = new Set()
    const last = batch.at(-1)
    if (last !== undefined) totals.showProgress(last)
  }

  function note({ line, keys }: WaitingLine, result: LineResult, sent: ReadLine[]): void {
    if (result.outcome !== 'refused') keepNames(keys, line, seen)
    totals.add(reported(line, result, sent), result.hash)
  }

  async function flush(): Promise<void> {
    await underWay
    const batch = waiting
    waiting = []
    bytes = 0
    asked = new Set(batch.flatMap(({ keys }) => keys.map(({ key }) => key)))
    underWay = importThem(batch)
    // Whoever waits for it learns that it failed; until then lines are read.
    underWay.catch(() => {})
  }

  try {
    for await (const read of lines) {
      if (bytes + read.bytes > MOST_BYTES) await flush()
      const keys = 'record' in read ? shortKeysOf(read.record, country) : []
      if (keys.some(({ key }) => asked.has(key))) await underWay
      waiting.push({ ...read, keys, refused: refusedHere(read, keys) })
      bytes += read.bytes
      if (waiting.length >= size) await flush()
    }
    await flush()
  } finally {
    await underWay
  }
}

const shortKeysOf = (record: Record<string, unknown>, country: string): LineKey<number>[] =>
  keysOf(record, comparedContacts(record, country)).map(({ key, ...rest }) => ({
    ...rest,
    key: shortKey(key),
  }))

function reported(line: number, { other, hash: _, ...result }: LineResult, sent: ReadLine[]): Reported {
  return { line, ...result, ...(other !== undefined && { other_line: (sent[other] as ReadLine).line }) }
}

function writeReport(descriptor: number, file: string, text: string): void {
  try {
    writeFileSync(descriptor, text)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandFailure(
      1,
      `--report: ${file} takes no more (${code}), and nothing further is read. Run the import again with another report: whoever is in is present`,
    )
  }
}

/** `size`: that of the file in bytes, null where it is not known. */
function createTotals(note: ((text: string) => void) | null, json: boolean, size: number | null) {
  const counts = { imported: 0, present: 0, refused: 0 }
  const hashes: Record<string, number> = {}
  const bar = createProgressBar()
  const startedAt = performance.now()
  return {
    get isEmpty() {
      return counts.imported + counts.present + counts.refused === 0
    },
    get refused() {
      return counts.refused
    },
    add(result: Reported, hash?: string): void {
      counts[result.outcome]++
      if (hash !== undefined) hashes[hash] = (hashes[hash] ?? 0) + 1
      if (note !== null) note(`${JSON.stringify(result)}\n`)
      else if (result.outcome === 'refused' && counts.refused <= SHOWN) {
        bar.end()
        process.stderr.write(`${describeRefusal(result.line, result)}\n`)
      }
    },
    showProgress({ line, upTo }: ReadLine): void {
      const seconds = (performance.now() - startedAt) / 1000
      const done = size === null ? null : upTo / Math.max(1, size)
      const left = done === null ? '' : `, ${timeOf((seconds * (1 - done)) / done)} left`
      bar.show(`${countOf(line, 'line')}, ${Math.round(line / seconds)}/s${left}`, done)
    },
    endProgress: bar.end,
    print(wrong_password_ms: { before: number | null; now: number | null }): void {
      bar.end()
      if (json) {
        printJson({ ...counts, hashes, wrong_password_ms })
        return
      }
      const kinds = Object.entries(hashes).map(([kind, count]) => `${kind} ${count}`)
      const { before, now } = wrong_password_ms
      print(
        `imported ${counts.imported}, present ${counts.present}, refused ${counts.refused}\n` +
          `${kinds.length > 0 ? `password hashes: ${kinds.join(', ')}\n` : ''}` +
          `a wrong password takes ${now} ms of a processor, whoever it is for (before: ${before} ms)\n`,
      )
    },
  }
}

const timeOf = (seconds: number) =>
  seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`
