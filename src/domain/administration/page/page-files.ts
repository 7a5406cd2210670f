/**
 * The files of the page of administration, by name. A Bun macro: it runs while the code is bundled, so that the
 * executable holds their content.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export function readPageFiles(): Record<string, string> {
  const directory = join(import.meta.dir, 'page')
  const names = readdirSync(directory).sort()
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name), 'utf8')]))
}
