/**
 * The only builder: configuration -> connections -> stores -> services -> app. The parts that it puts together are in
 * compose/, in that order.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createPostgresLimitStore } from '../domain/foundation/limits/store-postgres.ts'
import { countAnswer } from '../domain/foundation/metrics/answers.ts'
import { type Metrics, noMetrics } from '../domain/foundation/metrics/metrics.ts'
import { createReach } from '../domain/messages/delivery/reach.ts'
import { createSender } from '../domain/messages/delivery/service.ts'
import { createBreaker } from '../domain/messages/senders/breaker.ts'
import type { MessageSender } from '../domain/messages/senders/sender.ts'
import { clientSettings } from '../operations/client-settings/routes.ts'
import { type DevKey, openDevKey } from '../operations/dev/dev-key.ts'
import { createMailbox } from '../operations/dev/mailbox.ts'
import type { DevPerson } from '../operations/dev/people.ts'
import type { createDevRoutes } from '../operations/dev/routes.ts'
import { createHousekeeping } from '../operations/housekeeping/service.ts'
import { originsOf } from '../pages/applications/clients.ts'
import { createIssuerNotice } from '../pages/applications/issuer-metadata.ts'
import { systemClock } from '../platform/clock.ts'
import { isLoopbackHost } from '../platform/config/formats.ts'
import { serviceName } from '../platform/config/service-name.ts'
import { type Config, hasSecureCookies } from '../platform/config/types.ts'
import { StoreUnreachable } from '../platform/failure.ts'
import type { Ground } from '../platform/ground.ts'
import { type Network, network as trueNetwork } from '../platform/guarded-fetch.ts'
import { createAddressProbes } from '../platform/http/address-probes.ts'
import { ownNameOf } from '../platform/http/redirect.ts'
import { createLogger } from '../platform/log/logging.ts'
import { requireMigrated } from '../platform/postgres/migrate.ts'
import { failedStatement } from '../platform/postgres/statement-name.ts'
import { RedisUnavailable } from '../platform/redis/failure.ts'
import { requireCommands } from '../platform/redis/script.ts'
import { version } from '../platform/version.ts'
import { createCatalog } from '../texts/catalog.ts'
import { createAdministration } from './administration.ts'
import { createApp } from './app.ts'
import { type Connections, connect } from './connections.ts'
import { createLife } from './life.ts'
import { addGauges, gaugeOfTime, measured, openMetrics } from './measuring.ts'
import { migrateDatabase } from './migrating.ts'
import type { createPages } from './pages.ts'
import { createServices } from './services.ts'
import { createReadiness } from './store-watch.ts'
import { createStores, sweepsOf } from './stores.ts'

interface ComposeOptions extends Pick<Ground, 'clock' | 'config' | 'logger'> {
  dev: boolean
  /** It replaces SMTP, the gateways and the mailbox. */
  sender?: MessageSender
  /** It replaces the network in which sign-in providers are. */
  network?: Network
  /** Default: nothing is measured. */
  metrics?: Metrics
  /** The pages of --dev, which only compose() loads. */
  createDevRoutes?: typeof createDevRoutes | null
  /** The pages for people, which only compose() loads, and only where they are on. */
  createPages?: typeof createPages | null
  devKey?: DevKey | null
}

export type Service = ReturnType<typeof build>

/**
 * The service as `poterne serve` runs it, ready for requests. Throws when a store is not there: a service that cannot answer
 * does not start.
 */
export async function compose(options: ComposeOptions): Promise<Service> {
  const { config, clock, logger } = options
  const connections = await connect(config, logger, { makesDatabase: true })
  const { database, redis } = connections
  const nameRedis = (error: unknown) => {
    const key = config.redis.mode === 'single' ? 'redis.url' : 'redis.urls'
    throw error instanceof RedisUnavailable ? new StoreUnreachable(key, error) : error
  }
  try {
    await (config.database.migrate
      ? migrateDatabase(database, config, clock.now())
      : requireMigrated(database))
    if (redis)
      await redis
        .ready()
        .then(redis.requireVersion)
        .then(() => requireCommands(redis))
        .catch(nameRedis)
    const createDevRoutes = options.dev ? (await import('../operations/dev/routes.ts')).createDevRoutes : null
    const devKey = options.dev ? openDevKey(devFile(config, 'dev-key'), config.server.port) : null
    const metrics = await openMetrics(config)
    const createPages = config.pages.enabled ? (await import('./pages.ts')).createPages : null
    const service = build({ ...options, createDevRoutes, createPages, devKey, metrics }, connections)
    await service.start().catch(nameRedis)
    return service
  } catch (error) {
    await connections.close()
    throw error
  }
}

/** Builds what a command needs of this configuration, on a migrated database, while nothing runs beside the command. */
export const withService = <T>(config: Config, work: (service: Service) => Promise<T>): Promise<T> =>
  withStores(config, async (service) => {
    await requireMigrated(service.database)
    await service.services.secrets.load()
    return work(service)
  })

/** The same on a database as it is. */
export async function withStores<T>(config: Config, work: (service: Service) => Promise<T>): Promise<T> {
  // Standard output is for what the command was asked for.
  const write = (line: string) => process.stderr.write(line)
  const logger = createLogger({ clock: systemClock, level: 'error', write })
  const connections = await connect(config, logger)
  try {
    return await work(build({ config, dev: false, clock: systemClock, logger }, connections))
  } finally {
    await connections.close()
  }
}

