/** Turns argv into one command. No logic here. */
import { commands } from './operations/commands/commands.ts'
import { run } from './operations/commands/run.ts'

process.exitCode = await run(commands, process.argv.slice(2))
