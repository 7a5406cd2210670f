/**
 * Reads every key of the table from the environment, the file or its default. Reports unexpected values and unknown
 * sections, keys and variables. Rules about several keys are in checks.ts.
 */

import { closest, distance } from 'fastest-levenshtein'
import { isTable } from '../../texts/table.ts'
import { type Report, showValue, suggestion, toTomlKey } from './report.ts'
import type { KeyRule } from './rules.ts'
import { type Keys, type Section, sections, type TableList } from './schema.ts'
import { type ConfigFile, type Environment, expandVariables, readEnvironment } from './sources.ts'
import type { SchemaValues } from './values.ts'

export type Origin = 'default' | 'file' | 'environment' | 'option'

/** One key with its value as in TOML, for `config show`. */
export interface Setting {
  /** `server` or `sms.gateways[0]`. */
  section: string
  key: string
  rule: KeyRule<unknown, string>
  raw: unknown
  origin: Origin
  /** The environment variable that it came from. */
  variable: string | null
}

export interface Settings {
  /** Despite its type, a key that was reported as wrong is undefined here: ask the report first. */
  values: SchemaValues
  settings: Setting[]
}

/** The value of the setting with this key, as problems show it; null unless somebody set it. */
export function shownValue(settings: Setting[], at: string): string | null {
  const setting = settings.find(({ section, key }) => `${section}.${key}` === at)
  const isSet = setting && setting.raw !== null && setting.origin !== 'default'
  return isSet ? showValue(setting.rule, setting.raw) : null
}

const variableOf = (section: string, key: string): string => `POTERNE_${section}_${key}`.toUpperCase()

/** `access_lifetime` and `Seconds` become `accessLifetimeSeconds`. */
export const propertyOf = (key: string, suffix = ''): string =>
  key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) + suffix

export function readSettings(file: ConfigFile | null, env: Environment, report: Report): Settings {
  const settings: Setting[] = []
  const reading: Reading = { env, report, settings }
  const table = file?.table ?? {}
  reportUnknownSections(table, report)
  const values: Record<string, unknown> = {}
  for (const [name, section] of Object.entries(sections)) {
    const raw = Object.hasOwn(table, name) ? table[name] : undefined
    values[propertyOf(name)] = section.entries
      ? readEntries(name, section.entries, raw, reading)
      : section.rows
        ? readTables(name, { keys: section.rows }, raw ?? [], reading)
        : readSection(name, section, raw, reading)
  }
  reportUnknownVariables(env, file?.variables ?? new Set(), report)
  return { values: values as unknown as SchemaValues, settings }
}

interface Reading {
  env: Environment
  report: Report
  settings: Setting[]
}

type Row = Record<string, unknown>

function readSection(name: string, section: Section, raw: unknown, reading: Reading): Row | null {
  const inEnvironment = Object.entries(section.keys).some(([key, rule]) => {
    const variable = variableOf(name, key)
    const text = reading.env[variable]
    return (
      (text !== undefined && rule.fromText(text) !== null) || reading.env[`${variable}_FILE`] !== undefined
    )
  })
  if (section.optional && raw === undefined && !inEnvironment) return null
  const table = tableOrReport(name, raw ?? {}, `expected a section, [${name}]`, reading.report)
  const values = readKeys(name, section.keys, table, reading, (key) =>
    readEnvironment(variableOf(name, key), reading.env),
  )
  const known = [...Object.keys(section.keys), ...Object.keys(section.lists)]
  reportUnknownKeys(name, table, known, reading.report)
  for (const [list, description] of Object.entries(section.lists)) {
    values[propertyOf(list)] = readTables(`${name}.${list}`, description, table[list] ?? [], reading)
  }
  return values
}

/** A section whose keys are free: one rule reads all of them. */
function readEntries(
  name: string,
  rule: KeyRule<unknown, string>,
  raw: unknown,
  { env, report, settings }: Reading,
) {
  const found = findRaw(rule, raw, null, env)
  const read = 'problem' in found ? null : rule.read(found.raw)
  if (read !== null && 'value' in read) {
    for (const [key, each] of Object.entries(raw ?? {}))
      settings.push({ section: name, key, rule, raw: each, origin: 'file', variable: null })
    return read.value
  }
  const message = 'problem' in found ? found.problem : (read?.reason ?? `expected a section, [${name}]`)
  report.add(name, message)
  return rule.initial
}

function readTables(name: string, { keys }: Pick<TableList, 'keys'>, raw: unknown, reading: Reading): Row[] {
  if (!Array.isArray(raw)) {
    reading.report.add(name, `expected tables that begin with [[${name}]]`)
    return []
  }
  return raw.map((each, index) => {
    const key = `${name}[${index}]`
    const table = tableOrReport(key, each, `expected tables that begin with [[${name}]]`, reading.report)
    reportUnknownKeys(key, table, Object.keys(keys), reading.report)
    return readKeys(key, keys, table, reading, () => null)
  })
}

function tableOrReport(key: string, raw: unknown, message: string, report: Report): Row {
  if (isTable(raw)) return raw
  report.add(key, message)
  return {}
}

