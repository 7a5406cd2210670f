/** `poterne upgrade --back`: the executable of before, and where it needs that, the embedded database of before. */
import { existsSync } from 'node:fs'
import type { EmbeddedState } from '../compose/going-back.ts'
import { runInWorker } from '../platform/own-process.ts'
import { UpgradeRefused } from '../platform/upgrade/release-index.ts'
import { exchange, previousOf } from '../platform/upgrade/replace-executable.ts'
import { version } from '../platform/version.ts'
import { requireConfig } from './configuration.ts'
import { printResult } from './print.ts'
import {
  ask,
  type ListedMigration,
  migrationsThatExclude,
  ownFile,
  systemctl,
  type UpgradeCommandOptions,
  unitEnvironment,
} from './upgrade-parts.ts'
import type { PutBackJob, StateJob } from './worker.ts'

interface Older {
  file: string
  version: string
  migrations: string[]
}

type Written = EmbeddedState['written']

interface Restored {
  made_at: string
  /** The database that was there. */
  kept: string
  written: Written
}

export async function goBack(options: UpgradeCommandOptions, env: Record<string, string>): Promise<void> {
  const file = ownFile()
  const previous = previousOf(file)
  if (!existsSync(previous)) throw new UpgradeRefused(`there is no ${previous} to go back to`)
  const own = await ask(previous, ['migrate', '--own'], {})
  const older: Older = {
    file: previous,
    version: (JSON.parse(await ask(previous, ['version', '--json'], {})) as { version: string }).version,
    migrations: (JSON.parse(own) as ListedMigration[]).map(({ name }) => name),
  }
  const excluding = migrationsThatExclude(older.version, own, await ask(file, ['migrate', '--own'], {}))
  let restored: Restored | null = null
  if (excluding.length > 0) {
    Object.assign(process.env, unitEnvironment(options.restart), env)
    restored = await leadDatabaseBack(older, excluding, options)
  }
  exchange(file)
  if (options.restart !== undefined) systemctl('restart', options.restart)
  const lines = [
    ...(restored ? [`The database of ${restored.made_at} is back. ${describeLost(restored)}`] : []),
    `The executable from before is back; the other one is ${previous}.${options.restart === undefined ? ' Restart the service now.' : ''}`,
  ]
  printResult(options, { back: true, previous, ...(restored && { restored }) }, lines.join('\n'))
}

/** Stops the unit where the database is put back; where that fails, it runs again as before. */
async function leadDatabaseBack(older: Older, excluding: string[], options: UpgradeCommandOptions) {
  const stopped = options.yes && options.restart !== undefined && systemctl('stop', options.restart)
  try {
    return await putDatabaseBack(older, excluding, options)
  } catch (error) {
    if (stopped) systemctl('start', options.restart as string)
    if (error instanceof UpgradeRefused) throw error
    throw new UpgradeRefused(`${(error as Error).message}: nothing was changed`)
  }
}

/** It returns null where the older executable can use the database as it is, or `--yes` says that it may not. */
async function putDatabaseBack(older: Older, excluding: string[], options: UpgradeCommandOptions) {
  const { config } = requireConfig({ config: options.config, mustDeliver: false })
  const places = { dataDir: config.storage.dataDir, database: config.database.url }
  const { state } = await runInWorker<{ state: EmbeddedState | null }>({
    task: 'embedded state',
    ...places,
  } satisfies StateJob)
  const held = state === null ? excluding : excluding.filter((name) => state.migrations.includes(name))
  if (held.length === 0) return null
  const cannot = `${older.file} (${older.version}) cannot use a database that has ${held.join(', ')}`
  const { snapshot = null } = state ?? {}
  if (
    state === null ||
    snapshot === null ||
    !snapshot.migrations.every((name) => older.migrations.includes(name))
  ) {
    if (options.yes) return null
    throw new UpgradeRefused(
      `${cannot}, and no copy of before is in storage.data_dir: restore a backup of before with it, or give --yes to exchange the files anyway`,
    )
  }
  const [{ madeAt }, { written }] = [snapshot, state]
  if (!options.yes) {
    throw new UpgradeRefused(
      `${cannot}. --back --yes puts back the copy of ${madeAt}. ${describeWritten(written)}`,
    )
  }
  const { kept } = await runInWorker<{ kept: string }>({
    task: 'put back',
    dataDir: places.dataDir,
    label: version.version,
  } satisfies PutBackJob)
  return { made_at: madeAt, kept, written }
}

function describeWritten({ accounts, events }: Written): string {
  const listed = Object.entries(events).map(([type, count]) => `${count} ${type}`)
  if (accounts === 0 && listed.length === 0) return 'Nothing was written since.'
  return `Written since, and lost by it: ${accounts} new accounts; events: ${listed.join(', ') || 'none'}.`
}

const describeLost = ({ kept, written }: Restored) =>
  `${describeWritten(written)} The newer database is ${kept}: remove it when nobody needs it any more.`
