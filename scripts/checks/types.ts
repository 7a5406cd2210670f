/** TypeScript finds no error. */
import { asProblems, type Check, runProgram, toolCommand } from './source-files.ts'

export const checkTypes: Check = async () =>
  asProblems(await runProgram(toolCommand('tsc', '--noEmit', '--pretty', 'false', '--project', '.')))
