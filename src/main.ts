/** Turns argv into one command. No logic here. */
import { commands } from './commands/commands.ts'
import { run } from './commands/run.ts'

process.exitCode = await run(commands, process.argv.slice(2))
