/**
 * Runs one command line and returns its exit code: 0 success, 1 failure, 2 what another try does not mend, such as
 * wrong usage or configuration. It never exits the process, so that `serve` can keep running.
 */
import { Command, CommanderError } from 'commander'
import { LastingFailure, StoreUnreachable } from '../../platform/failure.ts'
import { WORKER_COMMAND } from '../../platform/own-process.ts'
import { databaseCode } from '../../platform/postgres/failure.ts'
import { explainFailure } from '../doctor/explain.ts'
import { CommandFailure } from './failure.ts'
import { jsonOption, yesOption } from './option-values.ts'
import { outputWasRefused, watchStandardOutput } from './standard-output.ts'
import { versionLine } from './version.ts'

/** The modules of the commands, by the names of the commands. */
export type Commands = Record<string, () => Promise<Command>>

/** All commands where `name` is none of them, for the help. */
export async function loadProgram(commands: Commands, name = ''): Promise<Command> {
  const program = new Command('poterne')
    .description('Registration, confirmation, login and two-factor sign-in, self-hosted in one executable.')
    .version(versionLine)
    .showHelpAfterError('Run `poterne --help` for the commands and their options.')
    // The options that `secret` takes itself must still reach its commands.
    .enablePositionalOptions()
    .exitOverride()
  const called = Object.hasOwn(commands, name) ? [commands[name]!] : Object.values(commands)
  for (const command of await Promise.all(called.map((load) => load()))) {
    inherit(program, command)
    addCommonOptions(command)
    program.addCommand(command, { hidden: command.name() === WORKER_COMMAND })
  }
  return program
}

/** `argv` does not include the executable: `['config', 'check']`. */
export async function run(commands: Commands, argv: string[]): Promise<number> {
  const program = await loadProgram(commands, argv[0])
  watchStandardOutput()
  try {
    await program.parseAsync(argv, { from: 'user' })
    return outputWasRefused() ? 1 : 0
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode !== 0 ? 2 : outputWasRefused() ? 1 : 0
    const known = error instanceof CommandFailure
    const message = known ? error.message : `poterne failed: ${describeCause(error)}`
    if (message !== '') process.stderr.write(`${message}\n`)
    return known ? error.exitCode : error instanceof LastingFailure ? 2 : 1
  }
}

/** A command that was added, instead of created by its parent, does not inherit how errors are shown and thrown. */
function inherit(parent: Command, command: Command, words = `${parent.name()} ${command.name()}`): void {
  command.copyInheritedSettings(parent)
  command.showHelpAfterError(`Run \`${words} --help\` to see its arguments and options.`)
  for (const each of command.commands) inherit(command, each, `${words} ${each.name()}`)
}

/** Every command takes them, so that scripts need not know which of them print or ask. */
function addCommonOptions(command: Command): void {
  for (const each of command.commands) addCommonOptions(each)
  if (command.commands.length > 0 || command.name() === WORKER_COMMAND) return
  const has = (long: string) => command.options.some((option) => option.long === long)
  if (!has('--json')) command.option(...jsonOption)
  if (!has('--yes')) command.option(...yesOption)
}

const READ_ONLY = '25006'
const READ_ONLY_REMEDY = 'the database accepts no writes: name the primary in database.url'

/** The innermost cause, because errors that wrap it may quote a query and its parameters. */
function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown cause'
  if (error instanceof StoreUnreachable) return `${error.key}: ${explainFailure(error, error.key)}`
  if (error.cause instanceof Error) return describeCause(error.cause)
  return databaseCode(error) === READ_ONLY ? `${error.message}: ${READ_ONLY_REMEDY}` : error.message
}
