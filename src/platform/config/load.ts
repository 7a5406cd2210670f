/**
 * Reads file and environment into the checked `Config`, or returns everything that is wrong with them at once. Reads only
 * the files that it is told to, never throws, and never shows a secret.
 */
import { checkDelivery, checkTogether, sitesOf } from './checks.ts'
import { withCredentials } from './database-url.ts'
import { adaptToDevelopment, checkDevelopment, type Development } from './development.ts'
import { isOpenToAll, parseListenAddress } from './formats.ts'
import { checkPages } from './page-checks.ts'
import { type Logos, readLogos } from './read-logo.ts'
import { noTextFiles, readTextFiles, type TextFiles } from './read-texts.ts'
import { type ConfigProblem, createReport, type Report } from './report.ts'
import { BUILT_IN_COLOUR } from './schema.ts'
import { readSettings, type Setting } from './settings.ts'
import {
  type ConfigFile,
  configFileCandidates,
  type Environment,
  readConfigFile,
  variablesIn,
} from './sources.ts'
import type { Config } from './types.ts'
import type { SchemaValues } from './values.ts'
import { findWarnings } from './warnings.ts'

export interface LoadOptions {
  /** `--config`; relative to `directory`. */
  configFile?: string | undefined
  env: Environment
  directory: string
  /** Listen on loopback only, and deliver nothing to the outside. */
  dev?: boolean | undefined
  /** The options of `dev`. */
  development?: Development | undefined
  /** It is false for commands that send no messages and so need neither [smtp] nor gateways. Default: true. */
  mustDeliver?: boolean | undefined
  /** It is false for the command that writes the first of the files that [texts] names. Default: true. */
  readTexts?: boolean | undefined
}

export type LoadedConfig =
  | { ok: true; file: string | null; config: Config; settings: Setting[]; warnings: ConfigProblem[] }
  | {
      ok: false
      file: string | null
      problems: ConfigProblem[]
      /** The settings that could be read. */
      settings: Setting[]
    }

/**
 * The first existing file of `--config`, $POTERNE_CONFIG, ./config.toml and /etc/poterne/config.toml, overridden by
 * POTERNE_<SECTION>_<KEY> and POTERNE_<SECTION>_<KEY>_FILE.
 */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const { env, directory, dev = false, development = {}, mustDeliver = true, readTexts = true } = options
  const report = createReport()
  const file = readConfigFile(configFileCandidates(options.configFile, env), directory, report)
  const path = file?.path ?? null
  // Without a readable file, all of its keys would be reported as missing.
  if (file !== null && !('table' in file))
    return { ok: false, file: path, problems: report.problems, settings: [] }

  const read = readSettings(file, env, report)
  const { values, settings } = read
  checkTogether(read, report)
  const textFiles = readTexts ? readTextFiles(values, directory, report) : noTextFiles
  const logos = readTexts ? readLogos(values, directory, report) : { logoFile: null, darkLogoFile: null }
  checkPages(read, report, dev)
  if (!dev) checkDefaultAddress(values.server, report)
  if (!dev && mustDeliver) checkDelivery(values, report)
  if (dev) checkDevelopment(read, development, report)
  if (report.problems.length > 0) return { ok: false, file: path, problems: report.problems, settings }

  if (dev) adaptToDevelopment(read, development)
  const warnings = findWarnings(read, { delivers: !dev && mustDeliver, dev, fast: development.fast })
  return { ok: true, file: path, config: toConfig(values, { textFiles, logos, file }), settings, warnings }
}

interface Files {
  textFiles: TextFiles
  logos: Logos
  file: ConfigFile | null
}

function toConfig(values: SchemaValues, { textFiles, logos, file }: Files): Config {
  const { server, tokens, database, redis, passkeys, admin, metrics, pages, accounts, texts } = values
  const baseUrl = server.baseUrl ?? defaultBaseUrl(server.host, server.port)
  const { url, ...restOfRedis } = redis
  const { user, password, ...restOfDatabase } = database
  return {
    ...values,
    accounts: {
      ...accounts,
      // The pages take invitations.
      invitationUrl: accounts.invitationUrl ?? (pages.enabled ? `${baseUrl}/sign-up` : null),
    },
    // One name and one colour are enough: pages and messages take them from each other.
    texts: {
      ...texts,
      ...textFiles,
      serviceName: texts.serviceName ?? (pages.name || null),
      colour: texts.colour || pages.colour || BUILT_IN_COLOUR,
    },
    server: { ...server, baseUrl },
    database: {
      ...restOfDatabase,
      url: database.url === null ? null : withCredentials(database.url, { user, password }),
    },
    redis: { ...restOfRedis, urls: url === null ? redis.urls : [url] },
    tokens: { ...tokens, audience: tokens.audience ?? baseUrl },
    admin: { ...admin, listen: parseListenAddress(admin.listen) },
    metrics: { listen: parseListenAddress(metrics.listen) },
    namedVariables: variablesIn(JSON.stringify(file?.table ?? {})),
    passkeys: {
      ...passkeys,
      origins: passkeyOrigins(passkeys),
      changePasswordUrl: passkeys.changePasswordUrl ?? (pages.enabled ? '/account/password' : null),
    },
    pages: { ...pages, ...logos },
  }
}

/** A public host makes a public address, to which http is as unsafe as in an address that is set. */
function checkDefaultAddress({ baseUrl, host, port }: SchemaValues['server'], report: Report): void {
  if (baseUrl !== null || report.isWrong('server.host') || report.isWrong('server.port')) return
  const derived = defaultBaseUrl(host, port)
  if (!isOpenToAll(derived)) return
  const message = `must be set with this server.host: it would be ${derived}, and over http everybody on the way reads passwords and tokens; expected the https address of the reverse proxy`
  report.add('server.base_url', message)
}

/** A service that listens on all addresses has links to this machine. */
function defaultBaseUrl(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** An Android app is an origin by the SHA-256 of its certificate, in base64url without padding. */
function passkeyOrigins(passkeys: SchemaValues['passkeys']): string[] {
  const apps = passkeys.androidApps.map(({ sha256 }) => {
    const hash = Buffer.from(sha256.replaceAll(':', ''), 'hex').toString('base64url')
    return `android:apk-key-hash:${hash}`
  })
  return [...new Set([...sitesOf(passkeys), ...apps])]
}
