/** The kinds of values that only a gateway has: texts with placeholders, and small tables with keys of their own. */
import { isTable } from '../../texts/table.ts'
import { placeholderNames, type Template, unknownPlaceholders } from './placeholders.ts'
import { createRule, type KeyRule, type Reading } from './rules.ts'

const knownPlaceholders = placeholderNames.map((name) => `{${name}}`).join(', ')

/** Wrong for a reason that may be shown, though the value as a whole may not. */
const wrongFor = (reason: string): { wrong: unknown; reason: string } => ({ wrong: null, reason })

/** Looks like the name of a placeholder, and not like a part of somebody's key. */
const isName = (name: string) => /^[a-z_]{1,32}$/.test(name)

function refuseUnknown<Value extends Template>(value: Value, unknown: string | undefined): Reading<Value> {
  if (unknown === undefined) return { value }
  const name = isName(unknown) ? `unknown placeholder {${unknown}}` : 'unknown placeholder'
  return wrongFor(`${name}; expected one of ${knownPlaceholders}, or {{ for a brace`)
}

/**
 * Returns the value of a rule after the placeholders of its texts were checked as well. A key of a gateway may hold
 * braces: what does not look like a name is left as it is.
 */
export function withPlaceholders<Value extends Template>(rule: KeyRule<Value>): KeyRule<Value> {
  return {
    ...rule,
    read(raw) {
      const reading = rule.read(raw)
      return 'wrong' in reading
        ? reading
        : refuseUnknown(reading.value, unknownPlaceholders(reading.value).find(isName))
    },
  }
}

/** A table of texts, numbers, truth values, and of tables and arrays of them. */
export function template(doc: string, example: Record<string, Template>): KeyRule<Record<string, Template>> {
  const expected = 'a table of texts, numbers, tables and arrays in which texts may hold placeholders'
  const read = (raw: unknown): Reading<Record<string, Template>> =>
    isTable(raw) && isTemplate(raw) ? refuseUnknown(raw, unknownPlaceholders(raw)[0]) : { wrong: raw }
  return createRule(
    { kind: 'table', doc, initial: {}, expected, suffix: '', read },
    { example, secret: 'all' },
  )
}

function isTemplate(raw: unknown): raw is Record<string, Template> {
  if (typeof raw === 'string' || typeof raw === 'boolean') return true
  if (typeof raw === 'number') return Number.isFinite(raw)
  return Array.isArray(raw) ? raw.every(isTemplate) : isTable(raw) && Object.values(raw).every(isTemplate)
}

/** The reader of one key of a small table: undefined where the value does not fit. */
type Field<Value> = { expected: string; required: boolean; read(raw: unknown): Value | undefined }
type Fields = Record<string, Field<unknown>>
export type FieldValues<Of extends Fields> = {
  [Name in keyof Of]: Of[Name] extends Field<infer Value> ? Value : never
}

const isText = (raw: unknown): raw is string => typeof raw === 'string' && raw !== '' && !raw.includes('\0')
const isScalar = (raw: unknown) => ['string', 'number', 'boolean'].includes(typeof raw)

export const fields = {
  text: (check: (text: string) => boolean = () => true, expected = 'a text'): Field<string> => ({
    expected,
    required: true,
    read: (raw) => (isText(raw) && check(raw) ? raw : undefined),
  }),
  optionalText: (
    check: (text: string) => boolean = () => true,
    expected = 'a text',
  ): Field<string | null> => ({
    expected,
    required: false,
    read: (raw) => (raw === undefined ? null : isText(raw) && check(raw) ? raw : undefined),
  }),
  choice: <const Word extends string>(words: readonly Word[]): Field<Word | null> => ({
    expected: `one of ${words.map((word) => `"${word}"`).join(', ')}`,
    required: false,
    read: (raw) => (raw === undefined ? null : words.find((word) => word === raw)),
  }),
  /** Values are compared as text. */
  values: (): Field<string[]> => ({
    expected: 'a list of texts',
    required: false,
    read: (raw) => {
      if (raw === undefined) return []
      return Array.isArray(raw) && raw.length > 0 && raw.every(isScalar) ? raw.map(String) : undefined
    },
  }),
  optionalValue: (): Field<string | null> => ({
    expected: 'a text or number',
    required: false,
    read: (raw) => (raw === undefined ? null : isScalar(raw) ? String(raw) : undefined),
  }),
  optionalBoolean: (): Field<boolean | null> => ({
    expected: 'true or false',
    required: false,
    read: (raw) => (raw === undefined ? null : typeof raw === 'boolean' ? raw : undefined),
  }),
}

interface FieldTableOptions<Of extends Fields> {
  doc: string
  fields: Of
  example: Record<string, unknown>
  secret?: 'all'
  /** Returns the problem of the values together, or null. */
  check?(values: FieldValues<Of>): string | null
}

/** A table whose keys are known; null where it is not set. */
export function tableOfFields<Of extends Fields>(
  options: FieldTableOptions<Of>,
): KeyRule<FieldValues<Of> | null> {
  const { doc, check = () => null } = options
  const names = Object.keys(options.fields)
  const read = (raw: unknown): Reading<FieldValues<Of>> => {
    if (!isTable(raw)) return { wrong: raw }
    const unknown = Object.keys(raw).find((name) => !names.includes(name))
    if (unknown !== undefined) return wrongFor(`unknown key ${unknown}; expected one of ${names.join(', ')}`)
    const values: Record<string, unknown> = {}
    for (const [name, field] of Object.entries(options.fields)) {
      const value = raw[name] === undefined && field.required ? undefined : field.read(raw[name])
      if (value === undefined) return wrongFor(`${name}: expected ${field.expected}`)
      values[name] = value
    }
    const problem = check(values as FieldValues<Of>)
    return problem === null ? { value: values as FieldValues<Of> } : wrongFor(problem)
  }
  const expected = `a table of ${names.join(', ')}`
  return createRule(
    { kind: 'table', doc, initial: null, expected, suffix: '', read },
    { ...options, alternative: true },
  )
}
