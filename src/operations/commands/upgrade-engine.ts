/** `poterne upgrade --from FILE`: the embedded database of an older engine, brought to the one of this executable. */
import { statSync } from 'node:fs'
import { upgradeEngine } from '../../compose/upgrade.ts'
import { BackupRefused } from '../../storage/backup/refused.ts'
import { requireEmbedded } from '../../storage/embedded/embedded.ts'
import { type CommandOptions, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import type { CommonOptions } from './option-values.ts'
import { printResult } from './print.ts'
import { abortable, createProgressBar } from './progress.ts'

/** `from`: the executable that ran before, which alone can read the old files. Poterne must be stopped. */
export async function upgradeEngineFrom(from: string, { json, ...options }: CommandOptions & CommonOptions) {
  const { config } = requireConfig({ ...options, mustDeliver: false })
  if (config.database.url !== null)
    throw new CommandFailure(2, 'database.url is set: a PostgreSQL server is upgraded by its own tools')
  const { dataDir } = config.storage
  requireEmbedded(dataDir)
  if (!statSync(from, { throwIfNoEntry: false })?.isFile())
    throw new CommandFailure(2, `--from: ${from} is no file`)
  const bar = createProgressBar()
  try {
    const upgraded = await abortable((signal) =>
      upgradeEngine({ config, from, now: new Date(), onProgress: bar.show, signal }),
    )
    bar.end()
    printResult(
      { json },
      { rows: upgraded?.rows ?? null, kept: upgraded?.kept ?? null },
      upgraded === null
        ? 'The database is of this engine already.'
        : `${upgraded.rows} rows are in the new database. The old one is ${upgraded.kept}: remove it once poterne runs well.`,
    )
  } catch (error) {
    bar.end()
    if (error instanceof BackupRefused) throw new CommandFailure(1, error.describe('the backup'))
    throw error
  }
}
