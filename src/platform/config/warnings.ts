/** Settings that are allowed but unwise: `config check` and the start of the service print one line for each. */
import { statSync } from 'node:fs'
import { parseDatabaseUrl } from '../postgres/address.ts'
import { isPublicHost } from './formats.ts'
import { type ConfigProblem, toToml } from './report.ts'
import { problemAt, type Setting, type Settings } from './settings.ts'
import type { SchemaValues } from './values.ts'

/** OWASP's floor for Argon2id: KiB of memory, and passes over them. */
const HASH_FLOOR = [
  [19_456, 2],
  [12_288, 3],
  [9_216, 4],
  [7_168, 5],
] as const

interface WarningOptions {
  /** It is false where no message leaves the process. */
  delivers: boolean
  dev: boolean
}

type Warn = (key: string, message: string) => ConfigProblem

/** Looks at a configuration in which nothing is wrong. */
export function findWarnings({ values, settings }: Settings, { delivers, dev }: WarningOptions) {
  const warn: Warn = (key, message) => problemAt(settings, key, message)
  const warnings = [...storeWarnings(values, warn)]
  const { passphraseFile } = values.backup
  if (passphraseFile !== null && isOpenToOthers(passphraseFile))
    warnings.push(
      warn('backup.passphrase_file', `other users of this machine can read it: chmod o= ${passphraseFile}`),
    )
  const { memoryKib, iterations } = values.password
  if (!HASH_FLOOR.some(([memory, passes]) => memoryKib >= memory && iterations >= passes)) {
    const floor = HASH_FLOOR.map(([memory, passes]) => `${memory} with iterations = ${passes}`).join(', ')
    warnings.push(
      warn('password.memory_kib', `a hash this cheap is guessed fast once it is stolen; at least ${floor}`),
    )
  }
  warnings.push(...pageWarnings(values, warn, dev))
  if (!delivers) return warnings
  if (values.server.baseUrl === null)
    warnings.push(
      warn(
        'server.base_url',
        'is not set: links in messages and the issuer of tokens name this machine; set it to the https address of the reverse proxy, before people register',
      ),
    )
  if (values.smtp === null)
    warnings.push(warn('smtp', 'is not set: no code reaches an e-mail address, only phones'))
  if (values.sms.gateways.length === 0)
    warnings.push(warn('sms.gateways', 'no gateway is set, so codes go to e-mail addresses only'))
  return [...warnings, ...exampleWarnings(settings, warn, warnings)]
}

/** Nobody can have these names (RFC 2606), of which the example of the configuration is full. */
const OF_THE_EXAMPLE = /(?<![\w-])example\.(?:com|net|org)(?![\w-]|\.\w)/i

/** A key that is named in `found` is not named again. */
function exampleWarnings(settings: Setting[], warn: Warn, found: ConfigProblem[]): ConfigProblem[] {
  return settings
    .filter(({ raw, origin }) => origin !== 'default' && OF_THE_EXAMPLE.test(toToml(raw)))
    .map(({ section, key }) => `${section}.${key}`)
    .filter((key) => !found.some((warning) => warning.key === key))
    .map((key) => warn(key, 'is left over from the example: put a name of your own in its place'))
}

/**
 * An application in a browser gets its tokens there, and then asks for `GET me`. Under development it may run on this
 * machine.
 */
function pageWarnings({ pages, server }: SchemaValues, warn: Warn, dev: boolean): ConfigProblem[] {
  if (!pages.enabled)
    return pages.applications.length === 0
      ? []
      : [warn('pages.enabled', 'is false, so nobody is handed over to pages.applications: set it to true')]
  const uris = pages.applications.flatMap(({ redirectUris }) => redirectUris)
  const isOfBrowser = dev ? /^https?:/ : /^https:/
  const origins = uris.flatMap((uri) => (isOfBrowser.test(uri) ? [new URL(uri).origin] : []))
  const missing = [...new Set(origins)].filter((origin) => !server.corsOrigins.includes(origin))
  return missing.map((origin) =>
    warn(
      'server.cors_origins',
      `lacks "${origin}" of pages.applications: an application that runs in the browser there cannot call GET me`,
    ),
  )
}

const isOpenToOthers = (file: string) =>
  ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0

function storeWarnings({ database, redis }: SchemaValues, warn: Warn): ConfigProblem[] {
  const warnings: ConfigProblem[] = []
  if (database.url !== null && isPublicHost(hostOfDatabase(database.url)) && !verifiesTls(database.url)) {
    const message =
      'the way to a server on a public host is not verified: add ?sslmode=verify-full (require encrypts, but verifies nothing)'
    warnings.push(warn('database.url', message))
  }
  const urls = redis.url === null ? redis.urls : [redis.url]
  if (urls.some((url) => url.startsWith('redis:') && isPublicHost(hostOf(url)))) {
    const key = redis.url === null ? 'redis.urls' : 'redis.url'
    warnings.push(warn(key, 'the way to a server on a public host is in clear: use rediss://'))
  }
  return warnings
}

const hostOf = (url: string) => URL.parse(url)?.hostname ?? ''

/** A socket is on this machine. */
function hostOfDatabase(text: string): string {
  const { url, path } = parseDatabaseUrl(text)
  return path === undefined ? hostOf(url) : ''
}

function verifiesTls(url: string): boolean {
  const query = new URLSearchParams(url.split('?')[1] ?? '')
  return (query.get('sslmode') ?? query.get('ssl')) === 'verify-full' || query.get('sslrootcert') === 'system'
}
