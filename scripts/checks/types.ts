/** TypeScript finds no error. Version 7 checks quickly; the generators of tests need the programming interface of 5. */
import { join } from 'node:path'
import { asProblems, type Check, root, runProgram } from './source-files.ts'

const compiler = join(root, 'node_modules/typescript-7/bin/tsc')

export const checkTypes: Check = async () =>
  asProblems(
    await runProgram([process.execPath, compiler, '--noEmit', '--pretty', 'false', '--project', '.']),
  )
