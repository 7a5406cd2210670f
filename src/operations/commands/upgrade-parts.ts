/** The parts of `poterne upgrade` that both directions need: other executables, the unit, and what migrations exclude. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { preparedDatabasePath } from '../../platform/bundled/paths.ts'
import type { Config } from '../../platform/config/types.ts'
import { UpgradeRefused } from '../upgrade/release-index.ts'
import type { CommandOptions } from './configuration.ts'
import { askStatus, urlOf } from './health.ts'
import type { CommonOptions } from './option-values.ts'

export interface UpgradeCommandOptions extends CommandOptions, CommonOptions {
  from?: string
  check?: boolean
  to?: string
  back?: boolean
  environment?: string
  restart?: string
}

/** Our container images hold this file. */
const IMAGE_MARK = '/etc/poterne-image'
const READY_MS = 60_000
const READY_PAUSE_MS = 500

/** Variables of a systemd environment file: `NAME=value` lines, quotes around a value, `#` before a comment. */
export function readUnitFile(file: string | undefined): Record<string, string> {
  if (file === undefined) return {}
  const lines = readFileSync(file, 'utf8').split('\n')
  const pairs = lines
    .map((line) => /^\s*([A-Za-z_]\w*)=(.*?)\s*$/.exec(line))
    .filter((match) => match !== null)
    .map(([, name, value]) => [name, (value as string).replace(/^(["'])(.*)\1$/, '$2')])
  return Object.fromEntries(pairs)
}

/** Returns the output of an executable. Throws UpgradeRefused with its words where it fails. */
export async function ask(program: string, command: string[], env: Record<string, string>): Promise<string> {
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

/** The tools that put an executable into its place, beside poterne itself, and what somebody does with each. */
const keepers = {
  image: { is: 'this is a container image', install: (which: string) => `run the ${which} image` },
  package: {
    is: `${process.execPath} belongs to a Debian package`,
    install: (which: string) => `install the ${which} package`,
  },
}

type Keeper = (typeof keepers)['package']

/** The tool in charge of the file that runs now; null where poterne exchanges it itself. */
export function findKeeper(): Keeper | null {
  if (preparedDatabasePath === null)
    throw new UpgradeRefused('poterne runs from source here: upgrade it with git')
  if (existsSync(IMAGE_MARK)) return keepers.image
  const isPackaged =
    Bun.which('dpkg-query') && Bun.spawnSync(['dpkg-query', '--search', ownFile()]).exitCode === 0
  return isPackaged ? keepers.package : null
}

export const ownFile = (): string => realpathSync(process.execPath)

/** Returns false where it failed, and says why. */
export function systemctl(verb: 'restart' | 'start' | 'stop', unit: string): boolean {
  const { exitCode, stderr } = Bun.spawnSync(['systemctl', verb, unit])
  if (exitCode !== 0) process.stderr.write(`systemctl ${verb} ${unit} failed: ${stderr.toString().trim()}\n`)
  return exitCode === 0
}

/** Whether the restarted unit answers within a minute; one that failed for good will not. Without a configuration nobody can ask. */
export async function becomesReady(unit: string, config: Config | null): Promise<boolean> {
  for (const end = Date.now() + READY_MS; Date.now() < end; await Bun.sleep(READY_PAUSE_MS)) {
    if (Bun.spawnSync(['systemctl', 'is-failed', '--quiet', unit]).exitCode === 0) return false
    if (config !== null && (await askStatus(urlOf(config, '/readyz'))) === 200) return true
  }
  return config === null
}

/** The settings in the unit itself, as the data directory of the packaged one, are not in its environment file. */
export function unitEnvironment(unit: string | undefined): Record<string, string> {
  if (unit === undefined || Bun.which('systemctl') === null) return {}
  const { stdout } = Bun.spawnSync(['systemctl', 'show', '--property=Environment', '--value', unit])
  const pairs = [...stdout.toString().matchAll(/(?:^|\s)(POTERNE_\w+)=(\S*)/g)]
  return Object.fromEntries(pairs.map(([, name, value]) => [name, value as string]))
}

export interface ListedMigration {
  name: string
  oldest_version: string | null
}

/** The migrations that only the new executable has, and that do not name `running` as able to use the database since. */
export function migrationsThatExclude(running: string, before: string, after: string): string[] {
  const known = new Set((JSON.parse(before) as ListedMigration[]).map(({ name }) => name))
  return (JSON.parse(after) as ListedMigration[])
    .filter(({ name }) => !known.has(name))
    .filter(({ oldest_version }) => oldest_version === null || Bun.semver.order(running, oldest_version) < 0)
    .map(({ name }) => name)
}
