/** `poterne config check --connect`: tries everything outside that the configuration names, and sends no message. */
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { openDatabase } from '../compose/connections.ts'
import { createSmtpSenders } from '../domain/messages/smtp/mail-servers.ts'
import { explainFailure } from '../domain/operations/doctor/explain.ts'
import { reachHost } from '../domain/operations/doctor/reach-checks.ts'
import { describeLockedOut } from '../domain/operations/doctor/store.ts'
import type { Config } from '../platform/config/types.ts'
import { isEmbeddedThere } from '../platform/postgres/embedded.ts'
import { DataDirectoryLocked } from '../platform/postgres/embedded-lock.ts'
import { planMigrations } from '../platform/postgres/migrate.ts'
import { openRedis } from '../platform/redis/connection.ts'

export interface TriedConnection {
  /** The key of the configuration that names it. */
  key: string
  ok: boolean
  /** The fact that was found, or what is wrong and what to do. Holds no secret. */
  message: string
}

const REDIS_MS = 4000

/**
 * The findings are in the order of the configuration; all connections are tried at the same time. With `dev` no message
 * leaves, so nobody is asked to take one.
 */
export function tryConnections(config: Config, dev: boolean): Promise<TriedConnection[]> {
  const redisKey = config.redis.mode === 'single' ? 'redis.url' : 'redis.urls'
  const tries = [
    tryConnection(config.database.url === null ? 'storage.data_dir' : 'database.url', () =>
      tryDatabase(config),
    ),
    ...(config.redis.urls.length > 0 ? [tryConnection(redisKey, () => tryRedis(config))] : []),
    ...(dev ? [] : [...tryMail(config), ...tryGateways(config)]),
  ]
  return Promise.all(tries)
}

async function tryConnection(key: string, work: () => Promise<string>): Promise<TriedConnection> {
  try {
    return { key, ok: true, message: await work() }
  } catch (error) {
    return { key, ok: false, message: explainFailure(error, key) }
  }
}

async function tryDatabase(config: Config): Promise<string> {
  const { dataDir } = config.storage
  if (config.database.url === null && !isEmbeddedThere(dataDir)) return tryNewDirectory(dataDir)
  try {
    const database = await openDatabase(config)
    try {
      await database.ping()
      const pending = await planMigrations(database)
      const lockedOut = pending.length === 0 ? await describeLockedOut(config, database) : null
      if (lockedOut !== null) return `it answers, and is up to date; warning: ${lockedOut}`
      return pending.length === 0
        ? 'it answers, and is up to date'
        : `it answers, and lacks ${pending.join(', ')}`
    } finally {
      await database.close()
    }
  } catch (error) {
    if (error instanceof DataDirectoryLocked) return 'a running poterne has it open'
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

const tryMail = (config: Config): Promise<TriedConnection>[] =>
  createSmtpSenders(config).map(({ name, server, sender }) =>
    tryConnection(name, async () => {
      const { outcome, detail, reason } = await sender.verify().finally(() => sender.close())
      if (outcome !== 'sent') throw new Error(reason ? `${detail} ${reason}` : detail)
      const way = server.security === 'none' ? 'in clear' : server.security
      return `it answers (${way}${server.username === null ? '' : ', authenticated'})`
    }),
  )

function tryGateways({ sms }: Config): Promise<TriedConnection>[] {
  return sms.gateways.flatMap(({ url, oauth }, index) => {
    const key = `sms.gateways[${index}]`
    return [
      tryConnection(`${key}.url`, () => reachHost(url)),
      ...(oauth === null ? [] : [tryConnection(`${key}.oauth.token_url`, () => reachHost(oauth.token_url))]),
    ]
  })
}
