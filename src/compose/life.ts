/** The life of the service: what must be so before the first request, what runs beside requests, and the end. */

import type { Metrics } from '../domain/foundation/metrics/metrics.ts'
import { reportTestIdentities } from '../domain/foundation/test-identities/service.ts'
import type { MessageSender } from '../domain/messages/senders/sender.ts'
import { describeLockedOut } from '../operations/doctor/store.ts'
import type { createHousekeeping } from '../operations/housekeeping/service.ts'
import { systemClock } from '../platform/clock.ts'
import { applicationsForOpenId, backChannelsOf } from '../platform/config/applications.ts'
import type { Config } from '../platform/config/types.ts'
import type { Ground } from '../platform/ground.ts'
import { openScrapeListener } from '../platform/http/scrape-listener.ts'
import type { Logger } from '../platform/log/logging.ts'
import type { Database } from '../platform/postgres/database.ts'
import { findOwnTable } from '../platform/postgres/own-objects.ts'
import { describeForeignEncoding } from '../platform/postgres/server-fitness.ts'
import { version } from '../platform/version.ts'
import type { Connections } from './connections.ts'
import type { createServices, Services } from './services.ts'
import { watchStores } from './store-watch.ts'
import type { Stores } from './stores.ts'

interface Needs extends Pick<Ground, 'config' | 'logger'> {
  metrics: Metrics
  connections: Connections
  database: Database
  redis: Connections['redis']
  stores: Stores
  services: Services
  worker: ReturnType<typeof createServices>['worker']
  housekeeping: ReturnType<typeof createHousekeeping>
  sender: MessageSender
}

export function createLife({ config, logger, metrics, database, redis, stores, services, ...needs }: Needs) {
  const { hashing, keys, identityKeys, secrets, funnel, events, eventTail, backups, webhookWorker } = services
  const { connections, worker, housekeeping, sender } = needs
  let storeWatch: Awaited<ReturnType<typeof watchStores>> | null = null
  let lostApps: Promise<unknown> | null = null
  let scrapes: ReturnType<typeof openScrapeListener> | null = null

  /** Asks the stores for what the first request needs, as the signing keys. Rejects when the service could not answer. */
  async function start() {
    await requireOwnPasskeys(config, stores.passkeys)
    // By the machine's own clock, whatever clock the service goes by.
    const watched = { database, redis, clock: systemClock, logger, version: version.version }
    storeWatch = await watchStores(watched)
    if (config.metrics.listen) scrapes = openScrapeListener(config.metrics.listen, metrics.expose)
    await stores.backChannels.put(backChannelsOf(config).map(({ id }) => id))
    await secrets.load()
    await keys.start(secrets.opensLasting())
    await secrets.start()
    await reportTestIdentities(services.testIdentities, logger)
    await webhookWorker.start()
  }

  /** Begins what runs beside requests: the delivery of messages, housekeeping, backups. */
  function begin(): void {
    void secrets.run()
    if (applicationsForOpenId(config).length > 0) identityKeys.startInBackground()
    events.start()
    worker.start()
    funnel.start()
    housekeeping.start()
    hashing.start()
    backups.start()
    webhookWorker.begin()
    lostApps = Promise.all([
      reportLostApps(services.authenticators, logger),
      reportLockedOut(config, database, logger),
      reportEncoding(database, logger),
    ])
  }

  /** Ends what `start` and `begin` began, then the connections. Call it when no request is under way. */
  async function close() {
    storeWatch?.close()
    await scrapes?.close()
    await webhookWorker.close()
    await backups.close()
    await housekeeping.close()
    await secrets.close()
    await lostApps
    await worker.close()
    await funnel.close()
    eventTail.close()
    await events.close()
    await sender.close()
    keys.close()
    identityKeys.close()
    hashing.close()
    await connections.close()
  }

  return { start, begin, close }
}

/** A passkey works for one relying party only: with another `rp_id` its owner could not sign in any more. */
async function requireOwnPasskeys({ passkeys }: Config, store: Stores['passkeys']): Promise<void> {
  const { rpId, allowRpIdChange } = passkeys
  if (rpId === null || allowRpIdChange) return
  const foreign = await store.countForeign(rpId)
  if (foreign === 0) return
  throw new Error(
    `passkeys.rp_id is "${rpId}", and ${foreign} stored passkeys belong to another one: put the former rp_id back, or set passkeys.allow_rp_id_change = true to make them useless`,
  )
}

/**
 * Runs beside the first requests: an authenticator app that was sealed under another server secret cannot be used any
 * more.
 */
async function reportLostApps(authenticators: Pick<Services['authenticators'], 'countLost'>, logger: Logger) {
  try {
    const count = await authenticators.countLost()
    if (count > 0) logger.error({ count }, LOST_APPS)
  } catch {
    logger.warn('the authenticator apps could not be counted')
  }
}

async function reportLockedOut(config: Config, database: Database, logger: Logger): Promise<void> {
  try {
    const lockedOut = await describeLockedOut(config, database)
    if (lockedOut !== null) logger.warn({ key: 'codes.login' }, lockedOut)
  } catch {
    logger.warn('the accounts without another way in could not be counted')
  }
}

/** Reports an encoding in which poterne can start, and loses letters: SQL_ASCII. */
async function reportEncoding(database: Database, logger: Logger): Promise<void> {
  if (database.kind === 'embedded') return
  try {
    const foreign = describeForeignEncoding((await findOwnTable(database)).encoding)
    if (foreign !== null) logger.warn({ key: 'database.url' }, `database.url: ${foreign}`)
  } catch {
    logger.warn('the encoding of the database could not be read')
  }
}

const LOST_APPS =
  'authenticator apps cannot be used: they were sealed under another server.secret, or are damaged; their owners sign in with a recovery code, or a code is sent to them'
