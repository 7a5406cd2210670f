/** The one style. A Bun macro reads it while the code is bundled, without comments and white space. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export function readStyle(): string {
  return readFileSync(join(import.meta.dir, 'poterne.css'), 'utf8')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(/: (?=[^{}]*[;}])/g, ':')
    .replaceAll(';}', '}')
    .trim()
}
