/**
 * The style and the script of the pages, which the executable holds. A Bun macro reads them while the code is bundled.
 * The script is one file, without comments and white space, since every first visit loads it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export function readAssets(): { style: string; script: string } {
  const read = (name: string) => readFileSync(join(import.meta.dir, name), 'utf8')
  const script = read('credentials.js').replaceAll(/^export /gm, '') + read('script.js')
  const shorter = new Bun.Transpiler({ loader: 'js', target: 'browser', minifyWhitespace: true })
  return { style: read('style.css'), script: shorter.transformSync(script) }
}
