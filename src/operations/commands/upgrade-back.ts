/** `poterne upgrade --back`: the executable of before, and where it needs that, the embedded database of before. */
import { existsSync } from 'node:fs'
import type { EmbeddedState } from '../../compose/going-back.ts'
import type { Config } from '../../platform/config/types.ts'
import { runInWorker } from '../../platform/own-process.ts'
import { migrationNames } from '../../platform/postgres/migrate.ts'
import { version } from '../../platform/version.ts'
import type { KeptSnapshot } from '../../storage/embedded/kept-snapshot.ts'
import { UpgradeRefused } from '../upgrade/release-index.ts'
import { exchange, previousOf } from '../upgrade/replace-executable.ts'
import { readConfig, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { printResult } from './print.ts'
import {
  ask,
  becomesReady,
  findKeeper,
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
  const keeper = findKeeper()
  if (keeper !== null) return goBackUnder(keeper, options, env)
  const file = ownFile()
  const previous = previousOf(file)
  if (!existsSync(previous)) throw new UpgradeRefused(`there is no ${previous} to go back to`)
  Object.assign(process.env, unitEnvironment(options.restart), env)
  // First of all, because a command that may not pass to the data begins anew here.
  const config = options.restart === undefined ? null : findConfig(options)
  const own = await ask(previous, ['migrate', '--own'], {})
  const older: Older = {
    file: previous,
    version: (JSON.parse(await ask(previous, ['version', '--json'], {})) as { version: string }).version,
    migrations: (JSON.parse(own) as ListedMigration[]).map(({ name }) => name),
  }
  const excluding = migrationsThatExclude(older.version, own, await ask(file, ['migrate', '--own'], {}))
  let restored: Restored | null = null
  if (excluding.length > 0) {
    restored = await whileStopped(options, (places) => putDatabaseBack(older, excluding, places, options))
  }
  exchange(file)
  const failed = await findFailure('restart', options, config)
  const lines = [
    ...(restored ? [describeRestored(restored)] : []),
    `The executable from before is back; the other one is ${previous}.${options.restart === undefined ? ' Restart the service now.' : ''}`,
  ]
  printResult(options, { back: true, previous, ...(restored && { restored }) }, lines.join('\n'))
  if (failed) throw new CommandFailure(1, failed)
}

/** Starts the unit that the options name, if any; null where it is ready after that. */
async function findFailure(
  verb: 'restart' | 'start',
  { restart: unit }: UpgradeCommandOptions,
  config: Config | null,
): Promise<string | null> {
  if (unit === undefined) return null
  const starts = systemctl(verb, unit)
  if (starts && (await becomesReady(unit, config))) return null
  return `${unit} ${starts ? 'is not ready' : 'did not start'}: read its log, for example by journalctl -u ${unit}`
}

/** A bad night may be one in which the configuration is wrong: it is only needed to ask the service. */
function findConfig({ config }: UpgradeCommandOptions): Config | null {
  const loaded = readConfig({ config, mustDeliver: false })
  return loaded.ok ? loaded.config : null
}

/** The file is left to the tool that is in charge of it: only the embedded database goes back to the copy of before. */
async function goBackUnder(
  { is, install }: { is: string; install: (which: string) => string },
  options: UpgradeCommandOptions,
  env: Record<string, string>,
): Promise<void> {
  Object.assign(process.env, unitEnvironment(options.restart), env)
  const next = install('older')
  const { restored, isOlder } = await whileStopped(options, async (places) => {
    const state = await readState(places)
    const applied = state?.migrations ?? []
    const { snapshot = null } = state ?? {}
    // It was led back already, or the newer version never started.
    if (state && migrationNames.some((name) => !applied.includes(name)))
      return { restored: null, isOlder: false }
    if (state === null || snapshot === null)
      throw new UpgradeRefused(
        `${is}, and no copy of before is in storage.data_dir: ${next}, and restore a backup of before with it`,
      )
    if (!options.yes)
      throw new UpgradeRefused(`${describeOffer(state.written, snapshot.madeAt)} Then ${next}`)
    return {
      restored: await putCopyBack(places, { snapshot, written: state.written }),
      isOlder: applied.some((name) => !migrationNames.includes(name)),
    }
  })
  const unit = options.restart
  const failed = isOlder ? await findFailure('start', options, findConfig(options)) : null
  const start = unit === undefined ? 'start the service' : `systemctl start ${unit}`
  const lines = [
    restored ? describeRestored(restored) : 'This version did not migrate the database.',
    ...(isOlder ? (unit === undefined ? ['Start the service now.'] : []) : [`Now ${next}, then ${start}.`]),
  ]
  printResult(options, { back: restored !== null, ...(restored && { restored }) }, lines.join('\n'))
  if (failed) throw new CommandFailure(1, failed)
}

interface Places {
  dataDir: string
  /** The address of a server: then there is no embedded database. */
  database: string | null
}

/** Stops the unit where the database is put back; where that fails, it runs again as before. */
async function whileStopped<T>(options: UpgradeCommandOptions, work: (places: Places) => Promise<T>) {
  const { config } = requireConfig({ config: options.config, mustDeliver: false })
  const places = { dataDir: config.storage.dataDir, database: config.database.url }
  const { yes = false, restart } = options
  const stopped = places.database === null && yes && restart !== undefined && systemctl('stop', restart)
  try {
    return await work(places)
  } catch (error) {
    if (stopped) systemctl('start', restart)
    if (error instanceof UpgradeRefused) throw error
    const more = yes
      ? ''
      : '. --back --yes puts the database back, and with --restart it stops the unit for that'
    throw new UpgradeRefused(`${(error as Error).message}: nothing was changed${more}`)
  }
}

const readState = async (places: Places): Promise<EmbeddedState | null> =>
  (
    await runInWorker<{ state: EmbeddedState | null }>({
      task: 'embedded state',
      ...places,
    } satisfies StateJob)
  ).state

async function putCopyBack(
  { dataDir }: Places,
  { snapshot, written }: { snapshot: KeptSnapshot; written: Written },
): Promise<Restored> {
  const job: PutBackJob = { task: 'put back', dataDir, label: snapshot.version ?? version.version }
  const { kept } = await runInWorker<{ kept: string }>(job)
  return { made_at: snapshot.madeAt, kept, written }
}

/** It returns null where the older executable can use the database as it is, or `--yes` says that it may not. */
async function putDatabaseBack(
  older: Older,
  excluding: string[],
  places: Places,
  options: UpgradeCommandOptions,
): Promise<Restored | null> {
  const state = await readState(places)
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
  if (!options.yes) throw new UpgradeRefused(`${cannot}. ${describeOffer(state.written, snapshot.madeAt)}`)
  return putCopyBack(places, { snapshot, written: state.written })
}

const describeOffer = (written: Written, madeAt: string) =>
  `--back --yes puts back the copy of ${madeAt}. ${describeWritten(written)}`

function describeWritten({ accounts, events }: Written): string {
  const listed = Object.entries(events).map(([type, count]) => `${count} ${type}`)
  if (accounts === 0 && listed.length === 0) return 'Nothing was written since.'
  return `Written since, and lost by it: ${accounts} new accounts; events: ${listed.join(', ') || 'none'}.`
}

const describeRestored = ({ made_at, kept, written }: Restored) =>
  `The database of ${made_at} is back. ${describeWritten(written)} The newer database is ${kept}: remove it when nobody needs it any more.`
