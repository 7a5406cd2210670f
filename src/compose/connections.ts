/** From the configuration to what stands outside the process: the database, Redis, the server secret. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPostgresCodeStore } from '../domain/codes/store-postgres.ts'
import { createRedisCodeStore } from '../domain/codes/store-redis.ts'
import { createPostgresLimitStore } from '../domain/limits/store-postgres.ts'
import { createRedisLimitStore } from '../domain/limits/store-redis.ts'
import { createPostgresTicketStore } from '../domain/tickets/store-postgres.ts'
import { createRedisTicketStore } from '../domain/tickets/store-redis.ts'
import type { Config } from '../platform/config/types.ts'
import type { Logger } from '../platform/http/logging.ts'
import type { Database } from '../platform/postgres/database.ts'
import { openEmbedded } from '../platform/postgres/embedded.ts'
import { openServer } from '../platform/postgres/server.ts'
import { openRedis, type RedisConnection } from '../platform/redis/connection.ts'
import { createServerSecret, type ServerSecret } from '../platform/secret.ts'

/** A PostgreSQL server, or the embedded one. */
export function openDatabase({ database, storage }: Pick<Config, 'database' | 'storage'>): Promise<Database> {
  return database.url === null
    ? openEmbedded(storage.dataDir)
    : Promise.resolve(openServer({ url: database.url, poolSize: database.poolSize }))
}

/** The configured secret; without one (embedded only) the one that stands in the data directory, made at first. */
export function openSecret({ server, storage }: Pick<Config, 'server' | 'storage'>): ServerSecret {
  if (server.secret !== null) return createServerSecret(server.secret)
  const file = join(storage.dataDir, 'secret')
  if (!existsSync(file)) writeFileSync(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
  return createServerSecret(Buffer.from(readFileSync(file, 'utf8').trim(), 'hex'))
}

/** Where codes, counters and tickets stand. */
export type Stores = ReturnType<typeof openStores>

export function openStores(database: Database, redis: RedisConnection | null) {
  return redis
    ? {
        codes: createRedisCodeStore(redis),
        limits: createRedisLimitStore(redis),
        tickets: createRedisTicketStore(redis),
      }
    : {
        codes: createPostgresCodeStore(database),
        limits: createPostgresLimitStore(database),
        tickets: createPostgresTicketStore(database),
      }
}

/** Null: codes and counters stand in the database. */
export function openRedisOf({ redis }: Pick<Config, 'redis'>, logger: Logger): RedisConnection | null {
  if (redis.urls.length === 0) return null
  return openRedis(redis, {
    onFailure: (cause: string) => logger.warn({ cause }, 'redis does not answer'),
    onRecovery: () => logger.info('redis answers again'),
  })
}
