/** `poterne backup [FILE|-]`: one verified, sealed file of everything, while the service serves. */
import { createReadStream, lstatSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Command } from 'commander'
import { backupKeyOf, scratchOf } from '../../compose/backups.ts'
import { secretsOf } from '../../compose/connections.ts'
import { decodeSecret } from '../../platform/config/formats.ts'
import type { Config } from '../../platform/config/types.ts'
import { isOfAnotherUser } from '../../platform/data-directory.ts'
import { runInWorker } from '../../platform/own-process.ts'
import { version } from '../../platform/version.ts'
import { openWayTo } from '../../platform/way-to-data.ts'
import { backupName, makeBackupDirectory } from '../../storage/backup/files.ts'
import {
  type BackupJob,
  type CopyJob,
  type DiscardJob,
  keyToJob,
  type MadeBackup,
  runBackupJob,
} from '../../storage/backup/job.ts'
import { BackupRefused, cannotWrite } from '../../storage/backup/refused.ts'
import { openWorkspace, type Workspace } from '../../storage/backup/workspace.ts'
import { requireEmbedded } from '../../storage/embedded/embedded.ts'
import { isSnapshotDirectory } from '../../storage/embedded/snapshot.ts'
import type { FinishedBackup } from '../backups/store.ts'
import { verifyCommand } from './backup-verify.ts'
import { configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { jsonOption, yesOption } from './option-values.ts'
import { countOf, formatBytes, printJson } from './print.ts'
import { createProgressBar, interruptible } from './progress.ts'
import {
  type Call,
  callRunningService,
  callService,
  type ServiceCallOptions,
  socketOption,
} from './service-call.ts'
import { outputWasRefused } from './standard-output.ts'

type Options = ServiceCallOptions & {
  passphraseFile?: string
  withSecret?: boolean
  allowEmpty?: boolean
  json?: boolean
}

const STANDARD_OUTPUT = '-'

export function backupCommand(): Command {
  return new Command('backup')
    .description('write everything to one sealed and verified file, while the service runs; verify one')
    .argument('[file]', 'the file to write; "-": standard output. Default: a new one in backup.directory')
    .option(...configOption)
    .option(...socketOption)
    .option(
      '--passphrase-file <file>',
      'seal it with the passphrase in this file instead of the server secret',
    )
    .option('--with-secret', 'include the server secret; needs a passphrase')
    .option('--allow-empty', 'keep a backup that holds no account')
    .option(...jsonOption)
    .option(...yesOption)
    .action(backUp)
    .addCommand(verifyCommand())
}

async function backUp(named: string | undefined, options: Options): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const isEmbedded = config.database.url === null
  const call = isEmbedded ? await callRunningService(options, config) : null
  if (isEmbedded && call === null) requireEmbedded(config.storage.dataDir)
  const key = refusable(() => backupKeyOf(config, options.passphraseFile))
  if (options.withSecret && key.kind !== 'passphrase')
    throw new CommandFailure(2, '--with-secret needs a passphrase: name its file with --passphrase-file')
  const file = named === STANDARD_OUTPUT ? null : fileFor(named, config)
  if (file === null && process.stdout.isTTY)
    throw new CommandFailure(2, 'standard output is a terminal: name a file, or a pipe')
  requireUsual(file)
  const bar = createProgressBar()
  let workspace: Workspace | null = null
  let copying: Promise<string> | null = null
  const clean = async () => {
    bar.end()
    workspace?.remove()
    const copy = await copying?.catch(() => null)
    if (copy) await removeCopy(copy)
  }
  const made = await interruptible(clean, async (signal) => {
    try {
      workspace = openWorkspace(file === null ? tmpdir() : dirname(file))
      if (isEmbedded) copying = call === null ? copyStopped(config, options) : copyServed(call)
      const copy = await copying
      signal.throwIfAborted()
      const job: BackupJob = {
        ...{ task: 'backup', version: version.version, file, key: keyToJob(key), scratch: scratchOf(config) },
        source:
          copy === null
            ? { kind: 'postgres', url: config.database.url! }
            : { kind: 'directory', path: copy, isForeign: isOfAnotherUser(copy) },
        withSecret: options.withSecret === true,
        allowsEmpty: options.allowEmpty === true,
        ...secretsFor(config, copy),
      }
      const made = await runBackupJob(job, workspace, { now: new Date(), onProgress: bar.show, signal })
      if (file === null) await printFile(workspace.file)
      return made
    } catch (error) {
      throw error instanceof BackupRefused
        ? new CommandFailure(1, error.describe(file ?? 'the backup'))
        : error
    } finally {
      await clean()
    }
  })
  const { bytes, rows, warning } = made
  await note(options, { file: file === null ? null : basename(file), bytes, rows, warning })
  report(file, made, options)
}

