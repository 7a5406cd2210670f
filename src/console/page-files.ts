/**
 * The files of the page of administration, by name. A Bun macro: it runs while the code is bundled, so that the
 * executable holds their content.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { shorten } from '../platform/look/read-style.ts'

export function readPageFiles(): Record<string, string> {
  const directory = join(import.meta.dir, 'page')
  const paths = readdirSync(directory).map((name) => join(directory, name))
  // The pages for people have the same passkeys.
  paths.push(join(import.meta.dir, '../pages/frame/credentials.js'))
  const files = Object.fromEntries(
    paths.sort().map((path) => {
      const text = readFileSync(path, 'utf8')
      return [basename(path), path.endsWith('.css') ? shorten(text) : text]
    }),
  )
  const rules = ['../platform/look/line-breaks.ts', '../texts/browser-name.ts'].map((path) => {
    const text = readFileSync(join(import.meta.dir, path), 'utf8')
    return [basename(path, '.ts') + '.js', new Bun.Transpiler({ loader: 'ts' }).transformSync(text)]
  })
  return { ...files, ...Object.fromEntries(rules) }
}
