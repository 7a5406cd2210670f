/** The executables that poterne's is measured against, compiled as it is. */
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

/** Compiles scripts/bench/rivals/<name>.ts with the settings of poterne's own build, into dist/bench/<name>. */
export async function compileRival(name: string): Promise<string> {
  const source = join(import.meta.dir, 'rivals', `${name}.ts`)
  const outfile = join(root, 'dist/bench', name)
  const made = statSync(outfile, { throwIfNoEntry: false })?.mtimeMs ?? 0
  if ([source, join(root, 'bun.lock')].every((from) => statSync(from).mtimeMs <= made)) return outfile
  mkdirSync(join(root, 'dist/bench'), { recursive: true })
  await Bun.build({
    entrypoints: [source],
    target: 'bun',
    format: 'esm',
    bytecode: true,
    minify: { whitespace: true, syntax: true, identifiers: false },
    define: { 'process.env.NODE_ENV': '"production"' },
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  })
  return outfile
}