/** The reader closed it early, or the disk of its file is full, which was said already: then there is no backup. */
async function printFile(file: string): Promise<void> {
  try {
    await pipeline(createReadStream(file), process.stdout, { end: false })
  } catch (error) {
    throw new CommandFailure(
      1,
      outputWasRefused()
        ? ''
        : `standard output was closed before the backup was written to it (${(error as NodeJS.ErrnoException).code})`,
    )
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

async function copyServed(call: Call): Promise<string> {
  const { directory, refused } = await call<{ directory: string | null; refused: string | null }>(
    'POST',
    'backups/snapshot',
  )
  if (directory === null) throw new CommandFailure(1, refused ?? 'the service made no copy')
  if (!isSnapshotDirectory(directory))
    throw new CommandFailure(1, 'the service that answers names a directory that is no copy of a database')
  // The service may know its data directory from its unit alone.
  openWayTo(directory)
  return directory
}

/** Another process takes on the owner of the database: this one goes on as the user who may write the backup. */
async function copyStopped(config: Config, options: Options): Promise<string> {
  const job: CopyJob = { task: 'copy', dataDir: config.storage.dataDir }
  try {
    return (await runInWorker<{ directory: string }>(job)).directory
  } catch (error) {
    // A service that was starting took it first.
    const call = await callRunningService(options, config)
    if (call === null) throw error
    return copyServed(call)
  }
}

/** The copy shows where the embedded database lies, even if only the service's own configuration says so. */
function secretsFor(config: Config, copy: string | null): Pick<BackupJob, 'secrets' | 'secretsIn'> {
  const inHex = (secrets: Uint8Array[]) => secrets.map((secret) => Buffer.from(secret).toString('hex'))
  if (copy === null || config.server.secret !== null)
    return { secrets: inHex(secretsOf(config)), secretsIn: null }
  const previous = config.server.previousSecrets.map((text) => decodeSecret(text)!)
  return { secrets: inHex(previous), secretsIn: dirname(copy) }
}

/**
 * The owner of the database removes it, as the copy was made and read: root would follow links that the owner puts
 * there.
 */
async function removeCopy(directory: string): Promise<void> {
  const job: DiscardJob = { task: 'discard', directory }
  if (isOfAnotherUser(directory)) await runInWorker(job).catch(() => {})
  else rmSync(directory, { recursive: true, force: true })
}

function fileFor(named: string | undefined, { backup }: Config): string {
  if (named !== undefined) return resolve(named)
  try {
    makeBackupDirectory(backup.directory)
  } catch (error) {
    throw new CommandFailure(1, cannotWrite(error, `backup.directory (${backup.directory})`).message)
  }
  return resolve(join(backup.directory, backupName(new Date(), { isScheduled: false })))
}

/** A finished backup is renamed to its name, which would replace a device, a pipe or a symbolic link. */
function requireUsual(file: string | null): void {
  if (file === null) return
  const directory = statSync(dirname(file), { throwIfNoEntry: false })
  if (!directory?.isDirectory()) throw new CommandFailure(1, `there is no directory ${dirname(file)}`)
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found?.isDirectory()) throw new CommandFailure(1, `${file} is a directory: name a file in it`)
  if (found && !found.isFile())
    throw new CommandFailure(1, `${file} is no ordinary file: name another one, or "-" for standard output`)
}

/** The backup is good whether or not it can be recorded. */
async function note(options: Options, backup: FinishedBackup) {
  try {
    await callService(options, (call) => call('POST', 'backups', backup))
  } catch (error) {
    process.stderr.write(`the backup could not be recorded: ${(error as Error).message}\n`)
  }
}

function report(file: string | null, made: MadeBackup, { json }: Options): void {
  if (made.warning !== null) process.stderr.write(`warning: ${made.warning}\n`)
  const out = file === null ? process.stderr : process.stdout
  if (json && file !== null) {
    printJson({ file, ...made })
    return
  }
  const checked = made.restored ? 'read back and restored on trial' : 'read back'
  const held = `${countOf(made.accounts, 'account')}, ${countOf(made.rows, 'row')} in ${made.tables} tables`
  out.write(`${file ?? 'standard output'}: ${formatBytes(made.bytes)}, ${held}, ${checked}\n`)
}
