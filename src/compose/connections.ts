/** From the configuration to what stands outside the process: the database, Redis, the server secret. */
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
import { connectServer } from '../platform/postgres/server.ts'
import { openRedis, type RedisConnection } from '../platform/redis/connection.ts'
import { createServerSecret, type ServerSecret } from '../platform/secret.ts'
import { ensureSecretFile, readSecretFile } from '../platform/secret-file.ts'

/** A PostgreSQL server, or the embedded one, which gets its server secret before it is made. */
export async function openDatabase({
  server,
  database,
  storage: { dataDir },
}: Pick<Config, 'server' | 'database' | 'storage'>): Promise<Database> {
  if (database.url !== null) return connectServer({ url: database.url, poolSize: database.poolSize })
  return openEmbedded(dataDir, {
    beforeOpening: (state) => {
      if (server.secret === null) ensureSecretFile(dataDir, state)
    },
  })
}

/** The configured secret; without one (embedded only) the one in the data directory, which openDatabase made. */
export function openSecret({ server, storage }: Pick<Config, 'server' | 'storage'>): ServerSecret {
  return createServerSecret(server.secret ?? readSecretFile(storage.dataDir))
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
