/**
 * The script of the pages, which the executable holds. A Bun macro reads it while the code is bundled. It is one file, in few
 * bytes, since every first visit loads it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export function readScript(): string {
  const read = (name: string) => readFileSync(join(import.meta.dir, name), 'utf8')
  const script = read('credentials.js').replaceAll(/^export /gm, '') + read('script.js')
  const minify = { whitespace: true, identifiers: true, syntax: true }
  const shorter = new Bun.Transpiler({ loader: 'js', target: 'browser', minify } as Bun.TranspilerOptions)
  return shorter.transformSync(script)
}