/** Makes every store, every service and the app, and starts nothing: no loop, no timer, no write before `start`. */
export function build(options: ComposeOptions, connections: Connections) {
  const { config, dev, clock, logger, network = trueNetwork, metrics = noMetrics } = options
  const { devKey = null } = options
  const { secret } = connections
  const { database, redis } = metrics.isOn ? measured(connections, metrics) : connections
  const mailbox = dev ? createMailbox(clock, devFile(config, 'dev-mailbox.jsonl')) : null
  const breaker = createBreaker(clock)
  const sender = options.sender ?? createSender(config, mailbox, { clock, breaker })
  const reaches = createReach(config, dev)
  const stores = createStores(config, database, redis)
  const catalog = createCatalog({ language: config.server.language, ...config.texts })
  const foundation = {
    catalog,
    config,
    clock,
    logger,
    metrics,
    network,
    database,
    stores,
    secret,
    sender,
    reaches,
    breaker,
  }
  const { services, worker } = createServices(foundation)
  const housekeeping = createHousekeeping({
    store: stores.housekeeping,
    sweeps: {
      ...sweepsOf(stores),
      two_factor_removals: services.twoFactorRemovals.removeDue,
      webhooks: services.webhooks.sweep,
    },
    clock,
    logger,
    ...(metrics.isOn && { onSuccess: gaugeOfTime(metrics, 'housekeeping_last_success_timestamp_seconds') }),
  })
  const ping = createReadiness({
    database,
    redis,
    counters: createPostgresLimitStore(database),
    clock,
    version: version.version,
  })
  if (metrics.isOn) addGauges(metrics, { services, stores, database, clock, config, ping })
  const probes = createAddressProbes()
  const { docs, baseUrl, trustedProxies, corsOrigins } = config.server
  const origins = originsOf(config.pages.applications, dev)
  const isReachable = dev && !isLoopbackHost(config.server.host)
  const settings = clientSettings({
    config,
    catalog,
    providers: services.providers.names,
    loginTokenSeconds: services.firstFactorRecords.lifetimeSeconds,
    intoMailbox: dev,
  })
  const people: DevPerson[] = []
  const pages =
    options.createPages?.(services, { dev, settings, people: devKey ? people : undefined }) ?? null
  const app = createApp(
    { ...services, ping, clientSettings: settings },
    {
      baseUrl,
      handsOver: config.pages.enabled && config.pages.applications.some(({ own }) => own === null),
      onOpenId: createIssuerNotice(config, { clock, logger }),
      pages,
      devRoutes:
        mailbox && devKey && options.createDevRoutes
          ? (httpBase) =>
              options.createDevRoutes!(httpBase, {
                ...{ mailbox, catalog, clock, key: devKey, people, anyHost: isReachable },
                signInAs: pages?.signInAs ?? null,
                start: {
                  adminUrl: adminUrlOf(config),
                  hasDocumentation: docs,
                  hasPages: pages !== null,
                  applications: config.pages.applications,
                  baseUrl,
                },
              })
          : null,
      passkeys: config.passkeys,
      catalog,
      trustedProxies,
      corsOrigins,
      ...(config.pages.enabled && {
        corsOfPaths: Object.fromEntries(
          ['/oauth2/token', '/oauth2/revoke', '/oauth2/userinfo'].map((path) => [path, origins]),
        ),
      }),
      logger,
      ...(dev && { onInternalError: printStack, showsCauses: true, toOwnName: ownNameOf(baseUrl) }),
      documentation: docs ? { baseUrl, version: version.version } : null,
      secureCookies: hasSecureCookies(config),
      probes,
      ...(metrics.isOn && { onAnswer: (answer) => countAnswer(metrics, answer) }),
    },
  )
  const administration = createAdministration(services, {
    ...config.admin,
    passkeys: config.passkeys,
    catalog,
    logger,
    ...(dev && { onInternalError: printStack }),
    key: isReachable ? devKey : null,
    trustedProxies,
    clock,
    version: version.version,
    brand: {
      name: config.pages.name || serviceName(config),
      colour: config.pages.colour || config.texts.colour,
      logo: config.pages.logoFile,
      darkLogo: config.pages.darkLogoFile,
    },
    probes,
    examined: {
      ...{ config, clock: systemClock, database, redis, secret, stores, secrets: services.secrets },
      testIdentities: services.testIdentities,
      webhooks: services.webhooks,
    },
  })
  return {
    app,
    administration,
    services,
    /** Only with --dev. */
    mailbox,
    devKey,
    /** Those whom the start page of --dev lists. */
    devPeople: people,
    /** Commands and tests look beneath the services with it. */
    database,
    housekeeping,
    ...createLife({ ...foundation, connections, redis, services, worker, housekeeping }),
  }
}

/**
 * It serves people who develop against --dev: the log never has messages of errors, because they may quote values. The
 * stack of a driver's error ends in the driver; the name of the statement shows where to look.
 */
function printStack(error: unknown): void {
  const statement = failedStatement(error)
  const stack = error instanceof Error ? error.stack : String(error)
  process.stderr.write(`${stack}\n${statement ? `    in the statement ${statement}\n` : ''}`)
}

/** The file lies beside the embedded database; without that directory what --dev keeps lives in memory only. */
function devFile({ storage }: Config, name: string): string | null {
  return existsSync(storage.dataDir) ? join(storage.dataDir, name) : null
}

/** The address of the page of administration; null where nothing listens. */
function adminUrlOf({ admin }: Config): string | null {
  if (admin.listen === null) return null
  const { host, port } = admin.listen
  // Passkeys do not work on a bare address.
  const name = ['127.0.0.1', '0.0.0.0', '::'].includes(host)
    ? 'localhost'
    : host.includes(':')
      ? `[${host}]`
      : host
  return `${admin.baseUrl ?? `http://${name}:${port}`}/admin/`
}
