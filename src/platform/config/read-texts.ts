/** Reads the files that [texts] names: a language each, and the layout of e-mails. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { OwnTexts } from '../../texts/catalog.ts'
import { builtInTags, canonicalTag, type Language } from '../../texts/languages.ts'
import { findLayoutProblem } from '../../texts/layout.ts'
import { readOwnTexts } from '../../texts/read-file.ts'
import { type Report, toToml } from './report.ts'
import { describeFileError, parseToml } from './sources.ts'
import type { SchemaValues } from './values.ts'

export interface TextFiles {
  own: Record<Language, OwnTexts>
  /** It is null for the built-in one. */
  layoutHtml: string | null
}

export const noTextFiles: TextFiles = { own: {}, layoutHtml: null }

/**
 * Paths are relative to `directory`. Problems are reported with the file and the key in it. A value that was wrong by
 * itself is not there.
 */
export function readTextFiles(
  { texts, server }: Pick<SchemaValues, 'texts' | 'server'>,
  directory: string,
  report: Report,
): TextFiles {
  const own = texts.directory ? readLanguages(resolve(directory, texts.directory), report) : {}
  const tags = [...builtInTags, ...Object.keys(own)]
  for (const [key, tag] of [
    ['server.language', server.language],
    ['texts.fallback', texts.fallback],
  ] as const) {
    // A directory that cannot be read is reported itself.
    if (tags.includes(tag) || report.isWrong(key) || report.isWrong('texts.directory')) continue
    const expected = `expected one of ${tags.map((each) => `"${each}"`).join(', ')}`
    report.add(key, `${expected}, or a language with a file in texts.directory`, toToml(tag))
  }
  const layoutHtml = texts.layout ? readLayout(resolve(directory, texts.layout), report) : null
  return { own, layoutHtml }
}

function readLanguages(directory: string, report: Report): Record<Language, OwnTexts> {
  const files = reporting('texts.directory', directory, report, () =>
    readdirSync(directory).filter((name) => name.endsWith('.toml')),
  )
  const read = (files ?? []).sort().flatMap((name) => {
    const path = join(directory, name)
    const tag = canonicalTag(basename(name, '.toml'))
    if (tag === null) {
      const message = 'the file must be named after its language, such as de.toml or pt-BR.toml'
      report.add(path, message)
      return []
    }
    const texts = reporting(path, null, report, () => readLanguage(path, report))
    return texts === null ? [] : [{ path, tag, texts }]
  })
  for (const [at, { path, tag }] of read.entries()) {
    const first = read.findIndex((one) => one.tag === tag)
    if (first < at) report.add(path, `there is another file of this language, ${basename(read[first]!.path)}`)
  }
  return Object.fromEntries(read.map(({ tag, texts }) => [tag, texts]))
}

function readLanguage(path: string, report: Report): OwnTexts {
  requireFile(path)
  const { texts, problems } = readOwnTexts(parseToml(path))
  for (const { key, value, message } of problems) {
    report.add(`${path}: ${key}`, message, value === null ? null : toToml(value))
  }
  return texts
}

function readLayout(path: string, report: Report): string | null {
  return reporting('texts.layout', path, report, () => {
    requireFile(path)
    const html = readFileSync(path, 'utf8')
    const problem = findLayoutProblem(html)
    if (problem !== null) report.add('texts.layout', problem, toToml(path))
    return html
  })
}

/** A pipe that nobody writes to would be read for ever. */
function requireFile(path: string): void {
  if (!statSync(path).isFile()) throw Object.assign(new Error(`${path} is no file`), { code: 'EFTYPE' })
}

function reporting<Value>(key: string, path: string | null, report: Report, read: () => Value): Value | null {
  try {
    return read()
  } catch (error) {
    report.add(key, describeFileError(error), path === null ? null : toToml(path))
    return null
  }
}
