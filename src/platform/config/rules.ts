/**
 * The kinds of values that a key can have: how a value is read from TOML and from the environment, what is expected, and
 * how it is shown. A rule knows neither its key nor other values, and it never throws.
 */
import { isTable } from '../../texts/table.ts'
import { formatDuration, parseDuration } from '../duration.ts'

/** `wrong` is the unexpected part: for a list, the item. `reason`: a message of its own, shown without the value. */
export type Reading<Value> = { value: Value } | { wrong: unknown; reason?: string }

export interface KeyRule<Value, Suffix extends string = ''> {
  /** The name of the kind for people: `integer`, `duration`. */
  kind: string
  doc: string
  /** The default as in TOML. null: not set; undefined: must be set. */
  initial: unknown
  /** Shown in the commented example instead of the default. */
  example: unknown
  /** Set instead of another key, so that the example only mentions it. */
  alternative: boolean
  /** `all`: never shown. `address`: only the host of the URL is shown. */
  secret: false | 'all' | 'address'
  expected: string
  /** The unit at the end of the name in `Config`. */
  suffix: Suffix
  read(raw: unknown): Reading<Value>
  /** Converts the text of an environment variable to the TOML value; a text that does not fit stays a text. */
  fromText(text: string): unknown
}

interface Options {
  example?: unknown
  alternative?: boolean
  secret?: 'all' | 'address'
}

interface TextOptions extends Options {
  check?: (text: string) => boolean
  expected?: string
  /** Returns the problem of a text that `check` refuses, to be shown instead of the text and the expected value. */
  reason?: (text: string) => string | null
  emptyAllowed?: boolean
  /** An empty variable of the environment unsets it: nothing is stored elsewhere or guarded less without it. */
  emptyUnsets?: boolean
}

export function createRule<Value, Suffix extends string = ''>(
  parts: Pick<KeyRule<Value, Suffix>, 'kind' | 'doc' | 'initial' | 'expected' | 'suffix' | 'read'> &
    Partial<Pick<KeyRule<Value, Suffix>, 'fromText'>>,
  options: Options,
): KeyRule<Value, Suffix> {
  return {
    fromText: (text) => text,
    ...parts,
    example: options.example,
    alternative: options.alternative ?? false,
    secret: options.secret ?? false,
  }
}

/** Returns the form in which a text of the file refers to an environment variable. */
export const variable = (name: string): string => `\${${name}}`

/** Marks a key without a default, which must be set. */
export const required = undefined

export function text(initial: string | undefined, doc: string, options?: TextOptions): KeyRule<string>
export function text(initial: null, doc: string, options?: TextOptions): KeyRule<string | null>
export function text(
  initial: string | null | undefined,
  doc: string,
  options: TextOptions = {},
): KeyRule<string> {
  const { check = () => true, emptyAllowed = false, expected = 'a text that is not empty' } = options
  const read = (raw: unknown): Reading<string> => {
    if (typeof raw !== 'string') return { wrong: raw }
    if ((emptyAllowed || raw !== '') && !raw.includes('\0') && check(raw)) return { value: raw }
    const reason = options.reason?.(raw)
    return reason ? { wrong: raw, reason } : { wrong: raw }
  }
  const fromText = (given: string) => (options.emptyUnsets && given === '' ? null : given)
  return createRule({ kind: 'text', doc, initial, expected, suffix: '', read, fromText }, options)
}

/** A text that `decode` converts to 32 bytes. */
export function bytes(
  doc: string,
  decode: (text: string) => Uint8Array | null,
  expected: string,
  options: Options,
): KeyRule<Uint8Array | null> {
  const read = (raw: unknown): Reading<Uint8Array> => {
    const value = typeof raw === 'string' ? decode(raw) : null
    return value ? { value } : { wrong: raw }
  }
  return createRule<Uint8Array | null>(
    { kind: 'text', doc, initial: null, expected, suffix: '', read },
    options,
  )
}

export function wholeNumber(initial: number, [minimum, maximum]: [number, number], doc: string) {
  const read = (raw: unknown): Reading<number> =>
    typeof raw === 'number' && Number.isSafeInteger(raw) && raw >= minimum && raw <= maximum
      ? { value: raw }
      : { wrong: raw }
  const fromText = (digits: string) => (/^-?\d{1,16}$/.test(digits) ? Number(digits) : digits)
  const expected = `an integer from ${minimum} to ${maximum}`
  return createRule(
    { kind: `integer, ${minimum} to ${maximum}`, doc, initial, expected, suffix: '', read, fromText },
    {},
  )
}

export function boolean(initial: boolean, doc: string): KeyRule<boolean>
/** It is null where nobody stated it. */
export function boolean(initial: null, doc: string, options: Options): KeyRule<boolean | null>
export function boolean(initial: boolean | null, doc: string, options: Options = {}) {
  const read = (raw: unknown): Reading<boolean> =>
    typeof raw === 'boolean' ? { value: raw } : { wrong: raw }
  const fromText = (word: string) => (word === 'true' ? true : word === 'false' ? false : word)
  return createRule<boolean | null>(
    { kind: 'boolean', doc, initial, expected: 'true or false', suffix: '', read, fromText },
    options,
  ) as KeyRule<boolean>
}

/** A text with a unit, read as whole seconds; the bounds are written in the same way. */
export function duration(initial: string, bounds: [string, string], doc: string): KeyRule<number, 'Seconds'> {
  return durationRule(initial, bounds, doc, 1000, 'Seconds')
}

