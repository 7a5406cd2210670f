/** `poterne doctor`: looks at everything that the service stands on, and says what to do about what is not well. */

import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { Command } from 'commander'
import { withStores } from '../../compose/compose.ts'
import { createProviderService } from '../../domain/credentials/providers/service.ts'
import { parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { MessageSender } from '../../domain/messages/senders/sender.ts'
import { createSmsSender } from '../../domain/messages/sms-gateways/gateways.ts'
import { createEmailSender } from '../../domain/messages/smtp/mail-servers.ts'
import { systemClock } from '../../platform/clock.ts'
import type { LoadedConfig } from '../../platform/config/load.ts'
import { describeProblem } from '../../platform/config/report.ts'
import type { Config } from '../../platform/config/types.ts'
import { network } from '../../platform/guarded-fetch.ts'
import { isEmbeddedThere, NoDatabase } from '../../storage/embedded/embedded.ts'
import { DataDirectoryLocked } from '../../storage/embedded/lock.ts'
import {
  type Finding,
  failure,
  type NamedFinding,
  type OutsideContext,
  ok,
  type RunningService,
  warning,
} from '../doctor/check.ts'
import { checks } from '../doctor/checks.ts'
import { checkOwnDisk } from '../doctor/database-checks.ts'
import { examine } from '../doctor/examine.ts'
import { explainFailure } from '../doctor/explain.ts'
import { findEnvironmentFiles, lookAtFiles } from '../doctor/machine-checks.ts'
import type { ArrivalRecord } from '../doctor/routes.ts'
import { configOption, readConfig } from './configuration.ts'
import { examineRedis } from './connect.ts'
import { CommandFailure } from './failure.ts'
import { print, printJson } from './print.ts'
import { createProgressBar } from './progress.ts'
import { keepProxyOutside } from './serve.ts'
import { type Call, callRunningService, type ServiceCallOptions, socketOption } from './service-call.ts'
import { testMessage } from './try.ts'

type Options = ServiceCallOptions & {
  sendEmail?: string
  sendSms?: string
  resolver?: string
  json?: boolean
  strict?: boolean
}

export function doctorCommand(): Command {
  return new Command('doctor')
    .description(
      'check everything the service depends on, and say what to do (exit code 1 if something fails)',
    )
    .option(...configOption)
    .option(...socketOption)
    .option('--send-email <address>', 'also send a marked test e-mail to this address')
    .option('--send-sms <number>', 'also send a marked test SMS to this number')
    .option('--resolver <address>', 'the name server to ask about the domain of the sender, such as 9.9.9.9')
    .option('--strict', 'fail for a warning too')
    .action(diagnose)
}

async function diagnose(options: Options): Promise<void> {
  keepProxyOutside(process.env)
  const resolver = createResolver(options.resolver)
  const loaded = readConfig(options)
  const findings = loaded.ok ? await examineAll(loaded, options, resolver) : problemsOf(loaded)
  const failures = findings.filter(({ level }) => level === 'failure').length
  const warnings = findings.filter(({ level }) => level === 'warning').length
  if (options.json) printJson({ checks: findings, failures, warnings })
  else printFindings(findings, failures, warnings)
  if (failures > 0 || (options.strict && warnings > 0)) throw new CommandFailure(1, '')
}

type Readable = Extract<LoadedConfig, { ok: true }>

const problemsOf = ({ problems }: Extract<LoadedConfig, { ok: false }>): NamedFinding[] => [
  { name: 'configuration', ...failure(problems.map(describeProblem).join('; ')) },
]

async function examineAll(loaded: Readable, options: Options, resolver: Resolver): Promise<NamedFinding[]> {
  const { config, file, warnings } = loaded
  const recipients = readRecipients(options, config)
  const progress = createProgressBar()
  // Whoever opens the embedded database is root no more, and may not read these.
  const secretFiles = lookAtFiles([...secretFilesOf(loaded), ...findEnvironmentFiles()])
  let call = await callRunningService(options, config)
  progress.show('the stores', 0)
  let stores = await examineStores(config, call)
  if (stores === null) {
    // A service that was starting took the database first.
    call = await callRunningService(options, config)
    stores = (call && (await examineStores(config, call))) ?? (await withoutDatabase(config, inUse))
  }
  const { findings, published_keys } = stores
  let done = findings.length
  const context: OutsideContext = {
    config,
    configFile: file,
    configWarnings: warnings.map(describeProblem),
    secretFiles,
    service: call && serviceBy(call),
    publishedKeys: published_keys,
    resolver,
    network,
    providers: createProviderService({ config, clock: systemClock, network }),
    clock: systemClock,
  }
  progress.show('what is outside', done / checks.length)
  const outside = await examine(checks, 'here', context, () => {
    done++
    progress.show('what is outside', done / checks.length)
  }).finally(progress.end)
  const found = new Map([...findings, ...outside].map((finding) => [finding.name, finding]))
  const listed = checks.flatMap(({ name }) => found.get(name) ?? [])
  return [...listed, ...(await sendTests(config, recipients))]
}

interface StoreFindings {
  findings: NamedFinding[]
  published_keys: string[] | null
}

/** The embedded database belongs to the service that runs, which looks for us; null where one that is not asked has it. */
async function examineStores(config: Config, call: Call | null): Promise<StoreFindings | null> {
  const isEmbedded = config.database.url === null
  if (isEmbedded && call !== null) return call<StoreFindings>('GET', 'doctor')
  try {
    return await withStores(config, async ({ administration }) => {
      const doctor = await administration.doctor()
      const { findings, publishedKeys } = await doctor.examineStores()
      return { findings, published_keys: publishedKeys }
    })
  } catch (error) {
    if (error instanceof DataDirectoryLocked) return null
    const key = isEmbedded ? 'storage.data_dir' : 'database.url'
    const why = error instanceof NoDatabase ? 'there is no database' : undefined
    return withoutDatabase(config, failure(`${key}: ${explainFailure(error, key)}`), why)
  }
}

const inUse = warning(
  'a running poterne has it open, and its socket does not answer here: name it with --socket',
)

async function withoutDatabase(
  config: Config,
  database: Finding,
  why = 'the database could not be opened',
): Promise<StoreFindings> {
  const ofRedis = new Map((await examineRedis(config)).map((finding) => [finding.name, finding]))
  const findingOf = (name: string) => {
    if (name === 'database') return database
    if (name === 'disk' && config.database.url === null && isEmbeddedThere(config.storage.dataDir))
      return checkOwnDisk(config.storage.dataDir)
    return ofRedis.get(name) ?? warning(`not checked, because ${why}`)
  }
  const names = checks.filter(({ where }) => where !== 'here').map(({ name }) => name)
  return { findings: names.map((name) => ({ ...findingOf(name), name })), published_keys: null }
}

function serviceBy(call: Call): RunningService {
  return {
    startProbe: async () => (await call<{ mark: string }>('POST', 'doctor/probes')).mark,
    async readProbe(mark) {
      const { arrival } = await call<{ arrival: ArrivalRecord | null }>('GET', `doctor/probes/${mark}`)
      if (arrival === null) return null
      const { peer, forwarded_for: forwardedFor, address, is_trusted: isTrusted } = arrival
      return { peer, forwardedFor, address, isTrusted }
    },
  }
}

/** `9.9.9.9`, `127.0.0.1:5353`, `[::1]:53`. This machine's own servers answer if none is given. */
function createResolver(server: string | undefined): Resolver {
  const resolver = new Resolver({ timeout: 1500, tries: 2 })
  if (server === undefined) return resolver
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(server) ?? []
  const address = bracketed ?? plain ?? ''
  if (isIP(address) === 0)
    throw new CommandFailure(2, `--resolver must be an address such as 9.9.9.9, not ${server}`)
  resolver.setServers([`${bracketed ? `[${address}]` : address}:${port ?? 53}`])
  return resolver
}

/** The files in which a secret stands: the configuration itself, and those that variables name. */
function secretFilesOf({ file, settings }: Readable): string[] {
  const text = file === null ? '' : readFileSync(file, 'utf8')
  const secrets = settings.filter(({ rule, raw }) => rule.secret !== false && raw !== null)
  const stands = secrets.some(({ rule, raw, origin }) => {
    if (origin !== 'file' || typeof raw !== 'string') return false
    // Of an address only the password is one.
    const secret = rule.secret === 'address' ? (URL.parse(raw)?.password ?? '') : raw
    return secret !== '' && text.includes(secret)
  })
  const named = secrets.flatMap(({ variable }) => {
    const path = variable?.endsWith('_FILE') ? process.env[variable] : undefined
    return path === undefined ? [] : [path]
  })
  return [...(stands && file !== null ? [file] : []), ...named]
}

interface Recipients {
  email: string | null
  sms: string | null
}

function readRecipients({ sendEmail, sendSms }: Options, { accounts }: Config): Recipients {
  const read = (text: string | undefined, kind: 'email' | 'phone', what: string) => {
    if (text === undefined) return null
    const found = parseIdentifier(text, accounts.defaultCountry)
    if (found?.kind !== kind) throw new CommandFailure(2, `${text} is no ${what}`)
    return found.destination
  }
  return {
    email: read(sendEmail, 'email', 'e-mail address'),
    sms: read(sendSms, 'phone', 'phone number'),
  }
}

async function sendTests(config: Config, { email, sms }: Recipients): Promise<NamedFinding[]> {
  const findings: NamedFinding[] = []
  if (email !== null) {
    const sender = createEmailSender(config, systemClock)
    findings.push({ name: 'send-email', ...(await sendTest(config, sender, 'email', email)) })
  }
  if (sms !== null) {
    const sender = config.sms.gateways.length > 0 ? createSmsSender(config.sms.gateways) : null
    findings.push({ name: 'send-sms', ...(await sendTest(config, sender, 'sms', sms)) })
  }
  return findings
}

async function sendTest(config: Config, sender: MessageSender | null, channel: 'email' | 'sms', to: string) {
  if (sender === null)
    return failure(
      `nothing is configured that sends it: set [${channel === 'email' ? 'smtp' : '[sms.gateways]'}]`,
    )
  const { outcome, detail, reason } = await sender.send(testMessage(config, channel, to))
  await sender.close()
  const said = reason ? `${detail} ${reason}` : detail
  if (outcome === 'sent')
    return ok(`${detail} took the message: look whether it arrives, and not among the spam`)
  const command = channel === 'email' ? 'poterne mail try' : 'poterne gateways try'
  return failure(`it was not taken (${said}): \`${command}\` shows each step`)
}

function printFindings(findings: NamedFinding[], failures: number, warnings: number): void {
  // A part that is not configured is named once, by the first of its checks.
  const isRepeated = ({ level, message }: NamedFinding, index: number) =>
    level === 'ok' && findings[index - 1]?.message === message
  for (const { level, name, message } of findings.filter((finding, index) => !isRepeated(finding, index)))
    print(`${level.padEnd(8)} ${name}: ${message.replace(/\p{Cc}/gu, ' ')}\n`)
  const of = (count: number, word: string) => `${count} ${word}${count === 1 ? '' : 's'}`
  const failed = findings.filter(({ level }) => level === 'failure').map(({ name }) => name)
  const named = failures === 0 ? '' : ` (${failed.join(', ')})`
  print(`${of(findings.length, 'check')}: ${of(failures, 'failure')}${named}, ${of(warnings, 'warning')}\n`)
}
