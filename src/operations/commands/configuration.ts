/** Loads the configuration for a command, from this process's environment and directory, or fails with all problems. */
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../platform/config/load.ts'
import { type ConfigProblem, describeProblem } from '../../platform/config/report.ts'
import { ownCommand } from '../../platform/own-process.ts'
import { openWayTo } from '../../platform/way-to-data.ts'
import { CommandFailure } from './failure.ts'

export type CommandOptions = Pick<LoadOptions, 'dev' | 'development' | 'mustDeliver' | 'readTexts'> & {
  /** `--config`. */
  config?: string | undefined
}

/** The option that all commands with a configuration have. */
export const configOption = ['--config <file>', 'the configuration file'] as const

export function readConfig({ config, ...options }: CommandOptions): LoadedConfig {
  const { dev, development, mustDeliver, readTexts } = options
  const where = { configFile: config, env: process.env, directory: process.cwd() }
  const loaded = loadConfig({ ...where, dev, development, mustDeliver, readTexts })
  if (loaded.ok && openWayTo(loaded.config.storage.dataDir)) startAgain()
  return loaded
}

/** Threads that were there before do not see the new mounts. Nothing was done yet, so the same command begins anew. */
function startAgain(): void {
  const [program, ...args] = ownCommand()
  process.execve!(program!, ['poterne', ...args, ...process.argv.slice(2)], process.env)
}

/** Throws CommandFailure with exit code 2, all problems in its message. */
export function requireConfig(options: CommandOptions): Extract<LoadedConfig, { ok: true }> {
  const loaded = readConfig(options)
  if (!loaded.ok) throw new CommandFailure(2, describeProblems(loaded.file, loaded.problems))
  return loaded
}

export function describeProblems(file: string | null, problems: ConfigProblem[]): string {
  const count = problems.length === 1 ? '1 error' : `${problems.length} errors`
  return [
    `${count} in the configuration (${describeFile(file)}):`,
    ...problems.map((each) => `  ${describeProblem(each)}`),
  ].join('\n')
}

export const describeFile = (file: string | null): string => file ?? 'no file'
