/**
 * Tells one webhook of the events in a process of its own, to be killed: `bun webhook-process.ts DATABASE_URL HOOK_URL
 * SECRET`. It says "telling" on standard output once it runs.
 */
import { createEventTail } from '../../src/domain/foundation/events/event-tail.ts'
import { createEventStore } from '../../src/domain/foundation/events/store.ts'
import { noMetrics } from '../../src/domain/foundation/metrics/metrics.ts'
import { createDeliver } from '../../src/operations/webhooks/delivery.ts'
import { createWebhookStore } from '../../src/operations/webhooks/store.ts'
import { createWebhookWorker } from '../../src/operations/webhooks/worker.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openServer } from '../../src/platform/postgres/server.ts'

const [databaseUrl, url, secret] = process.argv.slice(2) as [string, string, string]
const database = openServer({ url: databaseUrl, poolSize: 4 })
const events = createEventStore(database, { retentionSeconds: 1e9, addressRetentionSeconds: 1e9 })
const hook = { name: 'app', url, secret, previousSecrets: [], events: ['account.*'], accountState: false }
const worker = createWebhookWorker({
  stores: { webhooks: createWebhookStore(database), events },
  eventTail: createEventTail({ stores: { events } }),
  deliver: createDeliver({
    stores: { accounts: { findByUuid: async () => null } },
    roles: { nameOf: String },
  }),
  config: { webhooks: [hook] } as never,
  clock: systemClock,
  logger: { debug() {}, info() {}, warn() {}, error() {} } as never,
  metrics: noMetrics,
  tellOperator: () => {},
})
await worker.start()
worker.begin()
console.log('telling')
