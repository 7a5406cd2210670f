/** `poterne backup [FILE|-]`: one verified, sealed file of everything, while the service serves. */
import { createReadStream, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Command } from 'commander'
import { backupKeyOf } from '../compose/backups.ts'
import { secretsOf } from '../compose/connections.ts'
import { backupName } from '../platform/backup/files.ts'
import { type BackupJob, keyToJob, type MadeBackup, partialOf, runBackupJob } from '../platform/backup/job.ts'
import { BackupRefused } from '../platform/backup/refused.ts'
import type { Config } from '../platform/config/types.ts'
import { isEmbeddedThere } from '../platform/postgres/embedded.ts'
import { version } from '../platform/version.ts'
import { configOption, requireConfig } from './configuration.ts'
import { type DoorOptions, socketOption, throughDoor } from './door.ts'
import { CommandFailure } from './failure.ts'
import { printJson } from './print.ts'
import { createProgressBar, interruptible } from './progress.ts'

type Options = DoorOptions & { passphraseFile?: string; withSecret?: boolean; json?: boolean }

const STANDARD_OUTPUT = '-'

export function backupCommand(): Command {
  return new Command('backup')
    .description('write everything into one sealed and verified file, while the service serves')
    .argument('[file]', 'the file to write; "-": standard output. Default: a new one in backup.directory')
    .option(...configOption)
    .option(...socketOption)
    .option(
      '--passphrase-file <file>',
      'seal it with the passphrase in this file instead of the server secret',
    )
    .option('--with-secret', 'put the server secret into it; needs a passphrase')
    .option('--json', 'print for programs')
    .action(backUp)
}

async function backUp(named: string | undefined, options: Options): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const key = refusable(() => backupKeyOf(config, options.passphraseFile))
  if (options.withSecret && key.kind !== 'passphrase')
    throw new CommandFailure(2, '--with-secret needs a passphrase: name its file with --passphrase-file')
  const toOutput = named === STANDARD_OUTPUT
  const file = toOutput ? join(mkdtempSync(join(tmpdir(), 'poterne-')), 'backup') : fileFor(named, config)
  const bar = createProgressBar()
  let copy: string | null = null
  const clean = () => {
    bar.end()
    rmSync(partialOf(file), { force: true })
    if (copy !== null) rmSync(copy, { recursive: true, force: true })
    if (toOutput) rmSync(dirname(file), { recursive: true, force: true })
  }
  const made = await interruptible(clean, async () => {
    try {
      requireWritable(file)
      const source = config.database.url === null ? await copyEmbedded(config, options) : null
      copy = source
      const made = await make(
        {
          source:
            source === null
              ? { kind: 'postgres', url: config.database.url! }
              : { kind: 'directory', path: source },
          ...{ file, key: keyToJob(key), withSecret: options.withSecret === true },
          secrets: secretsOf(config).map((secret) => Buffer.from(secret).toString('hex')),
        },
        bar.show,
      )
      if (toOutput) await pipeline(createReadStream(file), process.stdout, { end: false })
      return made
    } finally {
      clean()
    }
  })
  await note(options, { file: toOutput ? null : basename(file), bytes: made.bytes, rows: made.rows })
  report(toOutput ? null : file, made, options)
}

async function make(
  job: Omit<BackupJob, 'task' | 'version'>,
  onProgress: (what: string, done: number) => void,
): Promise<MadeBackup> {
  try {
    return await runBackupJob(
      { task: 'backup', version: version.version, ...job },
      { now: new Date(), onProgress },
    )
  } catch (error) {
    if (error instanceof BackupRefused) throw new CommandFailure(1, error.describe('the backup'))
    throw error
  }
}

function refusable<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof BackupRefused) throw new CommandFailure(2, error.message)
    throw error
  }
}

/** By the service that runs, or by opening the database. */
async function copyEmbedded({ storage }: Config, options: Options): Promise<string> {
  const { dataDir } = storage
  if (!isEmbeddedThere(dataDir))
    throw new CommandFailure(1, `there is no database in storage.data_dir (${resolve(dataDir)})`)
  const { directory } = await throughDoor(options, (call) =>
    call<{ directory: string }>('POST', 'backups/snapshot'),
  )
  return directory
}

function fileFor(named: string | undefined, { backup }: Config): string {
  if (named !== undefined) return resolve(named)
  mkdirSync(backup.directory, { recursive: true, mode: 0o700 })
  return resolve(join(backup.directory, backupName(new Date())))
}

function requireWritable(file: string): void {
  const directory = statSync(dirname(file), { throwIfNoEntry: false })
  if (!directory?.isDirectory()) throw new CommandFailure(1, `there is no directory ${dirname(file)}`)
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
    throw new CommandFailure(1, `${file} is a directory: name a file in it`)
}

/** The backup is good whether or not it can be recorded. */
async function note(options: Options, backup: { file: string | null; bytes: number; rows: number }) {
  try {
    await throughDoor(options, (call) => call('POST', 'backups', backup))
  } catch (error) {
    process.stderr.write(`the backup could not be recorded: ${(error as Error).message}\n`)
  }
}

function report(file: string | null, made: MadeBackup, { json }: Options): void {
  const out = file === null ? process.stderr : process.stdout
  if (json && file !== null) {
    printJson({ file, ...made })
    return
  }
  const size = `${(made.bytes / 2 ** 20).toFixed(1)} MiB`
  const proof = made.restored ? 'read back and restored on trial' : 'read back'
  out.write(`${file ?? 'standard output'}: ${size}, ${made.rows} rows in ${made.tables} tables, ${proof}\n`)
}
