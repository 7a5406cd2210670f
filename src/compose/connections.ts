/** Opens what is outside the process, as the configuration names it: the database, Redis, the server secret. */
import { resolve } from 'node:path'
import { decodeSecret } from '../platform/config/formats.ts'
import type { Config } from '../platform/config/types.ts'
import { causeOf } from '../platform/failure.ts'
import type { Logger } from '../platform/log/logging.ts'
import type { Database } from '../platform/postgres/database.ts'
import { connectServer } from '../platform/postgres/server.ts'
import { logStatements } from '../platform/postgres/statement-log.ts'
import { openRedis, type RedisConnection } from '../platform/redis/connection.ts'
import { createServerSecret, type ServerSecret } from '../platform/secret.ts'
import {
  ensureSecretFile,
  hasSecretFile,
  readPreviousSecrets,
  readSecretFile,
} from '../platform/secret-file.ts'
import { openEmbedded, requireEmbedded } from '../storage/embedded/embedded.ts'
import { openEmbeddedInThread } from '../storage/embedded/thread.ts'

interface OpenOptions {
  /** True if an embedded database that is not there is made. Only a service makes one. */
  makesDatabase?: boolean
  /** It logs what the embedded database does by itself. */
  logger?: Logger
}

/** A PostgreSQL server, or the embedded one, which gets its server secret before it is made. Throws as requireEmbedded does. */
export async function openDatabase(
  { server, database, storage: { dataDir } }: Pick<Config, 'server' | 'database' | 'storage'>,
  { makesDatabase = false, logger }: OpenOptions = {},
): Promise<Database> {
  if (database.url !== null)
    return connectServer({ url: database.url, poolSize: database.poolSize }, (message) =>
      logger?.warn({ key: 'database.pool_size' }, message),
    )
  if (!makesDatabase) requireEmbedded(dataDir)
  // A command is over sooner than a thread would pay.
  const open = makesDatabase ? openEmbeddedInThread : openEmbedded
  return open(dataDir, {
    beforeOpening: (state) => {
      if (state.isNewDatabase && hasSecretFile(dataDir)) sayEmptied(dataDir, logger)
      if (server.secret === null) ensureSecretFile(dataDir, state)
    },
    onEnded: ({ message, cause }) =>
      logger?.error({ cause: causeOf(cause) }, `embedded database: ${message}; it is opened anew`),
    onUpkeepFailure: ({ message, cause }) =>
      logger?.error({ cause: causeOf(cause) }, `embedded database: ${message}`),
  })
}

/**
 * An operator who moved or lost the database's directory would otherwise see a service that works, without accounts.
 */
function sayEmptied(dataDir: string, logger: Logger | undefined): void {
  const line = `storage.data_dir: ${resolve(dataDir)} holds a server secret, but no database any more: an empty one is made`
  if (logger) logger.warn(line)
  else process.stderr.write(`${line}\n`)
}

/**
 * The configured secrets, the current one first; without one (embedded only) those in the data directory, of which
 * openDatabase made the first. None where there is no such directory yet.
 */
export function secretsOf({ server, storage: { dataDir } }: Pick<Config, 'server' | 'storage'>) {
  const configured = server.previousSecrets.map((text) => decodeSecret(text)!)
  if (server.secret !== null) return [server.secret, ...configured]
  return hasSecretFile(dataDir)
    ? [readSecretFile(dataDir), ...readPreviousSecrets(dataDir), ...configured]
    : []
}

function openSecret(config: Pick<Config, 'server' | 'storage'>): ServerSecret {
  const [current = readSecretFile(config.storage.dataDir), ...previous] = secretsOf(config)
  return createServerSecret(current, previous)
}

/** It returns null if codes, counters and tickets are kept in the database. */
function openRedisOf({ redis }: Pick<Config, 'redis'>, logger: Logger): RedisConnection | null {
  if (redis.urls.length === 0) return null
  return openRedis(redis, {
    onFailure: (cause: string) => logger.warn({ cause }, 'redis does not answer'),
    onRecovery: () => logger.info('redis answers again'),
  })
}

export type Connections = Awaited<ReturnType<typeof connect>>

/** Opens the stores of this configuration. Neither migrates nor waits for Redis. */
export async function connect(
  config: Config,
  logger: Logger,
  options: Pick<OpenOptions, 'makesDatabase'> = {},
) {
  const opening = openDatabase(config, { ...options, logger })
  // Both connect at the same time.
  const redis = openRedisOf(config, logger)
  const opened = await opening.catch(async (error: unknown) => {
    await redis?.close()
    throw error
  })
  const database = config.log.level === 'debug' ? logStatements(opened, logger) : opened
  const close = async () => {
    await Promise.all([database.close(), redis?.close()])
  }
  try {
    return { database, redis, secret: openSecret(config), close }
  } catch (error) {
    await close()
    throw error
  }
}
