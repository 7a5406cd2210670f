/**
 * The four places where codes, counters and tickets may live, opened for a contract suite. Every suite runs on all
 * of them; `forEachBackend` opens one before its tests and closes it after.
 */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout } from 'bun:test'
import { sql } from 'drizzle-orm'
import Redis from 'ioredis'
import type { LimitStore } from '../../src/domain/foundation/limits/store.ts'
import { createPostgresLimitStore } from '../../src/domain/foundation/limits/store-postgres.ts'
import { createRedisLimitStore } from '../../src/domain/foundation/limits/store-redis.ts'
import type { TicketStore } from '../../src/domain/foundation/tickets/store.ts'
import { createPostgresTicketStore } from '../../src/domain/foundation/tickets/store-postgres.ts'
import { createRedisTicketStore } from '../../src/domain/foundation/tickets/store-redis.ts'
import type { AttemptStore } from '../../src/domain/messages/codes/attempt-store.ts'
import { createAttemptStore } from '../../src/domain/messages/codes/attempt-store.ts'
import type { CodeStore } from '../../src/domain/messages/codes/store.ts'
import { createPostgresCodeStore } from '../../src/domain/messages/codes/store-postgres.ts'
import { createRedisCodeStore } from '../../src/domain/messages/codes/store-redis.ts'
import type { Config } from '../../src/platform/config/types.ts'
import { type Database, param, statement } from '../../src/platform/postgres/database.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { openRedis } from '../../src/platform/redis/connection.ts'
import { openEmbeddedInThread } from '../../src/storage/embedded/thread.ts'
import { newDataDirectory } from '../helpers/embedded-directory.ts'
import { oncePerRun } from '../helpers/run-directory.ts'
import { createDatabase, redisPrefix, sharedRedis, startRedisCluster } from '../helpers/servers.ts'

/**
 * The place of a store, in words another process understands (see racer.ts). It is null if only one process may open
 * it.
 */
export type Place = { redis: Config['redis'] } | { postgres: string }

export interface OpenBackend {
  codes: CodeStore
  limits: LimitStore
  tickets: TicketStore
  /** It is null if the backend is not PostgreSQL. */
  attempts: AttemptStore | null
  database: Database | null
  place: Place | null
  /** Waits until the stores answer: Redis connects in the background. */
  ready(): Promise<void>
  /**
   * The keys of ours in Redis and the milliseconds they still live, -1 for ever. In PostgreSQL `expires_at` is not
   * null.
   */
  lifetimes(): Promise<{ key: string; lifetimeMs: number }[]>
  /** The bytes of a counter's state. */
  sizeOf(counter: string): Promise<number>
  close(): Promise<void>
}

export const backendNames = ['Redis', 'Redis Cluster', 'PostgreSQL', 'embedded PostgreSQL'] as const
export type BackendName = (typeof backendNames)[number]

const sharedCluster = () => oncePerRun('redis-cluster', async () => (await startRedisCluster()).urls)

export function openStoresAt(place: Place): OpenBackend {
  return 'redis' in place
    ? redisStores(place.redis)
    : databaseStores(openServer({ url: place.postgres, poolSize: 10 }), place)
}

async function open(name: BackendName): Promise<OpenBackend> {
  if (name === 'Redis' || name === 'Redis Cluster') {
    const mode = name === 'Redis' ? 'single' : 'cluster'
    const urls = mode === 'single' ? [(await sharedRedis()).url] : await sharedCluster()
    return redisStores({ mode, urls, master: null, keyPrefix: redisPrefix() })
  }
  if (name === 'PostgreSQL') {
    const { url, drop } = await createDatabase()
    const stores = openStoresAt({ postgres: url })
    return { ...stores, close: () => stores.close().then(drop) }
  }
  return databaseStores(await openEmbeddedInThread(await newDataDirectory()), null)
}

function databaseStores(database: Database, place: Place | null): OpenBackend {
  return {
    codes: createPostgresCodeStore(database),
    limits: createPostgresLimitStore(database),
    tickets: createPostgresTicketStore(database),
    attempts: createAttemptStore(database),
    database,
    place,
    ready: () => database.ping(),
    lifetimes: async () => [],
    sizeOf: async (counter) => (await database.first(stateSize, { counter }))?.bytes ?? 0,
    close: () => database.close(),
  }
}

function redisStores(config: Config['redis']): OpenBackend {
  const redis = openRedis(config)
  const inspectors = config.urls.map((url) => new Redis(url, { lazyConnect: true }))
  return {
    codes: createRedisCodeStore(redis),
    limits: createRedisLimitStore(redis),
    tickets: createRedisTicketStore(redis),
    attempts: null,
    database: null,
    place: { redis: config },
    ready: () => redis.ready(),
    lifetimes: async () => {
      const found = await Promise.all(inspectors.map((inspector) => lifetimesIn(inspector, config.keyPrefix)))
      return found.flat()
    },
    sizeOf: async (counter) => {
      const sizes = await Promise.all(
        inspectors.map(async (inspector) => {
          const [key] = await inspector.keys(`${config.keyPrefix}*${counter}`)
          return key === undefined ? 0 : inspector.strlen(key)
        }),
      )
      return Math.max(...sizes)
    },
    close: async () => {
      for (const inspector of inspectors) inspector.disconnect()
      await redis.close()
    },
  }
}

const stateSize = statement<{ counter: string }, { bytes: number }>(
  sql`select octet_length(state::text) as bytes from limits where key = ${param('counter', 'text')}`,
)

async function lifetimesIn(server: Redis, prefix: string) {
  const keys = await server.keys(`${prefix}*`)
  return Promise.all(keys.map(async (key) => ({ key, lifetimeMs: await server.pttl(key) })))
}

/**
 * A suite on each backend. `suite` gets a function, since the backend is open only once the tests run, and the name, to
 * leave out what a backend cannot do. Every key of ours in Redis must have an expiry after each test.
 */
export function forEachBackend(
  promise: string,
  suite: (backend: () => OpenBackend, name: BackendName) => void,
  names: readonly BackendName[] = backendNames,
): void {
  setDefaultTimeout(60_000)
  for (const name of names) {
    describe(`${promise} in ${name}`, () => {
      let backend: OpenBackend | undefined
      beforeAll(async () => {
        backend = await open(name)
        await backend.ready()
      })
      afterEach(async () => {
        const lifetimes = (await backend?.lifetimes()) ?? []
        expect(lifetimes.filter(({ lifetimeMs }) => lifetimeMs === -1)).toEqual([])
      })
      afterAll(async () => {
        await backend?.close()
      })
      suite(() => backend as OpenBackend, name)
    })
  }
}

/** Rows of a table, where the backend has one. */
export async function countRows(database: Database, table: string) {
  const query = statement<Record<string, never>, { rows: number }>(
    sql`select count(*)::int as rows from ${sql.identifier(table)}`,
  )
  return (await database.first(query, {}))?.rows
}
