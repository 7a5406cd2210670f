/** `poterne upgrade`: replaces this executable by the newest release, or by the one before. It never runs by itself. */
import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { Command } from 'commander'
import { preparedDatabasePath } from '../platform/bundled/paths.ts'
import { type PublicKey, readPublicKey } from '../platform/upgrade/minisign.ts'
import {
  compareVersions,
  type Download,
  type ReleaseIndex,
  readIndex,
  UpgradeRefused,
} from '../platform/upgrade/release-index.ts'
import { download, exchange, previousOf, replace } from '../platform/upgrade/replace-executable.ts'
import { releaseKeys, version } from '../platform/version.ts'
import type { CommonOptions } from './common-options.ts'
import { type CommandOptions, configOption, requireConfig } from './configuration.ts'
import { CommandFailure } from './failure.ts'
import { askStatus, urlOf } from './health.ts'
import { printResult } from './print.ts'
import { createProgressBar } from './progress.ts'

interface UpgradeOptions extends CommandOptions, CommonOptions {
  from?: string
  check?: boolean
  to?: string
  back?: boolean
  environment?: string
  restart?: string
}

const READY_MS = 60_000
const READY_PAUSE_MS = 500
/** Our container images hold this file. */
const IMAGE_MARK = '/etc/poterne-image'

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
    .option('--check', 'only say whether there is a newer release')
    .option('--to <version>', 'only this version')
    .option('--back', 'go back to the executable that was replaced last')
    .option(
      '--restart <unit>',
      'restart this systemd unit, and go back if the service is not ready within a minute',
    )
    .action((options: UpgradeOptions) => explained(() => upgrade(options)))
}

async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof UpgradeRefused) throw new CommandFailure(1, error.message)
    throw error
  }
}

async function upgrade(options: UpgradeOptions): Promise<void> {
  if (options.from !== undefined) {
    const { upgradeEngineFrom } = await import('./upgrade-engine.ts')
    return upgradeEngineFrom(options.from, options)
  }
  const env = readEnvironment(options.environment)
  if (options.back) return goBack(options)
  const location = readLocation(options, env)
  const index = await readIndex(location, releaseKeys.map(readPublicKey).filter(isKey))
  const newer = compareVersions(index.version, version.version) > 0
  const expired = index.expires.getTime() < Date.now()
  if (options.check) return report(index, { newer, expired, json: options.json ?? false })
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

/** Variables of a systemd environment file: `NAME=value` lines, quotes around a value, `#` before a comment. */
function readEnvironment(file: string | undefined): Record<string, string> {
  if (file === undefined) return {}
  const lines = readFileSync(file, 'utf8').split('\n')
  const pairs = lines
    .map((line) => /^\s*([A-Za-z_]\w*)=(.*?)\s*$/.exec(line))
    .filter((match) => match !== null)
    .map(([, name, value]) => [name, (value as string).replace(/^(["'])(.*)\1$/, '$2')])
  return Object.fromEntries(pairs)
}

function readLocation(options: UpgradeOptions, env: Record<string, string>): string {
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

async function install(
  options: UpgradeOptions,
  env: Record<string, string>,
  index: ReleaseIndex,
): Promise<void> {
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
  restart(options.restart)
  if (await becomesReady(options)) {
    return printResult(
      options,
      { upgraded: true, version: index.version },
      `poterne ${index.version} is installed and ready.`,
    )
  }
  if (unsafe.length > 0) {
    throw new UpgradeRefused(
      `poterne ${index.version} is not ready after a minute. Its migrations ${unsafe.join(', ')} exclude ${version.version}, so the new executable stays: read its log, then mend it, or restore a backup with ${previousOf(file)}`,
    )
  }
  exchange(file)
  restart(options.restart)
  throw new UpgradeRefused(
    `poterne ${index.version} was not ready after a minute: ${version.version} is back and was restarted; the newer one is ${previousOf(file)}`,
  )
}

/** Downloads, and lets the new executable say its version and check the configuration. */
async function fetchTried(
  file: string,
  offer: Download,
  options: UpgradeOptions,
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

/** Returns the output of an executable. Throws UpgradeRefused with its words where it fails. */
async function ask(program: string, command: string[], env: Record<string, string>): Promise<string> {
  const child = Bun.spawn([program, ...command], {
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, words] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) === 0) return out
  throw new UpgradeRefused(
    `${program} ${command.join(' ')} failed, and nothing was changed:\n${words.trim()}`,
  )
}

interface ListedMigration {
  name: string
  oldest_version: string | null
}

/** The migrations that only the new executable has, and that do not name `running` as able to use the database since. */
function migrationsThatExclude(running: string, before: string, after: string): string[] {
  const known = new Set((JSON.parse(before) as ListedMigration[]).map(({ name }) => name))
  return (JSON.parse(after) as ListedMigration[])
    .filter(({ name }) => !known.has(name))
    .filter(({ oldest_version }) => oldest_version === null || compareVersions(running, oldest_version) < 0)
    .map(({ name }) => name)
}

function offered({ version: newest, targets }: ReleaseIndex): Download {
  const target = `${process.platform}-${process.arch}`
  const offer = targets[target]
  if (offer === undefined) throw new UpgradeRefused(`poterne ${newest} is not made for ${target}`)
  return offer
}

/** The file that runs now. Throws UpgradeRefused where another tool is in charge of it. */
function ownFile(): string {
  if (preparedDatabasePath === null)
    throw new UpgradeRefused('poterne runs from source here: upgrade it with git')
  const file = realpathSync(process.execPath)
  if (existsSync(IMAGE_MARK)) {
    throw new UpgradeRefused('this is a container image: run the newer image instead')
  }
  if (Bun.which('dpkg-query') && Bun.spawnSync(['dpkg-query', '--search', file]).exitCode === 0) {
    throw new UpgradeRefused(`${file} belongs to a Debian package: install the newer package instead`)
  }
  return file
}

function restart(unit: string): void {
  const { exitCode, stderr } = Bun.spawnSync(['systemctl', 'restart', unit])
  if (exitCode !== 0) process.stderr.write(`systemctl restart ${unit} failed: ${stderr.toString().trim()}\n`)
}

async function becomesReady(options: UpgradeOptions): Promise<boolean> {
  const { config } = requireConfig({ config: options.config, mustDeliver: false })
  for (const end = Date.now() + READY_MS; Date.now() < end; await Bun.sleep(READY_PAUSE_MS)) {
    if ((await askStatus(urlOf(config, '/readyz'))) === 200) return true
  }
  return false
}

async function goBack(options: UpgradeOptions): Promise<void> {
  const file = ownFile()
  const previous = previousOf(file)
  if (!existsSync(previous)) throw new UpgradeRefused(`there is no ${previous} to go back to`)
  const excluded = migrationsThatExclude(
    (JSON.parse(await ask(previous, ['version', '--json'], {})) as { version: string }).version,
    await ask(previous, ['migrate', '--own'], {}),
    await ask(file, ['migrate', '--own'], {}),
  )
  if (excluded.length > 0 && !options.yes) {
    throw new UpgradeRefused(
      `${previous} cannot use a database that has ${excluded.join(', ')}: restore a backup of before with it, or give --yes to exchange the files anyway`,
    )
  }
  exchange(file)
  if (options.restart !== undefined) restart(options.restart)
  const next = options.restart === undefined ? ' Restart the service now.' : ''
  printResult(
    options,
    { back: true, previous },
    `The executable from before is back; the other one is ${previous}.${next}`,
  )
}
