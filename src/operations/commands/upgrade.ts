/** `poterne upgrade`: replaces this executable by the newest release, or by the one before. It never runs by itself. */
import { rmSync } from 'node:fs'
import { Command } from 'commander'
import { MIGRATED_BY_NEWER } from '../../platform/postgres/migrate.ts'
import { releaseKeys, version } from '../../platform/version.ts'
import { type PublicKey, readPublicKey } from '../upgrade/minisign.ts'
import { type Download, type ReleaseIndex, readIndex, UpgradeRefused } from '../upgrade/release-index.ts'
import { download, exchange, previousOf, replace } from '../upgrade/replace-executable.ts'
import { configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { versionOf } from './option-values.ts'
import { printResult } from './print.ts'
import { createProgressBar } from './progress.ts'
import { goBack } from './upgrade-back.ts'
import {
  ask,
  becomesReady,
  findKeeper,
  migrationsThatExclude,
  ownFile,
  readUnitFile,
  systemctl,
  type UpgradeCommandOptions,
  unitEnvironment,
} from './upgrade-parts.ts'

/** The exit code of `--check` where this is the newest release: scripts tell it from a failure. */
const NOTHING_NEWER = 3

export function upgradeCommand(): Command {
  return new Command('upgrade')
    .description('replace this executable with the newest release of `upgrade.index`, or with the one before')
    .option(...configOption)
    .option(
      '--environment <file>',
      'the environment file of the unit, with the variables that the configuration names as ${NAME}',
    )
    .option(
      '--from <file>',
      'the executable that ran before: it reads the old files of the embedded database, and this one takes the data over',
    )
    .option('--check', 'only say whether there is a newer release (exit code 0), or none (3)')
    .option('--to <version>', 'only this version', versionOf('--to'))
    .option(
      '--back',
      'go back to the executable that was replaced last; with --yes also to the embedded database of before its migrations',
    )
    .option(
      '--restart <unit>',
      'restart this systemd unit, and go back if the service is not ready within a minute',
    )
    .action((options: UpgradeCommandOptions) => explained(() => upgrade(options)))
}

async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof UpgradeRefused) throw new CommandFailure(1, error.message)
    throw error
  }
}

async function upgrade(options: UpgradeCommandOptions): Promise<void> {
  if (options.from !== undefined) {
    const { upgradeEngineFrom } = await import('./upgrade-engine.ts')
    return upgradeEngineFrom(options.from, options)
  }
  const env = readUnitFile(options.environment)
  if (options.back) return goBack(options, env)
  const location = readLocation(options, env)
  const index = await readIndex(location, releaseKeys.map(readPublicKey).filter(isKey))
  const newer = Bun.semver.order(index.version, version.version) > 0
  const expired = index.expires.getTime() < Date.now()
  if (options.check) {
    report(index, { newer, expired, json: options.json ?? false })
    if (newer) return
    throw new CommandFailure(NOTHING_NEWER, '')
  }
  if (expired) {
    throw new UpgradeRefused(
      `${location} expired at ${index.expires.toISOString()}, so it may hide a newer release: nothing was changed`,
    )
  }
  if (options.to !== undefined && options.to !== index.version) {
    throw new UpgradeRefused(`${location} offers ${index.version}, not ${options.to}`)
  }
  if (!newer) {
    const same = index.version === version.version
    if (!same)
      throw new UpgradeRefused(`${location} offers ${index.version}, which is older than ${version.version}`)
    return printResult(
      options,
      { upgraded: false, version: version.version },
      `poterne ${version.version} is the newest release.`,
    )
  }
  await install(options, env, index)
}

const isKey = (key: PublicKey | null): key is PublicKey => key !== null

function readLocation(options: UpgradeCommandOptions, env: Record<string, string>): string {
  Object.assign(process.env, env)
  const { config } = requireConfig({ config: options.config, mustDeliver: false })
  if (config.upgrade.index === null) {
    throw new CommandFailure(
      2,
      'upgrade.index is not set: expected the address of a signed index of releases',
    )
  }
  return config.upgrade.index
}

