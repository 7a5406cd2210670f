/** Reading the files and running the programs that the checks need. */
import { join } from 'node:path'
import { Glob } from 'bun'

/** Returns one sentence for each problem. */
export type Check = () => Promise<string[]>

export const root = join(import.meta.dir, '../..')

/** Files under the root, by path from there, sorted. */
export async function readFiles(pattern: string): Promise<{ path: string; text: string }[]> {
  const paths = await Array.fromAsync(new Glob(pattern).scan({ cwd: root }))
  return Promise.all(
    paths.sort().map(async (path) => ({ path, text: await Bun.file(join(root, path)).text() })),
  )
}

/** It returns null if the program exited with 0, otherwise everything it printed. */
export async function runProgram(command: string[], cwd = root): Promise<string | null> {
  const process = Bun.spawn(command, { cwd, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err, code] = await Promise.all([
    new Response(process.stdout).text(),
    new Response(process.stderr).text(),
    process.exited,
  ])
  return code === 0 ? null : `${out}${err}`.trim()
}

/** A program of node_modules, run by this Bun. */
export const toolCommand = (name: string, ...parameters: string[]): string[] => [
  process.execPath,
  'x',
  '--bun',
  '--no-install',
  name,
  ...parameters,
]

export const asProblems = (printed: string | null): string[] => (printed === null ? [] : [printed])
