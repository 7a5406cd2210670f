/** The one style. A Bun macro reads it while the code is bundled, without comments and white space. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const readStyle = (): string => shorten(readFileSync(join(import.meta.dir, 'poterne.css'), 'utf8'))

export const shorten = (style: string): string =>
  style
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
    .replaceAll(/: (?=[^{}]*[;}])/g, ':')
    .replaceAll(';}', '}')
    .trim()