function report(index: ReleaseIndex, about: { newer: boolean; expired: boolean; json: boolean }): void {
  const { newer, expired, json } = about
  if (expired)
    process.stderr.write(
      `The index expired at ${index.expires.toISOString()}: an upgrade would be refused.\n`,
    )
  const text = newer
    ? `poterne ${index.version} is there; this is ${version.version}.`
    : `poterne ${version.version} is the newest release.`
  printResult({ json }, { installed: version.version, newest: index.version, newer, expired }, text)
}

async function install(options: UpgradeCommandOptions, env: Record<string, string>, index: ReleaseIndex) {
  const keeper = findKeeper()
  if (keeper !== null) throw new UpgradeRefused(`${keeper.is}: ${keeper.install('newer')} instead`)
  const file = ownFile()
  const before = await ask(file, ['migrate', '--own'], env)
  const incoming = await fetchTried(file, offered(index), options, env, index.version)
  const unsafe = migrationsThatExclude(
    version.version,
    before,
    await ask(incoming, ['migrate', '--own'], env),
  )
  replace(file, incoming)
  if (options.restart === undefined) {
    return printResult(
      options,
      { upgraded: true, version: index.version, previous: previousOf(file) },
      `poterne ${index.version} is installed; ${previousOf(file)} is the one before. Restart the service now, for example by systemctl restart poterne.`,
    )
  }
  const restarts = systemctl('restart', options.restart)
  if (
    restarts &&
    (await becomesReady(
      options.restart,
      requireConfig({ config: options.config, mustDeliver: false }).config,
    ))
  ) {
    return printResult(
      options,
      { upgraded: true, version: index.version },
      `poterne ${index.version} is installed and ready.`,
    )
  }
  const failed = restarts ? 'was not ready after a minute' : 'did not start'
  systemctl('stop', options.restart)
  const unseen = unsafe.length === 0 ? null : await lookAtDatabase(previousOf(file), options, env)
  if (unseen === 'excluded') {
    systemctl('start', options.restart)
    throw new UpgradeRefused(
      `poterne ${index.version} ${failed}. Its migrations ${unsafe.join(', ')} exclude ${version.version}, so the new executable stays: read its log, then mend it. \`poterne upgrade --back --yes\` puts back the embedded database of before; for a server, restore a backup with ${previousOf(file)}`,
    )
  }
  exchange(file)
  const state = systemctl('start', options.restart) ? 'was restarted' : 'did not start'
  const doubt =
    unseen === null ? '' : `. It could not see whether it can use the database as it is: ${unseen}`
  throw new UpgradeRefused(
    `poterne ${index.version} ${failed}: ${version.version} is back and ${state}; the newer one is ${previousOf(file)}${doubt}`,
  )
}

/**
 * Asks the executable of before whether it can use the database as it is: a new one that failed early migrated nothing.
 * Returns null where it can, "excluded" where it says that it cannot, and otherwise why it could not look. A start of it on
 * a database that excludes it changes nothing there.
 */
async function lookAtDatabase(previous: string, options: UpgradeCommandOptions, env: Record<string, string>) {
  const command = ['migrate', '--plan', ...(options.config ? ['--config', options.config] : [])]
  try {
    await ask(previous, command, { ...unitEnvironment(options.restart), ...env })
    return null
  } catch (error) {
    const { message } = error as Error
    return message.includes(MIGRATED_BY_NEWER) ? 'excluded' : message
  }
}

/** Downloads, and lets the new executable say its version and check the configuration. */
async function fetchTried(
  file: string,
  offer: Download,
  options: UpgradeCommandOptions,
  env: Record<string, string>,
  expected: string,
): Promise<string> {
  const bar = createProgressBar()
  const incoming = await download(file, offer, (done) => bar.show('downloading', done)).finally(() =>
    bar.end(),
  )
  try {
    const { version: found } = JSON.parse(await ask(incoming, ['version', '--json'], env)) as {
      version: string
    }
    if (found !== expected)
      throw new UpgradeRefused(`the file of ${expected} is poterne ${found}: nothing was changed`)
    await ask(incoming, ['config', 'check', ...(options.config ? ['--config', options.config] : [])], env)
    return incoming
  } catch (error) {
    rmSync(incoming, { force: true })
    throw error
  }
}

function offered({ version: newest, targets }: ReleaseIndex): Download {
  const target = `${process.platform}-${process.arch}`
  const offer = targets[target]
  if (offer === undefined) throw new UpgradeRefused(`poterne ${newest} is not made for ${target}`)
  return offer
}
