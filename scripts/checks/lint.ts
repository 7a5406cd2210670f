/** Biome finds neither errors nor unformatted files. */
import { asProblems, type Check, runProgram, toolCommand } from './source-files.ts'

export const checkLint: Check = async () =>
  asProblems(await runProgram(toolCommand('biome', 'check', '--diagnostic-level=error', '--colors=off', '.')))
