/** `poterne config check --connect`: tries everything outside that the configuration names, and sends no message. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { openDatabase } from '../compose/connections.ts'
import { createSmtpSenders } from '../domain/delivery/email.ts'
import type { Config } from '../platform/config/types.ts'
import { DataDirectoryLocked, isEmbeddedThere } from '../platform/postgres/embedded.ts'
import { planMigrations } from '../platform/postgres/migrate.ts'
import { openRedis } from '../platform/redis/connection.ts'
import { openPlain, openTls } from './open-socket.ts'

export interface Tried {
  /** The key of the configuration that names it. */
  key: string
  ok: boolean
  /** What was found, or what is wrong and what to do. Holds no secret. */
  message: string
}

const REDIS_MS = 4000

/** In the order of the configuration, all at the same time. With `dev` no message leaves, so nobody is asked to take one. */
export function tryConnections(config: Config, dev: boolean): Promise<Tried[]> {
  const redisKey = config.redis.mode === 'single' ? 'redis.url' : 'redis.urls'
  const tries = [
    attempt(config.database.url === null ? 'storage.data_dir' : 'database.url', () => tryDatabase(config)),
    ...(config.redis.urls.length > 0 ? [attempt(redisKey, () => tryRedis(config))] : []),
    ...(dev ? [] : [...tryMail(config), ...tryGateways(config)]),
  ]
  return Promise.all(tries)
}

async function attempt(key: string, work: () => Promise<string>): Promise<Tried> {
  try {
    return { key, ok: true, message: await work() }
  } catch (error) {
    const said = describe(error)
    // What refuses by itself names its key and says what to do.
    const own = said.startsWith(`${key}: `) ? said.slice(key.length + 2) : said
    const remedy = remedies.find(([pattern]) => pattern.test(own))?.[1]
    return { key, ok: false, message: remedy ? `${own}: ${remedy.replaceAll('KEY', key)}` : own }
  }
}

const remedies: [RegExp, string][] = [
  [/28P01|28000|password authentication|SASL/, 'correct the user and the password in KEY'],
  [/WRONGPASS|NOAUTH/, 'correct the user and the password in KEY'],
  [/NOPERM/, 'let that user write and read every key under redis.key_prefix'],
  [/3D000/, 'create that database, or correct its name'],
  [/smtp_auth/, 'correct username and password in [KEY], or how the server lets them in'],
  [
    /ECONNREFUSED|ECONNRESET|smtp_connection/,
    'nothing takes connections there: start it, or correct host and port',
  ],
  [/ENOTFOUND|EAI_|DNS/i, 'the host is unknown: correct its name, or the name servers of this machine'],
  [/TIMEDOUT|TIMEOUT|no answer/i, 'nothing answers: correct host and port, or open the firewall between'],
  [
    /CERT|SELF_SIGNED|ISSUER|VERIFY|ALTNAME|smtp_tls|TLS|SSL/i,
    'its certificate is not trusted for this host, or it does not speak TLS here: correct host and port, or name the authority in NODE_EXTRA_CA_CERTS (for a mail server also ca_file)',
  ],
]

/** The innermost cause, with its code. */
function describe(error: unknown): string {
  const { code, message, cause } = (error ?? {}) as { code?: unknown; message?: unknown; cause?: unknown }
  if (cause instanceof Error && !String(message).includes(': ')) return describe(cause)
  const said = (typeof message === 'string' && message.split('\n', 1)[0]) || 'unknown cause'
  return typeof code === 'string' && !said.includes(code) ? `${said} (${code})` : said
}

async function tryDatabase(config: Config): Promise<string> {
  const { dataDir } = config.storage
  if (config.database.url === null && !isEmbeddedThere(dataDir)) return tryNewDirectory(dataDir)
  try {
    const database = await openDatabase(config)
    try {
      await database.ping()
      const pending = await planMigrations(database)
      return pending.length === 0
        ? 'it answers, and is up to date'
        : `it answers, and lacks ${pending.join(', ')}`
    } finally {
      await database.close()
    }
  } catch (error) {
    if (error instanceof DataDirectoryLocked) return 'a poterne that runs has it open'
    throw error
  }
}

/** `serve` makes it; trying must not. */
async function tryNewDirectory(dataDir: string): Promise<string> {
  let nearest = resolve(dataDir)
  while (!existsSync(nearest)) nearest = dirname(nearest)
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK)
  } catch {
    throw new Error(`${nearest} is not writable: let the user of poterne own it, or name another directory`)
  }
  return `\`poterne serve\` will make it in ${resolve(dataDir)}`
}

async function tryRedis({ redis }: Config): Promise<string> {
  const connection = openRedis(redis)
  try {
    await connection.ready(REDIS_MS)
    await connection.write()
    await connection.requireNoEviction()
    return `it answers and takes writes (${redis.mode})`
  } finally {
    await connection.close()
  }
}

const tryMail = (config: Config): Promise<Tried>[] =>
  createSmtpSenders(config).map(({ name, server, sender }) =>
    attempt(name, async () => {
      const { outcome, detail, reason } = await sender.verify().finally(() => sender.close())
      if (outcome !== 'sent') throw new Error(reason ? `${detail} ${reason}` : detail)
      return `it answers (${server.security}${server.username === null ? '' : ', authenticated'})`
    }),
  )

function tryGateways({ sms }: Config): Promise<Tried>[] {
  return sms.gateways.flatMap(({ url, oauth }, index) => {
    const key = `sms.gateways[${index}]`
    return [
      attempt(`${key}.url`, () => tryHost(url)),
      ...(oauth === null ? [] : [attempt(`${key}.oauth.token_url`, () => tryHost(oauth.token_url))]),
    ]
  })
}

/** No request is sent: a gateway might take any of them for a message. */
async function tryHost(template: string): Promise<string> {
  const { hostname, protocol, port } = new URL(template.replace(/\{[^{}]*\}/g, '1'))
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const isLocal = ['localhost', '127.0.0.1', '::1'].includes(host)
  if (!isLocal && (process.env.HTTPS_PROXY ?? process.env.https_proxy))
    return 'not tried: requests to it go by way of HTTPS_PROXY'
  if (protocol === 'https:') return `it answers (${await openTls(host, Number(port) || 443, true)})`
  return `it answers (${await openPlain(host, Number(port) || 80)}, in clear)`
}