/** The same, or "never", which is null and the default. */
export function durationOrNever(bounds: [string, string], doc: string): KeyRule<number | null> {
  const rule = durationRule('1d', bounds, doc, 1000, 'Seconds')
  return {
    ...rule,
    kind: `${rule.kind}, or "never"`,
    initial: 'never',
    expected: `"never", or ${rule.expected}`,
    suffix: '',
    read: (raw) => (raw === 'never' ? { value: null } : rule.read(raw)),
  }
}

/** The same in milliseconds. */
export function shortDuration(initial: string, bounds: [string, string], doc: string): KeyRule<number, 'Ms'> {
  return durationRule(initial, bounds, doc, 1, 'Ms')
}

function durationRule<Suffix extends string>(
  initial: string,
  [minimum, maximum]: [string, string],
  doc: string,
  stepMs: number,
  suffix: Suffix,
): KeyRule<number, Suffix> {
  const [minimumMs, maximumMs] = [parseDuration(minimum) ?? 0, parseDuration(maximum) ?? 0]
  const read = (raw: unknown): Reading<number> => {
    const durationMs = typeof raw === 'string' ? parseDuration(raw) : null
    const fits =
      durationMs !== null && durationMs % stepMs === 0 && durationMs >= minimumMs && durationMs <= maximumMs
    return fits ? { value: durationMs / stepMs } : { wrong: raw }
  }
  const sample = formatDuration(parseDuration(initial) ?? minimumMs)
  const units = stepMs === 1 ? 'ms, s, m, h, d' : 's, m, h, d'
  const expected = `a duration from "${minimum}" to "${maximum}" with its unit (${units}), such as "${sample}"`
  return createRule({ kind: `duration, ${minimum} to ${maximum}`, doc, initial, expected, suffix, read }, {})
}

export function choice<const Word extends string>(
  initial: NoInfer<Word>,
  words: readonly Word[],
  doc: string,
): KeyRule<Word>
export function choice<const Word extends string>(
  initial: null,
  words: readonly Word[],
  doc: string,
  options?: Options,
): KeyRule<Word | null>
export function choice(
  initial: string | null,
  words: readonly string[],
  doc: string,
  options: Options = {},
): KeyRule<string> {
  const read = (raw: unknown): Reading<string> =>
    typeof raw === 'string' && words.includes(raw) ? { value: raw } : { wrong: raw }
  const quoted = words.map((word) => `"${word}"`)
  const expected = `one of ${quoted.join(', ')}`
  return createRule({ kind: quoted.join(' or '), doc, initial, expected, suffix: '', read }, options)
}

interface ListOptions extends Options {
  check: (item: string) => boolean
  /** Returns the problem of an item that `check` refuses, as for a text. */
  reason?: (item: string) => string | null
  /** The form that each item is expected to have. */
  item: string
  /** Converts an accepted item to the form that the service reads. */
  normalize?: (item: string) => string
  /** Default: none. */
  initial?: readonly string[]
}

export function list(doc: string, options: ListOptions): KeyRule<string[]> {
  const { check, item: form, normalize = (accepted) => accepted, initial = [] } = options
  const read = (raw: unknown): Reading<string[]> => {
    if (!Array.isArray(raw)) return { wrong: raw }
    const wrong = raw.findIndex((each) => typeof each !== 'string' || !check(each))
    if (wrong === -1) return { value: (raw as string[]).map(normalize) }
    const item = raw[wrong]
    const reason = typeof item === 'string' ? options.reason?.(item) : null
    return reason ? { wrong: item, reason: `item ${wrong + 1}: ${reason}` } : { wrong: item }
  }
  const fromText = (words: string) => (words.trim() === '' ? [] : words.split(',').map((word) => word.trim()))
  const expected = `a list in which each item is ${form}`
  return createRule({ kind: 'list of texts', doc, initial, expected, suffix: '', read, fromText }, options)
}

/** A program and its arguments, which no shell reads; `placeholder` stands in one of them. */
export function command(doc: string, placeholder: string, example: string[]): KeyRule<string[] | null> {
  const wrongFor = (reason: string): Reading<never> => ({ wrong: null, reason })
  const read = (raw: unknown): Reading<string[]> => {
    if (!Array.isArray(raw) || raw.some((each) => typeof each !== 'string' || each.includes('\0')))
      return { wrong: raw }
    const [program, ...args] = raw as string[]
    if (program === undefined) return wrongFor('is empty: name a command, or leave the key out')
    if (!program.startsWith('/'))
      return wrongFor('expected the whole path of the command, since no shell looks for it')
    if (!args.some((each) => each.includes(placeholder)))
      return wrongFor(`expected ${placeholder} in one of the arguments`)
    return { value: [program, ...args] }
  }
  const expected = `a list of texts: a command with its whole path, and its arguments, of which one holds ${placeholder}`
  const { fromText } = list('', { check: () => true, item: '' })
  const kind = 'list of texts'
  return createRule<string[] | null>(
    { kind, doc, initial: null, expected, suffix: '', read, fromText },
    { example },
  )
}

interface TableOptions extends Options {
  check: (name: string, value: string) => boolean
  expected: string
}

/** A TOML table of texts; without a default it must be set and not be empty. */
export function table(
  initial: Record<string, string> | undefined,
  doc: string,
  options: TableOptions,
): KeyRule<Record<string, string>> {
  const read = (raw: unknown): Reading<Record<string, string>> => {
    if (!isTable(raw)) return { wrong: raw }
    const rows = Object.entries(raw)
    const wrong = rows.find(([name, value]) => typeof value !== 'string' || !options.check(name, value))
    if (wrong) return { wrong: { [wrong[0]]: wrong[1] } }
    return rows.length === 0 && initial === undefined
      ? { wrong: raw }
      : { value: Object.fromEntries(rows as [string, string][]) }
  }
  return createRule(
    { kind: 'table of texts', doc, initial, expected: options.expected, suffix: '', read },
    options,
  )
}
