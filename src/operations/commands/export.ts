/** `poterne export FILE|-`: takes every account along, one JSON object a line, as `poterne import` reads them. */
import { closeSync, fsyncSync, ftruncateSync, rmSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Command } from 'commander'
import type { ExportPage } from '../../administration/imports/export.ts'
import { configOption, readConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { createFile } from './new-file.ts'
import { countOf, printJson } from './print.ts'
import { createProgressBar, interruptible } from './progress.ts'
import { type Call, callService, type Options, socketOption } from './service-call.ts'
import { outputWasRefused } from './standard-output.ts'

interface Counts {
  exported: number
  unopened_apps: number
}

const AT_ONCE = 500
const STANDARD_OUTPUT = '-'

export function exportCommand(): Command {
  return new Command('export')
    .description(
      'write every account to a file that `poterne import` reads, with what opens it (docs/import.md)',
    )
    .argument('<file>', 'a new file; "-": standard output')
    .option(...configOption)
    .option(...socketOption)
    .action(exportFile)
}

async function exportFile(file: string, options: Options): Promise<void> {
  const counts: Counts = { exported: 0, unopened_apps: 0 }
  const pages = (call: Call) => readPages(call, counts)
  if (file === STANDARD_OUTPUT) {
    if (process.stdout.isTTY)
      throw new CommandFailure(2, 'standard output is a terminal: name a file, or a pipe')
    await callService(options, (call) => printPages(pages(call)))
  } else {
    // First, since the command starts again here where the way to the data has to be opened: no file may be made yet.
    readConfig({ ...options, mustDeliver: false })
    await writeNew(file, (write) =>
      callService(options, async (call) => {
        for await (const text of pages(call)) write(text)
      }),
    )
  }
  if (options.json && file !== STANDARD_OUTPUT) printJson(counts)
  else process.stderr.write(described(file, counts))
}

function described(file: string, { exported, unopened_apps }: Counts): string {
  const where = file === STANDARD_OUTPUT ? 'these lines' : file
  const lost = `${countOf(unopened_apps, 'authenticator app')} left out: no server secret opens them\n`
  return (
    `${countOf(exported, 'account')} exported. Whoever has ${where} can open these accounts: keep it as you keep the server secret.\n` +
    (unopened_apps > 0 ? lost : '')
  )
}

async function* readPages(call: Call, counts: Counts) {
  const bar = createProgressBar()
  try {
    for (let after: number | null = 0; after !== null; ) {
      const path = `accounts/export?after=${after}&limit=${AT_ONCE}`
      const page: ExportPage = await call<ExportPage>('GET', path)
      counts.exported += page.records.length
      counts.unopened_apps += page.unopened
      if (page.records.length > 0) yield page.records.map((record) => `${JSON.stringify(record)}\n`).join('')
      after = page.next_after
      bar.show('accounts', (after ?? page.last) / Math.max(1, page.last))
    }
  } finally {
    bar.end()
  }
}

/** A reader that is slow keeps the pages waiting; one that went away ends the command. */
async function printPages(pages: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(pages), process.stdout, { end: false })
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    const why = `standard output was closed before everything was written to it (${(error as NodeJS.ErrnoException).code})`
    throw new CommandFailure(1, outputWasRefused() ? '' : why)
  }
}

/** Leaves no file behind that is not complete, from the moment on at which it is there. */
async function writeNew(file: string, work: (write: (text: string) => void) => Promise<void>): Promise<void> {
  let descriptor: number | null = null
  const remove = async () => {
    if (descriptor === null) return
    // The directory may be one in which only root may remove it, who is the owner of the data directory by now.
    ftruncateSync(descriptor)
    rmSync(file, { force: true })
  }
  await interruptible(remove, async () => {
    const made = createFile(file, file)
    descriptor = made
    try {
      await work((text) => writeFileSync(made, text))
      fsyncSync(made)
    } catch (error) {
      await remove().catch(() => {})
      const { code } = error as NodeJS.ErrnoException
      throw error instanceof CommandFailure || code === undefined
        ? error
        : new CommandFailure(1, `${file}: nothing is left of it, since it could not be written (${code})`)
    }
    closeSync(made)
  })
}
