/**
 * The problems of a configuration, collected so that all of them are reported at once, and how values are shown. Neither
 * this nor `config show` ever shows a secret.
 */

import { closest } from 'fastest-levenshtein'
import { isTable } from '../../texts/table.ts'
import type { KeyRule } from './rules.ts'

export interface ConfigProblem {
  /** `server.port`, `sms.gateways[0].url`, or the name of an environment variable or a file. */
  key: string
  /** The value as TOML, masked if it is secret; null if there is none to show. */
  value: string | null
  /** The value that was expected. */
  message: string
}

export type Report = ReturnType<typeof createReport>

export function createReport() {
  const problems: ConfigProblem[] = []
  const isWrong = (key: string) => problems.some((problem) => problem.key === key)
  /** Each key is reported once; after its first problem the others are noise. */
  const add = (key: string, message: string, value: string | null = null) => {
    if (!isWrong(key)) problems.push({ key, value, message })
  }
  return { problems, add, isWrong }
}

export function describeProblem({ key, value, message }: ConfigProblem): string {
  return value === null ? `${key}: ${message}` : `${key} = ${value}: ${message}`
}

/** `did you mean …?` with the nearest known name. */
export function suggestion(unknown: string, known: readonly string[]): string {
  return known.length === 0 ? '' : `; did you mean ${closest(unknown, known)}?`
}

const longestShown = 200

/** The value as TOML on one line, cut if it is long. */
export function showValue(rule: Pick<KeyRule<unknown, string>, 'secret'>, value: unknown): string {
  const shown = toToml(mask(rule, value))
  return shown.length > longestShown ? `${shown.slice(0, longestShown)}…` : shown
}

export function toToml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(', ')}]`
  if (isTable(value)) {
    const rows = Object.entries(value).map(([name, each]) => `${toTomlKey(name)} = ${toToml(each)}`)
    return rows.length === 0 ? '{}' : `{ ${rows.join(', ')} }`
  }
  // JSON's escapes are TOML's, except that TOML also wants DEL escaped.
  return typeof value === 'string' ? JSON.stringify(value).replaceAll('\x7f', '\\u007f') : String(value)
}

export const toTomlKey = (name: string): string => (/^[\w-]+$/.test(name) ? name : toToml(name))

const masked = '********'

/** The same shape with every secret text replaced. */
export function mask(rule: Pick<KeyRule<unknown, string>, 'secret'>, value: unknown): unknown {
  if (!rule.secret || value === null) return value
  if (Array.isArray(value)) return value.map((each) => mask(rule, each))
  if (isTable(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mask(rule, each)]))
  return rule.secret === 'address' && typeof value === 'string' ? maskAddress(value) : masked
}

/**
 * Shows the parts of a URL that are certainly not secret: the scheme as it was written, host and the name of a database. Credentials, query and
 * any other path are masked, because some gateways expect a key in the path. A URL that may have been misread (an
 * unescaped `@`, `/` or `#` in a password) is masked as a whole.
 */
function maskAddress(text: string): string {
  const url = /[\s\p{Cc}]/u.test(text) ? null : URL.parse(text)
  const credentials = url !== null && (url.username !== '' || url.password !== '')
  if (!url?.host || url.hash !== '' || text.includes('@') !== credentials) return masked
  if (url.pathname.includes('@')) return masked
  const isStore = /^(postgres(ql)?|rediss?):$/.test(url.protocol)
  const path = isStore || url.pathname.length <= 1 ? url.pathname : `/${masked}`
  const query = url.search === '' ? '' : `?${masked}`
  const scheme = text.slice(0, url.protocol.length)
  return `${scheme}//${credentials ? `${masked}@` : ''}${url.host}${path}${query}`
}
