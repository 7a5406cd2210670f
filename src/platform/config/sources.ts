/**
 * The sources of values: the file, which is found and parsed here, and the environment. This module knows no keys. It
 * reports problems instead of throwing, and never includes a value in them.
 */

import { lstatSync, readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import { isTable } from '../../texts/table.ts'
import { currentUser } from '../data-directory.ts'
import type { Report } from './report.ts'
import { variable } from './rules.ts'

export type Environment = Record<string, string | undefined>

/** The names of the environment variables that a text refers to as `${NAME}`. */
export const variablesIn = (text: string): string[] =>
  [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name as string)

export interface ConfigFile {
  path: string
  table: Record<string, unknown>
  /** The environment variables that its texts refer to. */
  variables: Set<string>
}

interface Candidate {
  path: string
  /** Somebody named it, so it must exist. */
  named: boolean
}

/** Returns the files in the order in which they are tried; the first one that exists is used. */
export function configFileCandidates(named: string | undefined, env: Environment): Candidate[] {
  if (named !== undefined) return [{ path: named, named: true }]
  if (env.POTERNE_CONFIG) return [{ path: env.POTERNE_CONFIG, named: true }]
  return ['config.toml', '/etc/poterne/config.toml'].map((path) => ({ path, named: false }))
}

/**
 * It returns null if none of the candidates exists. It has no table if the chosen one cannot be used, which is
 * reported.
 */
export function readConfigFile(
  candidates: Candidate[],
  directory: string,
  report: Report,
): ConfigFile | Pick<ConfigFile, 'path'> | null {
  for (const candidate of candidates) {
    const path = resolve(directory, candidate.path)
    try {
      if (!candidate.named && !isTrusted(path)) {
        report.add(path, FOREIGN)
        return { path }
      }
      const source = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
      const variables = new Set(variablesIn(source))
      return { path, table: parse(source), variables }
    } catch (error) {
      if (causeOf(error) === 'ENOENT' && !candidate.named) continue
      report.add(path, describeFileError(error))
      return { path }
    }
  }
  return null
}

const FOREIGN =
  'the file belongs neither to root nor to the user who runs this: name it with --config if you trust it'

/** A file that nobody named may have been put there by anybody. */
const isTrusted = (path: string): boolean =>
  [lstatSync(path), statSync(path)].every(({ uid }) => uid === 0 || uid === process.geteuid?.())

const causeOf = (error: unknown) => (error as { code?: unknown }).code

/** Throws what `describeFileError` puts in words. */
export function parseToml(path: string): Record<string, unknown> {
  return parse(new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path)))
}

export function describeFileError(error: unknown): string {
  if (error instanceof TomlError) {
    // Only the reason: the rest of the message quotes lines of the file, which may hold a secret.
    const reason = error.message.split('\n', 1)[0]?.replace('Invalid TOML document: ', '')
    return `line ${error.line}, column ${error.column}: not valid TOML: ${reason}`
  }
  const cause = causeOf(error)
  if (cause === 'ENOENT') return 'there is no such file or directory'
  if (cause === 'ENOTDIR') return 'this is no directory'
  if (cause === 'EFTYPE') return 'this is no ordinary file'
  if (cause === 'EACCES') return `the file cannot be read (EACCES): let ${currentUser()} read it`
  if (cause === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'the file is not UTF-8'
  return `the file cannot be read (${cause ?? 'unknown cause'})`
}

interface EnvironmentText {
  text: string
  variable: string
}

/**
 * The text that the environment holds for a key. It is in the variable itself, or in the file named by the variable
 * with _FILE at its end (without line ends at the end of the file). It returns null if neither is set.
 */
export function readEnvironment(
  name: string,
  env: Environment,
): EnvironmentText | { problem: string } | null {
  const direct = env[name]
  const fileVariable = `${name}_FILE`
  const path = env[fileVariable]
  if (path === undefined) return direct === undefined ? null : { text: direct, variable: name }
  if (direct !== undefined)
    return { problem: `${name} and ${fileVariable} are both set; expected one of them` }
  try {
    return { text: readFileSync(path, 'utf8').replace(/[\r\n]+$/, ''), variable: fileVariable }
  } catch (error) {
    // Not the path, because somebody may have set it to the secret itself.
    return {
      problem: `the file that ${fileVariable} names cannot be read (${causeOf(error) ?? 'unknown cause'})`,
    }
  }
}

/**
 * Replaces `${NAME}` in every text of a value, also inside lists and tables; `$${` is a literal `${`. An inserted value
 * is not read again.
 */
export function expandVariables(value: unknown, env: Environment): { value: unknown } | { problem: string } {
  const problems: string[] = []
  const expanded = mapTexts(value, (text) =>
    text.replace(/\$\$\{|\$\{([^}]*)(\})?/g, (found, name: string | undefined, end: string | undefined) => {
      if (found === '$${') return '${'
      if (end === undefined || name === undefined || !/^[A-Za-z_]\w*$/.test(name)) {
        problems.push(
          `expected ${variable('NAME')} with the name of an environment variable ($\${ for the two signs)`,
        )
      } else if (env[name] === undefined) {
        problems.push(`the environment variable ${name} is not set`)
      } else {
        return env[name]
      }
      return ''
    }),
  )
  return problems.length > 0 ? { problem: [...new Set(problems)].join('; ') } : { value: expanded }
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  if (!isTable(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapTexts(each, change)]))
}
