/** Writes the texts of a language as the file that an operator edits. */
import { languageName } from './languages.ts'
import { placeholdersAt } from './read-file.ts'
import { isTable } from './table.ts'
import type { Texts } from './texts.ts'

/** Returns the file that `poterne texts init` writes: every text, in the words of `source`, ready to be translated. */
export function textsFile(tag: string, source: string, texts: Texts): string {
  const head =
    source === tag
      ? `The texts of ${languageName(tag)} as they are built in. Delete what you do not change: it then follows new versions.`
      : `The texts of ${languageName(tag)}, still in ${languageName(source)}. Delete what you do not translate: it then comes from texts.fallback.`
  return [
    `# ${head}`,
    '# [ … ] is left out where one of its values is missing; [ … | … ] then says what follows the bar.',
    '# `poterne texts check` says what is wrong, and `poterne texts preview` shows every message.',
    ...tablesOf('', texts as unknown as Record<string, unknown>),
    '',
  ].join('\n')
}

/** First the texts of a table, since whatever follows a heading belongs to it. */
function tablesOf(path: string, table: Record<string, unknown>): string[] {
  const entries = Object.entries(table)
  const rows = entries.filter(([, value]) => !isTable(value)).map(([key, value]) => row(key, value))
  const heading = path === '' || rows.length === 0 ? [] : ['', ...comment(path), `[${path}]`]
  const inner = entries.flatMap(([key, value]) =>
    isTable(value) ? tablesOf(path === '' ? key : `${path}.${key}`, value) : [],
  )
  return [...heading, ...rows, ...inner]
}

function comment(path: string): string[] {
  const [part, kind, name] = path.split('.')
  if (part !== 'messages' || (kind !== undefined && name === undefined && kind !== 'duration')) return []
  if (kind === undefined)
    return ['# {device}, {address} and {date} in circumstances, {duration} and {minutes} in below_code.']
  if (kind === 'duration')
    return ['# One for each plural of your language: zero, one, two, few, many, other.']
  const names = placeholdersAt(`${path}.sms`).map((each) => `{${each}}`)
  return [`# ${names.join(', ')}`]
}

function row(key: string, value: unknown): string {
  if (!Array.isArray(value)) return `${key} = ${quote(String(value))}`
  return `${key} = [\n${value.map((each) => `  ${quote(String(each))},\n`).join('')}]`
}

/** JSON's escapes are those of TOML. */
const quote = (text: string) => JSON.stringify(text)
