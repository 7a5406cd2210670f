/** `poterne config check | show | example`: reports errors, prints the effective values, and lists all keys. */
import { Command } from 'commander'
import { configExample } from '../../platform/config/example.ts'
import { type ConfigProblem, describeProblem, mask, toToml } from '../../platform/config/report.ts'
import type { Setting } from '../../platform/config/settings.ts'
import type { Config } from '../../platform/config/types.ts'
import { findBackupObstacle } from '../../storage/backup/files.ts'
import {
  type CommandOptions,
  configOption,
  describeFile,
  readConfig,
  requireConfig,
} from './configuration.ts'
import { type TriedConnection, tryConnections } from './connect.ts'
import { CommandFailure } from './failure.ts'
import type { CommonOptions } from './option-values.ts'
import { print, printJson } from './print.ts'

type OutputOptions = CommandOptions & { json?: boolean }

export function configCommand(): Command {
  const command = new Command('config').description(
    'check or show the configuration, or print an example of it',
  )
  command
    .command('check')
    .description('report everything that is wrong with the configuration')
    .option(...configOption)
    .option('--dev', 'check what `serve --dev` needs')
    .option('--connect', 'also try database, Redis, mail servers and gateways; nothing is sent')
    .action(check)
  command
    .command('show')
    .description('print the effective values and where each comes from; secrets are masked')
    .option(...configOption)
    .option('--dev', 'show the values for `serve --dev`')
    .action(show)
  command
    .command('example')
    .description('print a commented configuration file with every key')
    .action(({ json }: CommonOptions) =>
      json ? printJson({ toml: configExample() }) : print(configExample()),
    )
  return command
}

type CheckOptions = OutputOptions & { connect?: boolean }

async function check({ json, connect, ...options }: CheckOptions): Promise<void> {
  if (json) return checkForPrograms({ connect: connect === true, ...options })
  const { config, file, warnings: found } = requireConfig(options)
  const warnings = [...found, ...backupWarnings(config)]
  print(`The configuration is valid (${describeFile(file)}).\n`)
  for (const warning of warnings) print(`warning: ${describeProblem(warning)}\n`)
  const tried = connect ? await tryConnections(config, options.dev === true) : []
  for (const { key, ok, message } of tried) print(`${ok ? 'ok    ' : 'failed'}  ${key}: ${message}\n`)
  requireConnected(tried)
}

async function checkForPrograms({ connect, ...options }: CheckOptions): Promise<void> {
  const loaded = readConfig(options)
  const { ok: valid, file } = loaded
  if (!loaded.ok) {
    printJson({ valid, file, errors: loaded.problems })
    throw new CommandFailure(2, '')
  }
  const tried = connect ? await tryConnections(loaded.config, options.dev === true) : []
  const warnings = [...loaded.warnings, ...backupWarnings(loaded.config)]
  printJson({ valid, file, errors: [], warnings, ...(connect && { connections: tried }) })
  requireConnected(tried)
}

function backupWarnings(config: Config): ConfigProblem[] {
  const obstacle = findBackupObstacle(config)
  return obstacle === null ? [] : [{ ...obstacle, value: toToml(obstacle.value) }]
}

function requireConnected(tried: TriedConnection[]): void {
  if (tried.some(({ ok }) => !ok)) throw new CommandFailure(1, '')
}

function show({ json, ...options }: OutputOptions): void {
  // Values can be shown even if no message could be sent.
  const { file, config, settings } = requireConfig({ ...options, mustDeliver: false })
  const effective = settings.map((setting) =>
    withFallback(setting, { base_url: config.server.baseUrl, audience: config.tokens.audience }),
  )
  if (json) printJson({ file, settings: effective.map(toJson) })
  else print(`# ${describeFile(file)}\n${toText(effective)}`)
}

/** Shows the effective value of a key whose default is derived from other keys. */
function withFallback(setting: Setting, fallbacks: Record<string, string>): Setting {
  return setting.raw === null ? { ...setting, raw: fallbacks[setting.key] ?? null } : setting
}

function toJson({ section, key, rule, raw, origin, variable }: Setting) {
  return { key: `${section}.${key}`, value: mask(rule, raw), origin, variable }
}

/** Writes a TOML file with the origin after each value; keys that are not set are comments. */
function toText(settings: Setting[]): string {
  const lines: string[] = []
  let current = ''
  for (const { section, key, rule, raw, origin, variable } of settings) {
    if (section !== current) lines.push('', heading(section))
    current = section
    const value = raw === null ? `# ${key} is not set` : `${key} = ${toToml(mask(rule, raw))}`
    lines.push(
      raw === null ? value : `${value.padEnd(48)} # ${variable ?? (origin === 'option' ? '--dev' : origin)}`,
    )
  }
  return `${lines.join('\n')}\n`
}

/** `sms.gateways[0]` is an entry of an array of tables. */
const heading = (section: string) =>
  section.endsWith(']') ? `[[${section.replace(/\[\d+\]$/, '')}]]` : `[${section}]`