function readKeys(
  section: string,
  keys: Keys,
  table: Row,
  { env, report, settings }: Reading,
  readVariable: (key: string) => ReturnType<typeof readEnvironment>,
): Row {
  const values: Row = {}
  for (const [key, rule] of Object.entries(keys)) {
    const path = `${section}.${key}`
    const found = findRaw(rule, table[key], readVariable(key), env)
    if ('problem' in found) {
      // A section that is not a table has already been reported; do not report its keys as missing as well.
      if (!report.isWrong(section)) report.add(path, found.problem)
      continue
    }
    const { raw, origin, variable } = found
    const reading = raw === null ? { value: null } : rule.read(raw)
    if ('wrong' in reading) {
      const source = variable === null ? '' : ` (from ${variable})`
      report.add(
        path,
        reading.reason ?? `expected ${rule.expected}${source}`,
        reading.reason === undefined ? showValue(rule, reading.wrong) : null,
      )
      continue
    }
    values[propertyOf(key, rule.suffix)] = reading.value
    settings.push({ section, key, rule, raw, origin, variable })
  }
  return values
}

type Found = Pick<Setting, 'raw' | 'origin' | 'variable'> | { problem: string }

function findRaw(
  rule: KeyRule<unknown, string>,
  fromFile: unknown,
  fromEnvironment: ReturnType<typeof readEnvironment>,
  env: Environment,
): Found {
  if (fromEnvironment) {
    if ('problem' in fromEnvironment) return fromEnvironment
    const { text, variable } = fromEnvironment
    return { raw: rule.fromText(text), origin: 'environment', variable }
  }
  if (fromFile !== undefined) {
    const expanded = expandVariables(fromFile, env)
    return 'problem' in expanded ? expanded : { raw: expanded.value, origin: 'file', variable: null }
  }
  if (rule.initial === undefined) return { problem: `must be set; expected ${rule.expected}` }
  return { raw: rule.initial, origin: 'default', variable: null }
}

function reportUnknownSections(table: Row, report: Report): void {
  const names = Object.keys(sections)
  for (const name of Object.keys(table)) {
    if (Object.hasOwn(sections, name)) continue
    const key = toTomlKey(name)
    if (isTable(table[name]) || Array.isArray(table[name])) {
      report.add(key, `unknown section${suggestion(name, names)}`)
    } else {
      const places = sectionsThatKnow(closest(name, allKeys())).join(' or ')
      report.add(key, `unknown key outside every section; did you mean ${places}?`)
    }
  }
}

/**
 * Suggests the nearest known key. One of another section is named together with its section; if two are equally near,
 * the key's own section wins. If none is near, the keys of the section are listed.
 */
function reportUnknownKeys(section: string, table: Row, known: string[], report: Report): void {
  const isListed = section.endsWith(']')
  for (const key of Object.keys(table)) {
    if (known.includes(key)) continue
    const nearest = closest(key, isListed ? known : [...known, ...allKeys()])
    const hint = known.includes(nearest) ? `${section}.${nearest}` : sectionsThatKnow(nearest).join(' or ')
    const isNear = distance(key, nearest) <= Math.min(MOST_TYPING_ERRORS, key.length / 2)
    report.add(
      `${section}.${toTomlKey(key)}`,
      isNear
        ? `unknown key; did you mean ${hint}?`
        : `unknown key; ${section} has ${known.toSorted().join(', ')}`,
    )
  }
}

const MOST_TYPING_ERRORS = 3

const allKeys = (): string[] => Object.values(sections).flatMap((section) => Object.keys(section.keys))

const sectionsThatKnow = (key: string): string[] =>
  Object.entries(sections).flatMap(([name, { keys }]) => (Object.hasOwn(keys, key) ? [`${name}.${key}`] : []))

/** Kubernetes sets such variables in every container for a service named poterne or poterne-redis; ignore them. */
const isServiceLink = (name: string, value: string) =>
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(name) ||
  /^(tcp|udp|sctp):\/\//.test(value)

/** The path of the file, and what the samples call the address and the key of --dev: their shell may start poterne, too. */
const OTHERS = new Set(['POTERNE_CONFIG', 'POTERNE_URL', 'POTERNE_DEV_KEY'])

/** A variable that begins with POTERNE_ and that nobody reads is a typing error. The file may refer to others. */
function reportUnknownVariables(env: Environment, named: Set<string>, report: Report): void {
  const known = Object.entries(sections).flatMap(([name, { keys }]) =>
    Object.keys(keys).flatMap((key) => [variableOf(name, key), `${variableOf(name, key)}_FILE`]),
  )
  const lists = Object.entries(sections).flatMap(([name, section]) => [
    ...(section.rows ? [name] : []),
    ...Object.keys(section.lists).map((list) => `${name}.${list}`),
  ])
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('POTERNE_') || value === undefined || named.has(name)) continue
    if (known.includes(name) || OTHERS.has(name) || isServiceLink(name, value)) continue
    const list = lists.find((each) => name.startsWith(variableOf(each, '').replace('.', '_').slice(0, -1)))
    const hint = list ? `; [[${list}]] stands in the file only` : hintFor(name, known)
    report.add(name, `unknown environment variable${hint}`)
  }
}

/** `POTERNE_PORT` lacks its section: every section that knows the key is named. Others: the nearest one, where near. */
function hintFor(name: string, known: string[]): string {
  const key = name.slice('POTERNE_'.length)
  const longer = known.filter((each) => each.endsWith(`_${key}`))
  if (longer.length > 0) return `; did you mean ${longer.join(' or ')}?`
  return distance(closest(name, known), name) <= 4 ? suggestion(name, known) : ''
}
