/** Checks what an operator wrote as the texts of a language against the built-in ones. */
import { closest } from 'fastest-levenshtein'
import type { OwnTexts } from './catalog.ts'
import { languages } from './languages.ts'
import { isTable } from './table.ts'
import { parseTemplate } from './template.ts'

interface TextProblem {
  /** `messages.codes.confirmation.sms` */
  key: string
  /** The text, where there is one to show. */
  value: string | null
  message: string
}

/** French has every key, and every placeholder that a message has. */
const reference: Record<string, unknown> = languages.fr

/** The texts of a parsed file, and all that is wrong with them. */
export function readOwnTexts(table: Record<string, unknown>): { texts: OwnTexts; problems: TextProblem[] } {
  return { texts: table as OwnTexts, problems: checkTable('', table, reference) }
}

function wrong(key: string, value: unknown, message: string): TextProblem[] {
  return [{ key, value: typeof value === 'string' ? value : null, message }]
}

function checkTable(path: string, table: Record<string, unknown>, known: Record<string, unknown>) {
  return Object.entries(table).flatMap(([name, value]) => {
    const key = path === '' ? name : `${path}.${name}`
    if (Object.hasOwn(known, name)) return checkValue(key, value, known[name])
    return wrong(key, value, `there is no such text; did you mean ${closest(name, Object.keys(known))}?`)
  })
}

function checkValue(key: string, value: unknown, known: unknown): TextProblem[] {
  if (key === 'messages.duration') return checkPlurals(key, value)
  if (isTable(known)) {
    return isTable(value) ? checkTable(key, value, known) : wrong(key, value, 'expected a table')
  }
  if (!Array.isArray(known)) {
    return typeof value === 'string' ? checkText(key, value, key) : wrong(key, value, 'expected a text')
  }
  const isList = Array.isArray(value) && value.every((each) => typeof each === 'string')
  if (!isList) return wrong(key, value, 'expected a list of texts')
  if (key === 'messages.quotes' && value.length !== 2) return wrong(key, null, 'expected two quotation marks')
  return value.flatMap((text, index) => checkText(`${key}[${index}]`, text, key))
}

const categories = ['zero', 'one', 'two', 'few', 'many', 'other']

function checkPlurals(key: string, value: unknown): TextProblem[] {
  if (!isTable(value)) return wrong(key, value, 'expected a table')
  const problems = Object.entries(value).flatMap(([category, text]) => {
    const at = `${key}.${category}`
    if (!categories.includes(category)) return wrong(at, text, `expected one of ${categories.join(', ')}`)
    return typeof text === 'string' ? checkText(at, text, `${key}.other`) : wrong(at, null, 'expected a text')
  })
  if ('other' in value) return problems
  return [
    ...problems,
    ...wrong(`${key}.other`, null, 'must be there: it is used for all numbers without a form of their own'),
  ]
}

/** `key` is shown; `place` is the key of the built-in text. */
function checkText(key: string, text: string, place: string): TextProblem[] {
  if (text.trim() === '') return wrong(key, text, 'must not be empty')
  if (/\p{Cc}/u.test(text))
    return wrong(key, null, 'must be one line: a list has one text for each paragraph')
  const { names, problem } = parseTemplate(text)
  const known = placeholdersAt(place)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const expected = known.length === 0 ? 'this text has none' : `expected ${known.map(braced).join(', ')}`
    return wrong(key, text, `unknown placeholder {${unknown}}; ${expected}`)
  }
  if (isCodeSms(place) && !names.includes('code')) return wrong(key, text, 'must hold {code}')
  if (!/^(messages|undo)\./.test(place) || problem === null) return []
  return wrong(key, text, `there is ${problem}; write {{, }}, [[ or ]] for a brace or a bracket itself`)
}

const braced = (name: string) => `{${name}}`
const isCodeSms = (place: string) => /^messages\.codes\.\w+\.sms$/.test(place)

/** The placeholders that mean something in the text at a key. */
export function placeholdersAt(place: string): string[] {
  const [part, kind, name] = place.split('.')
  if (part !== 'messages') return placeholdersIn(textAt(place))
  if (kind === 'codes') return ['service', 'minutes', 'duration', ...(isCodeSms(place) ? ['code'] : [])]
  if (kind === 'below_code' || kind === 'unasked') return ['service', 'minutes', 'duration']
  if (kind === 'notices')
    return [...new Set(['service', ...placeholdersIn(textAt(`messages.notices.${name}`))])]
  if (kind === 'circumstances') return ['service', ...placeholdersIn(textAt(place))]
  return placeholdersIn(textAt(place))
}

/** The built-in French text, list or table at a key; all of them for the empty key. */
export function textAt(place: string): unknown {
  const names = place === '' ? [] : place.split('.')
  return names.reduce<unknown>(
    (value, name) => (isTable(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    reference,
  )
}

/** The texts and lists of texts with their keys; plural forms count as one. */
export function leavesOf(root: unknown, path = ''): { key: string; value: unknown }[] {
  if (!isTable(root) || 'other' in root) return [{ key: path, value: root }]
  return Object.entries(root).flatMap(([name, value]) =>
    leavesOf(value, path === '' ? name : `${path}.${name}`),
  )
}

/** The placeholders that fill a text or any text of a list or table, each once. */
export const placeholdersIn = (value: unknown): string[] => [
  ...new Set(textsIn(value).flatMap((text) => parseTemplate(text).names)),
]

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isTable(value) ? Object.values(value).flatMap(textsIn) : []
}
