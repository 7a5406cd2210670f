/**
 * The files of the page of administration, by name. A Bun macro: it runs while the code is bundled, so that the
 * executable holds their content.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { shorten } from '../platform/look/read-style.ts'

const scripts = new Bun.Transpiler({ loader: 'js', minifyWhitespace: true })
/** What is for those who read the source goes to no browser. */
const shortened: Record<string, (text: string) => string> = {
  '.css': shorten,
  '.js': (text) => scripts.transformSync(text),
}

export function readPageFiles(): Record<string, string> {
  const directory = join(import.meta.dir, 'page')
  const paths = readdirSync(directory).map((name) => join(directory, name))
  // The pages for people have the same passkeys.
  paths.push(join(import.meta.dir, '../pages/frame/credentials.js'))
  const files = Object.fromEntries(
    paths.sort().map((path) => {
      const text = readFileSync(path, 'utf8')
      return [basename(path), shortened[extname(path)]?.(text) ?? text]
    }),
  )
  const rules = ['../platform/look/line-breaks.ts', '../texts/browser-name.ts'].map((path) => {
    const text = readFileSync(join(import.meta.dir, path), 'utf8')
    return [basename(path, '.ts') + '.js', new Bun.Transpiler({ loader: 'ts' }).transformSync(text)]
  })
  return { ...files, ...Object.fromEntries(rules) }
}
