/** `poterne backup verify FILE`: checks a backup without a restore, on any machine that has its key. */
import { statSync } from 'node:fs'
import { Command } from 'commander'
import { accountsIn, rowsIn } from '../../storage/backup/manifest.ts'
import { verifyBackup } from '../../storage/backup/read.ts'
import { BackupRefused } from '../../storage/backup/refused.ts'
import { openSealedFile } from '../../storage/backup/sealed-file.ts'
import { type BackupKeyOptions, keysFor, passphraseFileOption, secretFileOption } from './backup-keys.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { countOf, formatBytes, printResult } from './print.ts'
import { createProgressBar } from './progress.ts'

type Options = CommandOptions & BackupKeyOptions & { json?: boolean }

export function verifyCommand(): Command {
  return new Command('verify')
    .description('check the seal, the parts and the counts of a backup, without a restore')
    .argument('<file>', 'a file that `poterne backup` wrote')
    .option(...configOption)
    .option(...secretFileOption)
    .option(...passphraseFileOption)
    .action((file: string, options: Options, { parent }: Command) =>
      // Those before the word `verify` are its options, too.
      verify(file, { ...parent?.opts<Options>(), ...options }),
    )
}

async function verify(file: string, options: Options): Promise<void> {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  const { keys } = keysFor(config, options)
  const bar = createProgressBar()
  try {
    const opened = await openSealedFile(file)
    const bytes = statSync(file).size
    const reading = verifyBackup(opened, keys, (read) => bar.show('checking', read / (bytes + read)))
    const manifest = await reading.finally(() => opened.close())
    const { version, created_at, parts } = manifest
    const [accounts, rows, tables] = [accountsIn(manifest), rowsIn(manifest), parts.length]
    bar.end()
    printResult(
      options,
      { file, bytes, accounts, rows, tables, version, created_at },
      `${file}: ${formatBytes(bytes)}, ${countOf(accounts, 'account')}, ${countOf(rows, 'row')} in ${tables} tables, of ${created_at} by poterne ${version}: its seal, parts and counts are right`,
    )
  } catch (error) {
    bar.end()
    throw error instanceof BackupRefused ? new CommandFailure(1, error.describe(file)) : error
  }
}
