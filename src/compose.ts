/**
 * The only builder: configuration -> connections -> stores -> services -> { app, close }. What it puts together is in
 * compose/, in that order.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { createApp, type Services } from './app.ts'
import { openDatabase, openRedisOf, openSecret, openStores } from './compose/connections.ts'
import { buildCore } from './compose/core.ts'
import { buildFeatures } from './compose/features.ts'
import type { MessageSender } from './domain/delivery/message.ts'
import { createReach } from './domain/delivery/reach.ts'
import { createSender } from './domain/delivery/service.ts'
import { createMailbox } from './domain/dev/mailbox.ts'
import { createHousekeeping, type Housekeeping } from './domain/housekeeping/service.ts'
import { createHousekeepingStore } from './domain/housekeeping/store-postgres.ts'
import type { Clock } from './platform/clock.ts'
import type { Config } from './platform/config/types.ts'
import { type Network, network as trueNetwork } from './platform/guarded-fetch.ts'
import type { Logger } from './platform/http/logging.ts'
import type { Database } from './platform/postgres/database.ts'
import { applyMigrations, requireMigrated } from './platform/postgres/migrate.ts'
import type { RedisConnection } from './platform/redis/connection.ts'
import { StoreUnreachable } from './platform/store-unreachable.ts'

export interface ComposeOptions {
  config: Config
  dev: boolean
  clock: Clock
  logger: Logger
  /** In place of SMTP, the gateways and the mailbox. */
  sender?: MessageSender
  /** In place of the world in which sign-in providers are. */
  network?: Network
}

export interface Service {
  app: ReturnType<typeof createApp>
  services: Services
  /** For the commands and tests that look beneath the services. */
  database: Database
  housekeeping: Pick<Housekeeping, 'run'>
  /** Prepares what the first requests would wait for; to be called once it listens. */
  warmUp(): void
  /** Ends what runs beside requests, then the connections. Call it when no request is under way. */
  close(): Promise<void>
}

/** Throws when a store is not there: a service that cannot answer does not start. */
export async function compose(options: ComposeOptions): Promise<Service> {
  const { config, clock, logger } = options
  const database = await openDatabase(config)
  const redis = openRedisOf(config, logger)
  const closeConnections = async () => {
    await Promise.all([database.close(), redis?.close()])
  }
  try {
    await (config.database.migrate ? applyMigrations(database, clock.now()) : requireMigrated(database))
    await redis?.ready().catch((error: unknown) => {
      throw new StoreUnreachable(config.redis.mode === 'single' ? 'redis.url' : 'redis.urls', error)
    })
    return await build({ ...options, database, redis, closeConnections })
  } catch (error) {
    await closeConnections()
    throw error
  }
}

interface BuildOptions extends ComposeOptions {
  database: Database
  redis: RedisConnection | null
  closeConnections: () => Promise<void>
}

async function build(options: BuildOptions): Promise<Service> {
  const { config, dev, clock, logger, database, redis, closeConnections, network = trueNetwork } = options
  const { language, docs, baseUrl, trustedProxies, corsOrigins } = config.server
  const secureCookies = baseUrl.startsWith('https:')
  const mailbox = dev ? createMailbox(clock, mailboxFile(config)) : null
  const sender = options.sender ?? createSender(config, mailbox)
  const foundation = {
    config,
    clock,
    logger,
    database,
    stores: openStores(database, redis),
    secret: openSecret(config),
  }
  const core = await buildCore({ ...foundation, sender, reaches: createReach(config, dev), network })
  const services: Services = {
    ...buildFeatures(core, { ...foundation, secureCookies }),
    keys: core.keys,
    ping: async () => {
      await Promise.all([database.ping(), redis?.ping()])
    },
    mailbox,
  }
  const housekeeping = createHousekeeping({
    store: createHousekeepingStore(database),
    messages: core.messages,
    budgets: core.budgets,
    spentTokens: core.spentTokens,
    ...foundation.stores,
    clock,
    logger,
  })
  const app = createApp(services, {
    baseUrl,
    language,
    trustedProxies,
    corsOrigins,
    logger,
    documentation: docs ? { baseUrl, version: packageJson.version } : null,
    secureCookies,
  })
  return {
    app,
    services,
    database,
    housekeeping,
    warmUp: core.hashing.warmUp,
    async close() {
      await housekeeping.close()
      await core.worker.close()
      await sender.close()
      core.keys.close()
      core.hashing.close()
      await closeConnections()
    },
  }
}

/** Beside the embedded database; without that directory the mailbox lives in memory only. */
function mailboxFile({ storage }: Config): string | null {
  return existsSync(storage.dataDir) ? join(storage.dataDir, 'dev-mailbox.jsonl') : null
}
