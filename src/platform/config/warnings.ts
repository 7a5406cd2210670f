/** Settings that are allowed but unwise: `config check` and the start of the service print one line for each. */
import { accessSync, constants, statSync } from 'node:fs'
import { readDatabaseUrl } from '../postgres/address.ts'
import { readRedisUrl } from '../redis/endpoint.ts'
import { EVERYBODY, isOwn, isPublic } from './applications.ts'
import { isNearHttpUrl, isPublicHost } from './formats.ts'
import { type ConfigProblem, toToml } from './report.ts'
import { type Setting, type Settings, shownValue } from './settings.ts'
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
  /** The cheap hash was asked for. */
  fast?: boolean | undefined
}

type Warn = (key: string, message: string) => void

/** Looks at a configuration in which nothing is wrong. */
export function findWarnings({ values, settings }: Settings, { delivers, dev, fast }: WarningOptions) {
  const warnings: ConfigProblem[] = []
  const warn: Warn = (key, message) => {
    warnings.push({ key, value: shownValue(settings, key), message })
  }
  warnOfStores(values, warn)
  const { passphraseFile } = values.backup
  if (passphraseFile !== null && isOpenToOthers(passphraseFile))
    warn('backup.passphrase_file', `other users of this machine can read it: chmod o= ${passphraseFile}`)
  warnOfAfter(values.backup, warn)
  const { memoryKib, iterations } = values.password
  if (!fast && !HASH_FLOOR.some(([memory, passes]) => memoryKib >= memory && iterations >= passes)) {
    const floor = HASH_FLOOR.map(([memory, passes]) => `${memory} with iterations = ${passes}`).join(', ')
    warn('password.memory_kib', `a hash this cheap is guessed fast once it is stolen; at least ${floor}`)
  }
  warnOfPages(values, warn, dev)
  const { pages, texts } = values
  if (pages.name && texts.serviceName && pages.name !== texts.serviceName)
    warn(
      'pages.name',
      `is not texts.service_name, "${texts.serviceName}": pages and messages call the service by two names; leave one out, and it is the name in both`,
    )
  if (!delivers) return warnings
  if (values.server.baseUrl === null)
    warn(
      'server.base_url',
      'is not set: links in messages and the issuer of tokens name this machine; set it to the https address of the reverse proxy, before people register',
    )
  if (values.smtp === null) warn('smtp', 'is not set: no code reaches an e-mail address, only phones')
  if (values.sms.gateways.length === 0)
    warn('sms.gateways', 'no gateway is set, so codes go to e-mail addresses only')
  for (const key of keysOfTheExample(settings)) {
    if (!warnings.some((warning) => warning.key === key))
      warn(key, 'is left over from the example: put a name of your own in its place')
  }
  return warnings
}

/** Nobody can have these names (RFC 2606), of which the example of the configuration is full. */
const OF_THE_EXAMPLE = /(?<![\w-])example\.(?:com|net|org)(?![\w-]|\.\w)/i

const keysOfTheExample = (settings: Setting[]) =>
  settings
    .filter(({ raw, origin }) => origin !== 'default' && OF_THE_EXAMPLE.test(toToml(raw)))
    .map(({ section, key }) => `${section}.${key}`)

/**
 * An application in a browser gets its tokens there, and then asks for `GET me`. Under development it may run on this
 * machine.
 */
function warnOfPages({ pages, server, accounts }: SchemaValues, warn: Warn, dev: boolean): void {
  const { enabled, applications } = pages
  if (!enabled && applications.length > 0)
    warn('pages.enabled', 'is false, so nobody is handed over to pages.applications: set it to true')
  if (!enabled) return
  warnOfOthers({ pages, accounts }, warn)
  const isOfBrowser = dev ? /^https?:/ : /^https:/
  const originsOf = (some: typeof applications) =>
    new Set(
      some.flatMap(({ redirectUris }) =>
        redirectUris
          .filter((uri) => isOfBrowser.test(uri) && !ON_ANY_PORT.test(uri))
          .map((uri) => new URL(uri).origin),
      ),
    )
  const own = applications.filter(isOwn)
  for (const origin of originsOf(own.filter(isPublic))) {
    if (!server.corsOrigins.includes(origin))
      warn(
        'server.cors_origins',
        `lacks "${origin}" of pages.applications: an application that runs in the browser there cannot call GET me. One whose pages a server draws needs nothing here`,
      )
  }
  const others = originsOf(applications.filter((application) => !isOwn(application)))
  for (const origin of others.difference(originsOf(own))) {
    if (server.corsOrigins.includes(origin))
      warn(
        'server.cors_origins',
        `holds "${origin}", where pages.applications has a program with own = false: its tokens open nothing that this allows. Leave it out`,
      )
  }
}

/** Of a program on a person's machine, which asks from no page. */
const ON_ANY_PORT = /^http:\/\/(127\.0\.0\.1|\[::1\])(?=[/?]|$)/
const ON_THIS_MACHINE = /^http:\/\/(127\.0\.0\.1|\[::1\])(?=[:/?]|$)/

/** Applications of others may be reached over http in the operator's own network, and be open to everybody. */
function warnOfOthers({ pages, accounts }: Pick<SchemaValues, 'pages' | 'accounts'>, warn: Warn): void {
  const isOpen = accounts.registration === 'open' && accounts.registrationDomains.length === 0
  for (const [index, { own, groups, redirectUris, signOutUris }] of pages.applications.entries()) {
    if (own !== false) continue
    const path = `pages.applications[${index}]`
    if (isOpen && groups.includes(EVERYBODY))
      warn(
        `${path}.groups`,
        'is every account, and everybody may register: strangers may enter this application. Name a group, or close accounts.registration',
      )
    for (const [key, uris] of [
      ['redirect_uris', redirectUris],
      ['sign_out_uris', signOutUris],
    ] as const) {
      for (const uri of uris.filter((each) => isNearHttpUrl(each) && !ON_THIS_MACHINE.test(each)))
        warn(
          `${path}.${key}`,
          `holds "${uri}": over http everybody on the way in that network reads what is sent there`,
        )
    }
  }
}

function warnOfAfter({ after, at }: SchemaValues['backup'], warn: Warn): void {
  if (after === null) return
  if (at === null) warn('backup.after', 'never runs, since no backup is scheduled: set backup.at')
  const why = whyNotRunnable(after[0]!)
  if (why !== null) warn('backup.after', why)
}

function whyNotRunnable(program: string): string | null {
  try {
    accessSync(program, constants.X_OK)
    return statSync(program).isFile() ? null : `${program} is no command: no scheduled backup will succeed`
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `${program} cannot be run from here (${code}): no scheduled backup will succeed`
  }
}

const isOpenToOthers = (file: string) =>
  ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0

function warnOfStores({ database, redis }: SchemaValues, warn: Warn): void {
  if (database.url !== null) {
    const { hosts, verifiesTls, warnings } = readDatabaseUrl(database.url)
    if (hosts.some(isPublicHost) && !verifiesTls)
      warn(
        'database.url',
        'the way to a server on a public host is not verified: add ?sslmode=verify-full (require encrypts, but verifies nothing)',
      )
    for (const warning of warnings) warn('database.url', warning)
  }
  const urls = redis.url === null ? redis.urls : [redis.url]
  if (urls.some((url) => url.startsWith('redis:') && isPublicHost(readRedisUrl(url).host))) {
    const key = redis.url === null ? 'redis.urls' : 'redis.url'
    warn(key, 'the way to a server on a public host is in clear: use rediss://')
  }
}
