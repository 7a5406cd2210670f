/** The style and the script of the pages, which the executable holds. A Bun macro reads them while the code is bundled. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export function readAssets(): { style: string; script: string } {
  const read = (name: string) => readFileSync(join(import.meta.dir, name), 'utf8')
  return { style: read('style.css'), script: read('script.js') }
}
