/**
 * The private PostgreSQL and Redis that poterne and every rival share, started when first asked for. PostgreSQL runs
 * with its defaults (an acknowledged commit is on the disk), more connections and more memory for its cache, and
 * pg_stat_statements to count round trips by.
 */
import {
  createDatabase,
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
} from '../../test/helpers/servers.ts'

export interface Stores {
  postgres: PostgresServer
  redis: RedisServer
  /** It is empty: poterne, and every rival, makes its own tables. */
  newDatabase(): Promise<string>
  stop(): Promise<void>
}

export const postgresSettings = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  shared_preload_libraries: 'pg_stat_statements',
}

export async function startStores(): Promise<Stores> {
  const [postgres, redis] = await Promise.all([startPostgres({ settings: postgresSettings }), startRedis()])
  return {
    postgres,
    redis,
    newDatabase: async () => (await createDatabase({ migrated: false, server: postgres })).url,
    stop: async () => {
      await Promise.all([postgres.stop(), redis.stop()])
    },
  }
}
