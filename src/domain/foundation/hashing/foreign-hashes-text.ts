/** The code of foreign-hashes.ts for the hashing threads. A Bun macro: it runs while the code is bundled. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** As a script, which an `eval` takes. */
export function foreignHashesText(): string {
  const text = readFileSync(join(import.meta.dir, 'foreign-hashes.ts'), 'utf8')
  return new Bun.Transpiler({ loader: 'ts', target: 'bun' })
    .transformSync(text)
    .replace(/^.*?import (\{[^}]*\}) from "(node:[a-z]+)";?/m, "const $1 = require('$2')")
    .replace(/^export /gm, '')
}
